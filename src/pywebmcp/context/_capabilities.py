"""What engines can and cannot do: the one table of browser facts.

Nothing else in the package asks which engine or version it talks to. Each row says what was seen and where;
the tests named after the rows hold them true.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CHROMIUM", "LIGHTPANDA", "Capabilities", "capabilities_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What one kind of engine does. The defaults describe a current Chromium."""

    native_complete: bool = True
    """The engine's own model context can be complete: the runtime stands back where it is (mode ``auto``)."""
    native_values_exact: bool = False
    """The native ``toolResponded.output`` is the tool's value. Chromium 150-156 parses a text: see `from_native`."""
    page_per_connection: bool = False
    """One page a connection, so each page opens its own. Seen on Lightpanda 1.0.2."""
    frame_targets: bool = True
    """Cross-origin frames are targets with sessions of their own. Seen on Chromium 149-156."""
    dialogs_wait: bool = True
    """A JavaScript dialog waits for an answer over CDP. Lightpanda 1.0.2 answers by itself (false, null)."""
    terminates_scripts: bool = True
    """``Runtime.terminateExecution`` ends an endless loop. On Lightpanda 1.0.2 only a cut connection does."""
    cookies_shared: bool = True
    """All pages share their cookies. On Lightpanda 1.0.2 each connection has its own."""
    crash_events: bool = True
    """``Inspector.targetCrashed`` tells that a renderer died."""
    late_srcdoc: bool = False
    """Scripts of a ``srcdoc`` frame run before our script. Seen on Lightpanda 1.0.2: tools that they register
    with the engine's own object are taken over from its ``WebMCP.toolsAdded``."""
    max_message: int = 100 * 1024 * 1024
    """Bytes of a message to the engine; Chromium 156 cuts the connection over a longer one. Lightpanda 1.0.2 takes
    what we start it with."""


CHROMIUM = Capabilities()
LIGHTPANDA = Capabilities(
    native_complete=False,
    native_values_exact=True,
    page_per_connection=True,
    frame_targets=False,
    dialogs_wait=False,
    terminates_scripts=False,
    cookies_shared=False,
    crash_events=False,
    late_srcdoc=True,
    max_message=268_435_456,
)


def capabilities_of(engine_name: str) -> Capabilities:
    """The row for an engine by its name; unknown engines that speak CDP are taken for a Chromium."""
    return LIGHTPANDA if engine_name == "lightpanda" else CHROMIUM

"""Which engines there are, whether they start, and what they have of WebMCP."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from pywebmcp.errors import EngineError, EngineNotFoundError, WebMCPError

if TYPE_CHECKING:
    from pywebmcp.cli._parser import EngineChoice, Options

__all__ = ["EngineReport", "examine_engines"]

START_TIMEOUT = 45.0
"""Seconds for an engine to start, show a page and end."""

_URL = "https://doctor.example/"
_PROBE = """(() => {
  const context = document.modelContext, names = ["registerTool", "getTools", "executeTool"];
  return {
    document: "modelContext" in document, navigator: "modelContext" in navigator,
    methods: names.filter((name) => context && typeof context[name] === "function"),
    forms: typeof SubmitEvent === "function" && "agentInvoked" in SubmitEvent.prototype,
    policy: !!document.featurePolicy && document.featurePolicy.features().includes("tools"),
  };
})()"""


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineReport:
    """One engine."""

    name: str
    """``"lightpanda"``, ``"chromium"``, or the address of one that runs."""
    chosen: bool
    """Whether the other commands, with the same options, would use this one."""
    executable: str | None = None
    version: str | None = None
    start_ms: float | None = None
    """Milliseconds from the start to a page that is open; None when it does not come up."""
    own: dict[str, Any] = field(default_factory=dict[str, Any])
    """What the engine itself has: ``document`` and ``navigator`` (whether they have a ``modelContext``), ``methods``,
    ``forms``, ``policy`` (whether the permissions policy knows ``tools``)."""
    flags: tuple[str, ...] = ()
    """The features that we switch on when we start it."""
    surface: str | None = None
    """What pages get in mode ``auto``."""
    problem: str | None = None
    """Why it cannot be used."""

    @property
    def usable(self) -> bool:
        """Whether it starts."""
        return self.problem is None

    def to_json(self) -> dict[str, Any]:
        """The report with absent members left out."""
        told: dict[str, Any] = {
            "name": self.name,
            "chosen": self.chosen,
            "executable": self.executable,
            "version": self.version,
            "startMs": self.start_ms and round(self.start_ms, 1),
            "flags": list(self.flags) or None,
            "features": self.own or None,
            "surface": self.surface,
            "problem": self.problem,
        }
        return {name: value for name, value in told.items() if value is not None} | {"usable": self.usable}


async def examine_engines(options: Options) -> list[EngineReport]:
    """Starts the engine that ``--engine`` names, else the embedded one and Chromium, one after the other so that
    neither slows the other's start.
    """
    from pywebmcp.cli._parser import EngineChoice

    given = options.engine
    if given.asked and given.name != "auto":
        return [await _examine(given, options, chosen=True)]
    used = "chromium" if given.name == "chromium" else "lightpanda"
    lightpanda, chromium = [
        await _examine(EngineChoice(name=name), options, chosen=name == used) for name in ("lightpanda", "chromium")
    ]
    if lightpanda.chosen and lightpanda.executable is None and chromium.usable:
        # Where there is no wheel for this machine the library falls back to an installed Chromium.
        return [replace(lightpanda, chosen=False), replace(chromium, chosen=True)]
    return [lightpanda, chromium]


async def _examine(engine: EngineChoice, options: Options, *, chosen: bool) -> EngineReport:
    report = EngineReport(name=engine.endpoint or engine.name, chosen=chosen)
    try:
        if not engine.endpoint:
            from pywebmcp import engines

            find = engines.find_lightpanda if engine.name == "lightpanda" else engines.find_chromium
            report = replace(report, executable=find(engine.executable))
            if engine.name == "chromium":
                from pywebmcp.engines._chromium import WEBMCP_FEATURES

                report = replace(report, flags=WEBMCP_FEATURES)
        async with asyncio.timeout(START_TIMEOUT):
            return await _start(engine, options, report)
    except TimeoutError:
        return replace(report, problem=f"does not start within {START_TIMEOUT:g} s")
    except EngineNotFoundError as error:
        return replace(report, problem=str(error))
    except (EngineError, WebMCPError) as error:
        return replace(report, problem=f"{error} [{error.code}]")


async def _start(engine: EngineChoice, options: Options, report: EngineReport) -> EngineReport:
    from pywebmcp.browser import connect, launch

    started = time.perf_counter()
    # "native" injects nothing, so what is seen is the engine's own. Lightpanda's own is never used.
    mode = "native" if engine.name == "chromium" or engine.endpoint else "auto"
    if engine.endpoint:
        launcher = connect(engine.endpoint, mode=mode)
    else:
        launcher = launch(engine.name, mode=mode, executable=engine.executable, proxy=options.proxy)
    async with launcher as browser:
        async with await browser.open(_URL, html="<!doctype html><title>doctor</title>") as page:
            elapsed = (time.perf_counter() - started) * 1000
            own: dict[str, Any] = {}
            if mode == "native":
                answer = await page.evaluate(_PROBE)
                own = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
            await page.tools()
            surface = page.surface.kind
        info = browser.engine
        name = report.name if not engine.endpoint else f"{info.name} at {engine.endpoint}"
        return replace(
            report,
            name=name,
            version=info.version,
            executable=info.executable or report.executable,
            start_ms=elapsed,
            own=own,
            surface="runtime" if surface == "none" else surface,
        )

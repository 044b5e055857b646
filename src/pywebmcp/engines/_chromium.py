"""Chromium and its kin (Chrome, Edge, Brave), started for automation.

The temporary directory of the process is our throwaway folder, so that what Chromium leaves there (the folder of
its singleton socket, shared memory files) goes with it, even after a ``kill -9``.
"""

from __future__ import annotations

import logging
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit, urlunsplit

from pywebmcp.engines._find import find_chromium
from pywebmcp.engines._folders import ThrowawayFolder, sweep
from pywebmcp.engines._process import EngineProcess
from pywebmcp.engines._running import Endpoint, RunningEngine
from pywebmcp.errors import EngineError, EngineStartError

if TYPE_CHECKING:
    from pywebmcp.types import Mode

__all__ = ["ChromiumEngine", "ChromiumOptions", "WEBMCP_FEATURES", "start_chromium"]

logger = logging.getLogger("pywebmcp.engines")

WEBMCP_FEATURES: Final = ("WebMCP", "WebMCPTesting", "DevToolsWebMCPSupport")
"""What switches WebMCP on; together they work on every build from 147 to 156 (measured)."""

_DISABLED_FEATURES: Final = ("HttpsUpgrades", "MediaRouter", "OptimizationHints", "Translate")
_ENDPOINT: Final = re.compile(r"DevTools listening on (ws://\S+)[\r\n]")
_PROFILE_IN_USE: Final = re.compile(r"ProcessSingleton|existing browser session", re.IGNORECASE)
_PROFILE_IN_USE_CODE: Final = 21
_PROFILE_GRACE: Final = 3.0

_FLAGS: Final = (
    # a browser that nobody sits at: no first-run questions, no stray window, nothing asked of a desktop
    "--no-first-run",
    "--no-default-browser-check",
    "--no-startup-window",
    "--disable-search-engine-choice-screen",
    "--disable-popup-blocking",
    "--disable-prompt-on-repost",
    "--disable-hang-monitor",
    "--password-store=basic",
    "--use-mock-keychain",
    # no traffic of its own
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-component-extensions-with-background-pages",
    "--disable-sync",
    "--metrics-recording-only",
    # every page runs at full speed, and a document that was left is gone
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-back-forward-cache",
    # containers: small /dev/shm, no GPU
    "--disable-dev-shm-usage",
    "--disable-gpu",
)
_HEADLESS_FLAGS: Final = ("--headless=new", "--hide-scrollbars", "--mute-audio")


@dataclass(frozen=True, slots=True, kw_only=True)
class ChromiumOptions:
    """How to start Chromium."""

    executable: str | os.PathLike[str] | None = None
    """The executable; otherwise as `find_chromium` says."""
    headless: bool = True
    mode: Mode = "auto"
    """``auto`` and ``native`` switch Chromium's own WebMCP on, ``runtime`` and ``off`` leave it off."""
    profile: str | os.PathLike[str] | None = None
    """A folder to keep the profile in, made when it is missing; None for one that is thrown away."""
    proxy: str | None = None
    """``http://host:port`` or ``socks5://host:port``. Chromium takes no credentials here; they are left out."""
    ignore_tls_errors: bool = False
    """Accept any certificate."""
    args: tuple[str, ...] = ()
    """Further arguments; features in them are joined with ours."""
    start_timeout: float = 30.0
    """Seconds in which it must answer."""


class ChromiumEngine(RunningEngine):
    """A running Chromium."""

    name = "chromium"
    _profile: Path | None = None

    async def _reach(self) -> Endpoint | None:
        match = await self._process.find_output(_ENDPOINT)
        return Endpoint(url=match[1]) if match is not None else None

    async def _ask_to_end(self) -> None:
        """By a command: on ``SIGTERM`` Chromium 156 leaves without writing its latest cookies (measured)."""
        from pywebmcp.wire import connect  # loads websockets, which the start must not wait for

        try:
            connection = await connect(self.endpoint.url, timeout=_PROFILE_GRACE, name=self.name)
        except EngineError:
            return await super()._ask_to_end()
        try:
            await connection.send("Browser.close", timeout=_PROFILE_GRACE)
        except EngineError as error:  # it may go before it has answered
            logger.debug("Browser.close: %s", error)
        finally:
            connection.abort()

    def _start_failure(self) -> str:
        in_use = self._process.exit_code == _PROFILE_IN_USE_CODE or _PROFILE_IN_USE.search(self._process.tail())
        if self._profile is not None and in_use:
            return (
                f"the profile {self._profile} is in use by another browser: close that one, or choose another profile="
            )
        return super()._start_failure()


def start_chromium(options: ChromiumOptions | None = None) -> ChromiumEngine:
    """Starts a Chromium without a page and returns at once.

    Raises:
        EngineNotFoundError: there is none.
        EngineStartError: the system cannot run it, or the profile's folder cannot be made.
    """
    options = options or ChromiumOptions()
    executable = find_chromium(options.executable)
    folder = ThrowawayFolder()
    try:
        kept = _kept_profile(options)
        temporary = folder.path / "tmp"
        temporary.mkdir()
        process = EngineProcess(
            [executable, f"--user-data-dir={kept or folder.path / 'profile'}", *_flags(options)],
            name="chromium",
            environment={**os.environ, "TMPDIR": str(temporary)},
        )
    except BaseException:  # boundary: cleans up, then raises it again
        folder.remove()
        raise
    engine = ChromiumEngine(
        executable=executable,
        process=process,
        folder=folder,
        grace=_PROFILE_GRACE if kept is not None else 0.0,
        start_timeout=options.start_timeout,
    )
    engine._profile = kept
    sweep()
    return engine


def _kept_profile(options: ChromiumOptions) -> Path | None:
    if options.profile is None:
        return None
    profile = Path(options.profile).expanduser().absolute()
    try:
        profile.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        raise EngineStartError(f"the profile {profile} cannot be made: {error.strerror or error}") from error
    return profile


def _flags(options: ChromiumOptions) -> list[str]:
    enabled = list(WEBMCP_FEATURES) if options.mode in ("auto", "native") else []
    disabled = list(_DISABLED_FEATURES)
    further: list[str] = []
    for argument in options.args:  # Chromium heeds only the last switch of a name
        name, _, value = argument.partition("=")
        if name == "--enable-features":
            enabled += value.split(",")
        elif name == "--disable-features":
            disabled += value.split(",")
        else:
            further.append(argument)
    flags = ["--remote-debugging-port=0", *_FLAGS]
    if options.headless:
        flags += _HEADLESS_FLAGS
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        flags.append("--no-sandbox")  # Chromium refuses to run as root with its sandbox
    if options.proxy is not None:
        flags.append(f"--proxy-server={_without_credentials(options.proxy)}")
    if options.ignore_tls_errors:
        flags.append("--ignore-certificate-errors")
    if enabled:
        flags.append(f"--enable-features={','.join(enabled)}")
    return [*flags, f"--disable-features={','.join(disabled)}", *further]


def _without_credentials(proxy: str) -> str:
    if "://" not in proxy:
        return proxy
    parts = urlsplit(proxy)
    return urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))

"""Starting an engine, or connecting to one that runs."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn, get_args

from pywebmcp.browser._calls import CallHooks
from pywebmcp.errors import EngineError, EngineNotFoundError, EngineStartError, ProtocolError, UnsupportedError
from pywebmcp.types import EngineInfo, Mode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
    from types import TracebackType

    from pywebmcp.browser._browser import Browser, BrowserSetup
    from pywebmcp.browser._dialogs import DialogPolicy
    from pywebmcp.engines import RunningEngine
    from pywebmcp.types import StorageState
    from pywebmcp.wire import Connection

__all__ = ["Launcher", "connect", "launch"]

log = logging.getLogger("pywebmcp.browser")

Engine = Literal["lightpanda", "chromium", "auto"]
"""Which engine to start; see `launch`."""

CALL_TIMEOUT = 600.0
LIGHTPANDA_PROBE = "LP.getMarkdown"
METHOD_NOT_FOUND = -32601


class Launcher:
    """A browser about to be there: ``async with launch() as browser`` or ``browser = await launch()``."""

    def __init__(self, start: Callable[[], Awaitable[Browser]]) -> None:
        self._start = start
        self._browser: Browser | None = None

    def __await__(self) -> Generator[Any, None, Browser]:
        return self._start().__await__()

    async def __aenter__(self) -> Browser:
        self._browser = await self._start()
        return self._browser

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(
            f"no browser yet, so no {name!r}: `async with launch() as browser:` or `browser = await launch()` "
            "(the blocking twin is pywebmcp.sync)"
        )

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._browser:
            await self._browser.close()


def launch(
    engine: Engine | str = "auto",
    *,
    mode: Mode | Literal["polyfill"] = "auto",
    executable: str | Path | None = None,
    headless: bool = True,
    profile: str | Path | None = None,
    storage_state: StorageState | str | Path | None = None,
    headers: Mapping[str, str] | None = None,
    user_agent: str | None = None,
    proxy: str | None = None,
    dialogs: DialogPolicy = "dismiss",
    call_timeout: float | None = CALL_TIMEOUT,
    hooks: CallHooks | None = None,
    load: Sequence[Literal["image", "stylesheet", "worker"]] = (),
    block_private_networks: bool = False,
    obey_robots: bool = False,
    ignore_tls_errors: bool = False,
    args: Sequence[str] = (),
) -> Launcher:
    """Starts a browser.

    Args:
        engine: ``"lightpanda"`` (embedded), ``"chromium"``, or ``"auto"``: Lightpanda, unless other options need a
            Chromium, or there is no Lightpanda for this machine; the log then says which Chromium it is.
        mode: ``"auto"`` takes the browser's own model context where it is complete and ours otherwise,
            ``"native"`` injects nothing (Chromium), ``"runtime"`` (or ``"polyfill"``) always uses ours, ``"off"``
            hides WebMCP from scripts.
        executable: The engine's executable. Default: ``PYWEBMCP_LIGHTPANDA``, the wheel's, or on the PATH;
            ``PYWEBMCP_CHROMIUM`` or the usual names.
        headless: False shows a window (Chromium).
        profile: A folder that keeps cookies (and all else, on Chromium) from one launch to the next.
        storage_state: Cookies and ``localStorage`` to start with: Playwright's form, as a mapping or a file.
        headers: Sent with every request.
        user_agent: Replaces the engine's own.
        proxy: For example ``"http://user:password@127.0.0.1:3128"``.
        dialogs: How JavaScript dialogs are answered: ``"dismiss"``, ``"accept"``, or a hook that is asked
            (sync or async, given a `Dialog`, returns True, False or the text of a prompt; Chromium only).
        call_timeout: Seconds that a call may take unless it says otherwise; None waits for ever.
        hooks: What runs before and after every call.
        load: Sub-resources that Lightpanda loads besides frames: ``"worker"``, ``"stylesheet"``, ``"image"``.
        block_private_networks: Refuses private addresses after name resolution (Lightpanda).
        obey_robots: Obeys ``robots.txt`` (Lightpanda).
        ignore_tls_errors: Accepts any certificate.
        args: More arguments for the engine's command line.

    Raises:
        EngineNotFoundError: there is no such engine here; the message says how to get it.
        EngineStartError: it did not come up.
        UnsupportedError: the engine that was asked for lacks one of the options.
    """
    chosen: Mode = "runtime" if mode == "polyfill" else mode
    if chosen not in get_args(Mode):
        raise ValueError(f"mode={mode!r}: one of {', '.join(get_args(Mode))}")
    if engine not in get_args(Engine):
        raise ValueError(f"engine={engine!r}: one of {', '.join(get_args(Engine))}; connect() takes addresses")

    async def start() -> Browser:
        running = _spawn(
            engine,
            executable=executable,
            headless=headless,
            profile=Path(profile) if profile else None,
            mode=chosen,
            proxy=proxy,
            load=load,
            block_private_networks=block_private_networks,
            obey_robots=obey_robots,
            ignore_tls_errors=ignore_tls_errors,
            args=args,
        )
        try:
            # The engine comes up while these are imported.
            from pywebmcp.browser._browser import BrowserSetup
            from pywebmcp.browser._storage import load_state
            from pywebmcp.wire import connect as dial

            endpoint = await running.ready()

            async def dial_engine() -> Connection:
                return await dial(endpoint.url, unix=endpoint.unix, name=running.name)

            return await _begin(
                dial_engine,
                BrowserSetup(
                    mode=chosen,
                    hooks=hooks or CallHooks(),
                    dialogs=dialogs,
                    call_timeout=call_timeout,
                    headers=headers,
                    user_agent=user_agent,
                    storage_state=load_state(storage_state) if storage_state else None,
                    cookie_file=Path(profile) / "pywebmcp-cookies.json" if profile else None,
                ),
                running,
            )
        except BaseException:  # boundary: cleans up, then raises it again
            await running.close()
            raise

    return Launcher(start)


def connect(
    endpoint: str,
    *,
    mode: Mode | Literal["polyfill"] = "auto",
    headers: Mapping[str, str] | None = None,
    storage_state: StorageState | str | Path | None = None,
    dialogs: DialogPolicy = "dismiss",
    call_timeout: float | None = CALL_TIMEOUT,
    hooks: CallHooks | None = None,
) -> Launcher:
    """Connects to a browser that runs; closing leaves it running and closes the pages that we opened.

    Args:
        endpoint: ``"ws://…"``, or ``"http://host:port"`` of its debugging port.
        mode: As for `launch`.
        headers: As for `launch`.
        storage_state: As for `launch`.
        dialogs: As for `launch`.
        call_timeout: As for `launch`.
        hooks: As for `launch`.

    Raises:
        EndpointRefusedError: nothing usable answers there.
    """
    chosen: Mode = "runtime" if mode == "polyfill" else mode

    async def start() -> Browser:
        from pywebmcp.browser._browser import BrowserSetup
        from pywebmcp.browser._storage import load_state
        from pywebmcp.engines import resolve_endpoint
        from pywebmcp.wire import connect as dial

        resolved = await resolve_endpoint(endpoint)

        async def dial_endpoint() -> Connection:
            return await dial(resolved.url, unix=resolved.unix)

        setup = BrowserSetup(
            mode=chosen,
            hooks=hooks or CallHooks(),
            dialogs=dialogs,
            call_timeout=call_timeout,
            headers=headers,
            storage_state=load_state(storage_state) if storage_state else None,
        )
        return await _begin(dial_endpoint, setup, None)

    return Launcher(start)


def _spawn(
    engine: str,
    *,
    executable: str | Path | None,
    headless: bool,
    profile: Path | None,
    mode: Mode,
    proxy: str | None,
    load: Sequence[Literal["image", "stylesheet", "worker"]],
    block_private_networks: bool,
    obey_robots: bool,
    ignore_tls_errors: bool,
    args: Sequence[str],
) -> RunningEngine:
    from pywebmcp import engines

    def lightpanda() -> RunningEngine:
        return engines.start_lightpanda(
            engines.LightpandaOptions(
                executable=executable,
                resources=tuple(load),
                block_private_networks=block_private_networks,
                obey_robots=obey_robots,
                ignore_tls_errors=ignore_tls_errors,
                proxy=proxy,
                args=tuple(args),
            )
        )

    def chromium() -> RunningEngine:
        return engines.start_chromium(
            engines.ChromiumOptions(
                executable=executable,
                headless=headless,
                profile=profile,
                mode=mode,
                ignore_tls_errors=ignore_tls_errors,
                proxy=proxy,
                args=tuple(args),
            )
        )

    needs_chromium = [
        name for name, given in (("headless=False", not headless), ("mode='native'", mode == "native")) if given
    ]
    needs_lightpanda = [
        name
        for name, given in (
            ("load=", load),
            ("block_private_networks=True", block_private_networks),
            ("obey_robots=True", obey_robots),
        )
        if given
    ]
    if engine == "lightpanda" and needs_chromium:
        raise UnsupportedError(f"Lightpanda has no {needs_chromium[0]}: use engine='chromium'")
    if engine == "chromium" or needs_chromium:
        if needs_lightpanda:
            raise UnsupportedError(f"Chromium has no {needs_lightpanda[0]}: use engine='lightpanda'")
        return chromium()
    try:
        return lightpanda()
    except EngineNotFoundError as missing:
        if (
            engine == "lightpanda"
            or needs_lightpanda
            or executable is not None
            or os.environ.get("PYWEBMCP_LIGHTPANDA")
        ):
            raise  # nothing else would do
        try:
            running = chromium()
        except EngineNotFoundError as error:
            raise EngineNotFoundError(f"{missing.message}; and {error.message}") from None
        log.warning("there is no lightpanda here: using the installed Chromium at %s", running.executable)
        return running


async def _begin(
    dial: Callable[[], Awaitable[Connection]], setup: BrowserSetup, running: RunningEngine | None
) -> Browser:
    from pywebmcp.browser._browser import Browser

    connection = await dial()
    try:
        told = await connection.send("Browser.getVersion")
        product = str(told.get("product", ""))
        version = product.partition("/")[2]
        if running:
            info = EngineInfo(
                name=running.name, version=_own_version(running.name) or version, executable=running.executable
            )
        else:
            info = EngineInfo(name=await _family(connection), version=version)
        browser = Browser(connection, info, setup, engine=running, dial=dial)
        if running and info.name == "chromium":
            await browser._watch_popups()
        return browser
    except EngineError as error:
        await connection.close()
        if running and not isinstance(error, EngineStartError):
            raise EngineStartError(f"the engine came up and then failed: {error.message}") from error
        raise
    except BaseException:  # boundary: cleans up, then raises it again
        await connection.close()
        raise


def _own_version(name: str) -> str | None:
    """Lightpanda tells the version of a Chrome that it resembles; its wheel knows its own."""
    if name != "lightpanda":
        return None
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("lightpanda")
    except PackageNotFoundError:
        return None


async def _family(connection: Connection) -> str:
    """Which engine answers at an endpoint: Lightpanda calls itself a Chrome, but has a domain of its own."""
    try:
        await connection.send(LIGHTPANDA_PROBE, timeout=5)
    except ProtocolError as error:
        return "chromium" if error.number == METHOD_NOT_FOUND else "lightpanda"
    return "lightpanda"

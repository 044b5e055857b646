"""An engine started (or joined) and PAGE opened in it, for as long as a command needs them."""

from __future__ import annotations

import os
import sys
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pywebmcp.cli._exits import UsageError
from pywebmcp.cli._target import read_target
from pywebmcp.cli._text import one_line

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from pywebmcp.browser import Browser, Page
    from pywebmcp.cli._parser import Options
    from pywebmcp.cli._progress import Progress
    from pywebmcp.cli._serve import FolderServer
    from pywebmcp.cli._target import Target

__all__ = ["OPEN_TIMEOUT", "Opened", "opened", "opened_browser"]

OPEN_TIMEOUT = 30.0
"""Seconds that opening a page may take unless ``--timeout`` says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """An open page."""

    browser: Browser
    page: Page
    server: FolderServer | None
    """The local server, when PAGE is a file or a folder."""


@asynccontextmanager
async def opened_browser(options: Options) -> AsyncGenerator[Browser]:
    """Starts the engine of ``--engine``, or connects to it; ends it (or only our pages) afterwards.

    Raises:
        UsageError: ``--headed`` where there is no display.
        EngineError: it did not start.
    """
    if options.headed and sys.platform == "linux" and not any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY"))):
        raise UsageError("no display: set DISPLAY, or leave --headed out")
    from pywebmcp.browser import connect, launch

    engine = options.engine
    if engine.endpoint:
        launcher = connect(engine.endpoint, mode=options.mode, dialogs=options.dialogs)
    else:
        launcher = launch(
            engine.name,
            mode=options.mode,
            executable=engine.executable,
            headless=not options.headed,
            profile=options.profile,
            proxy=options.proxy,
            dialogs=options.dialogs,
        )
    async with launcher as browser:
        yield browser


@asynccontextmanager
async def opened(
    options: Options,
    progress: Progress,
    *,
    target: Target | None = None,
    timeout: float = OPEN_TIMEOUT,
    prepare: Callable[[Page], object] | None = None,
) -> AsyncGenerator[Opened]:
    """Opens PAGE.

    Args:
        options: The command line.
        progress: Told of each step.
        target: What PAGE means, when it was read already.
        timeout: Seconds that opening the page may take.
        prepare: Called with the page before it is opened.

    Raises:
        UsageError: PAGE names nothing, or ``--headed`` where there is no display.
        WebMCPError: the engine did not start, or the page could not be opened.
    """
    target = target or read_target(options.page or "")
    async with AsyncExitStack() as stack:
        server: FolderServer | None = None
        progress.step(f"starting {options.engine.endpoint or options.engine.name}")
        browser = await stack.enter_async_context(opened_browser(options))
        url = target.url
        if target.folder is not None:
            from pywebmcp.cli._serve import serve

            server = await stack.enter_async_context(serve(target.folder))
            url = server.origin + target.path
        assert url is not None
        progress.step(f"opening {one_line(url, 200)}")
        if prepare:
            page = await browser.new_page()
            prepare(page)
            await page.goto(url, timeout=timeout)
        else:
            page = await browser.open(url, timeout=timeout)
        yield Opened(browser=browser, page=page, server=server)

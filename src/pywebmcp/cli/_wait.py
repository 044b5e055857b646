"""Waiting for the tools that a command is about."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pywebmcp.errors import NotExposedError, ToolNotFoundError, UnsupportedError
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from pywebmcp.browser import Page
    from pywebmcp.cli._parser import Options
    from pywebmcp.types import Tool

__all__ = ["CALL_WAIT", "LIST_WAIT", "found_soon", "listed", "none_chosen", "waited"]

LIST_WAIT = 3.0
"""Seconds that a listing waits for a first tool (then for 250 ms of quiet)."""
CALL_WAIT = 10.0
"""Seconds that a call waits for its tool."""
SETTLED = 2.0
"""Seconds without a new tool after which a page that has others will not get the one that is waited for."""


async def found_soon(page: Page, name: str, *, frame: str | None, origin: str | None) -> Tool:
    """The tool of that name: waits `CALL_WAIT`, but not for a page whose tools are there and stay as they are.

    Raises:
        ToolNotFoundError: it did not come; other errors as `Page.wait_for_tool` has them.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    before = {tool.ref for tool in await page.tools()}
    while True:
        left = CALL_WAIT - (loop.time() - started)
        try:
            return await page.wait_for_tool(name, max(min(SETTLED, left), 0), frame=frame, origin=origin)
        except (ToolNotFoundError, UnsupportedError, NotExposedError) as error:
            now = {tool.ref for tool in await page.tools()}
            if left <= SETTLED or (now and now <= before):
                error.args = (f"{error.message} (waited {loop.time() - started:.0f} s)",)
                raise
            before = now


async def waited(page: Page, options: Options) -> list[Tool]:
    """The tools that ``--frame`` and ``--origin`` choose, after the wait that ``--wait`` and ``--wait-for`` ask for.

    Raises:
        ToolNotFoundError: there is no such frame, or ``--wait-for`` names a tool that did not come.
    """
    loop = asyncio.get_running_loop()
    wait = options.wait
    if options.wait_for:
        limit = CALL_WAIT if wait is None else wait
        await page.wait_for_tool(options.wait_for, limit, frame=options.frame, origin=options.origin)
        return listed(page, await page.tools(), options)
    limit = LIST_WAIT if wait is None else wait
    if limit == 0:
        return listed(page, await page.tools(), options)
    end = loop.time() + limit
    async with page.events() as events:
        while True:
            tools = await page.wait_for_tools(max(end - loop.time(), 0))
            left = end - loop.time()
            try:
                chosen = listed(page, tools, options)
            except ToolNotFoundError:  # the frame may come later
                if left <= 0:
                    raise
                chosen = []
            if chosen or left <= 0 or (options.frame is None and options.origin is None):
                return chosen
            try:
                async with asyncio.timeout(left):
                    await anext(events)
            except (TimeoutError, StopAsyncIteration):
                pass


def listed(page: Page, tools: list[Tool], options: Options) -> list[Tool]:
    """Those of the tools that ``--frame`` and ``--origin`` choose."""
    if options.origin is not None:
        tools = [tool for tool in tools if tool.origin == options.origin]
    if options.frame is not None:
        frames = page.frames
        for wanted in ("id", "name", "url"):
            ids = {frame.id for frame in frames if getattr(frame, wanted) == options.frame}
            if ids:
                return [tool for tool in tools if tool.frame.id in ids]
        raise ToolNotFoundError(f"there is no frame {quote(options.frame)}", available=[tool.name for tool in tools])
    return tools


def none_chosen(tools: list[Tool], options: Options) -> str | None:
    """What to say where these are the tools of the page and ``--frame`` and ``--origin`` choose none of them."""
    if not tools or (options.frame is None and options.origin is None):
        return None
    where = f" of origin {quote(options.origin)}" if options.origin is not None else ""
    where += f" in frame {quote(options.frame)}" if options.frame is not None else ""
    text = f"{len(tools)} tool{'s' if len(tools) > 1 else ''}, none{where}"
    if options.origin is not None:
        origins = list(dict.fromkeys(tool.origin for tool in tools))
        text += f"; there are tools of {', '.join(map(quote, origins[:8]))}"
    return text

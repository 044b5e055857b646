"""Waiting for the tools that a command is about."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pywebmcp.errors import ToolNotFoundError
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from pywebmcp.browser import Page
    from pywebmcp.cli._parser import Options
    from pywebmcp.types import Tool

__all__ = ["CALL_WAIT", "LIST_WAIT", "listed", "waited"]

LIST_WAIT = 3.0
"""Seconds that a listing waits for a first tool (then for 250 ms of quiet)."""
CALL_WAIT = 10.0
"""Seconds that a call waits for its tool."""


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

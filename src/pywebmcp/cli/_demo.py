"""``webmcp demo``: a bundled page, its tools, one call, and what to try next; in one screen."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from pywebmcp.cli._exits import DONE
from pywebmcp.cli._open import opened
from pywebmcp.cli._output import Style, emit, emit_json
from pywebmcp.cli._progress import Progress
from pywebmcp.cli._target import DEMO, DEMO_PAGE, Target
from pywebmcp.cli._text import harmless, one_line
from pywebmcp.cli._tools import screen_width
from pywebmcp.cli._typed import typed_as

if TYPE_CHECKING:
    from pywebmcp.cli._open import Opened
    from pywebmcp.cli._parser import Options
    from pywebmcp.types import Tool, ToolResult

__all__ = ["tour"]

_TOOL = "search_teas"
_ARGUMENTS = {"kind": "green", "max_price": 20}


async def tour(options: Options) -> int:
    """Lists the demo page's tools and calls one."""
    started = time.perf_counter()
    with Progress() as progress:
        async with opened(options, progress, target=Target(folder=DEMO_PAGE)) as opening:
            page = opening.page
            await page.wait_for_tool(_TOOL)
            tools = await page.wait_for_tools(quiet=0.02)
            result = await page.call(_TOOL, _ARGUMENTS)
            seconds = time.perf_counter() - started
            progress.clear()
            if options.json:
                from pywebmcp.cli._shapes import listing_json, result_json

                emit_json({**listing_json(opening.browser, page, tools), "call": result_json(result)})
            else:
                emit("\n".join(_screen(opening, tools, result, seconds)))
    return DONE


def _screen(opening: Opened, tools: list[Tool], result: ToolResult, seconds: float) -> list[str]:
    from pywebmcp.cli._listing import hints

    style, width = Style(sys.stdout), min(screen_width(), 110)
    place = str(DEMO_PAGE) if os.path.lexists(DEMO) else DEMO
    engine = opening.browser.engine
    lines = [f"A tea shop on a page of its own, with tools for agents. {style.bold('What are they?')}", ""]
    lines.append(style.cyan(f"$ {typed_as('tools', place)}"))
    column = max(len(tool.name) for tool in tools)
    for tool in tools:
        said = [word for word in hints(tool) if word != "changes things"]
        nature = f" [{', '.join(said)}]" if said else ""
        text = one_line(tool.description, width - column - 4 - len(nature))
        lines.append(f"  {style.bold(tool.name.ljust(column))}  {text}{style.dim(nature)}")
    pairs = [word for name, value in _ARGUMENTS.items() for word in ("-a", f"{name}={value}")]
    lines += ["", f"{style.bold('Call one')}, with arguments typed by its schema:", ""]
    lines.append(style.cyan(f"$ {typed_as('call', place, _TOOL, *pairs)}"))
    lines += [f"  {one_line(harmless(result.text), width - 2)}", ""]
    lines.append(
        f"All of it, with the start of {engine.name} {engine.version}: {seconds * 1000:.0f} ms "
        f"(the call: {result.duration * 1000:.1f} ms)."
    )
    lines += ["", style.bold("Try next")]
    tries = [
        (typed_as("call", place, "add_to_cart", "-a", "tea=sencha", "--json"), "as JSON"),
        (typed_as("call", place, "add_to_cart", "-a", "tea=coal"), "checked before the call"),
        (typed_as("tools", "https://your.site/"), "your own page"),
        (typed_as("doctor"), "which engines there are"),
    ]
    for command, about in tries:
        fits = len(command) + len(about) + 6 <= width
        lines.append(f"  {style.cyan(command)}" + (style.dim(f"  # {about}") if fits else ""))
    return lines

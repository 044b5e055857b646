"""``webmcp tools PAGE``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from pywebmcp.cli._exits import DONE
from pywebmcp.cli._open import OPEN_TIMEOUT, opened
from pywebmcp.cli._output import Style, emit, emit_json, is_terminal, note
from pywebmcp.cli._progress import Progress
from pywebmcp.cli._typed import typed_as
from pywebmcp.cli._wait import none_chosen, waited

if TYPE_CHECKING:
    from pywebmcp.cli._open import Opened
    from pywebmcp.cli._parser import Options
    from pywebmcp.types import Tool

__all__ = ["list_tools", "screen_width"]

NO_CONTEXT = 3


async def list_tools(options: Options) -> int:
    """Prints the tools of the page; 3 when its document has no usable model context and nothing is listed."""
    with Progress() as progress:
        async with opened(options, progress, timeout=options.timeout or OPEN_TIMEOUT) as open_page:
            progress.step(f"waiting for {options.wait_for or 'a first tool'}")
            tools = await waited(open_page.page, options)
            hidden = None if tools else none_chosen(await open_page.page.tools(), options)
            progress.clear()
            return _print(open_page, tools, options, hidden)


def _print(opened: Opened, tools: list[Tool], options: Options, hidden: str | None) -> int:
    from pywebmcp.cli._shapes import listing_json

    page = opened.page
    surface = page.surface
    if options.json:
        emit_json(listing_json(opened.browser, page, tools))
    engine = opened.browser.engine
    if tools:
        if not options.json:
            from pywebmcp.cli._listing import listing

            count = f"{len(tools)} tool{'s' if len(tools) > 1 else ''}"
            note(f"{count} of {page.url} ({engine.name} {engine.version}, {surface.kind})\n")
            emit(listing(tools, Style(sys.stdout), screen_width()))
        return DONE
    for line in [hidden] if hidden else _no_tools(opened, options):
        note(line)
    return NO_CONTEXT if surface.kind == "none" else DONE


def _no_tools(opened: Opened, options: Options) -> list[str]:
    """Why there may be none, in a few lines."""
    surface = opened.page.surface
    lines = [f"no tools: {surface.reason}" if surface.kind == "none" else f"{opened.page.url} registered no tools"]
    if opened.server and opened.server.missing:
        lines.append(f"not found in the folder: {', '.join(opened.server.missing[:8])}")
    if surface.kind != "none":
        lines.append(f"{typed_as('doctor', options.page or '')} looks for the reason; --wait S waits longer")
    return lines


def screen_width() -> int:
    """Columns of the terminal; wide enough for whole sentences where stdout is none."""
    if not is_terminal(sys.stdout):
        return 1000
    import shutil

    return max(shutil.get_terminal_size().columns, 40)

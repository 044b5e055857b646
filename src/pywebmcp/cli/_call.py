"""``webmcp call PAGE TOOL [JSON] [-a key=value]…``."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any

from pywebmcp.cli._exits import DONE, AwaitingSubmissionError
from pywebmcp.cli._open import OPEN_TIMEOUT, opened
from pywebmcp.cli._output import emit, emit_json, is_terminal, note
from pywebmcp.cli._progress import Progress
from pywebmcp.cli._target import read_target
from pywebmcp.cli._values import read_json, read_pairs, typed
from pywebmcp.cli._wait import CALL_WAIT, found_soon
from pywebmcp.errors import CallCanceledError, ToolNotFoundError, WebMCPError
from pywebmcp.types import InvocationStatus
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from pywebmcp.browser import Invocation, Page
    from pywebmcp.cli._parser import Options
    from pywebmcp.types import Tool, ToolResult

__all__ = ["prepare_call"]

FAILED = 1
GLANCE = 0.1
"""Seconds between two looks at whether a form began to wait for a person; nothing announces it."""
YIELD = 1.5
"""Seconds that a page has to hear of a cancel before the command ends without it."""


def prepare_call(options: Options) -> Callable[[Options], Coroutine[Any, Any, int]]:
    """Reads the arguments and PAGE, outside of any event loop: stdin may take its time, and Ctrl-C ends it.

    Returns:
        The command: it calls the tool and prints its result; 1 when the result says ``isError``.

    Raises:
        UsageError: the arguments or PAGE cannot be read.
    """
    text = read_json(options.arguments)
    pairs = read_pairs(options.pairs)
    target = read_target(options.page or "")

    async def call_tool(options: Options) -> int:
        limit = max(options.timeout or 0, OPEN_TIMEOUT)
        with Progress() as progress:
            async with opened(options, progress, target=target, timeout=limit) as opening:
                page = opening.page
                tool = await _find(page, options, progress)
                arguments = _arguments(text, pairs, tool)
                progress.step(f"calling {tool.name}")
                result = await _call(page, tool, arguments, options)
                progress.clear()
                return _print(result, options)

    return call_tool


async def _find(page: Page, options: Options, progress: Progress) -> Tool:
    where: dict[str, Any] = {"frame": options.frame, "origin": options.origin}
    limit = CALL_WAIT if options.wait is None else options.wait
    if options.wait_for:
        progress.step(f"waiting for {options.wait_for}")
        await page.wait_for_tool(options.wait_for, limit, frame=options.frame, origin=options.origin)
    progress.step(f"waiting for {options.tool}")
    try:
        if options.wait is None:
            return await found_soon(page, options.tool, **where)
        if limit == 0:
            return await page.tool(options.tool, **where)
        return await page.wait_for_tool(options.tool, limit, **where)
    except ToolNotFoundError as error:
        from difflib import get_close_matches

        close = [] if options.tool in error.available else get_close_matches(options.tool, error.available, 1)
        error.args = (f"{error}{''.join(f'; did you mean {quote(name)}?' for name in close)}",)
        raise


def _arguments(text: str | None, pairs: list[tuple[str, str]], tool: Tool) -> dict[str, Any] | str | None:
    if not pairs:
        return text
    from pywebmcp.values.deepjson import loads

    base: dict[str, Any] = loads(text, allow_nan=True) if text is not None else {}
    return base | typed(pairs, tool.input_schema)


async def _call(page: Page, tool: Tool, arguments: dict[str, Any] | str | None, options: Options) -> ToolResult:
    timeout: dict[str, Any] = {} if options.timeout is None else {"timeout": options.timeout}
    invocation = await page.invoke(tool, arguments, **timeout)
    outcome = asyncio.ensure_future(invocation.result())
    try:
        while not outcome.done():
            await asyncio.wait({outcome}, timeout=GLANCE)
            if invocation.status is InvocationStatus.AWAITING_SUBMISSION:
                await _stop(page, invocation)
                raise AwaitingSubmissionError(
                    f"the form {quote(tool.name)} is filled in and waits for a person; it was not submitted",
                    tool=tool.name,
                    origin=tool.origin,
                    invocation_id=invocation.id,
                )
        return outcome.result()
    except asyncio.CancelledError:
        # Ctrl-C: the page hears of it before its engine goes.
        await _stop(page, invocation)
        raise CallCanceledError(
            f"interrupted: the call of {quote(tool.name)} was canceled; it may have had effects",
            tool=tool.name,
            origin=tool.origin,
            invocation_id=invocation.id,
        ) from None
    finally:
        outcome.cancel()
        if outcome.done() and not outcome.cancelled():
            outcome.exception()  # told already


async def _stop(page: Page, invocation: Invocation) -> None:
    try:
        async with asyncio.timeout(YIELD):
            await invocation.cancel()
            # The page answers in order: when it answers this, its listeners have heard of the cancel.
            await page.evaluate("0", timeout=YIELD)
    except (WebMCPError, TimeoutError):
        pass


def _print(result: ToolResult, options: Options) -> int:
    if options.json:
        from pywebmcp.cli._shapes import result_json

        emit_json(result_json(result))
    else:
        text = result.text
        if is_terminal(sys.stdout):
            from pywebmcp.cli._text import harmless

            text = harmless(text)
        emit(text)
    for dialog in result.dialogs:
        note(
            f"the page asked ({dialog.type}): {quote(dialog.message)}: {'accepted' if dialog.accepted else 'dismissed'}"
        )
    if result.navigated:
        note("the form led to another page")
    if result.is_error:
        note(f"the tool {quote(result.tool)} says that it failed")
        return FAILED
    return DONE

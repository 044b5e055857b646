"""Running a command to its end, or to its interruption: nothing of it outlives the process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING

from pywebmcp.cli._exits import UsageError, exit_code
from pywebmcp.cli._output import note, report
from pywebmcp.errors import WebMCPError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from typing import Any

    from pywebmcp.cli._parser import Options

__all__ = ["CLEANUP", "run"]

PATIENCE = 0.5
"""Seconds before a person is told that the end takes a moment."""
CLEANUP = 8.0
"""Seconds that an interrupted command has to cancel the page's work and to end its engine."""


def run(command: Callable[[Options], Coroutine[Any, Any, int]], options: Options) -> int:
    """Runs a command in an event loop of its own.

    The first SIGINT (Ctrl-C), SIGTERM or SIGHUP cancels it: the page's work is canceled, the engine ends. The second
    one, or `CLEANUP` seconds, ends the process at once (engines follow it by their own death signal).

    Returns:
        The exit code; 128 and the signal's number after an interruption.
    """
    return asyncio.run(_supervise(command, options))


async def _supervise(command: Callable[[Options], Coroutine[Any, Any, int]], options: Options) -> int:
    loop = asyncio.get_running_loop()
    work = loop.create_task(command(options), name=f"webmcp {options.command}")
    received: list[int] = []

    def interrupt(number: int) -> None:
        received.append(number)
        if len(received) > 1:
            _force(number)
        loop.call_later(PATIENCE, note, "interrupted: the page's work is being canceled; once more ends it at once")
        loop.call_later(CLEANUP, _force, number)
        work.cancel()

    _listen(loop, interrupt)
    error: WebMCPError | UsageError | None = None
    code = 0
    try:
        code = await work
    except (WebMCPError, UsageError) as failure:
        error, code = failure, exit_code(failure)
    except asyncio.CancelledError:
        if not received:
            raise
    if received:
        code = 128 + received[0]
        if error is None:
            note("interrupted")
    if error is not None:
        report(error, as_json=options.json)
    return code


def _listen(loop: asyncio.AbstractEventLoop, interrupt: Callable[[int], None]) -> None:
    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is None or signal.getsignal(number) is signal.SIG_IGN:  # nohup
            continue
        try:
            loop.add_signal_handler(number, interrupt, number)
        except (NotImplementedError, RuntimeError, ValueError):
            return  # Windows, or not the main thread: asyncio.run turns Ctrl-C into a cancel by itself


def _force(number: int) -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(128 + number)

"""A line on the terminal that says what is being waited for, once that takes longer than a second."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Self

from pywebmcp.cli._output import is_terminal
from pywebmcp.cli._text import one_line

if TYPE_CHECKING:
    from types import TracebackType

__all__ = ["Progress"]

PATIENCE = 1.0
"""Seconds before anything is shown."""
BEAT = 0.1
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


class Progress:
    """Shows the current step on stderr when that is a terminal; erased when its ``with`` block ends."""

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._step = ""
        self._shown = False

    def step(self, text: str) -> None:
        """What happens now, for example ``"opening https://shop.example/"``; the second starts anew."""
        self.clear()
        self._step = text
        if is_terminal(sys.stderr):
            if self._task:
                self._task.cancel()
            self._task = asyncio.get_running_loop().create_task(self._show(), name="pywebmcp cli progress")

    def clear(self) -> None:
        """Erases the line, for example before something else is written."""
        if self._shown:
            self._shown = False
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()

    async def _show(self) -> None:
        await asyncio.sleep(PATIENCE)
        import shutil

        seconds = PATIENCE
        while True:
            for frame in _FRAMES:
                width = shutil.get_terminal_size().columns - 1
                line = one_line(f"{frame} {self._step} … {seconds:.0f} s", max(width, 10))
                sys.stderr.write(f"\r\x1b[K{line}")
                sys.stderr.flush()
                self._shown = True
                await asyncio.sleep(BEAT)
                seconds += BEAT

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task:
            self._task.cancel()
        self.clear()

"""A handle on one call of one tool."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from pywebmcp.types import InvocationStatus

if TYPE_CHECKING:
    from collections.abc import Callable

    from pywebmcp.context import Run
    from pywebmcp.types import ToolResult

__all__ = ["Invocation"]


class Invocation:
    """One call on its way, made by `Page.invoke`. It settles exactly once, whether anybody waits for it or not."""

    def __init__(self, run: Run, task: asyncio.Task[ToolResult], cancel: Callable[[Run], None]) -> None:
        self._run = run
        self._task = task
        self._cancel = cancel
        # Nobody is obliged to fetch the outcome: its error must not be reported as forgotten.
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    @property
    def id(self) -> str:
        """Unique in the page; errors and events carry it."""
        return self._run.id

    @property
    def tool(self) -> str:
        """The tool's name."""
        return self._run.registration.name

    @property
    def status(self) -> InvocationStatus:
        """Where it stands now."""
        return self._run.status

    def done(self) -> bool:
        """True once it has settled."""
        return self._task.done()

    async def result(self) -> ToolResult:
        """Waits for the outcome; can be asked for any number of times.

        Cancelling the task that waits here leaves the call alone: `cancel` is what ends it.

        Raises:
            WebMCPError: how the call ended when it did not end well.
        """
        return await asyncio.shield(self._task)

    async def cancel(self) -> bool:
        """Cancels the call: the page's signal is aborted, `result` raises `CallCanceledError`.

        Returns:
            True when this ended it, False when it had settled before.
        """
        if self._run.future.done():
            return False
        self._cancel(self._run)
        await asyncio.wait({self._task})
        return self._run.status is InvocationStatus.CANCELED

    def __repr__(self) -> str:
        return f"<Invocation {self.id} of {self.tool!r}: {self.status}>"

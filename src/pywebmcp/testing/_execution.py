"""The answers of a scripted engine: to one command, and to one call of a scripted tool."""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import TYPE_CHECKING, Any

from pywebmcp.testing._tools import ToolFailed
from pywebmcp.values import deepjson

if TYPE_CHECKING:
    from pywebmcp.errors import EngineError
    from pywebmcp.testing._tools import ScriptedTool
    from pywebmcp.wire._session import Done

__all__ = ["Execution", "Reply", "awaited"]

log = logging.getLogger("pywebmcp.testing")


class Reply:
    """The answer to one command; the first one counts."""

    __slots__ = ("_done", "_waiting")

    def __init__(self, done: Done, waiting: set[Reply]) -> None:
        self._done = done
        self._waiting = waiting
        waiting.add(self)

    def settle(self, result: dict[str, Any], error: EngineError | None = None) -> bool:
        """Answers; False when it was answered before."""
        if self not in self._waiting:
            return False
        self._waiting.discard(self)
        self._done(result, error)
        return True

    def fail(self, error: EngineError) -> None:
        """Refuses."""
        self.settle({}, error)


class Execution:
    """One call of one scripted tool; whoever settles it first wins."""

    __slots__ = ("_reply", "number", "task", "tool_name")

    def __init__(self, number: int, tool_name: str, reply: Reply) -> None:
        self.number = number
        self.tool_name = tool_name
        self.task: asyncio.Task[None] | None = None
        self._reply = reply

    def settle(self, answer: str) -> bool:
        """Ends it with an answer as the runtime's host object gives it; False when it had ended before."""
        return self._reply.settle({"result": {"value": answer}})

    def abandon(self, error: EngineError) -> None:
        """Its document is gone."""
        self._reply.fail(error)
        self.stop()

    def stop(self) -> None:
        """Cancels the handler."""
        if self.task:
            self.task.cancel()

    async def run(self, tool: ScriptedTool, arguments: dict[str, Any]) -> None:
        """Runs the handler and answers."""
        try:
            value = await awaited(tool.handler(arguments))
        except ToolFailed as thrown:
            self.settle(_failure("threw", thrown.name, thrown.message, thrown.stack))
            return
        except asyncio.CancelledError:
            self.settle(_failure("threw", "AbortError", "the handler canceled itself"))
            raise
        except Exception as error:  # boundary: it is what the page's callback throws
            log.debug("the handler of %r raised", tool.name, exc_info=True)
            self.settle(_failure("threw", type(error).__name__, str(error)))
            return
        try:
            text = deepjson.dumps(value)
        except (TypeError, ValueError) as error:
            self.settle(_failure("unserializable", type(error).__name__, str(error)))
            return
        self.settle("v" + text)


async def awaited(value: Any) -> Any:
    """What a function gave that may be sync or async."""
    return await value if inspect.isawaitable(value) else value


def _failure(kind: str, name: str, message: str, stack: str | None = None) -> str:
    return "e" + deepjson.dumps({"kind": kind, "name": name, "message": message, "stack": stack})

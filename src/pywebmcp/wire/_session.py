"""The one seam to a browser's protocol: a session that speaks commands and events.

`Session` is implemented by a flat CDP session over a WebSocket (`_connection.py`) and by a Playwright
CDP session (`_playwright.py`). It knows nothing of tools.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from pywebmcp.errors import EngineError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping

__all__ = ["DEFAULT_TIMEOUT", "Done", "Session"]

Done = Callable[[dict[str, Any], EngineError | None], None]
"""Takes how a command ended: its result and None, or ``{}`` and the error."""

DEFAULT_TIMEOUT = 30.0
"""Seconds that a command may take unless the caller says otherwise."""


class Session(Protocol):
    """One conversation with one target (a page, an out-of-process frame, the browser).

    Guarantees of every implementation:

    - Events reach their handlers in the order in which the engine sent them, synchronously in the reader,
      and a command's reply is resolved at its place in that order.
    - When the connection dies, every waiting `send` raises and every ``on_closed`` handler runs, once.
    - A handler that raises is logged and disturbs nobody else.
    """

    @property
    def closed(self) -> bool:
        """True once the connection is gone."""
        ...

    async def send(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        on_reply: Callable[[dict[str, Any]], None] | None = None,
    ) -> dict[str, Any]:
        """Sends a command and returns its result.

        Args:
            method: For example ``"Page.navigate"``.
            params: The command's parameters.
            timeout: Seconds; None waits for as long as the connection lives (the caller has its own deadline).
            on_reply: Called synchronously with the result, before any later event is dispatched.

        Raises:
            ProtocolError: the engine refused the command (``number`` set), or the deadline passed (``number`` None).
            EngineCrashedError: the connection is closed, or closed while waiting.
        """
        ...

    def start(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        on_reply: Callable[[dict[str, Any]], None] | None = None,
    ) -> asyncio.Future[dict[str, Any]]:
        """Like `send` without a deadline: the command is on its way when this returns, the future is its reply.

        Whoever starts a command looks at the future's exception, or awaits it.

        Raises:
            EngineCrashedError: the connection is closed: nothing was sent.
        """
        ...

    def request(self, method: str, params: Mapping[str, Any] | None, done: Done) -> None:
        """Like `start` without a future: the leanest way, for calls.

        Args:
            method: The command.
            params: Its parameters.
            done: Called once, synchronously in the order of the engine's messages, with the result and None, or with
                ``{}`` and the error.

        Raises:
            EngineCrashedError: the connection is closed: nothing was sent.
        """
        ...

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Sends a command whose reply nobody needs; never raises, works inside a cancelled task."""
        ...

    def on(self, method: str, handler: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        """Calls `handler` with the parameters of each such event; returns an idempotent unsubscribe."""
        ...

    def on_closed(self, handler: Callable[[], None]) -> Callable[[], None]:
        """Calls `handler` once when the session ends (at once if it has); returns an idempotent unsubscribe."""
        ...

    def child(self, session_id: str) -> Session:
        """The session that an event ``Target.attachedToTarget`` on this one announced."""
        ...

    def fail(self, why: str) -> None:
        """Ends every command on its way with `EngineCrashedError`: the target died, though its session lives."""
        ...

    def abort(self) -> None:
        """Cuts the connection without a farewell: what ends an engine that answers nothing else."""
        ...

"""A `Session` over the CDP session of a Playwright page: what `pywebmcp.attach` uses.

Playwright is never imported here: the adapter takes the object that ``context.new_cdp_session(page)`` of its async
API returned. Playwright 1.65 and later hand over each message in a turn of the loop of its own, so replies and
events keep their order; earlier versions may hand over an event before the reply that preceded it.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final, Protocol

from pywebmcp.errors import EngineCrashedError, EngineError, ProtocolError, UnsupportedError
from pywebmcp.wire._listeners import Listeners
from pywebmcp.wire._session import DEFAULT_TIMEOUT
from pywebmcp.wire._trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Mapping

    from pywebmcp.wire._session import Done, Session

__all__ = ["PlaywrightCDPSession", "PlaywrightSession"]

logger = logging.getLogger("pywebmcp.wire")

_SERVER_ERROR: Final = -32000
_METHOD_NOT_FOUND: Final = -32601


class PlaywrightCDPSession(Protocol):
    """What the adapter uses of ``playwright.async_api.CDPSession``."""

    def send(self, method: str, params: dict[str, Any] | None = None) -> Coroutine[Any, Any, dict[str, Any]]:
        """Sends a command and returns its result."""
        ...

    def detach(self) -> Coroutine[Any, Any, None]:
        """Ends the session."""
        ...

    def on(self, event: Any, f: Callable[..., None]) -> None:
        """Subscribes to a CDP event, or to ``"close"``."""
        ...

    def remove_listener(self, event: str, f: Callable[..., None]) -> None:
        """Ends a subscription."""
        ...


class PlaywrightSession(Listeners):
    """Implements `Session` over Playwright.

    Args:
        session: What ``context.new_cdp_session(page)`` returned.
        page: The page itself, whose ``close`` and ``crash`` events also end the session; any object with
            ``on`` and ``remove_listener``.
    """

    __slots__ = ("_on_end", "_page", "_session", "_started", "_subscribed", "_tasks", "_trace", "_waiting")

    def __init__(self, session: PlaywrightCDPSession, page: Any | None = None) -> None:
        super().__init__()
        self._session = session
        self._page = page
        self._subscribed: dict[str, Callable[..., None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._started: set[asyncio.Task[dict[str, Any]]] = set()
        self._waiting: set[asyncio.Timeout] = set()
        self._trace = Trace.from_environment("playwright")
        # a plain function: Playwright writes attributes onto the objects of bound methods
        self._on_end: Callable[..., None] = lambda *_: self._ended()
        session.on("close", self._on_end)
        if page is not None:
            page.on("close", self._on_end)
            page.on("crash", self._on_end)

    async def send(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        on_reply: Callable[[dict[str, Any]], None] | None = None,
    ) -> dict[str, Any]:
        """Sends a command and returns its result; see `Session.send`."""
        if self._closed:
            raise _crashed(method)
        if self._trace is not None:
            self._trace.sent(0, method, params, None)
        deadline = asyncio.timeout(timeout)
        try:
            async with deadline:
                self._waiting.add(deadline)
                result = await self._session.send(method, dict(params or {}))
        except TimeoutError:
            if self._closed:
                raise _crashed(method) from None
            raise ProtocolError(f"{method} was not answered within {timeout:g} s", method=method) from None
        except Exception as error:  # boundary: Playwright's error classes cannot be named without importing it
            raise self._translated(method, error) from error
        finally:
            self._waiting.discard(deadline)
        if self._trace is not None:
            self._trace.received({"id": 0, "method": method, "result": result})
        if on_reply is not None:
            try:
                on_reply(result)
            except Exception:  # boundary: as in every session, a faulty callback does not fail the command
                logger.exception("an on_reply callback failed")
        return result

    def start(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        on_reply: Callable[[dict[str, Any]], None] | None = None,
    ) -> asyncio.Future[dict[str, Any]]:
        """Sends a command and returns the future of its result; see `Session.start`."""
        if self._closed:
            raise _crashed(method)
        command = self.send(method, params, timeout=None, on_reply=on_reply)
        task = asyncio.get_running_loop().create_task(command, name="pywebmcp playwright command")
        self._started.add(task)
        task.add_done_callback(self._started.discard)
        return task

    def request(self, method: str, params: Mapping[str, Any] | None, done: Done) -> None:
        """Sends a command and calls `done` with its outcome; see `Session.request`."""

        def ended(reply: asyncio.Future[dict[str, Any]]) -> None:
            error = None if reply.cancelled() else reply.exception()
            if isinstance(error, EngineError):
                done({}, error)

        self.start(method, params, on_reply=lambda result: done(result, None)).add_done_callback(ended)

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Sends a command whose reply nobody needs; never raises."""
        if not self._closed:
            self._start(self._forget(self._session.send(method, dict(params or {}))))

    def on(self, method: str, handler: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        """Calls `handler` with the parameters of each such event; returns an idempotent unsubscribe."""
        if method not in self._subscribed and not self._closed:

            def deliver(params: dict[str, Any] | None = None) -> None:
                if self._trace is not None:
                    self._trace.received({"method": method, "params": params or {}})
                self.emit(method, params or {})

            self._subscribed[method] = deliver
            self._session.on(method, deliver)
        return super().on(method, handler)

    def child(self, session_id: str) -> Session:
        """Always raises: Playwright hands out no nested sessions.

        Raises:
            UnsupportedError: always.
        """
        raise UnsupportedError(
            "a Playwright page gives no access to its out-of-process frames; "
            "use pywebmcp.connect() on the browser's own endpoint for those"
        )

    def fail(self, why: str) -> None:
        """Ends the session: Playwright gives a crashed page no second life."""
        logger.debug("a session of Playwright ends: %s", why)
        self._ended()

    def abort(self) -> None:
        """Ends the session. The browser belongs to Playwright, so its connection stays."""
        if not self._closed:
            self._ended()
            self._start(self._forget(self._session.detach()))

    async def close(self) -> None:
        """Ends the session and waits until Playwright has let go of it. Idempotent."""
        self.abort()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=DEFAULT_TIMEOUT)

    def _ended(self) -> None:
        if not self.end():
            return
        now = asyncio.get_running_loop().time()
        for deadline in self._waiting:
            deadline.reschedule(now)
        self._session.remove_listener("close", self._on_end)
        for method, deliver in self._subscribed.items():
            self._session.remove_listener(method, deliver)
        if self._page is not None:
            self._page.remove_listener("close", self._on_end)
            self._page.remove_listener("crash", self._on_end)
        if self._trace is not None:
            self._trace.close()

    def _translated(self, method: str, error: Exception) -> EngineCrashedError | ProtocolError:
        text = str(error)
        if self._closed or type(error).__name__ == "TargetClosedError" or "has been closed" in text:
            return _crashed(method)
        from pywebmcp.values.quoting import quote

        # Playwright keeps the protocol's number to itself
        number = _METHOD_NOT_FOUND if "wasn't found" in text else _SERVER_ERROR
        return ProtocolError(f"the engine refused {method}: {quote(text, 500)}", method=method, number=number)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work, name="pywebmcp playwright command")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _forget(command: Coroutine[Any, Any, Any]) -> None:
        try:
            async with asyncio.timeout(DEFAULT_TIMEOUT):
                await command
        except Exception:  # boundary: nobody waits for this command
            logger.debug("a posted command failed", exc_info=True)


def _crashed(method: str) -> EngineCrashedError:
    return EngineCrashedError(f"{method}: the Playwright page or its session is closed")

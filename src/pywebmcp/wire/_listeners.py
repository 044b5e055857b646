"""Who listens to a session: handlers of its events and of its end.

Shared by every implementation of `Session`, so that all keep the same promises: handlers run synchronously and
in order, one that raises disturbs nobody else, the end is told once.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Listeners"]

logger = logging.getLogger("pywebmcp.wire")


class Listeners:
    """The handlers of one session, and whether it is over.

    The tuples of handlers are replaced, never changed, so a handler may subscribe and unsubscribe while it runs.
    """

    __slots__ = ("_closed", "_closed_handlers", "_handlers")

    def __init__(self) -> None:
        self._handlers: dict[str, tuple[Callable[[dict[str, Any]], None], ...]] = {}
        self._closed_handlers: tuple[Callable[[], None], ...] = ()
        self._closed = False

    @property
    def closed(self) -> bool:
        """True once the session is over; then nothing is delivered any more."""
        return self._closed

    def on(self, method: str, handler: Callable[[dict[str, Any]], None]) -> Callable[[], None]:
        """Calls `handler` with the parameters of each such event; returns an idempotent unsubscribe."""

        def deliver(params: dict[str, Any]) -> None:
            handler(params)

        self._handlers[method] = (*self._handlers.get(method, ()), deliver)

        def unsubscribe() -> None:
            remaining = tuple(other for other in self._handlers.get(method, ()) if other is not deliver)
            if remaining:
                self._handlers[method] = remaining
            else:
                self._handlers.pop(method, None)

        return unsubscribe

    def on_closed(self, handler: Callable[[], None]) -> Callable[[], None]:
        """Calls `handler` once when the session ends, at once if it has; returns an idempotent unsubscribe."""
        if self._closed:
            _call(handler)
            return _nothing

        def deliver() -> None:
            handler()

        self._closed_handlers = (*self._closed_handlers, deliver)

        def unsubscribe() -> None:
            self._closed_handlers = tuple(other for other in self._closed_handlers if other is not deliver)

        return unsubscribe

    def emit(self, method: str, params: dict[str, Any]) -> None:
        """Hands an event to its handlers, in the order in which they subscribed."""
        for handler in self._handlers.get(method, ()):
            try:
                handler(params)
            except Exception:  # boundary: a faulty handler must not stop the reader or its neighbours
                logger.exception("a handler of %s failed", method)

    def end(self) -> bool:
        """Marks the session as over and tells it; False when it already was."""
        if self._closed:
            return False
        self._closed = True
        self.tell_end()
        return True

    def tell_end(self) -> None:
        """Tells those who wait for the end, and forgets everybody. Only for a session that is marked as over."""
        handlers, self._closed_handlers = self._closed_handlers, ()
        self._handlers.clear()
        for handler in handlers:
            _call(handler)


def _call(handler: Callable[[], None]) -> None:
    try:
        handler()
    except Exception:  # boundary: a faulty handler must not keep the others from hearing of the end
        logger.exception("a handler of a session's end failed")


def _nothing() -> None:
    """The unsubscribe of what was never subscribed."""

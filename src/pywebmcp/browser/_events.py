"""Events of a page: one hub, readers that each have their own bounded buffer, callbacks that can be taken back."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol, Self

from pywebmcp.types import EventsLost

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from pywebmcp.types import PageEvent

__all__ = ["EventHub", "EventStream", "StopSignal", "Subscription"]

log = logging.getLogger("pywebmcp")

BUFFER = 1000
"""Events that a reader may lag behind before the oldest are dropped and told as `EventsLost`."""


class StopSignal(Protocol):
    """What ends a subscription from outside: any `asyncio.Future` or `asyncio.Task` is one."""

    def done(self) -> bool:
        """True once the subscription should be over."""
        ...

    def add_done_callback(self, fn: Callable[[Any], object], /) -> object:
        """Calls `fn` when that happens."""
        ...


class Subscription:
    """Takes a callback back: call it, or leave its ``with`` block. Doing it twice is fine."""

    __slots__ = ("_undo",)

    def __init__(self, undo: Callable[[], None]) -> None:
        self._undo: Callable[[], None] | None = undo

    def __call__(self) -> None:
        """Unsubscribes."""
        undo, self._undo = self._undo, None
        if undo:
            undo()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self()


class EventStream:
    """An async iterator over a page's events from the moment it was made until the page closes.

    ::

        async with page.events() as events:
            async for event in events: ...
    """

    def __init__(self, hub: EventHub) -> None:
        self._hub = hub
        self._buffer: deque[PageEvent] = deque()
        self._lost = 0
        self._wake = asyncio.Event()
        hub.streams.add(self)

    def put(self, event: PageEvent) -> None:
        """Called by the hub."""
        if len(self._buffer) >= BUFFER:
            self._buffer.popleft()
            self._lost += 1
        self._buffer.append(event)
        self._wake.set()

    def end(self) -> None:
        """Called by the hub when the page closes."""
        self._wake.set()

    def close(self) -> None:
        """Stops listening."""
        self._hub.streams.discard(self)
        self._wake.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> PageEvent:
        while True:
            if self._lost:
                lost, self._lost = self._lost, 0
                return EventsLost(count=lost)
            if self._buffer:
                return self._buffer.popleft()
            if self._hub.closed or self not in self._hub.streams:
                raise StopAsyncIteration
            self._wake.clear()
            await self._wake.wait()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class EventHub:
    """Hands each event to every reader and callback, in order, at once."""

    def __init__(self) -> None:
        self.closed = False
        self.streams: set[EventStream] = set()
        self._callbacks: dict[type[Any], dict[object, Callable[[Any], object]]] = {}

    def wants(self, kind: type[Any]) -> bool:
        """Whether anybody would hear an event of that kind."""
        return bool(self.streams) or bool(self._callbacks.get(kind))

    def emit(self, event: PageEvent) -> None:
        """Delivers an event; a callback that raises is logged and disturbs nobody."""
        for stream in self.streams:
            stream.put(event)
        callbacks = self._callbacks.get(type(event))
        if callbacks:
            for callback in list(callbacks.values()):
                try:
                    callback(event)
                except Exception:  # boundary: a listener's fault must not reach the reader of the socket
                    log.exception("a listener for %s failed", type(event).__name__)

    def on(self, kind: type[Any], callback: Callable[[Any], object], signal: StopSignal | None) -> Subscription:
        """Calls `callback` with each event of that kind until it is taken back or `signal` is done."""
        key = object()
        if signal is None or not signal.done():
            self._callbacks.setdefault(kind, {})[key] = callback
        subscription = Subscription(lambda: self._callbacks.get(kind, {}).pop(key, None) and None)
        if signal is not None:
            signal.add_done_callback(lambda _: subscription())
        return subscription

    def close(self) -> None:
        """Ends every reader."""
        self.closed = True
        self._callbacks.clear()
        for stream in list(self.streams):
            stream.end()

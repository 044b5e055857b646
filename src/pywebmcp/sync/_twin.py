"""What every blocking twin is: an async object that lives in the portal's loop, never handed out itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar

from pywebmcp.sync._portal import portal

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from pywebmcp.browser import Subscription

__all__ = ["Twin", "subscription", "within"]

T = TypeVar("T")


class Twin:
    """The blocking view of one async object. Twins of the same object are equal."""

    __slots__ = ("_async", "_portal")

    def __init__(self, inner: Any) -> None:
        self._async: Any = inner
        self._portal = portal()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Twin) and self._async is other._async

    def __hash__(self) -> int:
        return hash(self._async)

    def __repr__(self) -> str:
        return f"<sync {repr(self._async).strip('<>')}>"


def subscription(inner: Subscription) -> Subscription:
    """The same subscription, taken back in the loop's thread."""
    return type(inner)(lambda: portal().call(inner))


async def within(step: Awaitable[T], timeout: float | None) -> T | None:
    """The outcome of a stream's next step; None at its end and when `timeout` seconds have passed."""
    try:
        async with asyncio.timeout(timeout):
            return await step
    except (StopAsyncIteration, TimeoutError):
        return None

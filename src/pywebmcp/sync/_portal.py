"""The bridge from blocking calls to the event loop: one daemon thread a process, in which every browser lives.

A thread of its own, and not the caller's: calls may come from any thread, also from worker threads that end while
their browser lives on, and nothing has to be pumped between two calls for events to arrive.
"""

from __future__ import annotations

import asyncio
import atexit
import logging
import os
import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pywebmcp.errors import CallCanceledError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from pywebmcp.browser import Browser

__all__ = ["Portal", "portal"]

log = logging.getLogger("pywebmcp.sync")

T = TypeVar("T")

CANCEL_WAIT = 5.0
"""Seconds that interrupted work may take to end before the interrupt goes on without it."""
EXIT_WAIT = 15.0
"""Seconds that closing the browsers left open may take at the end of the process."""
SLICE = 0.2
"""Seconds between two looks for Ctrl-C. Waiting for a lock need not notice it by itself: never on Windows, and
elsewhere not where the system hands the signal to another thread."""


class Portal:
    """An event loop in a daemon thread, and the ways into it from other threads."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._browsers: set[Browser] = set()
        self._closed: str | None = None
        self._thread = threading.Thread(target=self._serve, name="pywebmcp.sync", daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            self._loop.run_forever()
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
        finally:
            self._loop.close()

    # --- ways in ---------------------------------------------------------------------------------------------

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine in the loop's thread and waits for its end.

        An exception that interrupts the wait (``KeyboardInterrupt``) cancels the coroutine, and with it the page's
        work, and goes on once that has ended.

        Raises:
            RuntimeError: this thread runs an event loop, which would stand still meanwhile.
        """
        try:
            self._refuse_loops()
        except RuntimeError:
            coroutine.close()
            raise
        return _Work(coroutine).wait(self)

    def call(self, function: Callable[[], T]) -> T:
        """Runs a plain function in the loop's thread, at once when this is that thread (in a callback)."""
        if threading.current_thread() is self._thread:
            return function()
        return _Step(function).wait(self)

    def post(self, function: Callable[[], object]) -> None:
        """Has the loop's thread run a function soon.

        Raises:
            RuntimeError: the loop has ended.
        """
        if self._closed:
            raise RuntimeError(self._closed)
        self._loop.call_soon_threadsafe(function)

    def create_task(self, coroutine: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        """Starts a task; only in the loop's thread."""
        return self._loop.create_task(coroutine)

    def _refuse_loops(self) -> None:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        if threading.current_thread() is self._thread:
            raise RuntimeError(
                "a callback must not wait for the page: it runs in the loop's thread, which would wait for itself; "
                "hand the work to a thread of yours, or write the callback against the async API"
            )
        raise RuntimeError(
            "this thread runs an event loop, which pywebmcp.sync would block: use the async API there "
            "(await page.call(...)), or call from a worker thread (asyncio.to_thread)"
        )

    # --- browsers --------------------------------------------------------------------------------------------

    def launch(self, launcher: Awaitable[Browser]) -> Browser:
        """Starts a browser that is closed at the end of the process, unless it was closed before."""

        async def start() -> Browser:
            browser = await launcher
            self._browsers.add(browser)
            return browser

        return self.run(start())

    def close_browser(self, browser: Browser) -> None:
        """Closes a browser."""
        self.run(browser.close())
        self._browsers.discard(browser)

    # --- the end ---------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Closes what is open and ends the thread; bounded, since a callback of the user's may hold the thread."""
        if self._closed:
            return
        try:
            work = _Work(self._end())
            self.post(lambda: work.start(self))
        finally:
            self._closed = "pywebmcp.sync has ended with its process; it opens nothing any more"
        if work.finished.acquire(timeout=EXIT_WAIT):
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(timeout=1.0)

    async def _end(self) -> None:
        browsers, self._browsers = self._browsers, set()
        for outcome in await asyncio.gather(*(browser.close() for browser in browsers), return_exceptions=True):
            if isinstance(outcome, BaseException):
                log.warning("a browser did not close at the end of the process: %s", outcome)
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        if others:
            await asyncio.wait(others, timeout=2.0)

    def forked(self) -> None:
        """This process is a fork: the thread and the sockets are those of its parent."""
        self._closed = "this process was forked after pywebmcp.sync had begun: launch a browser in it"
        self._browsers.clear()


class _Step(Generic[T]):
    """One function on its way through the loop's thread."""

    __slots__ = ("_function", "error", "finished", "value")

    def __init__(self, function: Callable[[], T]) -> None:
        self._function = function
        self.finished = threading.Lock()
        self.finished.acquire()
        self.value: T
        self.error: BaseException | None = None

    def _run(self) -> None:
        try:
            self.value = self._function()
        except BaseException as error:  # noqa: BLE001 - boundary: it is raised in the thread that asked
            self.error = error
        finally:
            self.finished.release()

    def wait(self, portal: Portal) -> T:
        portal.post(self._run)
        while not self.finished.acquire(timeout=SLICE):
            pass
        if self.error is not None:
            raise self.error
        return self.value


class _Work(Generic[T]):
    """One coroutine on its way through the loop's thread. Its task is owned by the thread that waits for it."""

    __slots__ = ("_coroutine", "_task", "finished")

    def __init__(self, coroutine: Coroutine[Any, Any, T]) -> None:
        self._coroutine = coroutine
        self._task: asyncio.Task[T] | None = None
        self.finished = threading.Lock()
        self.finished.acquire()

    def start(self, portal: Portal) -> None:
        self._task = portal.create_task(self._coroutine)
        self._task.add_done_callback(self._done)

    def _done(self, task: asyncio.Task[T]) -> None:
        # An interrupted wait fetches no outcome: its error must not be reported as forgotten.
        if not task.cancelled():
            task.exception()
        self.finished.release()

    def _cancel(self) -> None:
        if self._task:
            self._task.cancel()
        else:
            self._coroutine.close()
            self.finished.release()

    def _abandon(self, portal: Portal) -> None:
        """Nobody waits for it any more: it has to end."""
        try:
            portal.post(self._cancel)
        except RuntimeError:
            if self._task is None:
                self._coroutine.close()
        else:
            self.finished.acquire(timeout=CANCEL_WAIT)

    def wait(self, portal: Portal) -> T:
        try:
            portal.post(lambda: self.start(portal))
            while not self.finished.acquire(timeout=SLICE):
                pass
        except BaseException:
            self._abandon(portal)
            raise
        task = self._task
        if task is None or task.cancelled():
            raise CallCanceledError("the work was canceled in the loop's thread; it may have had effects")
        return task.result()


_lock = threading.Lock()
_portal: Portal | None = None


def portal() -> Portal:
    """The portal of this process; started when it is first needed."""
    global _portal
    with _lock:
        if _portal is None:
            _portal = Portal()
            atexit.register(_portal.close)
        return _portal


def _forked() -> None:
    global _lock, _portal
    _lock = threading.Lock()
    if _portal is not None:
        atexit.unregister(_portal.close)
        _portal.forked()
        _portal = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)

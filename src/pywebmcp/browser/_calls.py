"""The life of a call: found, checked, sent at most once, bounded in time, stopped in the page, told exactly once."""

from __future__ import annotations

import asyncio
import inspect
import logging
import math
from time import perf_counter
from typing import TYPE_CHECKING, Any

from pywebmcp.browser._invocation import Invocation
from pywebmcp.context import Run
from pywebmcp.errors import (
    CallCanceledError,
    CallTimeoutError,
    EngineError,
    InvalidArgumentsError,
    OutcomeUnknownError,
    WebMCPError,
)
from pywebmcp.types import Dialog, InvocationSettled, InvocationStatus, ToolResult
from pywebmcp.values.arguments import encode_arguments
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pywebmcp.browser._events import EventHub
    from pywebmcp.context import Capabilities, Document, Registration

    BeforeCall = Callable[[str, dict[str, Any]], Any]
    AfterCall = Callable[[str, ToolResult | WebMCPError], Any]

__all__ = ["YIELD_TIMEOUT", "CallHooks", "Calls"]

log = logging.getLogger("pywebmcp.calls")

YIELD_TIMEOUT = 1.0
"""Seconds within which a document has to yield after a cancel, before it is ended (an endless loop)."""


def _status(error: WebMCPError) -> InvocationStatus:
    match error:
        case CallTimeoutError():
            return InvocationStatus.TIMED_OUT
        case CallCanceledError():
            return InvocationStatus.CANCELED
        case _:
            return InvocationStatus.UNKNOWN if error.ran == "unknown" else InvocationStatus.FAILED


class CallHooks:
    """Functions called around every call of a browser's pages, sync or async.

    Args:
        before: Each is called with the tool's name and the arguments, before the call is sent; what it raises
            refuses the call.
        after: Each is called with the tool's name and the `ToolResult` or the error.
    """

    __slots__ = ("after", "before")

    def __init__(self, *, before: Sequence[BeforeCall] = (), after: Sequence[AfterCall] = ()) -> None:
        self.before = tuple(before)
        self.after = tuple(after)


class Calls:
    """All calls of one page.

    Args:
        page_id: Prefix of invocation ids.
        capabilities: The engine's row of the table of browser facts.
        hooks: What runs around every call.
        hub: Takes `InvocationSettled` events.
        abandoned: Told that a call ends early, before the page is told to stop.
    """

    def __init__(
        self,
        page_id: str,
        capabilities: Capabilities,
        hooks: CallHooks,
        *,
        hub: EventHub,
        abandoned: Callable[[], None],
    ) -> None:
        self._prefix = f"{page_id}.i"
        self._capabilities = capabilities
        self._hooks = hooks
        self._hub = hub
        self._abandoned = abandoned
        self._count = 0
        self._running: dict[str, _Deadline] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._asking = 0
        self._paused_at = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = math.inf

    # --- beginning -------------------------------------------------------------------------------------------

    def prepare(self, registration: Registration, arguments: Mapping[str, Any] | str | None, *, validate: bool) -> Run:
        """Checks a call before anything is sent.

        Raises:
            InvalidArgumentsError: the arguments are no JSON object, or break the tool's input schema.
        """
        name = registration.name
        values, text = encode_arguments(arguments, tool=name)
        if validate:
            compiled = registration.compiled
            problems = compiled.check(values) if compiled else ()
            if problems:
                raise InvalidArgumentsError(
                    f"the arguments do not fit the input schema of {quote(name)}: {'; '.join(map(str, problems[:5]))}"
                    + (f" (and {len(problems) - 5} more)" if len(problems) > 5 else ""),
                    problems=problems,
                    tool=name,
                    origin=registration.document.origin,
                )
        self._count += 1
        return Run(f"{self._prefix}{self._count}", registration, values, text)

    def invoke(self, run: Run, timeout: float | None) -> Invocation:
        """Runs a prepared call in a task of its own."""
        task = asyncio.get_running_loop().create_task(self.run(run, timeout), name=f"pywebmcp call {run.id}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return Invocation(run, task, self.cancel)

    # --- running ---------------------------------------------------------------------------------------------

    async def run(self, run: Run, timeout: float | None) -> ToolResult:
        """Sends a prepared call and waits for its one outcome.

        Cancelling the awaiting task cancels the page's work and is not swallowed.
        """
        started = perf_counter()
        document = run.registration.document
        document.runs[run.id] = run
        deadline = self._running[run.id] = self._set_deadline(run, timeout)
        try:
            if self._hooks.before:
                await self._before(run)
            if not run.future.done():  # it may have been canceled, or its document have gone, in a hook
                run.registration.surface.start(run)
                run.sent = True
            decoded = await run.future
        except asyncio.CancelledError:
            run.future.cancel()
            run.status = InvocationStatus.CANCELED
            self._stop(run)
            raise
        except WebMCPError as error:
            run.status = _status(error)
            if not run.future.done():
                run.future.cancel()
                error.about(tool=run.registration.name, origin=document.origin, invocation_id=run.id)
            if self._hooks.after:
                await self._after(run, error)
            raise
        except Exception:  # boundary: a hook of the user's refused the call; its error goes on
            run.future.cancel()
            run.status = InvocationStatus.FAILED
            raise
        else:
            run.status = InvocationStatus.COMPLETED
            result = ToolResult(
                value=decoded.value,
                json=decoded.json,
                json_exact=decoded.json_exact,
                content=decoded.content,
                is_error=decoded.is_error,
                navigated=decoded.navigated,
                decoded_by_guess=decoded.decoded_by_guess,
                dialogs=deadline.dialogs,
                tool=run.registration.name,
                duration=perf_counter() - started,
                invocation_id=run.id,
            )
            if self._hooks.after:
                await self._after(run, result)
            return result
        finally:
            self._running.pop(run.id, None)
            document.runs.pop(run.id, None)
            if self._hub.wants(InvocationSettled):
                self._hub.emit(
                    InvocationSettled(invocation_id=run.id, tool_name=run.registration.name, status=run.status)
                )

    async def _before(self, run: Run) -> None:
        for hook in self._hooks.before:
            answer = hook(run.registration.name, run.arguments)
            if inspect.isawaitable(answer):
                await answer

    async def _after(self, run: Run, outcome: ToolResult | WebMCPError) -> None:
        for hook in self._hooks.after:
            try:
                answer = hook(run.registration.name, outcome)
                if inspect.isawaitable(answer):
                    await answer
            except Exception:  # boundary: an observer's fault must not change the outcome that it observes
                log.exception("a hook after a call failed")

    # --- ending early ----------------------------------------------------------------------------------------

    def expire(self, run: Run, timeout: float) -> None:
        """The deadline passed."""
        name = quote(run.registration.name)
        error = CallTimeoutError(f"the tool {name} did not answer within {timeout:g} s", timeout=timeout)
        self._end_early(run, error)

    def cancel(self, run: Run) -> None:
        """The caller cancels."""
        name = quote(run.registration.name)
        effects = "it may have had effects" if run.sent else "it was not sent"
        self._end_early(run, CallCanceledError(f"the call of {name} was canceled; {effects}"))

    def _end_early(self, run: Run, error: WebMCPError) -> None:
        if not run.sent:
            error.ran = "no"
        if run.fail(error):
            self._stop(run)

    def _stop(self, run: Run) -> None:
        """Tells the page to stop, and ends a document that does not yield."""
        self._abandoned()
        if not run.sent:
            return
        task = asyncio.get_running_loop().create_task(self._stop_work(run))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _stop_work(self, run: Run) -> None:
        document = run.registration.document
        if not document.alive or await run.registration.surface.cancel(run, YIELD_TIMEOUT):
            return
        if not document.alive:
            return
        log.warning(
            "a document of %s did not yield within %g s of a cancel; it is ended", quote(document.origin), YIELD_TIMEOUT
        )
        await self._end(document)

    async def _end(self, document: Document) -> None:
        session = document.session
        why = f"the page did not yield within {YIELD_TIMEOUT:g} s of a cancel and was ended"
        for deadline in list(self._running.values()):
            waiting = deadline.run
            if waiting.registration.document.session is session:
                waiting.fail(OutcomeUnknownError(f"{why} while the tool {quote(waiting.registration.name)} ran"))
        if not self._capabilities.terminates_scripts:
            session.abort()
            return
        try:
            await session.send("Runtime.terminateExecution", timeout=YIELD_TIMEOUT)
        except EngineError:
            # It sits in something that is no script (a synchronous request). The connection is shared with other
            # pages, so it stays; the termination takes effect when the page comes back, and closing it works.
            log.warning("a document of %s does not even yield to a termination; close its page", quote(document.origin))

    # --- dialogs ---------------------------------------------------------------------------------------------

    def report(self, dialog: Dialog) -> None:
        """Adds a dialog to every call that was running when it was open."""
        for deadline in self._running.values():
            deadline.dialogs += (dialog,)

    def asking(self, begun: bool) -> None:
        """While a person is asked, no deadline runs."""
        now = asyncio.get_running_loop().time()
        self._asking += 1 if begun else -1
        if begun and self._asking == 1:
            self._paused_at = now
        elif not begun and self._asking == 0:
            for deadline in self._running.values():
                if deadline.limit is not None and deadline.when < math.inf:
                    begun_at = deadline.when - deadline.limit
                    deadline.when += now - max(self._paused_at, begun_at)
            self._arm(now)

    # --- deadlines -------------------------------------------------------------------------------------------

    def _set_deadline(self, run: Run, limit: float | None) -> _Deadline:
        """One timer serves all calls of the page: a call that ends in time costs no timer of its own."""
        loop = asyncio.get_running_loop()
        when = math.inf if limit is None else loop.time() + limit
        if when < self._timer_at and not self._asking:
            self._set_timer(loop, when)
        return _Deadline(run, limit, when)

    def _set_timer(self, loop: asyncio.AbstractEventLoop, when: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = when
        self._timer = loop.call_at(when, self._ring)

    def _ring(self) -> None:
        """Ends the runs whose time is over; does nothing while a person is asked."""
        self._timer, self._timer_at = None, math.inf
        if not self._asking:
            self._arm(asyncio.get_running_loop().time())

    def _arm(self, now: float) -> None:
        for deadline in list(self._running.values()):
            if deadline.when <= now and deadline.limit is not None:
                deadline.when = math.inf
                self.expire(deadline.run, deadline.limit)
        following = min((deadline.when for deadline in self._running.values()), default=math.inf)
        if following < self._timer_at:
            self._set_timer(asyncio.get_running_loop(), following)

    async def close(self) -> None:
        """Waits for what the end of the documents has settled, and ends the rest; bounded."""
        if self._timer is not None:
            self._timer.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)


class _Deadline:
    """When one run has to have ended, and the dialogs that came up in it."""

    __slots__ = ("dialogs", "limit", "run", "when")

    def __init__(self, run: Run, limit: float | None, when: float) -> None:
        self.run = run
        self.limit = limit
        self.when = when
        """On the loop's clock; infinite without a limit."""
        self.dialogs: tuple[Dialog, ...] = ()

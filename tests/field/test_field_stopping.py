"""Field problems 12 and 33: deadlines and cancellation."""

from __future__ import annotations

import asyncio
import gc
import inspect
import re
from collections.abc import Callable
from time import perf_counter
from typing import TYPE_CHECKING

import pytest

import pywebmcp
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from .conftest import Begin, Fails, Launch, Open, Until

Complaints = Callable[[], list[str]]


# --- 12 -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("field:12:default-deadline")
async def test_there_is_a_default_deadline_and_a_browser_can_have_another(
    launch: Launch, field_html: Callable[[str], str], fails: Fails
) -> None:
    assert inspect.signature(pywebmcp.launch).parameters["call_timeout"].default == 600.0
    browser = await launch(call_timeout=0.5)
    page = await browser.open("https://example.com/", html=field_html("12"))

    started = perf_counter()
    error = await fails(page.call("never"), pywebmcp.CallTimeoutError)

    assert 0.5 <= perf_counter() - started < 1.5
    assert error.timeout == 0.5
    invocation = await page.invoke("never")
    assert (await fails(invocation.result(), pywebmcp.CallTimeoutError)).timeout == 0.5


@pytest.mark.requirement("field:12:deadline-per-call")
async def test_a_tool_that_never_settles_ends_at_the_deadline_of_its_call(open_field: Open, fails: Fails) -> None:
    page = await open_field("12")

    for limit in (0.3, 0.8):
        started = perf_counter()
        error = await fails(page.call("never", timeout=limit), pywebmcp.CallTimeoutError)
        assert limit <= perf_counter() - started < limit + 1
        assert (error.code, error.dom_name, error.ran) == ("call_timeout", "AbortError", "unknown")
        assert (error.tool, error.timeout) == ("never", limit)
        assert quote("never") in str(error)
        assert f"{limit:g} s" in str(error)


@pytest.mark.requirement("field:12:others-answer-meanwhile")
async def test_another_tool_answers_before_during_and_after_a_call_that_hangs(
    open_field: Open, begin: Begin, fails: Fails
) -> None:
    page = await open_field("12")
    assert (await page.call("quick")).value == "quick"

    hanging = await begin(page, "never", timeout=1)
    assert (await page.call("quick", timeout=0.9)).value == "quick"
    assert hanging.status is pywebmcp.InvocationStatus.PENDING
    await fails(hanging.result(), pywebmcp.CallTimeoutError)

    assert hanging.status is pywebmcp.InvocationStatus.TIMED_OUT
    assert (await page.call("quick")).value == "quick"


@pytest.mark.requirement("field:12:late-answer-is-dropped")
async def test_a_late_answer_is_dropped_and_never_given_to_another_call(
    open_field: Open, begin: Begin, fails: Fails
) -> None:
    page = await open_field("12")
    settled: list[tuple[str, str]] = []
    page.on_invocation_settled(lambda event: settled.append((event.invocation_id, event.status)))

    first = await begin(page, "slow_5s", timeout=0.5)
    await fails(first.result(), pywebmcp.CallTimeoutError)
    never = await begin(page, "never", timeout=30)
    second = await page.call("slow_5s", timeout=15)

    assert second.value == "late"
    assert second.duration >= 4.9
    assert (await page.call("quick")).value == "quick"
    assert never.status is pywebmcp.InvocationStatus.PENDING
    assert first.status is pywebmcp.InvocationStatus.TIMED_OUT
    await fails(first.result(), pywebmcp.CallTimeoutError)
    assert [status for invocation, status in settled if invocation == first.id] == ["timed_out"]
    assert await never.cancel() is True


@pytest.mark.requirement("field:12:nothing-leaks")
async def test_calls_that_time_out_leave_no_task_and_no_forgotten_exception(
    open_field: Open, fails: Fails, asyncio_complaints: Complaints
) -> None:
    page = await open_field("12")
    await page.call("quick")
    before = asyncio.all_tasks()

    for _ in range(3):
        await fails(page.call("never", timeout=0.1), pywebmcp.CallTimeoutError)
        await fails((await page.invoke("never", timeout=0.1)).result(), pywebmcp.CallTimeoutError)
    forgotten = await page.invoke("never", timeout=0.1)
    while not forgotten.done():
        await page.call("quick")
    del forgotten
    async with asyncio.timeout(5):
        while page._calls._tasks:
            await page.call("quick")
    gc.collect()

    assert asyncio.all_tasks() - before == set()
    assert page._calls._running == {}
    assert asyncio_complaints() == []


@pytest.mark.requirement("field:12:no-deadline-on-request")
async def test_without_a_deadline_a_call_goes_on_until_it_is_canceled(
    open_field: Open, begin: Begin, fails: Fails
) -> None:
    page = await open_field("12")

    invocation = await begin(page, "never", timeout=None)
    assert (await page.call("quick")).value == "quick"
    assert await invocation.cancel() is True

    await fails(invocation.result(), pywebmcp.CallCanceledError)


# --- 33 -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("field:33:cancel-returns-at-once")
async def test_canceling_returns_at_once_and_reaches_the_page_s_signal(
    open_field: Open, begin: Begin, until: Until, fails: Fails
) -> None:
    page = await open_field("33")
    invocation = await begin(page, "batch")
    await page.evaluate("new Promise((r) => setTimeout(r, 350))")

    started = perf_counter()
    assert await invocation.cancel() is True
    error = await fails(invocation.result(), pywebmcp.CallCanceledError)

    assert perf_counter() - started < 0.5
    assert (error.code, error.dom_name, error.ran) == ("call_canceled", "AbortError", "unknown")
    assert (error.tool, error.invocation_id) == ("batch", invocation.id)
    assert "may have had effects" in str(error)
    assert invocation.status is pywebmcp.InvocationStatus.CANCELED
    signal, stopped = await until(page, "__log.length > 1 && __log")
    assert signal == "signal:yes"
    assert re.fullmatch(r"stopped at ([3-9]|1\d)", stopped)


@pytest.mark.requirement("field:33:cancelling-the-task")
async def test_cancelling_the_task_is_not_swallowed_and_reaches_the_page_s_signal(
    open_field: Open, until: Until
) -> None:
    page = await open_field("33")
    calling = asyncio.create_task(page.call("batch"))
    await until(page, "__log.length")

    started = perf_counter()
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert perf_counter() - started < 0.5
    assert calling.cancelled()
    log = await until(page, "__log.length > 1 && __log")
    assert log[0] == "signal:yes"
    assert log[1].startswith("stopped at ")


@pytest.mark.requirement("field:33:timeout-of-asyncio")
async def test_a_timeout_of_asyncio_around_a_call_stays_a_timeout_error(open_field: Open, until: Until) -> None:
    page = await open_field("33")

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.35):
            await page.call("batch")

    log = await until(page, "__log.length > 1 && __log")
    assert log[1].startswith("stopped at ")


@pytest.mark.requirement("field:33:distinct-outcomes")
async def test_canceled_timed_out_and_failed_are_three_outcomes(open_page: Open, begin: Begin, fails: Fails) -> None:
    page = await open_page("""<script>
      const mc = document.modelContext ?? navigator.modelContext;
      mc.registerTool({name: "hangs", description: "d", execute: () => new Promise(() => {})});
      mc.registerTool({name: "aborts", description: "d", execute() { throw new DOMException("stop", "AbortError"); }});
      mc.registerTool({name: "stops", description: "d", execute: (_, {signal}) => new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason)); })});
    </script>""")
    canceled = await begin(page, "stops")
    await canceled.cancel()
    timed_out = await page.invoke("stops", timeout=0.1)
    failed = await page.invoke("aborts")

    assert (await fails(canceled.result(), pywebmcp.CallCanceledError)).code == "call_canceled"
    assert (await fails(timed_out.result(), pywebmcp.CallTimeoutError)).code == "call_timeout"
    error = await fails(failed.result(), pywebmcp.ToolFailedError)
    assert (error.code, error.ran) == ("tool_failed", "yes")
    assert error.page_error is not None
    assert "stop" in error.page_error.message
    assert [i.status for i in (canceled, timed_out, failed)] == ["canceled", "timed_out", "failed"]


@pytest.mark.requirement("field:33:late-answer-to-nobody")
async def test_the_late_answer_of_a_deaf_tool_is_delivered_to_nobody(
    open_field: Open, begin: Begin, until: Until, fails: Fails
) -> None:
    page = await open_field("33")
    settled: list[tuple[str, str]] = []
    page.on_invocation_settled(lambda event: settled.append((event.invocation_id, event.status)))

    deaf = await begin(page, "deaf")
    assert await deaf.cancel() is True
    again = await page.call("deaf", timeout=15)

    assert again.value == "finished anyway"
    assert again.duration >= 1.4
    await fails(deaf.result(), pywebmcp.CallCanceledError)
    assert await page.evaluate("__log") == ["deaf finished", "deaf finished"]
    assert settled == [(deaf.id, "canceled"), (again.invocation_id, "completed")]


@pytest.mark.requirement("field:33:unregistered-midway")
async def test_a_tool_whose_registration_is_aborted_while_it_runs_still_answers(open_field: Open, fails: Fails) -> None:
    page = await open_field("33")

    assert (await page.call("unregistered_midway")).value == "done"

    assert [tool.name for tool in await page.tools()] == ["batch", "deaf"]
    await fails(page.call("unregistered_midway"), pywebmcp.ToolNotFoundError)


@pytest.mark.requirement("field:33:cancel-once")
async def test_canceling_what_has_settled_changes_nothing(open_field: Open, begin: Begin, fails: Fails) -> None:
    page = await open_field("33")
    done = await page.invoke("unregistered_midway")
    await done.result()
    assert await done.cancel() is False
    assert done.status is pywebmcp.InvocationStatus.COMPLETED

    canceled = await begin(page, "deaf")
    assert [await canceled.cancel(), await canceled.cancel()] == [True, False]
    await fails(canceled.result(), pywebmcp.CallCanceledError)


@pytest.mark.requirement("field:33:waiter-is-not-the-call")
async def test_cancelling_a_task_that_waits_for_a_result_leaves_the_call_alone(open_field: Open, begin: Begin) -> None:
    page = await open_field("33")
    invocation = await begin(page, "deaf")

    waiter = asyncio.create_task(invocation.result())
    await asyncio.wait({waiter}, timeout=0.05)
    waiter.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter

    assert invocation.status is pywebmcp.InvocationStatus.PENDING
    assert (await invocation.result()).value == "finished anyway"


@pytest.mark.requirement("field:33:cancel-is-told")
async def test_a_cancel_is_told_as_an_event_of_its_page(open_field: Open, begin: Begin) -> None:
    page = await open_field("33")
    invocation = await begin(page, "batch")

    async with page.events() as events, asyncio.timeout(10):
        await invocation.cancel()
        told: list[object] = []
        async for event in events:
            if isinstance(event, (pywebmcp.ToolCanceled, pywebmcp.InvocationSettled)):
                told.append(event)
            if len(told) == 2:
                break

    by_type = {type(event): event for event in told}
    canceled = by_type[pywebmcp.ToolCanceled]
    assert isinstance(canceled, pywebmcp.ToolCanceled)
    assert (canceled.tool_name, canceled.origin) == ("batch", "https://field.example")
    assert by_type[pywebmcp.InvocationSettled] == pywebmcp.InvocationSettled(
        invocation_id=invocation.id, tool_name="batch", status=pywebmcp.InvocationStatus.CANCELED
    )

"""The blocking twin does what the async API does, from any thread."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp
from pywebmcp import sync
from pywebmcp.testing import fake_tool, hang

if TYPE_CHECKING:
    from pywebmcp.sync.testing import FakePage

ADD = """<script>
document.modelContext.registerTool({
  name: "add", description: "adds", execute: ({a, b}) => ({sum: a + b}),
});
</script>"""


@pytest.mark.requirement("sync:mirror")
def test_a_page_is_opened_listed_and_called_without_an_event_loop(sync_browser: sync.Browser) -> None:
    with sync_browser.open("https://example.com/", html=ADD) as page:
        assert isinstance(page, sync.Page)
        assert [tool.name for tool in page.tools()] == ["add"]
        assert page.call("add", {"a": 1, "b": 2}).value == {"sum": 3}
        assert page.evaluate("1 + 1") == 2
        assert page.url == "https://example.com/"
        assert page.goto("https://example.org/", html="<p>no tools") is page
        assert page.tools() == []
    assert page.closed


def test_pages_of_a_browser_are_equal_to_the_ones_that_were_opened(sync_browser: sync.Browser) -> None:
    with sync_browser.new_page() as first, sync_browser.new_page() as second:
        assert sync_browser.pages == (first, second)
        assert first != second
        assert len({first, second, *sync_browser.pages}) == 2
        assert first != first._async  # pyright: ignore[reportUnnecessaryComparison] - that is the claim
    assert sync_browser.pages == ()


def test_errors_are_those_of_the_async_api(page: FakePage) -> None:
    with pytest.raises(pywebmcp.ToolNotFoundError) as absent:
        page.call("nothing")
    assert absent.value.available == ("echo", "wait")
    with pytest.raises(pywebmcp.InvalidArgumentsError):
        page.call("echo", {"n": "one"})
    with pytest.raises(pywebmcp.CallTimeoutError):
        page.call("wait", timeout=0.05)


@pytest.mark.requirement("sync:threads")
def test_answers_reach_the_thread_that_asked(page: FakePage) -> None:
    def ask(number: int) -> int:
        return page.call("echo", {"n": number}).value["n"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(400))) == list(range(400))


def test_a_call_from_one_thread_does_not_hold_up_another(page: FakePage) -> None:
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(page.call, "wait", timeout=5)
        assert page.call("echo", {"n": 1}).value == {"n": 1}
        page.close()
        with pytest.raises(pywebmcp.OutcomeUnknownError):
            waiting.result(timeout=5)


def test_an_invocation_is_canceled_from_another_thread(page: FakePage) -> None:
    invocation = page.invoke("wait")
    with ThreadPoolExecutor(1) as pool:
        result = pool.submit(invocation.result)
        assert invocation.cancel()
        with pytest.raises(pywebmcp.CallCanceledError):
            result.result(timeout=5)
    assert invocation.status is pywebmcp.InvocationStatus.CANCELED
    assert invocation.done()
    assert not invocation.cancel()


@pytest.mark.requirement("sync:refuses-loops")
async def test_a_thread_that_runs_an_event_loop_is_refused(page: FakePage) -> None:
    with pytest.raises(RuntimeError, match="use the async API"):
        page.call("echo")
    with pytest.raises(RuntimeError, match="use the async API"):
        sync.launch()
    assert page.url == "https://fake.example/"
    result = await asyncio.to_thread(page.call, "echo", {"n": 1})
    assert result.value == {"n": 1}


# --- events and callbacks -----------------------------------------------------------------------------------


def test_events_are_iterated_until_the_page_closes(page: FakePage) -> None:
    with page.events() as events:
        page.remove_tool("echo")
        page.close()
        removed = [event.removed for event in events if isinstance(event, pywebmcp.ToolsChanged)]
    assert removed == [("echo",), ("wait",)]
    assert list(events) == []


def test_waiting_for_an_event_ends_at_its_deadline(page: FakePage) -> None:
    with page.events() as events:
        assert events.wait(0.01) is None
        page.add_tool(fake_tool("late", hang))
        event = events.wait(5)
    assert isinstance(event, pywebmcp.ToolsChanged)
    assert event.added == ("late",)


def test_an_event_wakes_a_thread_that_waits_for_it(page: FakePage) -> None:
    with page.events() as events, ThreadPoolExecutor(1) as pool:
        event = pool.submit(events.wait, 5)
        page.remove_tool("echo")
        assert event.result(timeout=5) == next(iter([event.result()]))
        assert isinstance(event.result(), pywebmcp.ToolsChanged)


def test_a_closed_stream_has_no_more_events(page: FakePage) -> None:
    events = page.events()
    events.close()
    page.remove_tool("echo")
    assert events.wait(5) is None


def test_callbacks_are_taken_back_by_call_by_block_and_by_signal(page: FakePage) -> None:
    seen: list[str] = []

    def see(event: pywebmcp.ToolsChanged) -> None:
        seen.extend(event.added)

    def come(name: str) -> None:
        page.add_tool(fake_tool(name, hang))

    unsubscribe = page.on_tools_changed(see)
    come("first")
    unsubscribe()
    unsubscribe()
    come("second")
    with page.on_tools_changed(see):
        come("third")
    come("fourth")
    signal: Future[None] = Future()
    page.on_tools_changed(see, signal=signal)
    come("fifth")
    signal.set_result(None)
    come("sixth")
    assert seen == ["first", "third", "fifth"]


@pytest.mark.requirement("sync:callbacks")
def test_a_callback_runs_in_the_loops_thread_reads_properties_and_is_refused_calls(page: FakePage) -> None:
    seen: list[Any] = []

    def look(_: pywebmcp.ToolsChanged) -> None:
        seen.append(threading.current_thread().name)
        seen.append(page.url)
        try:
            page.call("wait")
        except RuntimeError as error:
            seen.append(str(error))

    with page.on_tools_changed(look):
        page.remove_tool("echo")
    thread, url, refusal = seen
    assert thread == "pywebmcp.sync"
    assert url == "https://fake.example/"
    assert "a callback must not wait" in refusal


def test_route_callbacks_and_hooks_serve_a_blocking_page() -> None:
    log: list[str] = []

    def route(request: pywebmcp.Request) -> pywebmcp.Response:
        log.append(request.url)
        return pywebmcp.Response(ADD, content_type="text/html")

    async def before(name: str, arguments: dict[str, Any]) -> None:
        log.append(f"{name} {arguments}")

    with sync.launch(hooks=pywebmcp.CallHooks(before=[before])) as browser:
        page = browser.open("https://example.com/page", route=route)
        assert page.call("add", {"a": 2, "b": 3}).value == {"sum": 5}
    assert log == ["https://example.com/page", "add {'a': 2, 'b': 3}"]


# --- what stays hidden --------------------------------------------------------------------------------------


@pytest.fixture
def handed_out(page: FakePage) -> list[object]:
    """Everything that the twin hands out in one life."""
    things: list[object] = [
        page,
        page.events(),
        page.invoke("echo"),
        page.on_navigated(print),
        page.frames,
        page.surface,
    ]
    things += page.tools()
    return things


def test_no_async_object_is_handed_out(handed_out: list[object]) -> None:
    hidden = (pywebmcp.Page, pywebmcp.Browser, pywebmcp.Invocation, pywebmcp.EventStream)
    assert not [thing for thing in handed_out if isinstance(thing, hidden)]


def test_a_twin_says_that_it_is_one(page: FakePage) -> None:
    assert repr(page).startswith("<sync Page fake")

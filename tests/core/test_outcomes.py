"""Every row of the error table, provoked on both columns."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Open

MC = "(document.modelContext ?? navigator.modelContext)"

TOOLS = f"""<!doctype html><script>
const mc = {MC};
window.log = [];
const gone = new AbortController();
mc.registerTool({{name: "strict", description: "d", execute: (a) => {{ log.push("ran"); return a; }},
  inputSchema: {{type: "object", properties: {{n: {{type: "integer", minimum: 1}}}}, required: ["n"]}}}});
mc.registerTool({{name: "throws", description: "d", execute() {{ throw new RangeError("too far"); }}}});
mc.registerTool({{name: "rejects", description: "d", execute: () => Promise.reject("just text")}});
mc.registerTool({{name: "cyclic", description: "d", execute() {{ const o = {{}}; o.self = o; return o; }}}});
mc.registerTool({{name: "never", description: "d", execute: () => new Promise(() => {{}})}});
mc.registerTool({{name: "stoppable", description: "d", execute: (_, o) => new Promise(() => {{
  o.signal.addEventListener("abort", () => log.push("aborted: " + o.signal.reason.name)); }})}});
mc.registerTool({{name: "gone", description: "d", execute: () => 1}}, {{signal: gone.signal}});
mc.registerTool({{name: "loop", description: "d", execute() {{ for (;;); }}}});
mc.registerTool({{name: "crash", description: "d", execute: () => new Promise(() => {{}})}});
mc.registerTool({{name: "says_error", description: "d",
  execute: () => ({{content: [{{type: "text", text: "sold out"}}], isError: true}})}});
</script>"""


async def caught(awaitable: Any, kind: type[pywebmcp.WebMCPError]) -> Any:
    async with asyncio.timeout(15):
        with pytest.raises(pywebmcp.WebMCPError) as caught:
            await awaitable
    assert type(caught.value) is kind, repr(caught.value)
    return caught.value


@pytest.mark.requirement("outcome:absent")
async def test_a_name_that_nobody_registered_is_tool_not_found(open_page: Open) -> None:
    page = await open_page(TOOLS)
    error = await caught(page.call("nope"), pywebmcp.ToolNotFoundError)
    assert (error.code, error.dom_name, error.ran) == ("tool_not_found", "NotFoundError", "no")
    assert "throws" in error.available


@pytest.mark.requirement("outcome:unregistered")
async def test_an_unregistered_tool_is_tool_not_found(open_page: Open) -> None:
    page = await open_page(TOOLS)
    tool = await page.tool("gone")
    await page.evaluate("gone.abort()")
    error = await caught(page.call(tool), pywebmcp.ToolNotFoundError)
    assert error.ran == "no"
    assert error.tool == "gone"


@pytest.mark.requirement("outcome:document-gone")
async def test_a_tool_of_a_document_that_is_gone_is_tool_not_found(open_page: Open) -> None:
    page = await open_page(TOOLS)
    tool = await page.tool("gone")
    await page.reload()
    error = await caught(page.call(tool), pywebmcp.ToolNotFoundError)
    assert error.ran == "no"
    assert (await page.call("gone")).value == 1


@pytest.mark.requirement("outcome:other-page")
async def test_a_tool_of_another_page_is_invalid_document(open_page: Open) -> None:
    first, second = await open_page(TOOLS), await open_page(TOOLS)
    error = await caught(second.call(await first.tool("gone")), pywebmcp.InvalidDocumentError)
    assert (error.code, error.ran) == ("invalid_document", "no")


async def test_a_closed_page_is_invalid_document(open_page: Open) -> None:
    page = await open_page(TOOLS)
    await page.close()
    await page.close()
    await caught(page.call("gone"), pywebmcp.InvalidDocumentError)


@pytest.mark.requirement("outcome:invalid-arguments")
async def test_arguments_against_the_schema_are_refused_with_path_and_rule(open_page: Open) -> None:
    page = await open_page(TOOLS)
    error = await caught(page.call("strict", {"n": 0}), pywebmcp.InvalidArgumentsError)
    assert [(problem.path, problem.rule) for problem in error.problems] == [("/n", "minimum")]
    assert (error.code, error.dom_name, error.ran) == ("invalid_arguments", "DataError", "no")
    error = await caught(page.call("strict", {}), pywebmcp.InvalidArgumentsError)
    assert [problem.rule for problem in error.problems] == ["required"]
    assert await page.evaluate("log") == []
    assert (await page.call("strict", {"n": 0}, validate=False)).value == {"n": 0}


@pytest.mark.parametrize("arguments", ["[1]", "nonsense", '"text"', {"n": float("nan")}, {"n": 2**53}])
async def test_arguments_that_are_no_json_object_are_refused(open_page: Open, arguments: Any) -> None:
    page = await open_page(TOOLS)
    error = await caught(page.call("strict", arguments), pywebmcp.InvalidArgumentsError)
    assert error.problems
    assert await page.evaluate("log") == []


@pytest.mark.requirement("outcome:failed")
async def test_a_tool_that_throws_is_tool_failed_with_the_page_s_error(open_page: Open) -> None:
    page = await open_page(TOOLS)
    error = await caught(page.call("throws"), pywebmcp.ToolFailedError)
    assert (error.code, error.dom_name, error.ran) == ("tool_failed", "OperationError", "yes")
    assert (error.page_error.name, error.page_error.message) == ("RangeError", "too far")
    assert error.origin == "https://example.com"
    assert error.invocation_id
    assert error.page_error.stack.count("\n") == 1, "only the page's own lines"


async def test_a_tool_that_rejects_with_a_string_is_tool_failed(open_page: Open) -> None:
    page = await open_page(TOOLS)
    error = await caught(page.call("rejects"), pywebmcp.ToolFailedError)
    assert error.page_error.message == "just text"


@pytest.mark.requirement("outcome:unserialisable")
async def test_a_result_that_cannot_be_serialised_is_tool_failed(open_page: Open) -> None:
    page = await open_page(TOOLS)
    error = await caught(page.call("cyclic"), pywebmcp.ToolFailedError)
    assert error.ran == "yes"


async def test_a_result_that_says_error_is_a_result_that_can_be_raised(open_page: Open) -> None:
    page = await open_page(TOOLS)
    result = await page.call("says_error")
    assert result.is_error
    assert result.text == "sold out"
    with pytest.raises(pywebmcp.ToolFailedError, match="sold out"):
        result.raise_for_error()


@pytest.mark.requirement("outcome:timeout")
async def test_a_deadline_is_call_timeout_and_aborts_the_page_s_signal(open_page: Open) -> None:
    page = await open_page(TOOLS)
    error = await caught(page.call("stoppable", timeout=0.3), pywebmcp.CallTimeoutError)
    assert (error.code, error.dom_name, error.ran, error.timeout) == ("call_timeout", "AbortError", "unknown", 0.3)
    assert "stoppable" in str(error)
    assert "0.3" in str(error)
    await caught(page.call("never", timeout=0.2), pywebmcp.CallTimeoutError)
    assert await page.evaluate("log") == ["aborted: AbortError"]


@pytest.mark.requirement("outcome:canceled")
async def test_a_canceled_invocation_is_call_canceled_and_aborts_the_page_s_signal(open_page: Open) -> None:
    page = await open_page(TOOLS)
    async with page.events() as events:
        invocation = await page.invoke("stoppable")
        async with asyncio.timeout(5):
            async for event in events:
                if isinstance(event, pywebmcp.ToolActivated):
                    break
        assert await invocation.cancel() is True
    error = await caught(invocation.result(), pywebmcp.CallCanceledError)
    assert (error.code, error.dom_name, error.ran) == ("call_canceled", "AbortError", "unknown")
    assert invocation.status is pywebmcp.InvocationStatus.CANCELED
    await page.call("says_error")
    assert await page.evaluate("log") == ["aborted: AbortError"]


async def test_cancelling_the_task_is_not_swallowed_and_aborts_the_page_s_signal(open_page: Open) -> None:
    page = await open_page(TOOLS)
    async with page.events() as events:
        task = asyncio.ensure_future(page.call("stoppable"))
        async with asyncio.timeout(5):
            async for event in events:
                if isinstance(event, pywebmcp.ToolActivated):
                    break
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await page.call("says_error")
    assert await page.evaluate("log") == ["aborted: AbortError"]


async def test_a_call_that_a_hook_holds_back_and_that_is_canceled_is_never_sent(
    engine: str, start: Callable[..., Any]
) -> None:
    held, go_on = asyncio.Event(), asyncio.Event()

    async def before(_tool: str, _arguments: dict[str, Any]) -> None:
        held.set()
        await go_on.wait()

    async with await start(engine, hooks=pywebmcp.CallHooks(before=[before])) as browser:
        page = await browser.open("https://example.com/", html=TOOLS)
        invocation = await page.invoke("strict", {"n": 1})
        async with asyncio.timeout(5):
            await held.wait()
            canceling = asyncio.ensure_future(invocation.cancel())
            await asyncio.sleep(0)
            go_on.set()
            assert await canceling
        error = await caught(invocation.result(), pywebmcp.CallCanceledError)
        assert error.ran == "no"
        assert await page.evaluate("log") == []


@pytest.mark.parametrize("timeout", [-2, float("nan")])
async def test_a_deadline_that_is_no_time_is_a_value_error(open_page: Open, timeout: float) -> None:
    page = await open_page(TOOLS)
    with pytest.raises(ValueError, match="timeout"):
        await page.call("gone", timeout=timeout)


async def test_while_a_person_is_asked_no_deadline_runs_and_afterwards_each_has_what_was_left() -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def hook(_: pywebmcp.Dialog) -> bool:
        asked.set()
        await answer.wait()
        return True

    html = TOOLS.replace(
        '"gone", description: "d", execute: () => 1', '"gone", description: "d", execute: () => confirm("?")'
    )
    async with pywebmcp.launch("chromium", mode="native", dialogs=hook) as browser:
        page = await browser.open("https://example.com/", html=html)
        bounded, unbounded = await page.invoke("never", timeout=0.6), await page.invoke("never", timeout=None)
        confirming = await page.invoke("gone", timeout=0.6)
        async with asyncio.timeout(10):
            await asked.wait()
            await asyncio.wait({asyncio.ensure_future(bounded.result())}, timeout=1.2)
            assert not bounded.done(), "its deadline ran while a person was asked"
            answer.set()
            assert (await confirming.result()).value is True
            await caught(bounded.result(), pywebmcp.CallTimeoutError)
        assert not unbounded.done()
        assert await unbounded.cancel()


async def test_waiting_for_a_tool_ends_with_its_page(open_page: Open, browser: pywebmcp.Browser) -> None:
    page = await open_page("<p>")
    waiting = asyncio.ensure_future(page.wait_for_tool("late", timeout=30))
    await page.tools()
    await page.close()
    await caught(waiting, pywebmcp.InvalidDocumentError)


@pytest.mark.requirement("outcome:unloaded")
async def test_a_navigation_during_a_call_is_document_unloaded(open_page: Open) -> None:
    page = await open_page(TOOLS)
    invocation = await page.invoke("never")
    await page.evaluate("setTimeout(() => location.reload(), 50), 0")
    error = await caught(invocation.result(), pywebmcp.DocumentUnloadedError)
    assert (error.code, error.dom_name, error.ran) == ("document_unloaded", "AbortError", "unknown")
    assert invocation.status is pywebmcp.InvocationStatus.UNKNOWN


@pytest.mark.requirement("outcome:frame-removed")
async def test_a_removed_frame_during_a_call_is_document_unloaded(open_page: Open) -> None:
    page = await open_page(
        '<iframe id=f src="/frame"></iframe>', route=lambda _: pywebmcp.Response(TOOLS, content_type="text/html")
    )
    await page.wait_for_tool("never")
    invocation = await page.invoke("never")
    await page.evaluate("f.remove()")
    await caught(invocation.result(), pywebmcp.DocumentUnloadedError)
    await caught(page.call("never"), pywebmcp.ToolNotFoundError)


@pytest.mark.requirement("outcome:ambiguous")
async def test_the_same_name_in_two_frames_is_ambiguous(open_page: Open) -> None:
    page = await open_page(
        TOOLS + '<iframe name=inner src="/frame"></iframe>',
        route=lambda _: pywebmcp.Response(TOOLS, content_type="text/html"),
    )
    error = await caught(page.call("gone"), pywebmcp.AmbiguousToolError)
    assert (error.code, error.ran) == ("ambiguous_tool", "no")
    assert [candidate.frame.name for candidate in error.candidates] == ["", "inner"]
    assert (await page.call("gone", frame="inner")).value == 1
    assert (await page.call(error.candidates[1])).value == 1


@pytest.mark.requirement("outcome:not-exposed")
async def test_an_insecure_page_is_not_exposed(open_page: Open) -> None:
    page = await open_page("<p>plain http", url="http://plain.example/")
    assert await page.tools() == []
    assert page.surface.kind == "none"
    assert "insecure" in page.surface.reason
    error = await caught(page.call("add"), pywebmcp.NotExposedError)
    assert (error.code, error.dom_name, error.ran) == ("not_exposed", "NotAllowedError", "no")


@pytest.mark.requirement("outcome:unknown")
async def test_a_dead_engine_leaves_the_outcome_unknown_and_later_calls_crashed(
    browser: pywebmcp.Browser, open_page: Open
) -> None:
    page = await open_page(TOOLS)
    invocation = await page.invoke("never")
    await page.call("says_error")
    assert browser.process_id
    os.kill(browser.process_id, signal.SIGKILL)
    error = await caught(invocation.result(), pywebmcp.OutcomeUnknownError)
    assert (error.code, error.dom_name, error.ran) == ("outcome_unknown", None, "unknown")
    error = await caught(page.call("says_error"), pywebmcp.EngineCrashedError)
    assert error.ran == "no"


@pytest.mark.requirement("outcome:endless-loop")
async def test_an_endless_loop_ends_at_its_deadline_and_other_pages_go_on(open_page: Open) -> None:
    page, other = await open_page(TOOLS), await open_page(TOOLS, url="https://other.example/")
    waiting = await page.invoke("never")
    looping = await page.invoke("loop", timeout=0.5)
    assert (await other.call("gone")).value == 1
    await caught(looping.result(), pywebmcp.CallTimeoutError)
    await caught(waiting.result(), pywebmcp.OutcomeUnknownError)
    assert (await other.call("gone")).value == 1


async def test_a_page_that_sits_in_a_synchronous_request_does_not_take_other_pages_along() -> None:
    asked, answer = asyncio.Event(), asyncio.Event()

    async def route(request: pywebmcp.Request) -> pywebmcp.Response:
        if request.url.endswith("/slow"):
            asked.set()
            await answer.wait()
        return pywebmcp.Response(
            f"<script>{MC}.registerTool({{name: 'stuck', description: 'd', execute() {{"
            "const x = new XMLHttpRequest(); x.open('GET', '/slow', false); x.send(); return 1; }})</script>"
        )

    async with pywebmcp.launch("chromium", mode="native") as browser:
        page = await browser.open("https://example.com/", route=route)
        other = await browser.open("https://other.example/", html=TOOLS)
        await caught(page.call("stuck", timeout=0.3), pywebmcp.CallTimeoutError)
        assert asked.is_set()
        async with asyncio.timeout(15):
            while page._calls._tasks:
                await asyncio.wait(page._calls._tasks)
        assert (await other.call("gone")).value == 1
        answer.set()


@pytest.mark.slow
async def test_a_call_too_large_for_the_engine_is_refused_and_nothing_is_lost() -> None:
    async with pywebmcp.launch("chromium", mode="native") as browser:
        page = await browser.open("https://example.com/", html=TOOLS)
        error = await caught(page.call("gone", {"text": "x" * (101 * 1024 * 1024)}), pywebmcp.UnsupportedError)
        assert error.ran == "no"
        assert (await page.call("gone")).value == 1


async def test_a_page_is_used_in_its_own_loop_only(open_page: Open) -> None:
    page = await open_page(TOOLS)
    with pytest.raises(RuntimeError, match="another event loop"):
        await asyncio.to_thread(lambda: asyncio.run(page.call("gone")))
    with pytest.raises(TypeError, match="name or its Tool"):
        await page.call(5)  # pyright: ignore[reportArgumentType]


@pytest.mark.slow
async def test_a_document_s_texts_are_bounded(browser: pywebmcp.Browser) -> None:
    page = await browser.open("https://example.com/", html="<p>")
    await page.evaluate(
        f"const text = 'x'.repeat(9 * 1024 * 1024); for (let i = 0; i < 10; i++)"
        f"{MC}.registerTool({{name: 't' + i, description: text, execute() {{}}}}); 0"
    )
    await page.wait_for_tool("t6")
    assert len(await page.tools()) == 7


@pytest.mark.requirement("outcome:navigation")
async def test_an_address_that_nobody_serves_is_a_navigation_error(browser: pywebmcp.Browser) -> None:
    error = await caught(browser.open("http://127.0.0.1:9/"), pywebmcp.NavigationError)
    assert error.url == "http://127.0.0.1:9/"
    assert browser.pages == ()


async def test_an_http_error_status_is_a_navigation_error(browser: pywebmcp.Browser) -> None:
    opening = browser.open("https://example.com/", route=lambda _: pywebmcp.Response("no", status=503))
    error = await caught(opening, pywebmcp.NavigationError)
    assert error.status == 503


async def test_a_page_that_does_not_load_in_time_is_a_navigation_error(browser: pywebmcp.Browser) -> None:
    async def never(_: pywebmcp.Request) -> pywebmcp.Response | None:
        await asyncio.Event().wait()
        return None

    await caught(browser.open("https://example.com/", route=never, timeout=0.5), pywebmcp.NavigationError)


async def test_an_expression_that_throws_is_script_failed(open_page: Open) -> None:
    page = await open_page(TOOLS)
    error = await caught(page.evaluate("null.x"), pywebmcp.ScriptFailedError)
    assert error.page_error.name == "TypeError"

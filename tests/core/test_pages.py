"""Pages as they are: frames, popups, polyfills, events, storage, dialogs that interrupt, documents that change."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from conftest import Open

MC = "(document.modelContext ?? navigator.modelContext)"


def registers(name: str, execute: str = "() => location.href") -> str:
    return f"<script>{MC}.registerTool({{name: '{name}', description: 'd', execute: {execute}}})</script>"


@pytest.mark.requirement("page:tree-order")
async def test_tools_are_listed_in_tree_order_then_in_registration_order(open_page: Open) -> None:
    pages = {
        "/a": registers("a1") + '<iframe src="/aa"></iframe>' + registers("a2"),
        "/aa": registers("aa"),
        "/b": registers("b"),
    }
    page = await open_page(
        registers("top2") + '<iframe src="/a"></iframe><iframe src="/b"></iframe>' + registers("top1"),
        route=lambda request: pywebmcp.Response(pages[request.url.removeprefix("https://example.com")]),
    )
    assert [tool.name for tool in await page.tools()] == ["top2", "top1", "a1", "a2", "aa", "b"]


@pytest.mark.requirement("page:cross-origin-frames")
async def test_a_cross_origin_frame_is_listed_and_called_with_its_own_origin(open_page: Open) -> None:
    page = await open_page(
        registers("mine") + '<iframe src="https://other.example/frame" allow="tools"></iframe>',
        route=lambda _: pywebmcp.Response(registers("theirs")),
    )
    await page.wait_for_tool("theirs")
    mine, theirs = await page.tools()
    assert (mine.origin, theirs.origin) == ("https://example.com", "https://other.example")
    assert (await page.call("theirs")).value == "https://other.example/frame"
    assert [tool.name for tool in await page.tools(origins=["https://other.example"])] == ["theirs"]
    await page.evaluate("document.querySelector('iframe').remove()")
    assert [tool.name for tool in await page.tools()] == ["mine"]


async def test_a_frame_that_moves_to_another_origin_takes_its_new_tools(open_page: Open) -> None:
    page = await open_page(
        '<iframe id=f src="/one" allow="tools *"></iframe>',
        route=lambda request: pywebmcp.Response(registers(request.url.rpartition("/")[2])),
    )
    await page.wait_for_tool("one")
    for target in ("https://other.example/two", "https://example.com/three", "https://third.example/four"):
        name = target.rpartition("/")[2]
        await page.evaluate(f"f.src = '{target}'; 0")
        await page.wait_for_tool(name)
        assert [tool.name for tool in await page.tools()] == [name]
        assert (await page.call(name)).value == target


async def test_a_srcdoc_frame_s_tools_are_listed_and_called(open_page: Open) -> None:
    source = registers("inner", "(a) => ({got: a})").replace('"', "&quot;")
    page = await open_page(f'<iframe srcdoc="{source}"></iframe>')
    (tool,) = await page.wait_for_tools()
    assert tool.name == "inner"
    assert tool.origin == "https://example.com"
    assert (tool.input_schema, tool.annotations) == (None, None)
    assert (await page.call("inner", {"a": 1})).value == {"got": {"a": 1}}


async def test_about_blank_frames_made_by_script_have_a_model_context(open_page: Open) -> None:
    page = await open_page(
        "<script>const f = document.createElement('iframe'); document.documentElement.append(f);"
        "(f.contentDocument.modelContext ?? f.contentWindow.navigator.modelContext)"
        ".registerTool({name: 'blank', description: 'd', execute: () => 'from the blank frame'})</script>"
    )
    assert (await page.call("blank")).value == "from the blank frame"
    (tool,) = await page.tools()
    assert tool.frame.parent_id is not None


async def test_a_frame_whose_first_window_was_touched_is_listed_called_and_evaluated_in(open_page: Open) -> None:
    page = await open_page(
        "<body><script>const f = document.createElement('iframe'); f.name = 'inner'; f.src = '/frame';"
        "document.body.append(f); f.contentWindow.touched = 1;</script>",
        route=lambda _: pywebmcp.Response(registers("inner")),
    )
    await page.wait_for_tool("inner")
    assert (await page.call("inner")).value == "https://example.com/frame"
    assert await page.evaluate("location.pathname", frame="inner") == "/frame"
    async with page.events() as events:
        await page.evaluate("f.contentWindow.location = '/frame?again'; 0")
        async with asyncio.timeout(5):
            async for event in events:
                if isinstance(event, pywebmcp.Navigated) and event.url.endswith("?again"):
                    break
    await page.wait_for_tool("inner")
    assert (await page.call("inner")).value == "https://example.com/frame?again"


async def test_a_document_that_is_opened_anew_keeps_its_tools_and_takes_more(open_page: Open) -> None:
    page = await open_page(registers("before"))
    await page.evaluate(f"document.open(); document.write({json.dumps(registers('after'))}); document.close()")
    await page.wait_for_tool("after")
    names = [tool.name for tool in await page.tools()]
    assert names == ["before", "after"]


async def test_events_tell_in_order_what_happened_in_the_page(open_page: Open) -> None:
    page = await open_page(registers("first", "async () => { window.second?.(); return 1; }"))
    await page.wait_for_tool("first")
    seen: list[Any] = []
    subscription = page.on_tool_activated(seen.append)
    async with page.events() as events:
        await page.evaluate(f"{MC}.registerTool({{name: 'second', description: 'd', execute: () => 2}}); 0")
        result = await page.call("first")
        got: list[Any] = []
        async with asyncio.timeout(5):
            async for event in events:
                got.append(event)
                if isinstance(event, pywebmcp.InvocationSettled):
                    break
    assert [type(event) for event in got] == [
        pywebmcp.ToolsChanged,
        pywebmcp.ToolActivated,
        pywebmcp.InvocationSettled,
    ]
    assert got[0].added == ("second",)
    assert got[1].invocation_id == got[2].invocation_id == result.invocation_id
    assert seen == [got[1]]
    subscription()
    subscription()
    await page.call("first")
    assert len(seen) == 1


async def test_a_signal_ends_a_subscription(open_page: Open) -> None:
    page = await open_page(registers("first"))
    over = asyncio.get_running_loop().create_future()
    seen: list[Any] = []
    page.on_tool_activated(seen.append, signal=over)
    with page.on_tool_activated(seen.append):
        await page.call("first")
    assert len(seen) == 2
    over.set_result(None)
    await page.call("first")
    await page.call("first")
    assert len(seen) == 2


async def test_a_reader_that_lags_behind_is_told_how_much_it_lost(open_page: Open) -> None:
    page = await open_page("<p>")
    async with page.events() as events:
        await page.evaluate(
            f"for (let i = 0; i < 1500; i++) {MC}.registerTool({{name: 't' + i, description: 'd', execute() {{}}}}); 0"
        )
        await page.wait_for_tool("t1499")
        async with asyncio.timeout(5):
            first = await anext(events)
    assert isinstance(first, pywebmcp.EventsLost)
    assert first.count >= 500
    assert len(await page.tools()) == 1500


POLYFILL = """<script>
const tools = new Map();
class Poly extends EventTarget {
  registerTool(tool) { tools.set(tool.name, tool); this.dispatchEvent(new Event("toolchange")); }
  async getTools() { return [...tools.values()].map(({name, description, inputSchema}) => (
    {name, description, inputSchema: SCHEMA, window, origin})); }
  EXECUTE
}
window.runs = 0;
Object.defineProperty(document, "modelContext", {value: new Poly(), configurable: true});
document.modelContext.registerTool({name: "poly", description: "A page's own",
  inputSchema: {type: "object", properties: {n: {type: "integer"}}, required: ["n"]},
  execute: async (a) => { runs++; return {got: a, type: typeof a}; }});
</script>"""


@pytest.mark.parametrize(
    ("schema", "execute"),
    [
        (
            "inputSchema",
            "async executeTool(t, input = {}) { return JSON.stringify(await tools.get(t.name).execute(input)); }",
        ),
        (
            "JSON.stringify(inputSchema)",
            "async executeTool(t, text) { return JSON.stringify(await tools.get(t.name).execute(JSON.parse(text))); }",
        ),
        ("inputSchema", "async executeTool(t, input) { return await tools.get(t.name).execute(input); }"),
    ],
    ids=["object by length", "text by schema", "object by schema"],
)
@pytest.mark.requirement("page:polyfill-once")
async def test_a_page_s_own_polyfill_is_listed_once_and_runs_once(open_page: Open, schema: str, execute: str) -> None:
    page = await open_page(POLYFILL.replace("SCHEMA", schema).replace("EXECUTE", execute))
    (tool,) = await page.wait_for_tools()
    assert (tool.name, tool.surface) == ("poly", "page")
    assert tool.input_schema == {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert page.surface.kind == "page"
    assert (await page.call("poly", {"n": 1})).value == {"got": {"n": 1}, "type": "object"}
    with pytest.raises(pywebmcp.InvalidArgumentsError):
        await page.call("poly", {"n": "x"})
    assert await page.evaluate("runs") == 1


@pytest.mark.requirement("page:no-second-try")
async def test_a_polyfill_that_refuses_the_call_is_not_tried_a_second_time(open_page: Open) -> None:
    execute = "async executeTool(t, input) { runs++; throw new TypeError('Failed to parse input arguments'); }"
    page = await open_page(POLYFILL.replace("SCHEMA", "inputSchema").replace("EXECUTE", execute))
    await page.wait_for_tool("poly")
    with pytest.raises(pywebmcp.UnsupportedError) as caught:
        await page.call("poly", {"n": 1})
    assert caught.value.ran == "unknown"
    assert await page.evaluate("runs") == 1


async def test_a_page_s_own_tool_that_is_swapped_for_another_is_not_the_one_that_was_held(open_page: Open) -> None:
    page = await open_page(
        "<script>window.tool = {name: 't', description: 'd', execute: () => 1};"
        "Object.defineProperty(document, 'modelContext', {value: {getTools: () => [tool]}});</script>"
    )
    held = await page.wait_for_tool("t")
    assert (await page.call(held)).value == 1
    assert await page.tools() == [held]
    await page.evaluate("window.tool = {...tool, execute: () => 2}; 0")
    (tool,) = await page.tools()
    with pytest.raises(pywebmcp.ToolNotFoundError, match="replaced"):
        await page.call(held)
    assert (await page.call(tool)).value == 2


async def test_looking_at_a_page_s_own_object_leaves_no_name_behind(open_page: Open) -> None:
    page = await open_page(POLYFILL.replace("SCHEMA", "inputSchema").replace("EXECUTE", "executeTool() {}"))
    await page.wait_for_tool("poly")
    names = "Object.getOwnPropertyNames(window).filter((name) => /^w[0-9a-f]{32}$/.test(name))"
    assert await page.evaluate(names) == []
    await page.goto("https://next.example/", html="<p>")
    assert await page.evaluate(names) == []


async def test_a_polyfill_without_execute_tool_is_unsupported_and_runs_nothing(open_page: Open) -> None:
    page = await open_page(POLYFILL.replace("SCHEMA", "inputSchema").replace("EXECUTE", ""))
    await page.wait_for_tool("poly")
    with pytest.raises(pywebmcp.UnsupportedError) as caught:
        await page.call("poly", {"n": 1})
    assert caught.value.ran == "no"
    assert await page.evaluate("runs") == 0


async def test_a_page_that_installs_its_polyfill_only_when_needed_uses_what_is_there(open_page: Open) -> None:
    page = await open_page(
        "<script>if (!document.modelContext) document.modelContext = {registerTool() { window.wrong = 1; }};"
        "document.modelContext.registerTool({name: 'one', description: 'd', execute: () => 1})</script>"
    )
    assert [tool.name for tool in await page.tools()] == ["one"]
    assert page.surface.kind in ("runtime", "native")
    assert await page.evaluate("window.wrong ?? null") is None


async def test_several_pages_keep_apart_and_close_one_by_one(browser: pywebmcp.Browser, open_page: Open) -> None:
    first = await open_page(registers("one"), url="https://one.example/")
    second = await open_page(registers("two"), url="https://two.example/")
    assert browser.pages == (first, second)
    assert [tool.name for tool in await second.tools()] == ["two"]
    await first.close()
    assert browser.pages == (second,)
    assert (await second.call("two")).value == "https://two.example/"
    third = await open_page(registers("three"), url="https://three.example/")
    assert (await third.call("three")).value == "https://three.example/"


@pytest.mark.requirement("page:storage-state")
async def test_cookies_and_local_storage_survive_in_a_storage_state(
    engine: str, start: Callable[..., Any], tmp_path: Path
) -> None:
    html = "<script>document.cookie = 'user=me; path=/'; localStorage.setItem('k', 'v');</script>"
    file = tmp_path / "state.json"
    async with await start(engine) as browser:
        await browser.open("https://example.com/", html=html)
        state = await browser.storage_state(path=file)
        (cookie,) = state["cookies"]
        assert (cookie["name"], cookie["value"], cookie["domain"]) == ("user", "me", "example.com")
    assert file.stat().st_mode & 0o077 == 0
    async with await start(engine, storage_state=file) as browser:
        page = await browser.open("https://example.com/", html="<p>")
        assert await page.evaluate("[document.cookie, localStorage.getItem('k')]") == ["user=me", "v"]
        await browser.clear_cookies()
        await browser.add_cookies([{"name": "a", "value": "b", "url": "https://example.com/"}])
        assert await page.evaluate("document.cookie") == "a=b"
        with pytest.raises(ValueError, match="name, value"):
            await browser.add_cookies([{"name": "a"}])


async def test_pages_of_one_browser_share_their_cookies(open_page: Open, browser: pywebmcp.Browser) -> None:
    first = await open_page("<script>document.cookie = 'login=1; path=/'</script>")
    second = await open_page("<p>")
    assert await second.evaluate("document.cookie") == "login=1"
    await second.evaluate("document.cookie = 'login=2; path=/'")
    await first.close()
    await second.close()
    third = await open_page("<p>")
    assert "login=" in await third.evaluate("document.cookie")
    await browser.clear_cookies()
    assert await third.evaluate("document.cookie") == ""
    assert await browser.cookies() == []


async def test_a_kept_profile_keeps_its_cookies(engine: str, start: Callable[..., Any], tmp_path: Path) -> None:
    html = "<script>document.cookie = 'kept=1; path=/; max-age=86400'</script>"
    async with await start(engine, profile=tmp_path / "profile") as browser:
        await browser.open("https://example.com/", html=html)
    async with await start(engine, profile=tmp_path / "profile") as browser:
        page = await browser.open("https://example.com/", html="<p>")
        assert await page.evaluate("document.cookie") == "kept=1"


async def test_headers_and_requests_reach_the_route(engine: str, start: Callable[..., Any]) -> None:
    asked: list[pywebmcp.Request] = []

    async def route(request: pywebmcp.Request) -> pywebmcp.Response | None:
        asked.append(request)
        if request.url.endswith(".js"):
            return pywebmcp.Response("window.loaded = 'é'")
        if request.url.endswith("/api"):
            return pywebmcp.Response('{"ok": true}', content_type="application/json")
        return pywebmcp.Response("<script src=/app.js></script>")

    async with await start(engine, headers={"X-Test": "yes"}) as browser:
        page = await browser.open("https://example.com/", route=route)
        assert await page.evaluate("loaded") == "é"
        post = "fetch('/api', {method: 'POST', body: 'hello'}).then(r => r.json())"
        assert await page.evaluate(post) == {"ok": True}
    asked = [request for request in asked if "favicon" not in request.url]  # Chromium asks for it when it likes
    assert [request.url.rpartition("/")[2] for request in asked] == ["", "app.js", "api"]
    assert asked[0].resource_type == "Document"
    assert {name.lower(): value for name, value in asked[0].headers.items()}["x-test"] == "yes"
    assert (asked[-1].method, asked[-1].body) == ("POST", b"hello")


@pytest.mark.requirement("page:popups")
async def test_popups_are_pages_of_their_own_where_the_engine_has_them(
    browser: pywebmcp.Browser, open_page: Open, engine: str
) -> None:
    page = await open_page(registers("opener"), route=lambda _: pywebmcp.Response(registers("popup")))
    await page.evaluate("void window.open('/popup')")
    if engine == "lightpanda":
        assert [tool.name for tool in await page.tools()] == ["opener"]
        assert browser.pages == (page,)
        return
    async with asyncio.timeout(5):
        while len(browser.pages) < 2:
            await page.evaluate("new Promise((resolve) => setTimeout(resolve, 20))")
    popup = browser.pages[1]
    assert [tool.name for tool in await page.tools()] == ["opener"]
    assert popup is not page


async def test_a_crashed_renderer_takes_its_own_documents_only_and_a_reload_brings_them_back() -> None:
    async with pywebmcp.launch("chromium", mode="native") as browser:
        waits = "() => new Promise(() => {})"
        page = await browser.open(
            "https://example.com/",
            html=registers("top")
            + registers("top_waits", waits)
            + "<iframe src='https://o.example/' allow=tools></iframe>",
            route=lambda _: pywebmcp.Response(registers("framed") + registers("frame_waits", waits)),
        )
        await page.wait_for_tool("frame_waits")
        of_top, of_frame = await page.invoke("top_waits"), await page.invoke("frame_waits")
        frame = page._frames.document(page.frames[1].id)
        assert frame is not None
        frame.session.post("Page.crash")
        with pytest.raises(pywebmcp.OutcomeUnknownError):
            await of_frame.result()
        assert (await page.call("top")).value == "https://example.com/"
        assert [tool.name for tool in await page.tools()] == ["top", "top_waits"]
        page._session.post("Page.crash")
        with pytest.raises(pywebmcp.OutcomeUnknownError):
            await of_top.result()
        with pytest.raises(pywebmcp.EngineCrashedError, match="reload"):
            await page.tools()
        await page.reload()
        await page.wait_for_tool("framed")
        assert (await page.call("top")).value == "https://example.com/"


async def test_an_opening_that_is_cancelled_leaves_nothing_behind(browser: pywebmcp.Browser) -> None:
    async def targets() -> int:
        told = await browser._connection.send("Target.getTargets")
        return len(browser._connections) + len(told["targetInfos"])

    kept = await browser.open("https://kept.example/", html="<p>")
    before = await targets()
    for turns in range(0, 60, 3):
        opening = asyncio.ensure_future(browser.open("https://example.com/", html="<p>"))
        for _ in range(turns):
            await asyncio.sleep(0)
        opening.cancel()
        await asyncio.gather(opening, return_exceptions=True)
        if not opening.cancelled():
            await opening.result().close()
    async with asyncio.timeout(10):
        while browser._tasks:
            await asyncio.wait(browser._tasks)
        while await targets() != before:  # the browser answers before a target is quite gone
            pass
    assert browser.pages == (kept,)


@pytest.mark.parametrize(
    "response",
    [
        pywebmcp.Response(5),  # pyright: ignore[reportArgumentType] - what a user may get wrong
        pywebmcp.Response("x", status=1000),
        pywebmcp.Response("x", headers={"a": "b\nc"}),
        "text",
    ],
)
async def test_a_wrong_answer_of_a_route_is_an_error_status_and_a_log_and_never_a_hang(
    browser: pywebmcp.Browser, response: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with pytest.raises(pywebmcp.NavigationError) as caught:
        await browser.open("https://example.com/", route=lambda _: response, timeout=10)
    assert caught.value.status == 500
    assert "route callback failed" in caplog.text


async def test_hooks_see_every_call_and_may_refuse_it(engine: str, start: Callable[..., Any]) -> None:
    seen: list[Any] = []

    async def before(tool: str, arguments: dict[str, Any]) -> None:
        seen.append((tool, arguments))
        if tool == "forbidden":
            raise pywebmcp.PolicyDeniedError("not this one")

    hooks = pywebmcp.CallHooks(before=[before], after=[lambda tool, outcome: seen.append((tool, outcome))])
    async with await start(engine, hooks=hooks) as browser:
        html = registers("allowed", "() => 1") + registers("forbidden", "() => { window.ran = 1 }")
        page = await browser.open("https://example.com/", html=html)
        result = await page.call("allowed", {"x": 1})
        assert seen == [("allowed", {"x": 1}), ("allowed", result)]
        with pytest.raises(pywebmcp.PolicyDeniedError):
            await page.call("forbidden")
        assert await page.evaluate("window.ran ?? null") is None


@pytest.mark.requirement("page:mode-off")
async def test_mode_off_hides_web_mcp_from_scripts(engine: str) -> None:
    async with pywebmcp.launch(engine, mode="off") as browser:
        page = await browser.open("https://example.com/", html="<p>")
        names = "[typeof document.modelContext, typeof navigator.modelContext, typeof window.ModelContext]"
        assert await page.evaluate(names) == ["undefined"] * 3
        with pytest.raises(pywebmcp.UnsupportedError, match="off"):
            await page.tools()
        with pytest.raises(pywebmcp.UnsupportedError, match="off"):
            await page.call("any")

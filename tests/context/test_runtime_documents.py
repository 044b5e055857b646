"""One runtime a document: frames, `document.open`, windows that outlive a document, documents that went away."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Open = Callable[..., Awaitable[Any]]

REGISTER = """<!doctype html><script>
document.modelContext.registerTool({name: "%s", description: "d", execute: () => "%s"});</script>"""


def told(page: Any) -> dict[int, list[tuple[str, Any]]]:
    """What each context told: its messages' types and names, in order."""
    contexts: dict[int, list[tuple[str, Any]]] = {}
    for context, message in page.all_messages():
        contexts.setdefault(context, []).append((message["t"], message.get("name")))
    return contexts


async def test_each_frame_has_a_runtime_of_its_own(open_document: Open) -> None:
    html = REGISTER % ("top", "top") + '<iframe src="/a"></iframe><iframe src="/b"></iframe>'
    page = await open_document(html, a=REGISTER % ("a", "A"), b=REGISTER % ("b", "B"))
    await page.connection.until(lambda: sum(m["t"] == "add" for _, m in page.all_messages()) == 3)
    adds = {m["name"]: (context, m["id"]) for context, m in page.all_messages() if m["t"] == "add"}
    assert len({context for context, _ in adds.values()}) == 3
    assert {id_ for _, id_ in adds.values()} == {1}
    for name, answer in (("top", "top"), ("a", "A"), ("b", "B")):
        assert await page.host("call", 1, "i", "{}", context=adds[name][0]) == f'v"{answer}"'
    assert await page.evaluate("frames[0].document.modelContext === document.modelContext") is False


async def test_an_empty_frame_has_a_runtime_before_the_page_touches_it(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const f = document.createElement("iframe"); document.documentElement.append(f);
        const inner = f.contentDocument.modelContext;
        return [f.contentWindow.origin, inner instanceof f.contentWindow.ModelContext,
          await inner.registerTool(tool("inner")) === undefined]"""
    ) == ["https://example.com", True, True]
    (context,) = [c for c, m in page.all_messages() if m.get("name") == "inner"]
    assert await page.host("call", 1, "i", "{}", context=context) == 'v"r:inner"'
    hello = next(m for c, m in page.all_messages() if c == context)
    assert hello == {"t": "hello", "surface": "runtime", "origin": "https://example.com", "secure": True, "name": ""}


async def test_the_getter_of_another_realm_gives_the_documents_own_context(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const f = document.createElement("iframe"); document.documentElement.append(f);
        const { get } = Object.getOwnPropertyDescriptor(Document.prototype, "modelContext");
        return [get.call(f.contentDocument) === f.contentDocument.modelContext,
          f.contentDocument.modelContext === mc]"""
    ) == [True, False]


async def test_a_window_of_a_frame_is_a_window_for_the_key_but_not_of_this_document(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const f = document.createElement("iframe"); document.documentElement.append(f);
        await add("a"); const t = await handle("a");
        return [await caught(() => mc.executeTool({ ...t, window: f.contentWindow })), await mc.executeTool({
          ...t })]"""
    ) == ["UnknownError", '"r:a"']


async def test_document_open_keeps_the_context_and_its_tools(open_document: Open) -> None:
    page = await open_document(REGISTER % ("a", "A"))
    assert await page.run(
        """document.open(); document.write("<p>new<script>window.inside = document.modelContext<\\/script>");
        document.close();
        return [document.modelContext === mc, window.inside === mc, await add("b"), await add("a")]"""
    ) == [True, True, "ok", "InvalidStateError"]
    assert [m["t"] for m in page.messages()] == ["hello", "add", "add"]
    assert await page.call("a") == 'v"A"'


async def test_the_script_runs_once_in_each_window(open_document: Open) -> None:
    def counting(script: str) -> str:
        return f"globalThis.runs = (globalThis.runs || 0) + 1;\n{script}"

    page = await open_document(wrap=counting, f="<!doctype html>")
    assert await page.run(
        """document.open(); document.write("<p>new"); document.close();
        const f = document.createElement("iframe"); f.src = "/f"; document.documentElement.append(f);
        f.contentWindow.mark = 1;
        await new Promise((r) => f.onload = r);
        const g = document.createElement("iframe"); document.documentElement.append(g);
        g.contentDocument.open(); g.contentDocument.write("<p>"); g.contentDocument.close();
        return [runs, f.contentWindow.runs, g.contentWindow.runs]"""
    ) == [1, 1, 1]


async def test_a_second_injection_changes_nothing_and_the_page_sees_no_error(open_document: Open) -> None:
    page = await open_document(REGISTER % ("a", "A"))
    await page.evaluate(
        """window.errors = []; addEventListener('error', (e) => errors.push(e.message));
        window.mc = document.modelContext; 0"""
    )
    result = await page.command("Runtime.evaluate", {"expression": page.script})
    assert "has already been declared" in result["exceptionDetails"]["exception"]["description"]
    assert await page.run("await tick(); return [errors, document.modelContext === window.mc]") == [[], True]
    assert [m["t"] for m in page.messages()] == ["hello", "add"]
    assert await page.call("a") == 'v"A"'


async def test_a_window_that_outlives_its_empty_document_says_hello_again(open_chromium: Open) -> None:
    page = await open_chromium(f=REGISTER % ("loaded", "L"), g="<!doctype html>")
    reused = await page.run(
        """const out = [];
        for (const src of ["/f", "/g"]) {
          const f = document.createElement("iframe"); f.src = src; document.documentElement.append(f);
          f.contentWindow.mark = 1;
          f.contentDocument.modelContext.registerTool(tool("early"));
          await new Promise((r) => f.onload = r); out.push(f.contentWindow.mark);
        }
        return out"""
    )
    assert reused == [1, 1], "Chromium keeps the window of the initial about:blank for a same-origin document"
    await page.connection.until(lambda: len(page.all_messages()) >= 9)
    first, second = list(told(page).values())[1:]
    assert first == [("hello", ""), ("add", "early"), ("remove", None), ("hello", ""), ("add", "loaded")]
    assert second == [("hello", ""), ("add", "early"), ("remove", None), ("hello", "")]
    context = list(told(page))[1]
    assert await page.host("call", 1, "i", "{}", context=context) == "g"
    assert await page.host("call", 2, "i", "{}", context=context) == 'v"L"'
    assert [t["name"] for t in json.loads(await page.host("snapshot", context=context))["tools"]] == ["loaded"]


async def test_a_tool_of_the_empty_document_is_gone_as_soon_as_another_one_is_in_its_window(
    open_chromium: Open,
) -> None:
    page = await open_chromium()
    h = page.handle
    body = f"<!doctype html><script>parent.early = [{h}.call(1, 'i', '{{}}'), {h}.snapshot()]</script>"
    page.responses["https://example.com/f"] = {"body": body}
    called, snapshot = await page.run(
        """const f = document.createElement("iframe"); f.src = "/f"; document.documentElement.append(f);
        f.contentDocument.modelContext.registerTool(tool("early"));
        await new Promise((r) => f.onload = r); return Promise.all(early)"""
    )
    assert called == "g"
    assert json.loads(snapshot)["tools"] == []


async def test_the_context_of_a_removed_frame_is_not_active(open_document: Open) -> None:
    page = await open_document()
    assert (
        await page.run(
            """const f = document.createElement("iframe"); document.documentElement.append(f);
        const inner = f.contentDocument.modelContext, name = (e) => e.name;
        await inner.registerTool(tool("a")); const [t] = await inner.getTools();
        f.remove();
        return Promise.all([inner.registerTool(tool("b")).catch(name), inner.getTools().catch(name),
          inner.executeTool(t).catch(name)])"""
        )
        == ["InvalidStateError"] * 3
    )


async def test_the_runtime_comes_after_the_scripts_of_a_srcdoc_or_blob_frame_on_lightpanda(
    open_lightpanda: Open,
) -> None:
    script = "window.seen = [typeof document.modelContext, typeof navigator.modelContext]"
    page = await open_lightpanda()
    assert (
        await page.run(
            f"""const out = [], html = "<script>{script}<\\/script>";
        for (const kind of ["srcdoc", "src"]) {{
          const f = document.createElement("iframe");
          f[kind] = kind === "src" ? URL.createObjectURL(new Blob([html], {{ type: "text/html" }})) : html;
          const loaded = new Promise((r) => f.onload = r);
          document.documentElement.append(f); await loaded;
          out.push([f.contentWindow.seen, typeof f.contentDocument.modelContext, f.contentWindow.origin]);
        }}
        return out"""
        )
        == [[["undefined", "object"], "object", "https://example.com"]] * 2
    )


async def test_the_runtime_is_there_first_in_a_srcdoc_or_blob_frame_of_chromium(open_chromium: Open) -> None:
    page = await open_chromium()
    assert (
        await page.run(
            """const out = [], html = "<script>window.seen = typeof document.modelContext<\\/script>";
        for (const kind of ["srcdoc", "src"]) {
          const f = document.createElement("iframe");
          f[kind] = kind === "src" ? URL.createObjectURL(new Blob([html], { type: "text/html" })) : html;
          const loaded = new Promise((r) => f.onload = r);
          document.documentElement.append(f); await loaded;
          out.push([f.contentWindow.seen, f.contentWindow.origin]);
        }
        return out"""
        )
        == [["object", "https://example.com"]] * 2
    )


async def test_a_navigation_ends_a_pending_call_with_its_context(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html><script>document.modelContext.registerTool({ name: "a", description: "d",
          execute: () => new Promise(() => {}) });</script>"""
    )
    reply = await page.connection.post(
        "Runtime.callFunctionOn",
        {
            "functionDeclaration": f"() => {page.handle}.call(1, 'i', '{{}}', true)",
            "executionContextId": page.context,
            "awaitPromise": True,
        },
        page.session,
    )
    await page.until_message("activated")
    await page.goto("https://example.com/2", "<!doctype html>")
    message = await reply
    assert "error" in message


async def test_a_document_tells_the_name_of_its_frame(open_document: Open) -> None:
    page = await open_document(
        '<!doctype html><iframe name="left" src="/a"></iframe><iframe src="/a"></iframe>', a="<p>"
    )
    await page.connection.until(lambda: len(page.all_messages()) == 3)
    assert sorted(m["name"] for _, m in page.all_messages()) == ["", "", "left"]

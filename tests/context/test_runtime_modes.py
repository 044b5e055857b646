"""The modes of the runtime, insecure contexts, and answers to dialogs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pathlib
    from collections.abc import Awaitable, Callable

    Open = Callable[..., Awaitable[Any]]

REMAINS = """["modelContext" in document, "modelContext" in navigator, "modelContextTesting" in navigator,
  ...["ModelContext", "ModelContextClient", "ModelContextTesting", "ToolActivatedEvent", "ToolCancelEvent",
    "WebMCPEvent"]
    .map((n) => n in window)].filter(Boolean).length"""
TOOL = """<!doctype html><script>
window.mc = document.modelContext ?? navigator.modelContext;
window.seen = typeof mc; mc?.registerTool({ name: "a", description: "d", execute: () => 1 });</script>"""


async def test_auto_takes_the_runtime_where_the_engine_has_no_complete_model_context(open_document: Open) -> None:
    page = await open_document(TOOL, mode="auto")
    assert [m["t"] for m in page.messages()] == ["hello", "add"]
    assert page.messages()[0]["surface"] == "runtime"
    assert await page.call("a") == "v1"


async def test_auto_stands_back_where_the_engine_has_one(open_native: Open) -> None:
    page = await open_native(TOOL, mode="auto")
    assert page.messages() == [
        {"t": "hello", "surface": "native", "origin": "https://example.com", "secure": True, "name": ""}
    ]
    native = "/native code/.test(document.modelContext.registerTool)"
    assert await page.evaluate(f"[{native}, document.modelContext === mc, 'modelContext' in navigator]") == [
        True,
        True,
        False,
    ]
    assert json.loads(await page.host("snapshot"))["tools"] == []
    assert json.loads(await page.host("foreign")) == {"present": False}


async def test_a_polyfill_beside_a_native_model_context_is_foreign(open_native: Open) -> None:
    page = await open_native(
        """<!doctype html><script>Object.defineProperty(document, "modelContext", { value: {
          getTools: () => [{ name: "p", description: "d" }], executeTool: (t) => "ran" } });</script>""",
        mode="auto",
    )
    assert [m["t"] for m in page.messages()] == ["hello", "changed"]
    assert [t["name"] for t in json.loads(await page.host("foreign"))["tools"]] == ["p"]
    assert await page.host("callForeign", "p", "i", "{}") == "sran"


async def test_runtime_replaces_a_native_model_context(open_native: Open) -> None:
    page = await open_native(TOOL, mode="runtime")
    assert [m["t"] for m in page.messages()] == ["hello", "add"]
    assert await page.call("a") == "v1"
    assert await page.evaluate(
        "[document.modelContext === navigator.modelContext, mc instanceof ModelContext, typeof ToolCancelEvent]"
    ) == [True, True, "function"]
    assert await page.run("return mc.executeTool(await handle('a'))") == "1"


async def test_the_old_shape_of_an_engine_is_replaced(open_lightpanda: Open) -> None:
    page = await open_lightpanda(TOOL)
    assert await page.evaluate(
        "[typeof ModelContextClient, mc === navigator.modelContext, typeof mc.getTools, Object.keys(navigator)]"
    ) == ["undefined", True, "function", []]


async def test_off_leaves_no_trace_of_webmcp(open_document: Open) -> None:
    page = await open_document(TOOL, mode="off")
    assert page.messages() == [
        {"t": "hello", "surface": "off", "origin": "https://example.com", "secure": True, "name": ""}
    ]
    assert await page.evaluate(f"[seen, {REMAINS}]") == ["undefined", 0]
    assert json.loads(await page.host("snapshot"))["tools"] == []
    assert await page.host("call", 1, "i", "{}") == "g"


async def test_off_hides_a_native_model_context(open_native: Open) -> None:
    page = await open_native(TOOL, mode="off")
    assert page.messages()[0]["surface"] == "off"
    assert await page.evaluate(f"[seen, {REMAINS}]") == ["undefined", 0]


async def test_an_insecure_context_has_no_model_context(open_document: Open) -> None:
    page = await open_document(
        "<!doctype html><script>window.seen = typeof document.modelContext</script>", url="http://plain.test/"
    )
    assert page.messages() == [
        {"t": "hello", "surface": "insecure", "origin": "http://plain.test", "secure": False, "name": ""}
    ]
    assert await page.evaluate("[seen, typeof ModelContext, typeof ToolActivatedEvent]") == ["undefined"] * 3
    assert json.loads(await page.host("snapshot"))["tools"] == []


async def test_loopback_is_a_secure_context(open_document: Open) -> None:
    page = await open_document(TOOL, url="http://localhost/")
    assert page.messages()[0] == {
        "t": "hello",
        "surface": "runtime",
        "origin": "http://localhost",
        "secure": True,
        "name": "",
    }
    assert await page.run("return mc.executeTool(await handle('a'))") == "1"


async def test_an_empty_tab_is_no_secure_context(open_document: Open) -> None:
    page = await open_document()
    await page.goto("about:blank", "")
    assert page.messages() == [{"t": "hello", "surface": "insecure", "origin": "null", "secure": False, "name": ""}]


async def test_a_polyfill_in_an_insecure_context_is_found(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html><script>document.modelContext = { getTools: () => [{ name: "p", description: "d" }],
          executeTool: (t) => "ran" };</script>""",
        url="http://plain.test/",
    )
    assert [t["name"] for t in json.loads(await page.host("foreign"))["tools"]] == ["p"]
    assert await page.host("callForeign", "p", "i", "{}") == "sran"


async def test_declared_answers_are_given_and_the_engine_still_reports_the_dialogs(open_lightpanda: Open) -> None:
    page = await open_lightpanda(dialogs={"confirm": True, "prompt": "typed"})
    assert await page.evaluate("[confirm('sure?'), prompt('name?', 'x'), confirm(), prompt()]") == [
        True,
        "typed",
        True,
        "typed",
    ]
    opened = [e["params"] for e in page.connection.events if e["method"] == "Page.javascriptDialogOpening"]
    assert [(d["type"], d["message"]) for d in opened[:2]] == [("confirm", "sure?"), ("prompt", "name?")]


async def test_the_default_text_of_a_prompt_is_told_and_can_be_the_answer(open_lightpanda: Open) -> None:
    page = await open_lightpanda(dialogs={"confirm": False, "prompt": True})
    assert await page.evaluate("[prompt('name?', 'Ann'), prompt('?', 5), prompt('?'), prompt(), confirm('x')]") == [
        "Ann",
        "5",
        "",
        "",
        False,
    ]
    assert [m["default"] for m in page.of_type("dialog")] == ["Ann", "5", "", ""]


async def test_a_wrapped_dialog_looks_like_the_original(open_lightpanda: Open) -> None:
    shape = """["confirm", "prompt"].map((n) => { const d = Object.getOwnPropertyDescriptor(window, n);
      return [d.writable, d.enumerable, d.configurable, d.value.name, d.value.length, "prototype" in d.value]; })"""
    plain, wrapped = await open_lightpanda(), await open_lightpanda(dialogs={"confirm": False, "prompt": None})
    assert await wrapped.evaluate(shape) == await plain.evaluate(shape)
    assert await wrapped.evaluate("[confirm(), prompt()]") == [False, None]


async def test_a_local_file_has_an_origin_that_its_own_handles_can_use(
    open_chromium: Open, tmp_path: pathlib.Path
) -> None:
    file = tmp_path / "page.html"
    file.write_text(TOOL)
    page = await open_chromium()
    await page.command("Fetch.disable")
    await page.goto(file.as_uri(), TOOL)
    assert page.messages()[0]["origin"] == "file://"
    assert await page.run("const t = await handle('a'); return [t.origin, await mc.executeTool(t)]") == ["file://", "1"]

"""Pages that bring a model context of their own: polyfills and stubs, listed and called as the page would."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Open = Callable[..., Awaitable[Any]]

POLYFILL = """
const tools = [], calls = [];
class Polyfill extends EventTarget {
  registerTool(t) { tools.push(t); this.dispatchEvent(new Event("toolchange")); }
  async getTools() { return tools.map((t) => ({ name: t.name, title: t.title, description: t.description,
    inputSchema: SCHEMA, annotations: t.annotations, outputSchema: t.outputSchema })); }
  EXECUTE
}
const polyfill = new Polyfill();
polyfill.registerTool({ name: "echo", title: "E", description: "d", inputSchema: { type: "object" },
  annotations: { readOnlyHint: true }, outputSchema: { type: "string" }, execute: (a) => a });
"""
OBJECTS = POLYFILL.replace("SCHEMA", "t.inputSchema").replace(
    "EXECUTE",
    """async executeTool(t, input = {}, options = {}) { calls.push([typeof input, "signal" in options]);
       return JSON.stringify(await tools.find((x) => x.name === t.name).execute(input, options)); }""",
)
TEXTS = POLYFILL.replace("SCHEMA", "JSON.stringify(t.inputSchema)").replace(
    "EXECUTE",
    """async executeTool(t, input, options) { calls.push([typeof input, "signal" in options]);
       return JSON.stringify(await tools.find((x) => x.name === t.name).execute(JSON.parse(input), options)); }""",
)
PLACES = {
    "a data property of document": "Object.defineProperty(document, 'modelContext', {value: polyfill});",
    "a getter of Document.prototype": """Object.defineProperty(Document.prototype, "modelContext",
        { get: () => polyfill, configurable: true });""",
    "a data property of navigator": """Object.defineProperty(navigator, "modelContext", {value: polyfill});
        Object.defineProperty(document, "modelContext", {value: undefined});""",
    "navigator alone": "Object.defineProperty(navigator, 'modelContext', {value: polyfill});",
}


def page_with(*statements: str) -> str:
    return f"<!doctype html><script>{' '.join(statements)}</script>"


def entry(**changes: Any) -> dict[str, Any]:
    return {
        "name": "echo",
        "description": "d",
        "title": "E",
        "schemaText": False,
        "schema": '{"type":"object"}',
        "output": '{"type":"string"}',
        "annotations": {"readOnlyHint": True},
        **changes,
    }


async def test_the_runtime_itself_is_not_foreign(open_document: Open) -> None:
    page = await open_document()
    assert json.loads(await page.host("foreign")) == {"present": False}
    assert await page.host("callForeign", "a", "i", "{}") == "g"


@pytest.mark.parametrize("place", PLACES)
async def test_a_polyfill_is_found_wherever_the_page_puts_it(open_document: Open, place: str) -> None:
    page = await open_document(page_with(OBJECTS, PLACES[place]))
    await page.until_message("changed")
    assert json.loads(await page.host("foreign")) == {
        "present": True,
        "list": True,
        "execute": True,
        "length": 1,
        "tools": [entry()],
    }
    assert await page.host("callForeign", "echo", "i", '{"a":[1]}') == 's{"a":[1]}'
    assert await page.evaluate("calls") == [["object", True]]


async def test_the_dialect_is_chosen_by_length_and_then_by_the_type_of_the_schema(open_document: Open) -> None:
    page = await open_document(page_with(TEXTS, PLACES["a data property of document"]))
    listing = json.loads(await page.host("foreign"))
    assert (listing["length"], listing["tools"]) == (3, [entry(schemaText=True)])
    assert await page.host("callForeign", "echo", "i", '{"a":1}') == 's{"a":1}'
    assert await page.evaluate("calls") == [["string", True]]


async def test_one_parameter_means_an_object_whatever_the_schema(open_document: Open) -> None:
    source = OBJECTS.replace("inputSchema: t.inputSchema", "inputSchema: JSON.stringify(t.inputSchema)")
    page = await open_document(page_with(source, PLACES["a data property of document"]))
    listing = json.loads(await page.host("foreign"))
    assert (listing["length"], listing["tools"][0]["schemaText"]) == (1, True)
    assert await page.host("callForeign", "echo", "i", '{"a":1}') == 's{"a":1}'
    assert await page.evaluate("calls") == [["object", True]]


async def test_an_object_schema_means_an_object_whatever_the_length(open_document: Open) -> None:
    source = OBJECTS.replace("input = {}, options = {}", "input, options")
    page = await open_document(page_with(source, PLACES["a data property of document"]))
    assert json.loads(await page.host("foreign"))["length"] == 3
    assert await page.host("callForeign", "echo", "i", '{"a":1}') == 's{"a":1}'


async def test_a_refused_shape_is_never_tried_in_another_one(open_document: Open) -> None:
    source = POLYFILL.replace("SCHEMA", "t.inputSchema").replace(
        "EXECUTE", "executeTool(t, input) { calls.push(typeof input); throw new TypeError('not this shape'); }"
    )
    page = await open_document(page_with(source, PLACES["a data property of document"]))
    await page.host("foreign")
    answer = await page.host("callForeign", "echo", "i", "{}")
    assert (answer[0], json.loads(answer[1:])["message"]) == ("e", "not this shape")
    assert await page.evaluate("calls") == ["object"]


async def test_the_very_object_that_was_listed_is_handed_over(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html><script>const tool = { name: "a", description: "d" };
        Object.defineProperty(document, "modelContext", { value: {
          getTools: () => [tool], executeTool(t, _) { return { same: t === tool,
            self: this === document.modelContext }; } } });
        </script>"""
    )
    assert json.loads(await page.host("foreign"))["tools"] == [{"name": "a", "description": "d", "schemaText": False}]
    assert await page.host("callForeign", "a", "i", "{}") == 'v{"same":true,"self":true}'


async def test_results_of_a_polyfill_keep_text_as_text(open_document: Open) -> None:
    results = ["'text'", "''", "undefined", "null", "5", "{a: 1}", "() => 1", "10n"]
    page = await open_document(
        page_with(
            f"const values = [{', '.join(results)}];",
            """Object.defineProperty(document, "modelContext", { value: {
              getTools: () => values.map((_, n) => ({ name: "t" + n, description: "d" })),
              executeTool: async (t) => values[t.name.slice(1)] } });""",
        )
    )
    await page.host("foreign")
    answers = [await page.host("callForeign", f"t{n}", "i", "{}") for n in range(len(results))]
    assert answers[:-1] == ["stext", "s", "u", "vnull", "v5", 'v{"a":1}', "u"]
    assert json.loads(answers[-1][1:])["kind"] == "unserializable"


async def test_arguments_are_checked_before_a_polyfill_is_called(open_document: Open) -> None:
    page = await open_document(page_with(OBJECTS, PLACES["a data property of document"]))
    await page.host("foreign")
    assert await page.host("callForeign", "echo", "i", "5") == "a"
    assert await page.host("callForeign", "other", "i", "{}") == "g"
    assert await page.evaluate("calls") == []


async def test_a_frozen_stub_that_cannot_list_says_so_and_leaves_the_page_alone(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html><script>
        const reg = [], host = Object.freeze({ registerTool(t) { reg.push(t); } });
        window.defined = (() => { try { Object.defineProperty(document, "modelContext",
          { value: host, writable: false, configurable: false, enumerable: true }); return "ok"; } catch (e) {
            return e.name; } })();
        document.modelContext.registerTool({ name: "frozen_hello", description: "Hi", execute: () =>
          "hi" });</script>"""
    )
    assert await page.evaluate("[defined, document.modelContext === host, reg.length]") == ["ok", True, 1]
    assert json.loads(await page.host("foreign")) == {
        "present": True,
        "list": False,
        "execute": False,
        "length": None,
        "tools": [],
    }
    assert page.of_type("add") == []


async def test_a_stub_whose_tools_carry_their_callback_is_called_through_it(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html><script>const reg = [];
        Object.defineProperty(document, "modelContext", { value: Object.freeze({
          registerTool(t) { reg.push(t); }, getTools() { return reg; } }) });
        document.modelContext.registerTool({ name: "hello", description: "Hi",
          execute({ who } = {}, { signal }) { return "hi " + who + (this === window) + signal.aborted; } });
        document.modelContext.registerTool({ name: "dead", description: "no callback" });</script>"""
    )
    listing = json.loads(await page.host("foreign"))
    assert (listing["list"], listing["execute"], listing["length"]) == (True, True, None)
    assert await page.host("callForeign", "hello", "i", '{"who":"you"}') == 'v"hi youtruefalse"'
    refused = await page.host("callForeign", "dead", "i", "{}")
    assert refused.startswith("nthe page's own model context")


async def test_a_call_of_a_polyfill_can_be_cancelled(open_document: Open) -> None:
    source = POLYFILL.replace("SCHEMA", "t.inputSchema").replace(
        "EXECUTE",
        """executeTool(t, input = {}, { signal } = {}) { window.started = true;
           return new Promise((_, reject) => { signal.onabort = () => { calls.push(signal.reason.name); reject(1); };
             }); }""",
    )
    page = await open_document(page_with(source, PLACES["a data property of document"]))
    await page.host("foreign")
    answer = await page.host_later("callForeign", "echo", "x", "{}")
    assert await page.evaluate("started") is True
    assert await page.host("cancel", "x") is True
    assert await answer == "c"
    assert await page.evaluate("calls") == ["AbortError"]
    assert page.of_type("canceled") == []


async def test_a_polyfill_is_subscribed_to_once_at_the_first_look(open_document: Open) -> None:
    page = await open_document(page_with(OBJECTS, PLACES["a data property of document"]))
    for _ in range(3):
        await page.host("foreign")
    before = len(page.of_type("changed"))
    await page.evaluate("polyfill.registerTool({name: 'b', description: 'd'})")
    assert len(page.of_type("changed")) == before + 1
    assert [t["name"] for t in json.loads(await page.host("foreign"))["tools"]] == ["echo", "b"]


async def test_a_replaced_context_is_told_when_the_document_is_parsed_or_loaded_and_once(open_document: Open) -> None:
    page = await open_document(page_with(OBJECTS, PLACES["a data property of document"]))
    assert [m["t"] for m in page.messages()] == ["hello", "changed"]
    page = await open_document("<!doctype html><script src=/none></script>")
    assert [m["t"] for m in page.messages()] == ["hello"]


async def test_a_context_that_is_replaced_while_the_document_loads_is_told(open_document: Open) -> None:
    replace = "Object.defineProperty(document, 'modelContext', {value: {}, configurable: true});"
    undo = "delete document.modelContext;"
    on_parsed = "addEventListener('DOMContentLoaded', () => { %s });"
    page = await open_document(page_with(on_parsed % replace))
    await page.until_message("changed")
    page = await open_document(page_with(replace, on_parsed % undo))
    assert [m["t"] for m in page.messages()] == ["hello", "changed"]


async def test_tools_of_a_wrapper_around_ours_are_not_listed_twice(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html><script>const own = document.modelContext;
        Object.defineProperty(document, "modelContext", { value: {
          registerTool: (...a) => own.registerTool(...a), getTools: () => own.getTools(),
          executeTool: (t) => own.executeTool(t) } });
        document.modelContext.registerTool({ name: "a", description: "d", execute: () => 1 });</script>"""
    )
    assert [m["name"] for m in page.of_type("add")] == ["a"]
    listing = json.loads(await page.host("foreign"))
    assert (listing["present"], listing["tools"]) == (True, [])
    assert await page.call("a") == "v1"


async def test_a_broken_polyfill_breaks_nothing(open_document: Open) -> None:
    page = await open_document()
    sources = [
        "{ get getTools() { throw new Error('x'); } }",
        "{ getTools() { throw new Error('x'); } }",
        "{ getTools: () => Promise.reject(new Error('x')) }",
        "{ getTools: () => 5 }",
        "{ getTools: () => null }",
        "{ getTools: () => ({ length: -1 }) }",
        "{ getTools: () => ({ get length() { throw new Error('x'); } }) }",
        "{ getTools: () => [5, null, {}, { name: 5 }, { get name() { throw 1; } }] }",
        "{ getTools: () => [new Proxy({}, { get() { throw new Error('x'); } })] }",
        "new Proxy({}, { get() { throw new Error('x'); } })",
        "new Proxy(() => {}, {})",
        "{ getTools: () => ({ length: 1e9, 5: {} }) }",
        "{ addEventListener() { throw new Error('x'); }, getTools: () => [] }",
    ]
    for source in sources:
        replace = f'Object.defineProperty(document, "modelContext", {{ value: {source}, configurable: true }}); 0'
        await page.evaluate(replace)
        listing = json.loads(await page.host("foreign"))
        assert (listing["present"], listing["tools"]) == (True, []), source
        assert not listing.get("error") or listing["error"] == "Error: x", source


async def test_broken_members_of_a_listed_tool_are_left_out(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html><script>const cyclic = {}; cyclic.self = cyclic;
        Object.defineProperty(document, "modelContext", { value: { executeTool() {}, getTools: () => [
          { name: "a", get description() { throw 1; }, inputSchema: cyclic, outputSchema: 5, annotations: 7,
            title: {} },
          { name: "a", description: "again" }, { name: "b", inputSchema: "not json",
            annotations: {} }] } });</script>"""
    )
    assert json.loads(await page.host("foreign"))["tools"] == [
        {"name": "a", "description": "", "schemaText": False},
        {"name": "b", "description": "", "schemaText": True, "schema": "not json", "annotations": {}},
    ]
    assert json.loads(await page.host("foreign"))["length"] == 0


async def test_the_older_name_of_the_listing_method_is_understood(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html><script>Object.defineProperty(navigator, "modelContext", { value: {
          listTools: () => [{ name: "a", description: "d", inputSchema: "{}" }], executeTool: (t, text) =>
            typeof text } });
        </script>"""
    )
    assert json.loads(await page.host("foreign"))["list"] is True
    assert await page.host("callForeign", "a", "i", "{}") == "sstring"

"""Pages that patch built-ins after the runtime took its references: nothing breaks, nothing is observable."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Open = Callable[..., Awaitable[Any]]

# Each patch collects what it does with `put(object, key, descriptor)`; all is done at once after it.
PATCHES = {
    "toJSON on Array.prototype": "put(Array.prototype, 'toJSON', method('toJSON'));",
    "toJSON on Object.prototype": "put(Object.prototype, 'toJSON', { value() { hit('toJSON'); return this; } });",
    "toJSON on primitives": "for (const P of [String, Number, Boolean]) put(P.prototype, 'toJSON', method('toJSON'));",
    "members of Object.prototype": """for (const k of [
        "each", "id", "title", "schema", "annotations", "exposed", "signal",
        "done", "next", "0", "1", "length", "get", "set", "value"])
        put(Object.prototype, k, { value: () => {}, enumerable: true, writable: true });""",
    "accessors of Object.prototype": """for (const k of [
        "title", "schema", "output", "exposed", "t", "invocation", "id",
        "0", "1", "2", "get", "set", "value", "writable", "enumerable", "configurable", "debugging", "toolName",
          "done"])
        put(Object.prototype, k, { get() { hit("get " + k); }, set() { hit("set " + k); } });""",
    "accessors of Array.prototype": """for (const k of [0, 1, 2, 3])
        put(Array.prototype, k, { get() { hit("get " + k); }, set() { hit("set " + k); } });""",
    "iterators": """for (const P of [Array, Map, Set, String]) put(P.prototype, Symbol.iterator, method("iterator"));
        put(Object.getPrototypeOf([].values()), "next", method("next"));""",
    "then": "put(Promise.prototype, 'then', method('then')); put(Promise.prototype, 'catch', method('catch'));",
    "statics of Promise": """for (const k of ["resolve", "reject", "all", "race", "withResolvers"])
        put(Promise, k, method(k));
        put(Promise, Symbol.species, getter("species"));""",
    "call, apply and bind": """for (const k of ["call", "apply", "bind", "toString", Symbol.hasInstance])
        put(Function.prototype, k, method(String(k)));""",
    "the length of functions": "put(Function.prototype, 'length', getter('length'));",
    "methods of built-in classes": """for (const P of [Map, WeakMap, Set, WeakSet, Array, String, RegExp, Symbol])
        putAll(P.prototype, P.name);""",
    "methods of the DOM": """for (const P of [EventTarget, Event, AbortSignal, AbortController,
        MessagePort, MessageChannel,
        URL, Navigator]) putAll(P.prototype, P.name);
        putAll(AbortSignal, "AbortSignal."); put(Document.prototype, "defaultView", getter("defaultView"));""",
    "statics": "for (const O of [Object, Reflect, JSON, Symbol, Array, String, Math]) putAll(O, '');",
    "globals": """for (const k of [
        "Promise", "Map", "WeakMap", "Event", "EventTarget", "AbortController", "AbortSignal",
        "DOMException", "URL", "MessageChannel", "TypeError", "Error", "JSON", "Reflect", "Object", "Array", "Symbol",
        "ModelContext", "ToolActivatedEvent", "ToolCancelEvent", "setTimeout", "queueMicrotask", "origin", "String",
        "isSecureContext", "Document", "Navigator", "navigator", "Function", "parent", "self", "globalThis"])
        put(window, k, getter(k));""",
    "prototypes of the interfaces": """setPrototypeOf(ModelContext.prototype, null);
        setPrototypeOf(ToolActivatedEvent.prototype, null); setPrototypeOf(ModelContext, null);""",
    "the constructor of arrays": """put(Array, Symbol.species, getter("species"));
        put(Array.prototype, "constructor", getter("constructor"));""",
}

PAGE = """<!doctype html><script>
let hits = "";
const hit = (name) => { hits += name + " "; };
const c = new AbortController(), mc = document.modelContext, realAbort = c.abort.bind(c);
const { setPrototypeOf, defineProperty, getOwnPropertyDescriptor } = Object;
const bare = (object) => { setPrototypeOf(object, null); return object; };
const given = bare({
  name: "patched", description: "d", title: "T", inputSchema: bare({ type: "object", required: bare({ a: 1 }) }),
  outputSchema: bare({}), annotations: bare({ readOnlyHint: true }),
  execute(input, options) { return options.signal === undefined ? "no signal" : bare({ a: input.a }); } });
const options = bare({ signal: c.signal }), wrong = bare({ name: "", description: "d", execute() {} });
let todo = null;
const put = (object, key, d) => { todo = bare({ object, key, d: bare({ configurable: true, ...d }), next: todo }); };
const method = (name) => ({ writable: true, value() { hit(name); throw new Error(name); } });
const getter = (name) => ({ get() { hit(name); throw new Error(name); } });
const putAll = (object, name) => {
  for (const k of Object.getOwnPropertyNames(object)) {
    const d = getOwnPropertyDescriptor(object, k);
    if (k === "constructor" || k === "modelContext" || !d.configurable) continue;
    if (typeof d.value === "function") put(object, k, method(name + k));
    else if (d.get) put(object, k, getter(name + k));
  }
};
let report = "";
const check = async (refused, listed) => {
  let name;
  try { await refused; } catch (e) { name = e.name; }
  const tools = await listed, result = await mc.executeTool(tools[0], bare({ a: 1 }), options);
  report = name + "|" + tools[0].name + "|" + result + "|" + typeof mc.registerTool;
};
PATCH
while (todo) { try { defineProperty(todo.object, todo.key, todo.d); } catch {} todo = todo.next; }
hits = "";
mc.registerTool(given, options);
check(mc.registerTool(wrong), mc.getTools());
const finished = true;
</script>"""


@pytest.mark.parametrize("patch", PATCHES)
async def test_patched_built_ins_change_nothing_for_python(open_document: Open, patch: str) -> None:
    page = await open_document(PAGE.replace("PATCH", PATCHES[patch]))
    thrown = [
        e["params"]["exceptionDetails"] for e in page.connection.events if e["method"] == "Runtime.exceptionThrown"
    ]
    assert await page.evaluate("finished"), thrown
    adds = page.of_type("add")
    expected_schema = '{"type":"object","required":{"a":1}}'
    assert [{k: v for k, v in m.items() if k != "id"} for m in adds] == [
        {
            "t": "add",
            "name": "patched",
            "description": "d",
            "title": "T",
            "schema": expected_schema,
            "output": "{}",
            "annotations": {"readOnlyHint": True},
        }
    ]
    assert await page.host("call", 1, "i", '{"a":1}') == 'v{"a":1}'
    assert json.loads(await page.host("snapshot"))["tools"] == adds
    assert json.loads(await page.host("foreign")) == {"present": False}
    report = None
    for _ in range(1000):
        if report := await page.evaluate("report"):
            break
    assert report == 'InvalidStateError|patched|{"a":1}|function'
    hits = await page.evaluate("hits")
    assert hits == "" or patch.startswith("toJSON on"), "only the page's own values may meet its toJSON"
    await page.evaluate("realAbort()")
    assert [m["t"] for m in page.messages()][-1] == "remove"
    assert await page.host("call", 1, "i", '{"a":1}') == "g"


FIELD_54 = """<!doctype html><script>
Array.prototype.toJSON = function () { return "[" + this.length + " items]"; };
Object.prototype.each = function () {};
window.URL = "not a constructor"; window.name = "x";
const mc = document.modelContext ?? navigator.modelContext;
mc.registerTool({ name: "list_users", description: "Users",
  inputSchema: { type: "object", properties: { roles: { type: "array", items: { type: "string" } } },
    required: ["roles"] },
  execute: ({ roles }) => ({ rows: [1, 2, 3], roles }) }, { exposedTo: ["https://a.test"] });
</script>"""


async def test_a_legacy_library_damages_only_what_it_would_damage_natively(open_document: Open) -> None:
    page = await open_document(FIELD_54)
    (add,) = page.of_type("add")
    assert json.loads(add["schema"])["required"] == "[1 items]"
    assert add["exposed"] == ["https://a.test"]
    assert await page.call("list_users", {"roles": ["a", "b"]}) == 'v{"rows":"[3 items]","roles":"[2 items]"}'
    assert await page.evaluate("(() => { for (const key in mc) if (key === 'each') return true; })()")


async def test_a_page_that_patches_promise_then_later_does_not_see_the_promises_of_python(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html><script>window.seen = 0; const then = Promise.prototype.then;
        Promise.prototype.then = function (...a) { seen++; return then.apply(this, a); };
        document.modelContext.registerTool({ name: "a", description: "d", execute: async () => 1 });</script>"""
    )
    assert await page.call("a") == "v1"
    assert await page.evaluate("seen") == 0


async def test_a_page_that_patches_the_constructor_of_promises_does_not_see_those_of_python(
    open_document: Open,
) -> None:
    page = await open_document(
        """<!doctype html><script>window.seen = 0;
        Object.defineProperty(Promise.prototype, "constructor", { get() { seen++; throw new Error("constructor"); } });
        document.modelContext.registerTool({ name: "a", description: "d", execute: () => 1 });</script>"""
    )
    assert await page.call("a") == "v1"
    assert json.loads(await page.host("foreign")) == {"present": False}
    assert await page.evaluate("seen") == 0


async def test_reading_a_result_looks_at_a_thenable_once(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html><script>window.log = [];
        document.modelContext.registerTool({ name: "a", description: "d", execute: () => new Proxy({ a: 1 }, {
          get(t, k) { log.push(String(k)); return t[k]; } }) });</script>"""
    )
    assert await page.call("a") == 'v{"a":1}'
    assert await page.evaluate("log") == ["then", "toJSON", "a"]


async def test_a_strict_content_security_policy_and_trusted_types_are_not_in_the_way(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html>
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-r4nd';
          require-trusted-types-for 'script'; trusted-types 'none'">
        <script nonce="r4nd">window.violations = 0; addEventListener("securitypolicyviolation", () => violations++);
        window.seen = typeof document.modelContext;
        document.modelContext.registerTool({ name: "locked_down", description: "d", execute: () => "ok" });</script>"""
    )
    assert await page.call("locked_down") == 'v"ok"'
    assert await page.evaluate("[seen, violations]") == ["object", 0]


async def test_a_page_cannot_reach_the_runtime_through_stack_traces(open_document: Open) -> None:
    page = await open_document(
        """<!doctype html><script>
        Error.prepareStackTrace = (_, frames) => frames.map((f) => [f.getFunctionName(), typeof f.getFunction(),
          typeof f.getThis(), String(f.getEvalOrigin()), f.getFileName()]);
        document.modelContext.registerTool({ name: "a", description: "d", execute() {
          window.frames_ = new Error().stack;
          try { return String(arguments.callee.caller); } catch (e) { return e.name; } } });</script>"""
    )
    answer = await page.call("a")
    assert answer in ('v"null"', 'v"TypeError"')
    frames = await page.evaluate("frames_")
    assert len(frames) > 2
    for name, function, this, origin, file in frames[1:]:
        assert (function, this) == ("undefined", "undefined")
        assert page.handle not in f"{name}{origin}{file}"
        assert page.binding not in f"{name}{origin}{file}"


async def test_ten_megabytes_of_description_break_nothing(open_document: Open) -> None:
    page = await open_document()
    assert await page.run("return add('big', { description: 'x'.repeat(10 * 1048576) })") == "ok"
    add = await page.until_message("add")
    assert len(add["description"]) == 10 * 1048576
    assert await page.call("big") == 'v"r:big"'


@pytest.mark.slow
async def test_a_hundred_thousand_tools_break_nothing(open_document: Open) -> None:
    page = await open_document()
    assert (
        await page.evaluate(
            """(() => { const mc = document.modelContext, execute = () => 1;
        for (let i = 0; i < 100000; i++) mc.registerTool({ name: "t" + i, description: "d", execute }); return 1 })()"""
        )
        == 1
    )
    await page.connection.until(lambda: len(page.connection.events) > 100_000, wait=50)
    await page.until_message("add", 100_000)
    assert await page.host("call", 100_000, "i", "{}") == "v1"

"""The channel between the runtime and Python: messages of a document, and the members of its host object."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Open = Callable[..., Awaitable[Any]]

ADD = """<!doctype html><script>
document.modelContext.registerTool({
  name: "add", description: "adds", inputSchema: {type: "object", properties: {a: {type: "number"}}},
  annotations: {readOnlyHint: true}, execute: ({a, b}) => ({sum: a + b})});
</script>"""


def page_with(*tools: str) -> str:
    """A page that registers tools t0, t1, …, given the source of each `execute`; `c` unregisters them."""
    calls = "".join(
        f'mc.registerTool({{name: "t{n}", description: "d", execute: {source}}}, {{signal: c.signal}});\n'
        for n, source in enumerate(tools)
    )
    return f"<!doctype html><script>const mc = document.modelContext, c = new AbortController();\n{calls}</script>"


async def test_a_document_says_hello_first_and_then_what_it_registers(open_document: Open) -> None:
    page = await open_document(ADD)
    hello, add = page.messages()
    assert hello == {"t": "hello", "surface": "runtime", "origin": "https://example.com", "secure": True, "name": ""}
    assert add == {
        "t": "add",
        "id": 1,
        "name": "add",
        "description": "adds",
        "schema": '{"type":"object","properties":{"a":{"type":"number"}}}',
        "annotations": {"readOnlyHint": True},
    }


async def test_add_carries_exactly_what_was_given(open_document: Open) -> None:
    page = await open_document()
    await page.run(
        """await add("all", { title: "T\\ud800", description: "D\\ud800", inputSchema: { b: 1, a: [] },
             outputSchema: { type: "string" }, annotations: { debugging: 1, consequentialHint: 0, other: true } },
             { exposedTo: ["https://a.test/path", "http://localhost:8080/x"] });
           await add("none");
           await add("empty", { title: "", annotations: null, inputSchema: [] }, { exposedTo: [] });"""
    )
    rows = [{k: v for k, v in m.items() if k not in ("t", "id")} for m in page.of_type("add")]
    assert rows == [
        {
            "name": "all",
            "title": "T\ufffd",
            "description": "D\ud800",
            "schema": '{"b":1,"a":[]}',
            "output": '{"type":"string"}',
            "annotations": {"consequentialHint": False, "debugging": True},
            "exposed": ["https://a.test", "http://localhost:8080"],
        },
        {"name": "none", "description": "d"},
        {"name": "empty", "title": "", "description": "d", "schema": "[]", "annotations": {}, "exposed": []},
    ]


async def test_ids_count_up_and_are_never_used_again(open_document: Open) -> None:
    page = await open_document()
    await page.run(
        """for (let i = 0; i < 3; i++) {
             const c = new AbortController();
             await add("a", {}, { signal: c.signal });
             await add("a");        // refused: takes no id
             c.abort();
           }"""
    )
    assert [(m["t"], m["id"]) for m in page.messages()[1:]] == [
        ("add", 1),
        ("remove", 1),
        ("add", 2),
        ("remove", 2),
        ("add", 3),
        ("remove", 3),
    ]


async def test_a_new_document_starts_over(open_document: Open) -> None:
    page = await open_document(ADD)
    await page.goto("https://example.com/2", ADD)
    assert [m["t"] for m in page.messages()] == ["hello", "add"]
    assert page.messages()[1]["id"] == 1


async def test_a_call_answers_with_the_json_text_of_the_result(open_document: Open) -> None:
    page = await open_document(ADD)
    assert await page.call("add", {"a": 1, "b": 2}) == 'v{"sum":3}'
    assert page.of_type("activated") == [{"t": "activated", "id": 1, "name": "add", "invocation": "i"}]


async def test_a_call_hands_over_the_parsed_arguments_and_a_signal(open_document: Open) -> None:
    page = await open_document(
        page_with(
            """function (input, options) { const s = options.signal; return [input, Object.keys(options), s.aborted,
               arguments.length,
               s instanceof AbortSignal, Object.getPrototypeOf(options) === Object.prototype,
               this === window, Object.hasOwn(input, "__proto__"),
                 Object.getPrototypeOf(input) === Object.prototype]; }""",
            """function () { "use strict"; return String(this); }""",
        )
    )
    text = '{"__proto__":{"x":1},"é":"\\ud800"}'
    assert json.loads((await page.host("call", 1, "i", text))[1:]) == [
        {"__proto__": {"x": 1}, "é": "\ud800"},
        ["signal"],
        False,
        2,
        True,
        True,
        True,
        True,
        True,
    ]
    assert await page.call("t1") == 'v"undefined"'


async def test_a_call_that_nobody_watches_sends_no_message_that_it_started(open_document: Open) -> None:
    page = await open_document(ADD)
    await page.evaluate("document.modelContext.ontoolactivated = (e) => { window.activated = e.toolName; }; 0")
    assert await page.host("call", 1, "i", '{"a":1,"b":2}', False) == 'v{"sum":3}'
    assert await page.evaluate("activated") == "add"
    assert page.of_type("activated") == []


async def test_arguments_that_are_no_object_run_nothing(open_document: Open) -> None:
    page = await open_document(page_with("() => { window.ran = true; }"))
    for text in ("", "5", "null", '"{}"', "{", "[1", "undefined", "{a:1}"):
        assert await page.host("call", 1, "i", text) == "a"
    assert await page.evaluate("typeof ran") == "undefined"
    assert page.of_type("activated") == []


async def test_an_array_is_an_object(open_document: Open) -> None:
    page = await open_document(page_with("(input) => input"))
    assert await page.host("call", 1, "i", "[1]") == "v[1]"


async def test_an_unknown_or_unregistered_tool_is_gone_and_does_not_run(open_document: Open) -> None:
    page = await open_document(page_with("() => { window.ran = true; }"))
    assert await page.host("call", 99, "i", "{}") == "g"
    await page.evaluate("c.abort()")
    assert page.of_type("remove") == [{"t": "remove", "id": 1}]
    assert await page.call("t0") == "g"
    assert (
        await page.evaluate("mc.registerTool({name: 't0', description: 'new', execute: () => window.ran = true})")
        is None
    )
    assert await page.host("call", 1, "i", "{}") == "g"
    assert await page.evaluate("typeof ran") == "undefined"


async def test_a_tool_that_is_unregistered_while_it_runs_still_delivers(open_document: Open) -> None:
    page = await open_document(
        page_with("async () => { c.abort(); await new Promise((r) => setTimeout(r, 5)); return 1; }")
    )
    assert await page.call("t0") == "v1"
    assert page.of_type("remove") == [{"t": "remove", "id": 1}]


async def test_what_a_tool_registers_before_it_answers_is_told_before_the_answer(open_document: Open) -> None:
    page = await open_document(
        page_with('async () => { c.abort(); await mc.registerTool({name: "late", description: "d", execute() {}}); }')
    )
    assert await page.call("t0") == "u"
    assert [(m["t"], m.get("name")) for m in page.messages()[2:]] == [
        ("remove", None),
        ("add", "late"),
        ("activated", "t0"),
    ]


async def test_a_cancelled_call_answers_c_and_the_tool_hears_of_it(open_document: Open) -> None:
    page = await open_document(
        page_with(
            """(_, {signal}) => new Promise(() => {
              const log = window.log = [];
              signal.onabort = () => log.push(signal.reason.name, signal.reason instanceof DOMException);
              mc.ontoolcancel = (e) => log.push(e.constructor.name, e.toolName);
            })"""
        )
    )
    answer = await page.host_later("call", 1, "x1", "{}")
    await page.until_message("activated")
    assert await page.host("cancel", "x1") is True
    assert await answer == "c"
    assert await page.evaluate("log") == ["AbortError", True, "ToolCancelEvent", "t0"]
    assert page.of_type("canceled") == [{"t": "canceled", "id": 1, "name": "t0", "invocation": "x1"}]
    assert await page.host("cancel", "x1") is False
    assert await page.host("cancel", "never seen") is False


async def test_the_late_answer_of_a_cancelled_call_goes_nowhere(open_document: Open) -> None:
    page = await open_document(
        page_with("() => new Promise((r) => { window.finish = () => r({ toJSON() { window.read = true; } }); })")
    )
    answer = await page.host_later("call", 1, "x1", "{}")
    await page.until_message("activated")
    await page.host("cancel", "x1")
    assert await answer == "c"
    await page.evaluate("finish()")
    assert await page.evaluate("typeof read") == "undefined"
    assert await page.host("cancel", "x1") is False


async def test_a_finished_call_cannot_be_cancelled(open_document: Open) -> None:
    page = await open_document(page_with("() => 1"))
    assert await page.call("t0", invocation="x") == "v1"
    assert await page.host("cancel", "x") is False
    assert page.of_type("canceled") == []


async def test_calls_run_in_parallel_and_each_gets_its_own_answer(open_document: Open) -> None:
    page = await open_document(
        page_with("({n}) => new Promise((r) => (window.waiting ??= []).push(() => r(n)))"),
    )
    answers = [await page.host_later("call", 1, f"i{n}", json.dumps({"n": n})) for n in range(50)]
    await page.until_message("activated", 50)
    assert await page.host("cancel", "i7") is True
    await page.evaluate("waiting.reverse().forEach((f) => f())")
    expected = [f"v{n}" for n in range(50)]
    expected[7] = "c"
    assert await asyncio.gather(*answers) == expected
    assert [m["invocation"] for m in page.of_type("activated")] == [f"i{n}" for n in range(50)]


async def test_a_call_fires_toolactivated_after_the_callback_has_started(open_document: Open) -> None:
    page = await open_document(page_with("() => { log.push('start'); return 1; }"))
    await page.evaluate(
        "window.log = []; mc.ontoolactivated = (e) => log.push(e.constructor.name, e.toolName, e.target === mc)"
    )
    assert await page.call("t0") == "v1"
    assert await page.evaluate("log") == ["start", "ToolActivatedEvent", "t0", True]


async def test_the_listener_of_an_event_cannot_break_a_call(open_document: Open) -> None:
    page = await open_document(page_with("() => 1", "() => new Promise(() => {})"))
    await page.evaluate(
        """window.errors = []; window.onerror = (m) => { errors.push(m.replace("Uncaught ", "")); return true; };
        mc.ontoolactivated = mc.ontoolcancel = () => { throw new Error("listener"); }; 0"""
    )
    assert await page.call("t0") == "v1"
    answer = await page.host_later("call", 2, "x", "{}")
    await page.until_message("activated", 2)
    assert await page.host("cancel", "x") is True
    assert await answer == "c"
    assert await page.evaluate("errors") == ["Error: listener"] * 3


async def test_every_kind_of_result_has_its_form(open_document: Open) -> None:
    rows = {
        "() => {}": "u",
        "() => undefined": "u",
        "() => null": "vnull",
        "() => ''": 'v""',
        "() => 0": "v0",
        "() => false": "vfalse",
        "() => 'hello'": 'v"hello"',
        "() => '42'": 'v"42"',
        "() => 42": "v42",
        "() => 'null'": 'v"null"',
        """() => '{"a":1}'""": 'v"{\\"a\\":1}"',
        "() => ({a: 1})": 'v{"a":1}',
        "() => []": "v[]",
        "() => () => 1": "u",
        "() => Symbol()": "u",
        "() => ({a: undefined, b: [undefined, 1], c: Symbol(), d() {}})": 'v{"b":[null,1]}',
        "() => ({mean: NaN, max: Infinity, zero: -0})": 'v{"mean":null,"max":null,"zero":0}',
        "() => NaN": "vnull",
        "() => ({at: new Date(0)})": 'v{"at":"1970-01-01T00:00:00.000Z"}',
        "() => ({m: new Map([['k', 1]]), s: new Set([1])})": 'v{"m":{},"s":{}}',
        "() => new Uint8Array([1, 2])": 'v{"0":1,"1":2}',
        "() => new Error('returned')": "v{}",
        "() => ({toJSON() {}})": "u",
        "() => ({toJSON() { return {x: 1}; }})": 'v{"x":1}',
        "() => new String('s')": 'v"s"',
        "() => Promise.resolve(5)": "v5",
        "() => ({then(f) { f(6); }})": "v6",
        "async () => ({then(f) { f({then(g) { g(7); }}); }})": "v7",
        "() => new Proxy({a: 1}, {})": 'v{"a":1}',
        "() => 'a\\ud800b'": 'v"a\\ud800b"',
        "() => '\\u2028'": 'v"\u2028"',
        "() => ({['__proto__']: 1})": 'v{"__proto__":1}',
    }
    page = await open_document(page_with(*rows))
    results = {source: await page.host("call", n, "i", "{}") for n, source in enumerate(rows, 1)}
    assert results == rows


async def test_a_deep_and_a_large_result_arrive_whole(open_document: Open) -> None:
    page = await open_document(
        page_with(
            "() => { let o = {}; for (let i = 0; i < 3000; i++) o = {o}; return o; }",
            "() => 'x'.repeat(3 * 1048576)",
        )
    )
    assert await page.call("t0") == "v" + '{"o":' * 3000 + "{}" + "}" * 3000
    assert len(await page.call("t1")) == 3 * 1048576 + 3


async def test_what_a_tool_throws_is_described(open_document: Open) -> None:
    rows: dict[str, tuple[str, str]] = {
        "() => { throw new TypeError('bad'); }": ("TypeError", "bad"),
        "async () => { throw new RangeError('late'); }": ("RangeError", "late"),
        "() => Promise.reject(new DOMException('no', 'NotAllowedError'))": ("NotAllowedError", "no"),
        "() => { throw 'text'; }": ("", "text"),
        "() => { throw undefined; }": ("", "undefined"),
        "() => { throw null; }": ("", "null"),
        "() => { throw 10n; }": ("", "10"),
        "() => { throw Symbol('s'); }": ("", "Symbol(s)"),
        "() => { throw {a: 1}; }": ("", "[object Object]"),
        "() => { throw {toString() { throw 1; }}; }": ("", "(a value that has no text)"),
        "() => { throw Object.create(null); }": ("", "(a value that has no text)"),
        "() => { throw new Proxy({}, {get() { throw 1; }}); }": ("", "(a value that has no text)"),
        "() => { throw Object.assign(new Error('m'), {name: 5}); }": ("5", "m"),
        "() => { throw Object.defineProperty(new Error('m'), 'message', {get() { throw 1; }}); }": (
            "Error",
            "undefined",
        ),
        "() => { throw Object.defineProperty(new Error('m'), 'stack', {get() { throw 1; }}); }": ("Error", "m"),
        "() => ({then() { throw new Error('then'); }})": ("Error", "then"),
        "() => ({get then() { throw new Error('get then'); }})": ("Error", "get then"),
        "() => new Proxy({}, {get() { throw new Error('trap'); }})": ("Error", "trap"),
        "() => missing": ("ReferenceError", "missing is not defined"),
    }
    page = await open_document(page_with(*rows))
    for n, (source, expected) in enumerate(rows.items(), 1):
        answer = await page.host("call", n, "i", "{}")
        assert answer[0] == "e", source
        failure = json.loads(answer[1:])
        assert failure.keys() == {"kind", "name", "message", "stack"}
        assert (failure["kind"], failure["name"], failure["message"]) == ("threw", *expected), source
    assert "bad" in json.loads((await page.host("call", 1, "i", "{}"))[1:])["stack"]


async def test_what_cannot_be_serialised_is_told_apart_from_what_was_thrown(open_document: Open) -> None:
    rows = {
        "() => 10n": "TypeError",
        "() => ({id: 10n})": "TypeError",
        "() => { const c = {}; c.self = c; return c; }": "TypeError",
        "() => ({get a() { throw new RangeError('g'); }})": "RangeError",
        "() => ({toJSON() { throw new SyntaxError('j'); }})": "SyntaxError",
        "() => { const p = Proxy.revocable({}, {}); return {get x() { p.revoke(); return p.proxy; }}; }": "TypeError",
    }
    page = await open_document(page_with(*rows))
    for n, (source, name) in enumerate(rows.items(), 1):
        answer = await page.host("call", n, "i", "{}")
        assert answer[0] == "e", source
        failure = json.loads(answer[1:])
        assert (failure["kind"], failure["name"]) == ("unserializable", name), source


async def test_a_failing_tool_raises_no_error_events(open_document: Open) -> None:
    page = await open_document(page_with("() => { throw new Error('x'); }", "async () => { throw new Error('y'); }"))
    await page.evaluate(
        """window.log = []; addEventListener("error", () => log.push("error"));
        addEventListener("unhandledrejection", () => log.push("unhandledrejection")); 0"""
    )
    assert (await page.call("t0"))[0] == "e"
    assert (await page.call("t1"))[0] == "e"
    assert await page.run("await tick(); return log") == []


async def test_a_snapshot_holds_hello_and_the_living_tools(open_document: Open) -> None:
    page = await open_document(ADD)
    await page.run(
        """const c = new AbortController();
        await add("gone", {}, { signal: c.signal }); await add("stays"); c.abort();"""
    )
    snapshot = json.loads(await page.host("snapshot"))
    adds = page.of_type("add")
    assert snapshot == {"hello": page.messages()[0], "tools": [adds[0], adds[2]]}


async def test_the_host_has_no_other_members_and_cannot_be_changed(open_document: Open) -> None:
    page = await open_document()
    h = page.handle
    assert await page.evaluate(f"[Object.keys({h}), Object.getPrototypeOf({h}), Object.isFrozen({h})]") == [
        ["call", "cancel", "snapshot", "foreign", "callForeign", "reply"],
        None,
        True,
    ]
    assert await page.host("reply", 1, "{}") is False


async def test_a_thousand_registrations_are_all_told(open_document: Open) -> None:
    page = await open_document()
    await page.run(
        """const all = [];
        for (let i = 0; i < 1000; i++) {
          const c = new AbortController();
          all.push(mc.registerTool(tool("t" + i % 10), { signal: c.signal }));
          if (i < 990) c.abort();
        }
        await Promise.allSettled(all);"""
    )
    assert len(page.of_type("add")) == 1000
    assert len(page.of_type("remove")) == 990
    snapshot = json.loads(await page.host("snapshot"))
    assert [t["id"] for t in snapshot["tools"]] == list(range(991, 1001))

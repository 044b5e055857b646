"""executeTool: conversions, the order of checks, results, identity, events, cancelling."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Open = Callable[..., Awaitable[Any]]

KEY = "{name: 'a', description: 'd', origin: 'https://example.com', window}"


async def test_executing_a_listed_tool_gives_its_result_as_json(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """await add("a", { execute: ({ x }) => ({ twice: x * 2 }) });
        const p = mc.executeTool(await handle("a"), { x: 4 });
        return [p instanceof Promise, await p]"""
    ) == [True, '{"twice":8}']


async def test_members_of_the_key_are_read_in_lexicographic_order(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        f"""const log = [];
        const spy = (target, prefix) => new Proxy(target, {{ get(t, k) {{ log.push(prefix + String(k)); return t[k];
          }} }});
        await caught(() => mc.executeTool(spy({KEY}, ""), {{}}, spy({{}}, "options.")));
        return log"""
    ) == [
        "annotations",
        "description",
        "inputSchema",
        "name",
        "origin",
        "outputSchema",
        "title",
        "window",
        "options.signal",
    ]


async def test_a_key_that_cannot_be_converted_is_a_type_error(open_document: Open) -> None:
    page = await open_document()
    bad = ["undefined", "null", "5", "'a'", "{}", "window"]
    bad += [f"{{...{KEY}, {member}: undefined}}" for member in ("description", "name", "origin", "window")]
    bad += [f"{{...{KEY}, {member}: Symbol()}}" for member in ("description", "name", "origin", "title")]
    bad += [f"{{...{KEY}, window: {value}}}" for value in ("null", "{}", "document", "5", "Object.create(window)")]
    bad += [f"{{...{KEY}, {member}: 5}}" for member in ("annotations", "inputSchema", "outputSchema")]
    for source in bad:
        assert await page.run(f"return caught(() => mc.executeTool({source}))") == "TypeError", source


async def test_the_input_must_be_an_object_or_left_out(open_document: Open) -> None:
    page = await open_document()
    await page.run("await add('a', { execute: (input) => [Array.isArray(input), input] })")
    cases = {
        "": "[false,{}]",
        ", undefined": "[false,{}]",
        ", {}": "[false,{}]",
        ", {a: undefined, b: 1}": '[false,{"b":1}]',
        ", [1]": "[true,[1]]",
        ", new Map": "[false,{}]",
        ", {toJSON: () => ({z: 1})}": '[false,{"z":1}]',
        ", new Proxy({p: 1}, {})": '[false,{"p":1}]',
        ", null": "TypeError",
        ", 5": "TypeError",
        ", 'x'": "TypeError",
        ", '{}'": "TypeError",
        ", true": "TypeError",
        ", 1n": "TypeError",
        ", Symbol()": "TypeError",
        ", () => {}": "TypeError",
        ", {toJSON() {}}": "TypeError",
        ", {a: 1n}": "TypeError",
        ", {get a() { throw new RangeError(); }}": "RangeError",
        ", {toJSON: () => 5}": "UnknownError",
        ", new Date(0)": "UnknownError",
        ", new Number(5)": "UnknownError",
    }
    results = {
        source: await page.run(f"const t = await handle('a'); return caught(() => mc.executeTool(t{source}))")
        for source in cases
    }
    assert results == cases


async def test_the_tool_gets_a_copy_of_the_input(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const given = { x: { y: 1 } }; let got;
        await add("a", { execute(input) { got = input; } });
        const p = mc.executeTool(await handle("a"), given); given.x.y = 2; await p;
        return [got === given, got.x.y, Object.getPrototypeOf(got) === Object.prototype]"""
    ) == [False, 1, True]


async def test_the_order_of_checks_is_conversion_origin_input_signal_tool(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        f"""const of = (...a) => mc.executeTool(...a).catch((e) => e.name ?? e);
        const key = {KEY}, bad = {{ toJSON() {{ throw new RangeError(); }} }}, signal = AbortSignal.abort("reason");
        return [await of({{ ...key, window: 5 }}, 5), await of({{ ...key, origin: "x" }}, 5),
          await of({{ ...key, origin: "x" }}, bad, {{ signal: null }}), await of({{ ...key, origin: "x" }}, bad),
          await of(key, bad, {{ signal }}), await of(key, {{}}, {{ signal }}), await of(key)]"""
    ) == [
        "TypeError",
        "TypeError",
        "TypeError",
        "NotSupportedError",
        "RangeError",
        "reason",
        "UnknownError",
    ]


async def test_an_opaque_or_unparsable_origin_is_not_supported_and_another_one_unknown(open_document: Open) -> None:
    page = await open_document()
    await page.run("await add('a')")
    cases = {
        "https://example.com": '"r:a"',
        "https://example.com/some/path?q": '"r:a"',
        "https://EXAMPLE.com:443": '"r:a"',
        "": "NotSupportedError",
        "x": "NotSupportedError",
        "null": "NotSupportedError",
        "data:,x": "NotSupportedError",
        "about:blank": "NotSupportedError",
        "https://other.test": "UnknownError",
        "http://example.com": "UnknownError",
        "https://example.com:444": "UnknownError",
    }
    results = {o: await page.run(f"return caught(() => mc.executeTool({{...{KEY}, origin: '{o}'}}))") for o in cases}
    assert results == cases


async def test_options_of_an_execution_are_converted(open_document: Open) -> None:
    page = await open_document()
    await page.run("await add('a')")
    cases = {
        "undefined": '"r:a"',
        "null": '"r:a"',
        "{}": '"r:a"',
        "{signal: undefined}": '"r:a"',
        "5": "TypeError",
        "{signal: null}": "TypeError",
        "{signal: {}}": "TypeError",
    }
    results = {s: await page.run(f"return caught(() => mc.executeTool({KEY}, {{}}, {s}))") for s in cases}
    assert results == cases


async def test_results_are_the_json_serialisation(open_document: Open) -> None:
    page = await open_document()
    rows = {
        "'str'": '"str"',
        "''": '""',
        """'{"a":1}'""": '"{\\"a\\":1}"',
        "undefined": "null",
        "null": "null",
        "3": "3",
        "NaN": "null",
        "-0": "0",
        "true": "true",
        "{a: 1, b: undefined, c() {}}": '{"a":1}',
        "[undefined]": "[null]",
        "new Date(0)": '"1970-01-01T00:00:00.000Z"',
        "() => 1": "null",
        "Symbol()": "null",
        "{toJSON() {}}": "null",
        "{then(f) { f(5); }}": "5",
        "new Error('x')": "{}",
        "'a\\ud800'": '"a\\ud800"',
    }
    results: dict[str, Any] = {}
    for n, source in enumerate(rows):
        body = f"await add('n{n}', {{ execute: () => ({source}) }}); return mc.executeTool(await handle('n{n}'))"
        results[source] = await page.run(body)
    assert results == rows


async def test_a_failure_is_an_unknown_error_that_reveals_nothing(open_document: Open) -> None:
    page = await open_document()
    rows = ["throw new Error('secret')", "return Promise.reject('secret')", "return {a: 1n}", "throw undefined"]
    rows += ["return {get a() { throw new Error('secret'); }}", "throw new DOMException('secret', 'AbortError')"]
    for n, source in enumerate(rows):
        name, code, message = await page.run(
            f"""await add('n{n}', {{ execute() {{ {source} }} }});
            return mc.executeTool(await handle('n{n}')).catch((e) => [e.name, e.code, e.message])"""
        )
        assert (name, code) == ("UnknownError", 0)
        assert "secret" not in message


async def test_only_name_origin_and_window_of_a_key_matter(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """await add("a"); const t = await handle("a");
        return [await mc.executeTool({ ...t }), await mc.executeTool({ ...t, description: "x", title: 5,
          inputSchema: {} }),
          await mc.executeTool({ name: "a", description: "", origin: t.origin, window }),
          await caught(() => mc.executeTool({ ...t, name: "b" }))]"""
    ) == ['"r:a"', '"r:a"', '"r:a"', "UnknownError"]


async def test_a_listed_tool_is_its_registration_and_a_copy_is_its_name(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const c = new AbortController(); await add("a", {}, { signal: c.signal });
        const old = await handle("a"), copy = { ...old };
        c.abort();
        const gone = [await caught(() => mc.executeTool(old)), await caught(() => mc.executeTool(copy))];
        await add("a", { execute: () => "new" });
        const stale = await caught(() => mc.executeTool(old));
        const renamed = Object.assign(await handle("a"), { name: "b" }); await add("b");
        return [...gone, stale, await mc.executeTool(copy), await mc.executeTool(renamed)]"""
    ) == ["UnknownError", "UnknownError", "UnknownError", '"new"', '"r:b"']


async def test_a_tool_that_goes_in_the_same_task_does_not_run(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """let ran = false; const c = new AbortController();
        await add("a", { execute() { ran = true; } }, { signal: c.signal });
        const t = await handle("a"), p = caught(() => mc.executeTool(t)); c.abort();
        return [await p, ran]"""
    ) == ["UnknownError", False]


async def test_a_tool_that_goes_while_it_runs_delivers(open_document: Open) -> None:
    page = await open_document()
    assert (
        await page.run(
            """const c = new AbortController();
        await add("a", { async execute(_, { signal }) { c.abort(); await tick(); return signal.aborted; } },
                  { signal: c.signal });
        return mc.executeTool(await handle("a"))"""
        )
        == "false"
    )


async def test_the_callback_starts_in_a_task_then_toolactivated_fires(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const log = []; await add("a", { execute() { log.push("started"); } });
        const t = await handle("a");
        mc.ontoolactivated = (e) => log.push([e.constructor.name, e.toolName, e.bubbles, e.cancelable].join());
        const p = mc.executeTool(t); log.push("sync"); await null; log.push("microtask");
        await p; log.push("resolved"); return log"""
    ) == ["sync", "microtask", "started", "ToolActivatedEvent,a,false,false", "resolved"]
    assert page.of_type("activated") == [{"t": "activated", "id": 1, "name": "a", "invocation": None}]


async def test_the_callback_gets_input_and_options_and_no_this(open_document: Open) -> None:
    page = await open_document()
    assert (
        await page.run(
            """await add("a", { execute(input, options) { return [this === undefined, this === window, arguments.length,
          Object.keys(options), options.signal instanceof AbortSignal, options.signal.aborted]; } });
        return mc.executeTool(await handle("a"))"""
        )
        == '[false,true,2,["signal"],true,false]'
    )


async def test_an_aborted_signal_rejects_within_one_microtask_and_runs_nothing(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const log = []; await add("a", { execute() { log.push("ran"); } });
        const t = await handle("a"), reason = {};
        mc.executeTool(t, {}, { signal: AbortSignal.abort(reason) }).catch((e) => log.push(e === reason));
        queueMicrotask(() => log.push("microtask")); await tick(); return log"""
    ) == [True, "microtask"]


ABORT = """const log = [];
await add("a", { execute(_, { signal }) { log.push("tool started");
  signal.onabort = () => log.push("signal_aborted " + signal.reason.name + (signal.reason instanceof DOMException));
  return new Promise(() => {}); } });
mc.ontoolactivated = () => log.push("toolactivated");
mc.ontoolcancel = (e) => log.push("toolcancel " + e.toolName);
const t = await handle("a"), c = new AbortController();
const p = mc.executeTool(t, {}, { signal: c.signal }).catch((e) => log.push("execution_rejected " + e));
"""


async def test_aborting_rejects_then_aborts_the_tool_then_fires_toolcancel(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(ABORT + "await tick(); c.abort('why'); await p; await tick(); return log") == [
        "tool started",
        "toolactivated",
        "execution_rejected why",
        "signal_aborted AbortErrortrue",
        "toolcancel a",
    ]
    assert page.of_type("canceled") == [{"t": "canceled", "id": 1, "name": "a", "invocation": None}]


async def test_aborting_in_the_same_task_starts_the_tool_all_the_same(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(ABORT + "c.abort('why'); await p; await tick(); return log") == [
        "execution_rejected why",
        "tool started",
        "toolactivated",
        "signal_aborted AbortErrortrue",
        "toolcancel a",
    ]


async def test_aborting_after_the_end_does_nothing(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const log = []; mc.ontoolcancel = () => log.push("toolcancel"); const c = new AbortController();
        await add("a", { execute: (_, { signal }) => { signal.onabort = () => log.push("aborted"); return 1; } });
        const result = await mc.executeTool(await handle("a"), {}, { signal: c.signal });
        c.abort(); await tick(); return [result, log]"""
    ) == ["1", []]


async def test_the_result_of_an_aborted_tool_is_dropped(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """let finish, read = false; const c = new AbortController();
        await add("a", { execute: () => new Promise((r) => { finish = r; }) });
        const p = caught(async () => mc.executeTool(await handle("a"), {}, { signal: c.signal }));
        await tick(); c.abort(7); const first = await p; await tick();
        finish({ toJSON() { read = true; } }); await tick(); return [first, read]"""
    ) == ["value 7", False]


async def test_a_tool_can_call_another_and_hand_on_its_signal(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const log = [], c = new AbortController();
        await add("inner", { execute: (_, { signal }) => new Promise(() => {
          signal.onabort = () => log.push("inner " + signal.reason.name); }) });
        await add("outer", { execute: async (_, { signal }) => {
          signal.addEventListener("abort", () => log.push("outer " + signal.reason.name));
          await mc.executeTool(await handle("inner"), {}, { signal }).catch((e) => log.push("nested " + e.name)); } });
        const p = caught(async () => mc.executeTool(await handle("outer"), {}, { signal: c.signal }));
        await tick(); await tick(); c.abort("why"); await p; await tick(); return [await p, log.sort()]"""
    ) == ["value why", ["inner AbortError", "nested AbortError", "outer AbortError"]]


async def test_executions_of_one_tool_run_in_parallel(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const waiting = [];
        await add("a", { execute: ({ n }) => new Promise((r) => waiting.push(() => r(n))) });
        const t = await handle("a"), all = [1, 2, 3].map((n) => mc.executeTool(t, { n }));
        while (waiting.length < 3) await tick();
        waiting.reverse().forEach((f) => f()); return Promise.all(all)"""
    ) == ["1", "2", "3"]


async def test_a_finished_call_leaves_nothing_behind(open_chromium: Open) -> None:
    page = await open_chromium()
    await page.run(
        """window.refs = []; window.long = new AbortController();
        await add("a", { execute: (_, { signal }) => { refs.push(new WeakRef(signal)); return 1; } });
        await mc.executeTool(await handle("a"), {}, { signal: long.signal });
        await mc.executeTool(await handle("a"));"""
    )
    assert await page.call("a") == "v1"
    for _ in range(50):
        await page.command("HeapProfiler.collectGarbage")
        if await page.evaluate("refs.every((r) => r.deref() === undefined)"):
            break
    assert await page.evaluate("refs.map((r) => r.deref() === undefined)") == [True] * 3


async def test_python_does_not_see_a_call_of_the_page_as_its_own(open_document: Open) -> None:
    page = await open_document()
    await page.run("add('a', {execute: () => new Promise(() => {})}); mc.executeTool(await handle('a'))")
    await page.until_message("activated")
    assert await page.host("cancel", "null") is False
    assert json.loads(await page.host("snapshot"))["tools"][0]["name"] == "a"

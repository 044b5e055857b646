"""registerTool: the order of conversions and checks, their exceptions, signals, unregistering, toolchange."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Open = Callable[..., Awaitable[Any]]


async def test_registering_resolves_with_undefined(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        "const p = mc.registerTool(tool('a')); return [p instanceof Promise, await p === undefined]"
    ) == [
        True,
        True,
    ]


async def test_members_are_read_in_lexicographic_order_and_once(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const log = [];
        const spy = (target, prefix) => new Proxy(target, {
          get(t, key) { log.push(prefix + String(key)); return t[key]; },
          has(t, key) { log.push(prefix + "has " + String(key)); return key in t; },
          ownKeys(t) { log.push(prefix + "keys"); return Reflect.ownKeys(t); } });
        await mc.registerTool(spy(tool("a", { annotations: spy({}, "annotations.") }), ""), spy({}, "options."));
        return log"""
    ) == [
        "annotations",
        "annotations.consequentialHint",
        "annotations.debugging",
        "annotations.readOnlyHint",
        "annotations.untrustedContentHint",
        "description",
        "execute",
        "inputSchema",
        "name",
        "outputSchema",
        "title",
        "options.exposedTo",
        "options.signal",
    ]


async def test_a_tool_that_cannot_be_converted_is_a_type_error(open_document: Open) -> None:
    page = await open_document()
    bad = [
        "undefined",
        "null",
        "5",
        "'x'",
        "{}",
        "[]",
        "() => {}",
        "tool('a', {annotations: 5})",
        "tool('a', {annotations: 'x'})",
        "tool('a', {description: undefined})",
        "tool('a', {description: Symbol()})",
        "tool('a', {execute: undefined})",
        "tool('a', {execute: null})",
        "tool('a', {execute: {}})",
        "tool('a', {inputSchema: null})",
        "tool('a', {inputSchema: 'text'})",
        "tool('a', {inputSchema: 5})",
        "tool('a', {inputSchema: true})",
        "tool(undefined)",
        "tool(Symbol())",
        "tool('a', {outputSchema: null})",
        "tool('a', {outputSchema: 'text'})",
        "tool('a', {title: Symbol()})",
    ]
    results = {source: await page.run(f"return caught(() => mc.registerTool({source}))") for source in bad}
    assert results == dict.fromkeys(bad, "TypeError")
    assert page.of_type("add") == []


async def test_the_first_bad_member_in_lexicographic_order_counts(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const members = ["annotations", "description", "execute", "inputSchema", "name", "outputSchema", "title"];
        const results = [];
        for (const first of members) {
          const bad = {};
          for (const m of members.slice(members.indexOf(first)))
            Object.defineProperty(bad, m, { get() { throw new RangeError(m); }, configurable: true });
          for (const m of members.slice(0, members.indexOf(first))) bad[m] = tool("a", { inputSchema: {} })[m];
          results.push(await mc.registerTool(bad, 5).catch((e) => e.message));
        }
        results.push(await mc.registerTool(tool("a"), { get exposedTo() { throw new Error("exposedTo"); },
          get signal() { throw new Error("signal"); } }).catch((e) => e.message));
        return results"""
    ) == ["annotations", "description", "execute", "inputSchema", "name", "outputSchema", "title", "exposedTo"]


async def test_what_is_no_string_is_converted(open_document: Open) -> None:
    page = await open_document()
    await page.run(
        """await add(5); await add(null); await add({ toString: () => "obj" }); await add("t", { title: null });
        await add("d", { description: 7 });"""
    )
    assert [(m["name"], m["description"], m.get("title")) for m in page.of_type("add")] == [
        ("5", "d", None),
        ("null", "d", None),
        ("obj", "d", None),
        ("t", "d", "null"),
        ("d", "7", None),
    ]


async def test_options_are_converted_as_webidl_says(open_document: Open) -> None:
    page = await open_document()
    cases = {
        "undefined": "ok",
        "null": "ok",
        "() => {}": "ok",
        "[]": "ok",
        "5": "TypeError",
        "'x'": "TypeError",
        "{signal: undefined}": "ok",
        "{signal: null}": "TypeError",
        "{signal: {}}": "TypeError",
        "{signal: {aborted: false}}": "TypeError",
        "{signal: Object.create(AbortSignal.prototype)}": "TypeError",
        "{signal: new AbortController()}": "TypeError",
        "{exposedTo: undefined}": "ok",
        "{exposedTo: null}": "TypeError",
        "{exposedTo: 'https://a.test'}": "TypeError",
        "{exposedTo: {}}": "TypeError",
        "{exposedTo: {[Symbol.iterator]: null}}": "TypeError",
        "{exposedTo: {[Symbol.iterator]: 5}}": "TypeError",
        "{exposedTo: {[Symbol.iterator]: () => 5}}": "TypeError",
        "{exposedTo: {[Symbol.iterator]: () => ({})}}": "TypeError",
        "{exposedTo: {[Symbol.iterator]: () => ({next: () => 5})}}": "TypeError",
        "{exposedTo: [Symbol()]}": "TypeError",
        "{exposedTo: [5]}": "SecurityError",
        "{exposedTo: []}": "ok",
        "{exposedTo: new Set(['https://a.test'])}": "ok",
        "{exposedTo: (function* () { yield 'https://a.test'; })()}": "ok",
        "{exposedTo: {[Symbol.iterator]: () => ({next: () => ({done: 1})})}}": "ok",
    }
    results = {
        source: await page.run(f"return caught(() => mc.registerTool(tool('n{n}'), {source}))")
        for n, source in enumerate(cases)
    }
    assert results == cases


async def test_names_are_1_to_128_of_the_allowed_characters(open_document: Open) -> None:
    page = await open_document()
    good = ["a", "A-_.9", "...", "-", "__proto__", "constructor", "toString", "x" * 128]
    bad = ["", "a b", " a", "a/b", "é", "a\u0000", "a\n", "\n", "x" * 129, "\U0001f600", "\ud800", "a:b", "ａ"]
    results = await page.run(
        f"const out = []; for (const n of {[*good, *bad]!r}.map((n) => n)) out.push(await add(n)); return out"
    )
    assert results == ["ok"] * len(good) + ["InvalidStateError"] * len(bad)


async def test_a_description_must_not_be_empty_but_may_be_anything_else(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """return [await add("a", {description: ""}), await add("b", {description: " "}),
          await add("c", {description: "x".repeat(100000)})]"""
    ) == ["InvalidStateError", "ok", "ok"]


async def test_a_taken_name_is_refused_before_all_other_checks(open_document: Open) -> None:
    page = await open_document()
    assert (
        await page.run(
            """await add("a");
        return [await add("a"), await add("a", { description: "" }), await add("a", { inputSchema: { x: 1n } }),
          await add("a", {}, { signal: AbortSignal.abort(1) }), await add("a", {}, { exposedTo: ["*"] })]"""
        )
        == ["InvalidStateError"] * 5
    )
    assert await page.run("return mc.registerTool(tool('a')).catch((e) => e.message)") == "Duplicate tool name"


async def test_the_order_of_checks_is_name_description_schema_signal_exposed_to(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const of = (...a) => mc.registerTool(...a).catch((e) => e.message ?? e);
        const broken = { toJSON() { throw new Error("schema"); } };
        const aborted = { signal: AbortSignal.abort("signal"), exposedTo: ["*"] };
        return [
          await of(tool("", { description: "", inputSchema: broken }), aborted),
          await of(tool("b", { description: "", inputSchema: broken }), aborted),
          await of(tool("c", { inputSchema: broken, outputSchema: { toJSON() { throw new Error("output"); } } }),
            aborted),
          await of(tool("d", { outputSchema: { toJSON() { throw new Error("output"); } } }), aborted),
          await of(tool("e", { inputSchema: {} }), aborted),
          await of(tool("f"), { exposedTo: ["*"] }),
        ]"""
    ) == [
        "Invalid tool name",
        "Description is required",
        "schema",
        "output",
        "signal",
        "Only secure origins are allowed in the exposedTo list.",
    ]
    assert page.of_type("add") == []


async def test_a_schema_is_serialised_as_json_stringify_does(open_document: Open) -> None:
    page = await open_document()
    cases = {
        "{}": "{}",
        "[]": "[]",
        "{type: 'foo', $ref: 5}": '{"type":"foo","$ref":5}',
        "{toJSON: () => ({a: 1})}": '{"a":1}',
        "{toJSON: () => 5}": "5",
        "new Date(0)": '"1970-01-01T00:00:00.000Z"',
        "{a: undefined, b() {}, c: NaN}": '{"c":null}',
        "new Proxy({a: 1}, {})": '{"a":1}',
        "{['__proto__']: 1}": '{"__proto__":1}',
        "{x: '\\ud800'}": '{"x":"\\ud800"}',
    }
    for n, source in enumerate(cases):
        assert await page.run(f"return add('n{n}', {{inputSchema: {source}, outputSchema: {source}}})") == "ok", source
    assert [(m["schema"], m["output"]) for m in page.of_type("add")] == [(v, v) for v in cases.values()]


async def test_a_schema_without_json_is_refused_with_the_right_error(open_document: Open) -> None:
    page = await open_document()
    cases = {
        "() => {}": "TypeError",
        "{toJSON() {}}": "TypeError",
        "{a: 1n}": "TypeError",
        "(() => { const c = {}; c.c = c; return c; })()": "TypeError",
        "{toJSON() { throw new RangeError(); }}": "RangeError",
        "{get a() { throw new SyntaxError(); }}": "SyntaxError",
        "{toJSON() { throw 7; }}": "value 7",
    }
    for member in ("inputSchema", "outputSchema"):
        results = {source: await page.run(f"return add('a', {{{member}: {source}}})") for source in cases}
        assert results == cases


async def test_a_registered_tool_does_not_change_with_the_objects_it_came_from(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const given = tool("a", { inputSchema: { x: 1 }, annotations: { debugging: true } });
        await mc.registerTool(given);
        given.name = "b"; given.inputSchema.x = 2; given.annotations.debugging = false; given.execute = () => "other";
        const t = await handle("a");
        t.inputSchema.x = 3;
        const again = await handle("a");
        return [again.inputSchema.x, again.annotations.debugging, await mc.executeTool(again)]"""
    ) == [1, True, '"r:a"']


async def test_exposed_to_takes_potentially_trustworthy_urls(open_document: Open) -> None:
    page = await open_document()
    good = {
        "https://a.test": "https://a.test",
        "HTTPS://A.test:443/p?q#f": "https://a.test",
        " https://a.test ": "https://a.test",
        "https://a.test:8443/": "https://a.test:8443",
        "wss://a.test": "wss://a.test",
        "http://localhost:3000/x": "http://localhost:3000",
        "http://LOCALHOST": "http://localhost",
        "http://localhost.": "http://localhost.",
        "http://a.b.localhost": "http://a.b.localhost",
        "http://127.0.0.1": "http://127.0.0.1",
        "http://127.255.0.9:1": "http://127.255.0.9:1",
        "http://0x7f.1": "http://127.0.0.1",
        "http://[::1]:2": "http://[::1]:2",
        "ws://localhost": "ws://localhost",
        "blob:https://a.test/id": "https://a.test",
        "https://bücher.example": "https://xn--bcher-kva.example",
    }
    for url, origin in good.items():
        assert await page.run(f"return add('n' + Math.random(), {{}}, {{exposedTo: [{url!r}]}})") == "ok", url
        assert page.of_type("add")[-1]["exposed"] == [origin]
    bad = ["http://a.test", "ws://a.test", "ftp://a.test", "http://128.0.0.1", "http://localhost.evil.test"]
    bad += ["http://127.0.0.1.evil.test", "http://evillocalhost", "http://1.127.0.0", "http://[::2]"]
    bad += [
        "data:,x",
        "about:blank",
        "about:srcdoc",
        "javascript:1",
        "blob:http://a.test/id",
        "blob:null/id",
        "foo:bar",
    ]
    bad += ["", "*", "null", "//a.test", "a.test", "https://", "https://[::1"]
    for url in bad:
        assert (
            await page.run(f"return add('x', {{}}, {{exposedTo: ['https://a.test', {url!r}]}})") == "SecurityError"
        ), url


async def test_a_file_url_is_trustworthy(open_document: Open) -> None:
    page = await open_document()
    assert await page.run("return add('x', {}, {exposedTo: ['file:///x']})") == "ok"


async def test_a_lone_surrogate_in_exposed_to_is_replaced(open_document: Open) -> None:
    page = await open_document()
    assert await page.run("return add('x', {}, {exposedTo: ['https://a.test/\\ud800']})") == "ok"


async def test_an_aborted_signal_rejects_with_its_reason(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const reason = { r: 1 };
        const given = await mc.registerTool(tool("a"), { signal: AbortSignal.abort(reason) }).catch((e) => e);
        return [given === reason, await add("a", {}, { signal: AbortSignal.abort() })]"""
    ) == [True, "AbortError"]


async def test_an_aborted_signal_rejects_within_one_microtask(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const log = [];
        mc.registerTool(tool("a"), { signal: AbortSignal.abort(1) }).catch(() => log.push("rejected"));
        queueMicrotask(() => log.push("microtask"));
        await tick(); return log"""
    ) == ["rejected", "microtask"]


async def test_aborting_before_the_promise_resolves_rejects_it_and_unregisters(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const c = new AbortController();
        const p = add("a", {}, { signal: c.signal }); c.abort("why");
        return [await p, (await mc.getTools()).length]"""
    ) == ["value why", 0]
    assert [m["t"] for m in page.messages()] == ["hello", "add", "remove"]


async def test_aborting_later_unregisters_and_frees_the_name(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const c = new AbortController();
        const first = mc.registerTool(tool("a"), { signal: c.signal }); await first;
        c.abort();
        return [await caught(() => first), await add("a"), (await mc.getTools()).length]"""
    ) == ["ok", "ok", 1]


async def test_one_signal_unregisters_all_its_tools(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const c = new AbortController(), o = { signal: c.signal };
        await add("a", {}, o); await add("b", {}, o); await add("c");
        c.abort(); return (await mc.getTools()).map((t) => t.name)"""
    ) == ["c"]
    assert [m["id"] for m in page.of_type("remove")] == [1, 2]


async def test_an_old_signal_does_not_unregister_the_newer_tool_of_its_name(open_document: Open) -> None:
    page = await open_document()
    assert (
        await page.run(
            """const a = new AbortController(), b = new AbortController(), any = AbortSignal.any([a.signal, b.signal]);
        await add("x", {}, { signal: any }); a.abort(); await add("x"); b.abort();
        return (await mc.getTools()).length"""
        )
        == 1
    )


async def test_a_listener_that_runs_before_ours_sees_the_name_free(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const c = new AbortController(); let again, listed;
        c.signal.addEventListener("abort", () => {
          listed = mc.getTools(); again = add("a", { description: "second" }); });
        await add("a", {}, { signal: c.signal }); c.abort();
        return [await again, (await listed).length, (await mc.getTools()).map((t) => t.description)]"""
    ) == ["ok", 0, ["second"]]
    assert [(m["t"], m.get("id")) for m in page.messages()[1:]] == [("add", 1), ("remove", 1), ("add", 2)]


async def test_nothing_that_a_page_does_to_the_signal_keeps_a_tool_registered(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const c = new AbortController();
        c.signal.addEventListener("abort", (e) => e.stopImmediatePropagation());
        await add("a", {}, { signal: c.signal });
        c.signal.dispatchEvent(new Event("abort"));
        const before = (await mc.getTools()).length;
        c.abort(); await tick(); return [before]"""
    ) == [1]
    assert page.of_type("remove") == [{"t": "remove", "id": 1}]


async def test_toolchange_is_fired_in_a_task_before_the_promise_resolves(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const log = [];
        mc.addEventListener("toolchange", (e) => log.push(
          [e.constructor.name, e.target === mc, e.bubbles, e.cancelable, e.composed].join()));
        const p = mc.registerTool(tool("a")).then(() => log.push("resolved"));
        queueMicrotask(() => log.push("microtask")); log.push("sync");
        await p; await tick(); return log"""
    ) == ["sync", "microtask", "Event,true,false,false,false", "resolved"]


async def test_each_registration_and_unregistration_fires_one_toolchange(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """let count = 0; mc.ontoolchange = () => count++;
        const c = new AbortController(), o = { signal: c.signal };
        const settle = async (n) => { for (let i = 0; i < 200 && count < n; i++) await tick(); await tick(); };
        add("a", {}, o); add("b", {}, o); add("a", {}, o); add("", {}, o);
        await settle(2); const added = count;
        c.abort(); const sync = count; await settle(4);
        return [added, sync, count]"""
    ) == [2, 2, 4]


async def test_a_refused_registration_fires_no_toolchange(open_document: Open) -> None:
    page = await open_document()
    assert (
        await page.run(
            """let count = 0; mc.ontoolchange = () => count++;
        await add("", {}); await add("a", {}, { signal: AbortSignal.abort() }); await tick(); return count"""
        )
        == 0
    )


async def test_a_schema_that_registers_its_own_name_is_overwritten(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const inputSchema = { toJSON() { mc.registerTool(tool("a", { description: "inner" })); return {}; } };
        const outer = await add("a", { description: "outer", inputSchema });
        return [outer, (await mc.getTools()).map((t) => t.description)]"""
    ) == ["ok", ["outer"]]
    assert [(m["t"], m["id"]) for m in page.messages()[1:]] == [("add", 1), ("remove", 1), ("add", 2)]


async def test_a_schema_that_aborts_its_own_signal_is_not_registered(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const c = new AbortController();
        const inputSchema = { toJSON() { c.abort("in schema"); return {}; } };
        return [await add("a", { inputSchema }, { signal: c.signal }), (await mc.getTools()).length]"""
    ) == ["value in schema", 0]


async def test_errors_are_dom_exceptions_and_type_errors_of_the_page(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const a = await mc.registerTool(tool("")).catch((e) => e), b = await mc.registerTool(5).catch((e) => e);
        const c = await mc.registerTool(tool("a"), { exposedTo: ["*"] }).catch((e) => e);
        return [a instanceof DOMException, a.code, b instanceof TypeError, b.message, c instanceof DOMException,
          c.code]"""
    ) == [
        True,
        11,
        True,
        "Failed to execute 'registerTool' on 'ModelContext': The provided value is not of type 'ModelContextTool'.",
        True,
        18,
    ]

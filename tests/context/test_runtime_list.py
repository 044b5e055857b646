"""getTools: what it lists, its order, and that every answer is fresh."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Open = Callable[..., Awaitable[Any]]


async def test_a_document_without_tools_lists_none(open_document: Open) -> None:
    page = await open_document()
    assert await page.run("const l = await mc.getTools(); return [Array.isArray(l), l.length]") == [True, 0]


async def test_a_registered_tool_has_the_members_of_the_dictionary_in_order(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """await add("a", { title: "T\\ud800", inputSchema: { b: 1, a: [1, {}] }, outputSchema: { type: "string" },
             annotations: { readOnlyHint: 1 } });
        const t = await handle("a");
        return [Object.keys(t), Object.getPrototypeOf(t) === Object.prototype, t.window === window, { ...t, window: 0 },
          Object.values(Object.getOwnPropertyDescriptors(t)).every((d) => d.writable && d.enumerable &&
            d.configurable)]"""
    ) == [
        ["annotations", "description", "inputSchema", "name", "origin", "outputSchema", "title", "window"],
        True,
        True,
        {
            "annotations": {
                "consequentialHint": False,
                "debugging": False,
                "readOnlyHint": True,
                "untrustedContentHint": False,
            },
            "description": "d",
            "inputSchema": {"b": 1, "a": [1, {}]},
            "name": "a",
            "origin": "https://example.com",
            "outputSchema": {"type": "string"},
            "title": "T\ufffd",
            "window": 0,
        },
        True,
    ]


async def test_members_that_were_not_given_are_absent_and_the_title_is_empty(open_document: Open) -> None:
    page = await open_document()
    assert await page.run("await add('a'); const t = await handle('a'); return [Object.keys(t), t.title]") == [
        ["description", "name", "origin", "title", "window"],
        "",
    ]


async def test_empty_annotations_are_annotations(open_document: Open) -> None:
    page = await open_document()
    given = "[{}, null, {other: 1}, {readOnlyHint: undefined}]"
    assert (
        await page.run(
            f"""const out = [];
        for (const annotations of {given}) {{ const n = "n" + out.length; await add(n, {{ annotations }});
          out.push(Object.values((await handle(n)).annotations)); }}
        return out"""
        )
        == [[False] * 4] * 4
    )


async def test_tools_are_sorted_by_code_units(open_document: Open) -> None:
    page = await open_document()
    names = ["b", "a", "Z", "_", "-", ".", "a.b", "a-b", "a_b", "aa", "10", "9", "B", "__proto__"]
    assert await page.run(
        f"for (const n of {names}) await add(n); return (await mc.getTools()).map((t) => t.name)"
    ) == sorted(names)


async def test_every_listing_is_fresh(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """await add("a", { inputSchema: { x: {} }, annotations: {} });
        const [l, k] = [await mc.getTools(), await mc.getTools()], [a, b] = [l[0], k[0]];
        a.name = "changed"; a.inputSchema.x = 5; a.annotations.debugging = true; l.push(1);
        const c = await handle("a");
        return [l === k, a === b, a.inputSchema === b.inputSchema, c.inputSchema, c.annotations.debugging]"""
    ) == [False, False, False, {"x": {}}, False]


async def test_a_listing_is_of_the_moment_of_the_call(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const c = new AbortController(); add("a", {}, { signal: c.signal });
        const listing = mc.getTools(); add("b"); c.abort();
        return [(await listing).map((t) => t.name), (await mc.getTools()).map((t) => t.name)]"""
    ) == [["a"], ["b"]]


async def test_a_listing_is_answered_in_a_later_task(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """const log = []; const p = mc.getTools().then(() => log.push("listed"));
        for (let i = 0; i < 5; i++) await null;
        log.push("microtasks"); await p; return log"""
    ) == ["microtasks", "listed"]


async def test_a_schema_whose_json_is_no_object_is_left_out(open_document: Open) -> None:
    page = await open_document()
    assert (
        await page.run(
            """const out = [];
        for (const json of [5, "text", null, true]) { const n = "n" + out.length;
          await add(n, { inputSchema: { toJSON: () => json } }); out.push("inputSchema" in await handle(n)); }
        return out"""
        )
        == [False] * 4
    )


async def test_a_proto_key_of_a_schema_stays_a_plain_key(open_document: Open) -> None:
    page = await open_document()
    assert await page.run(
        """await add("a", { inputSchema: JSON.parse('{"__proto__":{"x":1}}') });
        const { inputSchema: s } = await handle("a");
        return [Object.keys(s), Object.getPrototypeOf(s) === Object.prototype, s.x]"""
    ) == [["__proto__"], True, None]


async def test_options_of_a_listing_are_converted_and_checked(open_document: Open) -> None:
    page = await open_document()
    cases = {
        "undefined": 1,
        "null": 1,
        "{}": 1,
        "5": "TypeError",
        "{fromOrigins: undefined}": 1,
        "{fromOrigins: null}": "TypeError",
        "{fromOrigins: 'https://a.test'}": "TypeError",
        "{fromOrigins: [Symbol()]}": "TypeError",
        "{fromOrigins: []}": 1,
        "{fromOrigins: ['https://a.test', 'http://localhost']}": 1,
        "{fromOrigins: ['http://a.test']}": "SecurityError",
        "{fromOrigins: ['*']}": "SecurityError",
        "{get fromOrigins() { throw new RangeError(); }}": "RangeError",
    }
    await page.run("await add('a')")
    results = {s: await page.run(f"return caught(() => mc.getTools({s}).then((l) => l.length))") for s in cases}
    assert results == cases
    message = await page.run("return mc.getTools({fromOrigins: ['*']}).catch((e) => e.message)")
    assert message == "Only secure origins are allowed in the fromOrigins list."

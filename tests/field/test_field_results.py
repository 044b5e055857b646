"""Field problems 06, 38 and 43: what a tool answered, and what it could not say."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from html import escape
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp

if TYPE_CHECKING:
    from .conftest import Fails, Html, Open

StrictJson = Callable[[str], Any]

# tool: (value and text by our runtime), (value, text and "was it a guess" by native Chromium)
SCALARS: dict[str, tuple[tuple[Any, str], tuple[Any, str, bool]]] = {
    "r_void": ((None, "null"), (None, "null", True)),
    "r_undefined": ((None, "null"), (None, "null", True)),
    "r_null": ((None, "null"), (None, "null", True)),
    "r_empty": (("", ""), ("", "", True)),
    "r_zero": ((0, "0"), (0, "0", True)),
    "r_false": ((False, "false"), (False, "false", True)),
    "r_string": (("hello", "hello"), ("hello", "hello", False)),
    "r_string_42": (("42", "42"), (42, "42", True)),
    "r_number_42": ((42, "42"), (42, "42", True)),
    "r_string_null": (("null", "null"), (None, "null", True)),
    "r_string_true": (("true", "true"), (True, "true", True)),
    "r_json_text": (('{"a":1}', '{"a":1}'), ({"a": 1}, '{"a":1}', True)),
    "r_object": (({"a": 1}, '{"a":1}'), ({"a": 1}, '{"a":1}', True)),
    "r_empty_array": (([], "[]"), ([], "[]", True)),
    "r_function": ((None, "null"), (None, "null", True)),
    "r_undefined_members": (({"b": [None, 1]}, '{"b":[null,1]}'), ({"b": [None, 1]}, '{"b":[null,1]}', True)),
}

NO_JSON: dict[str, Any] = {
    "r_nan": {"mean": None, "max": None, "min": None, "zero": 0},
    "r_nan_top": None,
    "r_date": {"at": "1970-01-01T00:00:00.000Z"},
    "r_map": {"m": {}, "s": {}},
    "r_dom": {},
    "r_typed_array": {"0": 1, "1": 2, "2": 3},
    "r_error_object": {},
    "r_response": {},
    "r_tojson_undefined": None,
}
"""What JSON makes of each; native Chromium hands over a bare NaN as the text "NaN"."""


# --- 06 -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("field:06:value-of-each-scalar")
async def test_every_void_empty_and_scalar_result_has_its_documented_value(engine: str, open_field: Open) -> None:
    page = await open_field("06")
    answered = {name: await page.call(name) for name in SCALARS}

    if engine == "lightpanda":
        assert {name: (r.value, r.text) for name, r in answered.items()} == {n: r for n, (r, _) in SCALARS.items()}
        assert not any(result.decoded_by_guess for result in answered.values())
        assert all(result.json_exact for result in answered.values())
    else:
        seen = {name: (r.value, r.text, r.decoded_by_guess) for name, r in answered.items()}
        assert seen == {name: native for name, (_, native) in SCALARS.items()}
        assert {name: type(r.value) for name, r in answered.items()} == {n: type(v[0]) for n, (_, v) in SCALARS.items()}


@pytest.mark.requirement("field:06:falsy-values-survive")
async def test_zero_false_the_empty_string_and_the_empty_list_survive_as_values(open_field: Open) -> None:
    page = await open_field("06")

    values = [(await page.call(name)).value for name in ("r_zero", "r_false", "r_empty", "r_empty_array")]

    assert values == [0, False, "", []]
    assert [type(value) for value in values] == [int, bool, str, list]


@pytest.mark.requirement("field:06:void-is-success")
async def test_a_void_call_is_a_success_that_ran_once(open_field: Open) -> None:
    page = await open_field("06")

    result = await page.call("r_void")

    assert result.value is None
    assert result.is_error is False
    assert result.raise_for_error() is result
    assert len(result.content) == 1
    assert await page.evaluate("__side") == 1


@pytest.mark.requirement("field:06:raw-text-stays")
async def test_the_json_text_stays_beside_the_value_and_is_strict_json(
    open_field: Open, strict_json: StrictJson
) -> None:
    page = await open_field("06")

    for name in SCALARS:
        result = await page.call(name)
        assert strict_json(result.json) == result.value
        assert len(result.content) == 1
        assert isinstance(result.content[0], pywebmcp.TextContent)


@pytest.mark.requirement("field:06:browsers-own-words")
async def test_the_browser_s_own_words_for_nothing_are_never_page_output(open_field: Open) -> None:
    page = await open_field("06")

    for name in SCALARS:
        result = await page.call(name)
        for shown in (result.text, result.json, str(result.value)):
            assert "Operation succeeded" not in shown
            assert "undefined" not in shown


@pytest.mark.requirement("field:06:guess-is-marked")
async def test_what_native_cannot_tell_apart_is_marked_as_a_guess(engine: str, open_field: Open) -> None:
    page = await open_field("06")

    number, text, plain = [await page.call(name) for name in ("r_number_42", "r_string_42", "r_string")]

    if engine == "chromium":
        assert (number.value, number.text) == (text.value, text.text) == (42, "42")
        assert number.decoded_by_guess
        assert text.decoded_by_guess
    else:
        assert (number.value, text.value) == (42, "42")
    assert (plain.value, plain.decoded_by_guess) == ("hello", False)


@pytest.mark.requirement("field:06:every-alphabet")
async def test_an_object_stays_an_object_whatever_alphabet_its_texts_are_in(open_page: Open) -> None:
    page = await open_page(
        "<meta charset=utf-8><script>(document.modelContext ?? navigator.modelContext).registerTool("
        "{name: 'echo', description: 'd', execute: ({text}) => ({text, list: [text]})})</script>"
    )

    for text in ("plain", "café", "\xa0£°ÿ", "\x80", "żółw", "日本", "👩‍🚀", "é日", "\u2028\0"):
        result = await page.call("echo", {"text": text})
        assert result.value == {"text": text, "list": [text]}


@pytest.mark.requirement("field:06:text-of-every-alphabet")
async def test_a_text_stays_that_text_whatever_alphabet_it_is_in(open_page: Open) -> None:
    page = await open_page(
        "<meta charset=utf-8><script>(document.modelContext ?? navigator.modelContext).registerTool("
        "{name: 'echo', description: 'd', execute: ({text}) => text})</script>"
    )

    for text in ("plain", "café", "\xa0£°ÿ", "żółw", "日本", "👩‍🚀", "é日", "{é", " two words "):
        result = await page.call("echo", {"text": text})
        assert (result.value, result.text, result.decoded_by_guess) == (text, text, False)


@pytest.mark.requirement("field:06:srcdoc-frames")
async def test_tools_of_a_srcdoc_frame_answer_like_any_other(engine: str, open_page: Open, field_html: Html) -> None:
    page = await open_page(
        f'<iframe srcdoc="{escape(field_html("06"))}"></iframe>'
        "<iframe srcdoc=\"<script>(document.modelContext ?? navigator.modelContext).registerTool({name: 'echo', "
        "description: 'd', execute: ({text}) => text})</script>\"></iframe>"
    )
    await page.wait_for_tool("r_undefined_members")
    await page.wait_for_tool("echo")

    values = {name: (await page.call(name)).value for name in SCALARS}
    texts = ["undefined", "Operation succeeded", '["é"]', "NaN", "42"]
    echoed = [(await page.call("echo", {"text": text})).value for text in texts]

    if engine == "lightpanda":
        assert values == {name: value for name, ((value, _), _) in SCALARS.items()}
        assert echoed == texts
    else:
        assert values == {name: value for name, (_, (value, _, _)) in SCALARS.items()}
        assert echoed == [None, "", ["é"], "NaN", 42]


# --- 38 -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("field:38:large-text-is-complete")
async def test_large_texts_arrive_complete_and_the_connection_stays(open_field: Open) -> None:
    page = await open_field("38")

    for tool, length in (("one_mib_minus", 2**20 - 200), ("three_mib", 3 * 2**20), ("twenty_mib", 20 * 2**20)):
        result = await page.call(tool, timeout=40)
        assert len(result.value) == length
        assert result.value == "x" * length
        assert len(result.text) == length
        assert (await page.call("quick")).value == "quick"


@pytest.mark.requirement("field:38:many-rows-are-complete")
async def test_fifty_thousand_rows_arrive_complete(open_field: Open, strict_json: StrictJson) -> None:
    page = await open_field("38")

    result = await page.call("wide_rows", timeout=40)

    assert result.value == [{"i": i, "s": f"row {i}"} for i in range(50_000)]
    assert strict_json(result.json) == result.value
    assert (await page.call("quick")).value == "quick"


@pytest.mark.requirement("field:38:others-in-flight-unaffected")
async def test_other_calls_in_flight_are_unaffected_by_a_large_result(open_field: Open) -> None:
    page = await open_field("38")

    async with asyncio.timeout(45), asyncio.TaskGroup() as group:
        large = group.create_task(page.call("twenty_mib"))
        small = [group.create_task(page.call("quick")) for _ in range(20)]

    assert len(large.result().value) == 20 * 1024 * 1024
    assert [task.result().value for task in small] == ["quick"] * 20


@pytest.mark.requirement("field:38:pairs-are-not-cut")
async def test_astral_characters_arrive_whole_in_a_large_result(open_page: Open) -> None:
    page = await open_page(
        "<meta charset=utf-8><script>(document.modelContext ?? navigator.modelContext).registerTool("
        "{name: 'emoji', description: 'd', execute: () => 'a' + '\\u{1F469}\\u200D\\u{1F680}'.repeat(400000)})</script>"
    )

    result = await page.call("emoji", timeout=40)

    assert result.value == "a" + "\U0001f469\u200d\U0001f680" * 400_000


# --- 43 -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("field:43:values-outside-json")
async def test_values_outside_json_become_what_json_makes_of_them(
    engine: str, open_field: Open, strict_json: StrictJson
) -> None:
    page = await open_field("43")
    expected = NO_JSON if engine == "lightpanda" else {**NO_JSON, "r_nan_top": "NaN"}

    answered = {name: await page.call(name) for name in NO_JSON}

    assert {name: result.value for name, result in answered.items()} == expected
    for result in answered.values():
        assert strict_json(result.json) == result.value
        assert result.decoded_by_guess is (engine == "chromium")


@pytest.mark.requirement("field:43:no-python-nan")
async def test_a_number_outside_json_is_never_a_python_float(engine: str, open_page: Open) -> None:
    page = await open_page(
        "<script>(document.modelContext ?? navigator.modelContext).registerTool("
        "{name: 'top', description: 'd', execute: ({n}) => Number(n)})</script>"
    )

    for number in ("NaN", "Infinity", "-Infinity"):
        result = await page.call("top", {"n": number})
        assert (result.value, result.json) == ((None, "null") if engine == "lightpanda" else (number, f'"{number}"'))
        assert result.decoded_by_guess is (engine == "chromium")


@pytest.mark.requirement("field:43:bigint")
async def test_a_bare_bigint_is_a_number_by_guess_or_a_failure_and_never_wrong_data(
    engine: str, open_field: Open, fails: Fails
) -> None:
    page = await open_field("43")

    if engine == "chromium":
        result = await page.call("r_bigint_top")
        assert (result.value, result.text, result.decoded_by_guess) == (10, "10", True)
    else:
        error = await fails(page.call("r_bigint_top"), pywebmcp.ToolFailedError)
        assert error.page_error is not None
        assert error.page_error.name == "TypeError"


@pytest.mark.requirement("field:43:unserialisable-is-a-failure")
async def test_a_result_that_cannot_be_serialised_is_a_failure_that_ran(open_field: Open, fails: Fails) -> None:
    page = await open_field("43")

    for tool, thrown in (("r_bigint_nested", "TypeError"), ("r_cyclic", "TypeError"), ("r_throwing_getter", "Error")):
        error = await fails(page.call(tool), pywebmcp.ToolFailedError)
        assert (error.code, error.dom_name, error.ran, error.tool) == ("tool_failed", "OperationError", "yes", tool)
        assert error.page_error is not None
        assert error.page_error.name == thrown
        assert "[object Object]" not in str(error)

    assert (await page.call("r_dom")).value == {}


@pytest.mark.requirement("field:43:deep-values")
async def test_a_value_three_thousand_levels_deep_arrives_whole(open_field: Open) -> None:
    page = await open_field("43")

    result = await page.call("r_deep")

    assert result.json == '{"o":' * 3000 + "{}" + "}" * 3000
    depth, value = 0, result.value
    while "o" in value:
        assert list(value) == ["o"]
        depth, value = depth + 1, value["o"]
    assert depth == 3000
    assert value == {}
    assert (await page.call("r_dom")).value == {}


@pytest.mark.requirement("field:43:srcdoc-frames")
async def test_a_result_that_cannot_be_serialised_is_a_failure_in_a_srcdoc_frame_too(
    open_page: Open, field_html: Html, fails: Fails
) -> None:
    page = await open_page(f'<iframe srcdoc="{escape(field_html("43"))}"></iframe>')
    await page.wait_for_tool("r_deep")

    for tool in ("r_bigint_nested", "r_cyclic", "r_throwing_getter"):
        error = await fails(page.call(tool, timeout=10), pywebmcp.ToolFailedError)
        assert (error.ran, error.tool) == ("yes", tool)

    assert (await page.call("r_map")).value == {"m": {}, "s": {}}

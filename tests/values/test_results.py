from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pywebmcp.types import TextContent
from pywebmcp.values.deepjson import dumps
from pywebmcp.values.results import Decoded, from_json, from_native, from_text, navigated, undefined

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


def text_of(decoded: Decoded) -> str:
    assert len(decoded.content) == 1
    block = decoded.content[0]
    assert isinstance(block, TextContent)
    return block.text


# --- our runtime: exact -------------------------------------------------------------------------------------


@given(VALUES, st.sampled_from([None, 2]))
def test_json_text_is_kept_beside_the_exact_value(value: Any, indent: int | None) -> None:
    text = json.dumps(value, indent=indent)
    decoded = from_json(text)
    assert decoded.value == value
    assert decoded.json == text
    assert decoded.json_exact
    assert not decoded.decoded_by_guess
    assert not decoded.navigated


def test_a_string_shows_bare_and_everything_else_as_json() -> None:
    assert text_of(from_json('"he\\nllo"')) == "he\nllo"
    assert text_of(from_json('{"a":1}')) == '{"a":1}'
    assert text_of(from_json("null")) == "null"
    assert text_of(from_json("[]")) == "[]"
    assert text_of(from_json('""')) == ""


def test_nothing_is_none() -> None:
    decoded = undefined()
    assert decoded == Decoded(value=None, json="null", content=(TextContent(text="null"),))


def test_a_result_in_the_shape_of_mcp_gives_its_blocks_and_stays_whole() -> None:
    text = '{"content":[{"type":"text","text":"boo"}],"isError":true}'
    decoded = from_json(text)
    assert decoded.value == json.loads(text)
    assert decoded.json == text
    assert text_of(decoded) == "boo"
    assert decoded.is_error


@pytest.mark.parametrize("text", ['{"a":1e400}', "1" * 5000])
def test_a_number_that_python_does_not_have_leaves_the_text_as_a_string(text: str) -> None:
    decoded = from_json(text)
    assert decoded.value == text
    assert json.loads(decoded.json) == text
    assert decoded.decoded_by_guess
    assert not decoded.json_exact


@pytest.mark.parametrize("read", [from_json, from_text, from_native])
def test_a_result_three_thousand_levels_deep_is_a_value(read: Any) -> None:
    text = '{"o":' * 3000 + "{}" + "}" * 3000  # over the protocol, Chromium 156 leaves this one text
    decoded = read(text)
    levels, value = 0, decoded.value
    while value:
        value = value["o"]
        levels += 1
    assert levels == 3000
    assert decoded.json == text
    assert decoded.json_exact


# --- native Chromium: what the protocol leaves ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("output", "value", "text", "guess"),
    [
        ("undefined", None, "null", True),
        ("Operation succeeded", "", '""', True),
        ("hello", "hello", '"hello"', False),
        ("null and void", "null and void", '"null and void"', False),
        ("[object Object]", "[object Object]", '"[object Object]"', True),
        ("NaN", "NaN", '"NaN"', True),
        ("Infinity", "Infinity", '"Infinity"', True),
        ("-Infinity", "-Infinity", '"-Infinity"', True),
        ('{"a":1,}', '{"a":1,}', '"{\\"a\\":1,}"', False),
        ('{"a":1}', '{"a":1}', '"{\\"a\\":1}"', False),  # the page wrote JSON twice: the browser parsed it once
        ("\ud800", "\ud800", '"\\ud800"', False),
        (None, None, "null", True),
        (42, 42, "42", True),
        (0, 0, "0", True),
        (False, False, "false", True),
        (1.5, 1.5, "1.5", True),
        ([], [], "[]", True),
        ({"a": [1, None]}, {"a": [1, None]}, '{"a":[1,null]}', True),
    ],
)
def test_native_output_is_read_by_the_likelier_meaning(output: Any, value: Any, text: str, guess: bool) -> None:
    decoded = from_native(output)
    assert decoded.value == value
    assert type(decoded.value) is type(value)
    assert decoded.json == text
    assert decoded.decoded_by_guess is guess


def test_native_json_text_is_exact_only_for_what_stayed_a_string() -> None:
    assert from_native("hello").json_exact
    assert not from_native({"a": 1}).json_exact
    assert not from_native("undefined").json_exact
    assert not from_native("Operation succeeded").json_exact


def test_native_text_that_chromium_kept_as_latin_1_is_parsed_here() -> None:
    decoded = from_native('{"message":"é"}')
    assert (decoded.value, decoded.json, decoded.decoded_by_guess) == ({"message": "é"}, '{"message":"é"}', True)
    assert from_native('{"message":"日本"}').value == '{"message":"日本"}'
    assert (from_native("café").value, from_native("café").decoded_by_guess) == ("café", False)


def test_deep_text_that_is_not_json_stays_text() -> None:
    text = "[" * 5000
    assert from_native(text).value == text


def test_native_results_in_the_shape_of_mcp_give_their_blocks() -> None:
    decoded = from_native({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]})
    assert decoded.content == (TextContent(text="a"), TextContent(text="b"))


def test_a_navigation_has_the_new_documents_data_or_none() -> None:
    for nothing in (None, []):
        decoded = navigated(nothing)
        assert (decoded.value, decoded.json, decoded.navigated) == (None, "null", True)
        assert text_of(decoded) == "null"
    blocks = [{"@type": "Order"}]
    decoded = navigated(blocks)
    assert decoded.value == blocks
    assert decoded.json == '[{"@type":"Order"}]'
    assert decoded.navigated
    assert not decoded.json_exact


# --- a page's own polyfill -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "value", "json_text", "guess"),
    [
        ('{"a":1}', {"a": 1}, '{"a":1}', True),
        (" [1] ", [1], " [1] ", True),
        ("42", 42, "42", True),
        ("null", None, "null", True),
        ('"quoted"', "quoted", '"quoted"', True),
        ("undefined", None, "null", True),
        ("NaN", "NaN", '"NaN"', True),
        ("[object Object]", "[object Object]", '"[object Object]"', True),
        ("Operation succeeded", "Operation succeeded", '"Operation succeeded"', False),
        ("hello", "hello", '"hello"', False),
        ("", "", '""', False),
        ("1e400", "1e400", '"1e400"', False),
    ],
)
def test_a_polyfills_text_is_json_where_it_is_json(text: str, value: Any, json_text: str, guess: bool) -> None:
    decoded = from_text(text)
    assert decoded.value == value
    assert decoded.json == json_text
    assert decoded.decoded_by_guess is guess


@given(st.text() | VALUES.map(dumps) | st.sampled_from(["NaN", "Infinity", "-Infinity", "[NaN]", "1e400"]))
def test_no_reading_ever_gives_a_float_that_json_does_not_have(text: str) -> None:
    for read in (from_json, from_text, from_native):
        decoded = read(text)
        assert decoded.content
        assert not (isinstance(decoded.value, float) and not math.isfinite(decoded.value))
        assert json.loads(decoded.json, parse_constant=_fail) == decoded.value


def _fail(constant: str) -> None:
    raise AssertionError(constant)

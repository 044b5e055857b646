"""The value tables of the field problems 06, 07, 24 and 43, without an engine.

Two columns for each tool: what our runtime hands over (``v`` + JSON text, or ``u``), and what ``output`` holds in
Chromium 156's ``WebMCP.toolResponded``, as measured.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from pywebmcp.types import TextContent
from pywebmcp.values.results import Decoded, from_json, from_native, undefined

PAYLOAD = {"price": 12.5, "currency": "EUR"}
PAYLOAD_TEXT = '{"price":12.5,"currency":"EUR"}'
UNDEFINED = None


def from_runtime(text: str | None) -> Decoded:
    return undefined() if text is None else from_json(text)


FIELD_06 = [  # tool, runtime's text, its value, native output, its value
    ("r_void", UNDEFINED, None, "undefined", None),
    ("r_undefined", UNDEFINED, None, "undefined", None),
    ("r_null", "null", None, None, None),
    ("r_empty", '""', "", "Operation succeeded", ""),
    ("r_zero", "0", 0, 0, 0),
    ("r_false", "false", False, False, False),
    ("r_string", '"hello"', "hello", "hello", "hello"),
    ("r_string_42", '"42"', "42", 42, 42),
    ("r_number_42", "42", 42, 42, 42),
    ("r_string_null", '"null"', "null", None, None),
    ("r_string_true", '"true"', "true", True, True),
    ("r_json_text", '"{\\"a\\":1}"', '{"a":1}', {"a": 1}, {"a": 1}),
    ("r_object", '{"a":1}', {"a": 1}, {"a": 1}, {"a": 1}),
    ("r_empty_array", "[]", [], [], []),
    ("r_function", UNDEFINED, None, "undefined", None),
    ("r_undefined_members", '{"b":[null,1]}', {"b": [None, 1]}, {"b": [None, 1]}, {"b": [None, 1]}),
]

FIELD_43 = [
    (
        "r_nan",
        '{"mean":null,"max":null,"min":null,"zero":0}',
        {"mean": None, "max": None, "min": None, "zero": 0},
        {"mean": None, "max": None, "min": None, "zero": 0},
        {"mean": None, "max": None, "min": None, "zero": 0},
    ),
    ("r_nan_top", "null", None, "NaN", "NaN"),
    (
        "r_date",
        '{"at":"1970-01-01T00:00:00.000Z"}',
        {"at": "1970-01-01T00:00:00.000Z"},
        {"at": "1970-01-01T00:00:00.000Z"},
        {"at": "1970-01-01T00:00:00.000Z"},
    ),
    ("r_map", '{"m":{},"s":{}}', {"m": {}, "s": {}}, {"m": {}, "s": {}}, {"m": {}, "s": {}}),
    ("r_dom", "{}", {}, {}, {}),
    (
        "r_typed_array",
        '{"0":1,"1":2,"2":3}',
        {"0": 1, "1": 2, "2": 3},
        {"0": 1, "1": 2, "2": 3},
        {"0": 1, "1": 2, "2": 3},
    ),
    ("r_error_object", "{}", {}, {}, {}),
    ("r_response", "{}", {}, {}, {}),
    ("r_tojson_undefined", UNDEFINED, None, "undefined", None),
]


@pytest.mark.parametrize(("tool", "text", "runtime_value", "output", "native_value"), FIELD_06 + FIELD_43)
def test_void_empty_scalar_and_non_json_results(
    tool: str, text: str | None, runtime_value: Any, output: Any, native_value: Any
) -> None:
    for decoded, value in ((from_runtime(text), runtime_value), (from_native(output), native_value)):
        assert decoded.value == value, tool
        assert type(decoded.value) is type(value), tool
        assert json.loads(decoded.json) == value, tool
        assert not decoded.is_error, tool
        assert len(decoded.content) == 1, tool
    assert not from_runtime(text).decoded_by_guess
    assert from_native(output).decoded_by_guess is (tool != "r_string")


def test_a_bigint_is_a_number_by_guess_over_native() -> None:
    decoded = from_native(10)
    assert (decoded.value, decoded.json, decoded.decoded_by_guess) == (10, "10", True)


def test_an_object_that_chromium_150_could_not_serialise_is_marked() -> None:
    decoded = from_native("[object Object]")
    assert (decoded.value, decoded.decoded_by_guess) == ("[object Object]", True)


FIELD_07 = [  # tool, what it returned, the texts of the blocks
    ("plain", PAYLOAD, [PAYLOAD_TEXT]),
    ("mcp_text", {"content": [{"type": "text", "text": PAYLOAD_TEXT}]}, [PAYLOAD_TEXT]),
    (
        "mcp_two_blocks",
        {
            "content": [{"type": "text", "text": "Price is 12.50"}, {"type": "text", "text": "Tax included"}],
            "structuredContent": PAYLOAD,
        },
        ["Price is 12.50", "Tax included"],
    ),
    ("lookalike", {"content": "an article body", "title": "News"}, ['{"content":"an article body","title":"News"}']),
    ("lookalike_array", {"content": ["a", "b"]}, ['{"content":["a","b"]}']),
    ("only_structured", {"content": [], "structuredContent": PAYLOAD}, [PAYLOAD_TEXT]),
]

FIELD_24 = [
    ("list_rows", [{"id": 1}, {"id": 2}], ['[{"id":1},{"id":2}]']),
    ("no_rows", [], ["[]"]),
    ("count", 7, ["7"]),
    ("mcp_array", {"content": [], "structuredContent": [1, 2]}, ["[1,2]"]),
]


@pytest.mark.parametrize(("tool", "returned", "texts"), FIELD_07 + FIELD_24)
def test_results_in_the_shape_of_mcp_and_their_lookalikes(tool: str, returned: Any, texts: list[str]) -> None:
    text = json.dumps(returned, separators=(",", ":"))
    for decoded in (from_json(text), from_native(returned)):
        assert decoded.value == returned, tool
        assert decoded.json == text, tool
        assert decoded.content == tuple(TextContent(text=block) for block in texts), tool


def test_a_string_that_the_page_made_of_json_is_not_escaped_twice() -> None:
    exact, guessed = from_json(json.dumps(PAYLOAD_TEXT)), from_native(PAYLOAD)
    assert (exact.value, guessed.value) == (PAYLOAD_TEXT, PAYLOAD)
    assert exact.content == guessed.content == (TextContent(text=PAYLOAD_TEXT),)

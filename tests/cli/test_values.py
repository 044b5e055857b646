"""``-a key=value``: typed by the schema, and by nothing else."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pywebmcp.cli._exits import UsageError
from pywebmcp.cli._schema import allowed_types, parameters, required, type_text
from pywebmcp.cli._values import read_pairs, typed

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "zip": {"type": "string"},
        "count": {"type": "integer"},
        "price": {"type": "number"},
        "yes": {"type": "boolean"},
        "none": {"type": "null"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "numbers": {"type": "array", "items": {"type": "integer"}},
        "rows": {"type": "array", "items": {"type": "array"}},
        "any_list": {"type": "array"},
        "more": {"type": "object"},
        "maybe": {"type": ["string", "null"]},
        "either": {"anyOf": [{"type": "integer"}, {"type": "string"}]},
        "size": {"enum": ["1", "2"]},
        "level": {"enum": [1, 2]},
        "fixed": {"const": "7"},
        "place": {"$ref": "#/$defs/place"},
        "loop": {"$ref": "#/$defs/loop"},
        "remote": {"$ref": "https://example.com/schema"},
        "free": {},
        "both": {"allOf": [{"type": ["integer", "string"]}, {"type": ["number", "null"]}]},
    },
    "$defs": {"place": {"type": "string"}, "loop": {"$ref": "#/$defs/loop"}},
}


def value(key: str, text: str, schema: dict[str, Any] | None = SCHEMA) -> Any:
    return typed([(key, text)], schema)[key]


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("zip", "01234", "01234"),
        ("zip", "12345", "12345"),
        ("zip", "null", "null"),
        ("zip", '"quoted"', '"quoted"'),
        ("zip", "", ""),
        ("zip", "a=b", "a=b"),
        ("count", "3", 3),
        ("count", "-3", -3),
        ("count", "3.0", 3),
        ("price", "3", 3),
        ("price", "3.5", 3.5),
        ("price", "1e3", 1000.0),
        ("yes", "true", True),
        ("none", "null", None),
        ("more", '{"a": [1]}', {"a": [1]}),
        ("maybe", "null", None),
        ("maybe", "nil", "nil"),
        ("either", "5", 5),
        ("either", "05", "05"),
        ("size", "1", "1"),
        ("level", "1", 1),
        ("fixed", "7", "7"),
        ("place", "007", "007"),
        ("loop", "007", "007"),
        ("loop", "7", 7),
        ("remote", "7", 7),
        ("free", "[1]", [1]),
        ("free", "[1", "[1"),
        ("both", "5", 5),
        ("unknown", "5", 5),
        ("unknown", "05", "05"),
        ("tags", "red", ["red"]),
        ("tags", '["red", "blue"]', ["red", "blue"]),
        ("tags", "1", ["1"]),
        ("tags", "[draft", ["[draft"]),
        ("numbers", "1", [1]),
        ("numbers", "[1, 2]", [1, 2]),
        ("rows", "[1, 2]", [[1, 2]]),
        ("rows", "[[1], [2]]", [[1], [2]]),
        ("any_list", "x", ["x"]),
        ("any_list", "[1]", [1]),
    ],
)
def test_a_value_gets_the_type_that_the_schema_asks_for(key: str, text: str, expected: Any) -> None:
    found = value(key, text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(
    ("key", "text", "expected"),
    [
        ("count", "many", "count: expected integer, not many"),
        ("count", "3.5", "expected integer"),
        ("count", "true", "expected integer"),
        ("count", "", "expected integer, not an empty text"),
        ("count", "NaN", "expected integer"),
        ("count", "9" * 5000, "expected integer"),
        ("price", "1e999", "expected number"),
        ("yes", "1", "expected boolean (true or false)"),
        ("yes", "True", "expected boolean (true or false)"),
        ("none", "", "expected null"),
        ("more", "[1]", "expected object (JSON)"),
        ("level", '"x"', "expected integer"),
        ("numbers", "one", "numbers: expected array of integer"),
        ("numbers", '["one"]', "expected array of integer"),
        ("tags", "[1, 2]", "expected array of string"),
        ("both", "x", "expected integer"),
        ("more", "[" * 100_000, "expected object (JSON)"),
    ],
)
def test_a_value_that_does_not_fit_names_its_key_and_the_type(key: str, text: str, expected: str) -> None:
    with pytest.raises(UsageError) as caught:
        value(key, text)
    assert expected in caught.value.message
    assert len(caught.value.message) < 300


def test_a_repeated_array_appends() -> None:
    pairs = [("tags", "a"), ("tags", '["b", "c"]'), ("zip", "1"), ("tags", "d")]
    assert typed(pairs, SCHEMA) == {"tags": ["a", "b", "c", "d"], "zip": "1"}


def test_anything_else_may_be_given_once() -> None:
    with pytest.raises(UsageError, match="zip is given twice"):
        typed([("zip", "1"), ("zip", "2")], SCHEMA)


def test_without_a_schema_a_value_is_json_where_it_parses_and_text_otherwise() -> None:
    pairs = [("a", "1"), ("b", "01"), ("c", "{}"), ("d", "yes"), ("e", "null")]
    assert typed(pairs, None) == {"a": 1, "b": "01", "c": {}, "d": "yes", "e": None}


def test_additional_properties_have_a_type_too() -> None:
    assert value("x", "012", {"additionalProperties": {"type": "string"}}) == "012"


def test_parameters_of_top_level_branches_are_known() -> None:
    schema = {
        "anyOf": [
            {"properties": {"zip": {"type": "string"}}, "required": ["zip"]},
            {"properties": {"zip": {"type": "string"}, "city": {"type": "string"}}},
        ],
        "allOf": [{"properties": {"days": {"type": "integer"}}, "required": ["days"]}],
    }
    assert list(parameters(schema)) == ["days", "zip", "city"]
    assert required(schema) == {"days"}
    assert value("zip", "01", schema) == "01"
    assert value("days", "2", schema) == 2


def test_pairs_are_split_at_the_first_equals_sign() -> None:
    assert read_pairs(("a=b=c", "d=")) == [("a", "b=c"), ("d", "")]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "string"}, "string"),
        ({"type": ["null", "integer"]}, "integer | null"),
        ({"enum": ["a", 1, None]}, '"a" | 1 | null'),
        ({"enum": list(range(20))}, "0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | … (20)"),
        ({"const": {"x": 1}}, '{"x":1}'),
        ({"type": "array", "items": {"type": "integer"}}, "integer[]"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, '("a" | "b")[]'),
        ({"type": "array"}, "array"),
        ({"oneOf": [{"type": "string"}, {"type": "object"}]}, "string | object"),
        ({"oneOf": [{"type": "string"}, {}]}, "any"),
        ({}, "any"),
        (True, "any"),
        ({"type": 5, "enum": "x", "anyOf": {}, "allOf": [1, None]}, "any"),
    ],
)
def test_a_type_has_a_short_name_for_a_person(schema: object, text: str) -> None:
    assert type_text(schema, {}) == text


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["type", "enum", "const", "anyOf", "allOf", "$ref", "properties", "required", "items", "x"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(_JSON, st.text(max_size=20))
def test_no_schema_makes_typing_or_naming_fail(schema: Any, text: str) -> None:
    root = schema if isinstance(schema, dict) else {"properties": {"x": schema}}
    allowed_types(schema, root)
    type_text(schema, root)
    required(root)
    with contextlib.suppress(UsageError):
        typed([("x", text), ("y", text)], root)

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pywebmcp.values.schemas import ReadSchema, compile_schema, read_schema

EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
ADD: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}


# --- reading ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given_", [None, ""])
def test_no_schema_is_none(given_: str | None) -> None:
    assert read_schema(given_) == ReadSchema(schema=None, text=None, warnings=())


def test_the_text_of_an_object_is_a_dict_beside_its_exact_text() -> None:
    text = '{ "type": "object", "properties": {"q": {"type": "string"}} }'
    assert read_schema(text) == ReadSchema(schema=json.loads(text), text=text)


def test_a_parsed_object_is_read_too_and_not_changed() -> None:
    given_ = {"type": "object", "required": "[1 items]"}
    read = read_schema(given_)
    assert read.schema == {"type": "object"}
    assert read.text == '{"type":"object","required":"[1 items]"}'
    assert given_ == {"type": "object", "required": "[1 items]"}


@pytest.mark.parametrize(
    "broken", ["{", "[]", "5", "null", '"{}"', "true", "NaN", '{"a":NaN}', "[" * 5000, "undefined", [1], 5, {1, 2}]
)
def test_what_is_no_schema_becomes_the_empty_one_with_a_warning(broken: Any) -> None:
    read = read_schema(broken)
    assert read.schema == EMPTY
    assert len(read.warnings) == 1
    assert read.text is not None
    assert compile_schema(EMPTY).problem is None


def test_a_warning_shows_the_pages_text_only_quoted_and_bounded() -> None:
    (warning,) = read_schema("\u202e\n" + "x" * 100_000).warnings
    assert "\u202e" not in warning
    assert "\n" not in warning
    assert len(warning) < 300


@given(st.text() | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(json.dumps))
def test_reading_never_raises(text: str) -> None:
    read = read_schema(text)
    assert (read.schema is None) == (text == "")


def test_required_and_enum_that_are_not_arrays_are_dropped_where_schemas_stand() -> None:
    read = read_schema(
        json.dumps(
            {
                "type": "object",
                "properties": {
                    "roles": {"type": "array", "items": {"type": "string", "enum": "[2 items]"}},
                    "name": {"type": "string", "required": True},
                    "kind": {"enum": ["a"]},
                },
                "required": "[1 items]",
                "$defs": {"x": {"anyOf": [{"enum": 1}]}},
            }
        )
    )
    assert read.schema == {
        "type": "object",
        "properties": {
            "roles": {"type": "array", "items": {"type": "string"}},
            "name": {"type": "string"},
            "kind": {"enum": ["a"]},
        },
        "$defs": {"x": {"anyOf": [{}]}},
    }
    assert len(read.warnings) == 4
    assert any('"/required"' in warning and '"[1 items]"' not in warning for warning in read.warnings)
    assert any('"/properties/roles/items/enum"' in warning for warning in read.warnings)
    assert compile_schema(read.schema or {}).problem is None


def test_members_that_are_merely_named_required_or_enum_stay() -> None:
    schema = {
        "type": "object",
        "properties": {"required": {"type": "boolean"}, "enum": {"const": {"enum": 1}}},
        "default": {"required": "x"},
        "examples": [{"enum": 5}],
        "dependentSchemas": {"required": {"minProperties": 2}},
    }
    assert read_schema(json.dumps(schema)) == ReadSchema(schema=schema, text=json.dumps(schema))


def test_repairs_are_bounded_in_what_they_tell() -> None:
    read = read_schema(json.dumps({"properties": {f"p{i}": {"required": "no"} for i in range(500)}}))
    assert len(read.warnings) == 11
    assert "490 more" in read.warnings[-1]


def test_a_schema_of_any_depth_is_read() -> None:
    text = '{"items":' * 50_000 + '{"enum":1}' + "}" * 50_000
    read = read_schema(text)
    assert read.schema is not None
    assert read.text == text


# --- checking -----------------------------------------------------------------------------------------------


def problems(schema: dict[str, Any], arguments: dict[str, Any]) -> list[tuple[str, str]]:
    compiled = compile_schema(schema)
    assert compiled.problem is None
    return [(problem.path, problem.rule) for problem in compiled.check(arguments)]


def test_valid_arguments_have_no_problems() -> None:
    assert problems(ADD, {"a": 1, "b": 2.5}) == []


def test_every_fault_is_listed_with_its_path_and_rule() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b/c~d": {"enum": [1, 2]},
            "list": {"items": {"type": "string", "maxLength": 2}, "maxItems": 2},
            "code": {"pattern": "^[A-Z]+$"},
        },
        "required": ["a", "z"],
        "additionalProperties": False,
        "dependentRequired": {"a": ["y"]},
    }
    arguments = {"a": "x", "b/c~d": 3, "list": ["a", 1, "long"], "code": "abc", "more": 1}
    assert sorted(problems(schema, arguments)) == [
        ("", "additionalProperties"),
        ("", "dependentRequired"),
        ("", "required"),
        ("/a", "type"),
        ("/b~1c~0d", "enum"),
        ("/code", "pattern"),
        ("/list", "maxItems"),
        ("/list/1", "type"),
        ("/list/2", "maxLength"),
    ]


CASES: list[tuple[dict[str, Any], Any, str, str]] = [
    ({"type": ["string", "null"]}, 1, "type", 'must be of type "null", "string", not 1'),
    ({"required": ["p"]}, {}, "required", 'lacks the member "p"'),
    ({"enum": [1, "a", None]}, 2, "enum", 'must be one of 1, "a", null'),
    ({"const": {"a": 1}}, 2, "const", 'must be {"a":1}'),
    ({"minimum": 3}, 2, "minimum", "must be at least 3"),
    ({"maximum": 1.5}, 2, "maximum", "must be at most 1.5"),
    ({"exclusiveMinimum": 2}, 2, "exclusiveMinimum", "must be more than 2"),
    ({"exclusiveMaximum": 2}, 2, "exclusiveMaximum", "must be less than 2"),
    ({"multipleOf": 5}, 2, "multipleOf", "must be a multiple of 5"),
    ({"minLength": 3}, "ab", "minLength", "must have at least 3 characters"),
    ({"maxLength": 1}, "ab", "maxLength", "must have at most 1 characters"),
    ({"pattern": '^"'}, "ab", "pattern", 'must match the pattern "^\\""'),
    ({"minItems": 1}, [], "minItems", "must have at least 1 items"),
    ({"maxItems": 1}, [1, 2], "maxItems", "must have at most 1 items"),
    ({"uniqueItems": True}, [1, 1], "uniqueItems", "must not hold an item twice"),
    ({"contains": {"type": "string"}}, [1], "contains", "holds no item of the kind that it must hold"),
    ({"contains": {}, "minContains": 2}, [1], "minContains", "holds no item of the kind that it must hold"),
    ({"minProperties": 1}, {}, "minProperties", "must have at least 1 members"),
    ({"maxProperties": 0}, {"a": 1}, "maxProperties", "must have at most 0 members"),
    (
        {"propertyNames": {"maxLength": 1}},
        {"ab": 1},
        "propertyNames",
        "has a member whose name the schema does not allow",
    ),
    (
        {"properties": {"b": {}}, "additionalProperties": False},
        {f"m{i}": 1 for i in range(10)},
        "additionalProperties",
        'has members that the schema does not allow: "m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7" and 2 more',
    ),
    (
        {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
        {"b": 1},
        "unevaluatedProperties",
        'has members that the schema does not allow: "b"',
    ),
    (
        {"prefixItems": [{}], "unevaluatedItems": False},
        [1, 2],
        "unevaluatedItems",
        "has items that the schema does not allow: 2",
    ),
    ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 1, "anyOf", "fits none of the alternatives"),
    ({"oneOf": [{"type": "string"}, {"type": "null"}]}, 1, "oneOf", "must fit exactly one of the alternatives"),
    ({"oneOf": [{}, {"minimum": 0}]}, 1, "oneOf", "must fit exactly one of the alternatives"),
    ({"not": {"type": "integer"}}, 1, "not", "is of a kind that the schema forbids"),
    ({"properties": {"x": False}}, {"x": 1}, "properties", "is not allowed here"),
]


@pytest.mark.parametrize(("schema", "value", "rule", "message"), CASES)
def test_a_problem_says_what_the_rule_asks_for(schema: dict[str, Any], value: Any, rule: str, message: str) -> None:
    compiled = compile_schema({"properties": {"v": schema}})
    found = compiled.check({"v": value})
    assert {(problem.rule, problem.message) for problem in found} == {(rule, message)}
    assert {problem.path.split("/")[1] for problem in found} == {"v"}


def test_additional_properties_of_nothing_else_are_told_under_their_keyword() -> None:
    assert problems({"additionalProperties": False}, {"x": 1})[0][1] == "additionalProperties"


def test_messages_show_text_of_pages_and_models_only_quoted_and_bounded() -> None:
    hostile = "\u202e\n\x1b[2J" + "x" * 100_000
    schema = {"properties": {"a": {"enum": [hostile] * 100}, "b": {"type": "integer"}}, "required": [hostile]}
    for problem in compile_schema(schema).check({"a": 1, "b": hostile}):
        assert "\u202e" not in problem.message
        assert "\n" not in problem.message
        assert "\x1b" not in problem.message
        assert len(problem.message) < 1000


def test_at_most_fifty_problems_are_listed() -> None:
    assert len(problems({"additionalProperties": {"type": "string"}}, {f"p{i}": i for i in range(200)})) == 50


def test_combinators_at_the_root_are_enforced() -> None:
    schema = {
        "type": "object",
        "properties": {"route": {"type": "string"}, "file": {"type": "string"}},
        "oneOf": [{"required": ["route"]}, {"required": ["file"]}],
    }
    assert problems(schema, {}) == [("", "oneOf")]
    assert problems(schema, {"route": "a", "file": "b"}) == [("", "oneOf")]
    assert problems(schema, {"route": "a"}) == []


def test_local_references_and_recursion_work() -> None:
    schema: dict[str, Any] = {
        "$id": "tree",
        "properties": {
            "name": {"$ref": "#/$defs/na~1me%20x"},
            "children": {"type": "array", "items": {"$ref": "#"}},
            "left": {"$ref": "tree"},
            "right": {"$ref": "#node"},
        },
        "$defs": {
            "na/me x": {"type": "string"},
            "n": {"$anchor": "node", "$ref": "#/examples/0"},
        },
        "examples": [{"type": "null"}],
    }
    arguments = {"name": "a", "children": [{"name": "b"}, {"name": 1}], "left": {"left": {"name": 2}}, "right": 3}
    assert sorted(problems(schema, arguments)) == [
        ("/children/1/name", "type"),
        ("/left/left/name", "type"),
        ("/right", "type"),
    ]


@pytest.mark.parametrize(
    ("draft", "schema", "bad"),
    [
        (
            "http://json-schema.org/draft-04/schema#",
            {"properties": {"a": {"minimum": 1, "exclusiveMinimum": True}}},
            {"a": 1},
        ),
        ("http://json-schema.org/draft-06/schema#", {"properties": {"a": {"exclusiveMinimum": 1}}}, {"a": 1}),
        ("https://json-schema.org/draft-07/schema", {"properties": {"a": {"items": [{"type": "string"}]}}}, {"a": [1]}),
        ("http://json-schema.org/draft-07/schema#", {"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"a": 1}),
        (
            "https://json-schema.org/draft/2019-09/schema",
            {"properties": {"a": {"items": [{}], "additionalItems": False}}},
            {"a": [1, 2]},
        ),
        (
            "https://json-schema.org/draft/2020-12/schema",
            {"properties": {"a": {"prefixItems": [{"type": "null"}]}}},
            {"a": [1]},
        ),
        ("https://shop.example/meta.json", {"properties": {"a": {"prefixItems": [{"type": "null"}]}}}, {"a": [1]}),
    ],
)
def test_the_draft_named_by_the_schema_counts(draft: str, schema: dict[str, Any], bad: dict[str, Any]) -> None:
    assert problems({"$schema": draft, **schema}, bad)
    assert not problems({"$schema": draft, **schema}, {})


@pytest.mark.parametrize(
    "draft", ["http://json-schema.org/draft-07/schema#", "https://json-schema.org/draft/2020-12/schema"]
)
def test_formats_are_annotations_in_every_draft(draft: str) -> None:
    schema = {
        "$schema": draft,
        "properties": {"mail": {"format": "email"}, "month": {"format": "^[0-9]{4}-(0[1-9]|1[0-2])$"}},
    }
    assert problems(schema, {"mail": "x", "month": "x"}) == []


def test_a_whole_float_is_an_integer_and_a_boolean_is_no_number() -> None:
    assert problems({"properties": {"n": {"type": "integer"}}}, {"n": 1.0}) == []
    assert problems({"properties": {"n": {"type": "integer"}}}, {"n": True}) == [("/n", "type")]


def test_schemas_with_the_same_text_share_one_result() -> None:
    assert compile_schema(dict(ADD)) is compile_schema(json.loads(json.dumps(ADD)))


def test_a_schema_changed_after_compiling_is_another_schema() -> None:
    schema: dict[str, Any] = {"properties": {"a": {"type": "string"}}}
    compiled = compile_schema(schema)
    schema["properties"]["a"]["type"] = "integer"
    assert compiled.check({"a": 1})
    assert not compile_schema(schema).check({"a": 1})


def test_lone_surrogates_are_checked_as_replacement_characters() -> None:
    schema = {"properties": {"a": {"enum": ["x"]}, "b": {"maxLength": 2}, "\ud800": {"type": "string"}}}
    assert problems(schema, {"a": "\ud800", "b": "\ud800\ud800"}) == [("/a", "enum")]
    assert problems(schema, {"\ud800": 1}) == [("/\ufffd", "type")]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "foo"},
        {"required": "a"},
        {"properties": []},
        {"properties": {"a": {"pattern": "("}}},
        {"properties": {"a": {"multipleOf": 0}}},
        {"$ref": "#/$defs/missing"},
        {"$ref": "#missing"},
        {"items": float("nan")},
        {"a": {1, 2}},
        {"maximum": 10**5000},
    ],
)
def test_a_schema_that_does_not_compile_says_why_and_checks_nothing(schema: dict[str, Any]) -> None:
    compiled = compile_schema(schema)
    assert compiled.problem is not None
    assert compiled.problem.startswith("the schema ")
    assert len(compiled.problem) < 500
    assert compiled.check({"a": 1}) == ()


def test_the_validator_is_imported_by_the_first_compile_only() -> None:
    code = (
        "import sys\n"
        "from pywebmcp.values import arguments, content, deepjson, names, quoting, results, schemas\n"
        "schemas.read_schema('{}')\n"
        "assert not {'jsonschema_rs', 'urllib.parse', 'asyncio'} & set(sys.modules), sys.modules.keys()\n"
        "schemas.compile_schema({})\n"
        "assert 'jsonschema_rs' in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=30)

"""Schemas made to take the process down: each ends quickly, in a thread with the small stack of macOS."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp.values.schemas import compile_schema, read_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from pywebmcp.types import Problem

SECONDS = 30.0  # far above what any of them takes (1 s on an idle machine), far below what each would take unbounded

Outcome = tuple[str | None, tuple["Problem", ...]]


def check(schema: dict[str, Any], arguments: dict[str, Any]) -> Outcome:
    outcome: list[Outcome] = []

    def run() -> None:
        compiled = compile_schema(schema)
        outcome.append((compiled.problem, compiled.check(arguments)))

    before = threading.stack_size(512 * 1024)
    try:
        thread = threading.Thread(target=run)
        started = time.perf_counter()
        thread.start()
        thread.join(SECONDS)
    finally:
        threading.stack_size(before)
    assert time.perf_counter() - started < SECONDS
    return outcome[0]


def deep(levels: int, leaf: Any = None) -> dict[str, Any]:
    value: Any = {} if leaf is None else leaf
    for _ in range(levels):
        value = {"a": value}
    return value


def nest(levels: int, wrap: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "required": ["missing"]}
    for _ in range(levels):
        schema = wrap(schema)
    return schema


def chain(levels: int, wrap: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    definitions: dict[str, Any] = {f"d{i}": wrap({"$ref": f"#/$defs/d{i + 1}"}) for i in range(levels)}
    definitions[f"d{levels}"] = {"type": "object", "required": ["missing"]}
    return {"$defs": definitions, "$ref": "#/$defs/d0"}


# --- patterns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pattern", ["^(a+)+$", "^(a|a)*$", "^(?:a?){50}a{50}!$", "^([a-zA-Z]+)*$"])
def test_a_pattern_that_backtracks_for_ever_elsewhere_is_decided_quickly(pattern: str) -> None:
    schema = {"properties": {"a": {"pattern": pattern}}}
    assert check(schema, {"a": "a" * 40 + "?"})[1][0].rule == "pattern"


@pytest.mark.parametrize(
    ("pattern", "length"),
    [
        (r"^(a|a)*\1b$", 40),
        (r"^(a|a)*\1b$", 100_000),
        (r"^(?:(a+)(?!b))+\1c$", 40),
        (r"^(?:(a+)(?!b))+\1c$", 100_000),
        (r"((a|a)(?!c))*b", 100_000),
    ],
)
def test_a_pattern_that_no_linear_engine_can_run_stops_and_refuses_nothing(pattern: str, length: int) -> None:
    arguments = {"a": "a" * length + "!"}
    assert check({"properties": {"a": {"pattern": pattern}}}, arguments) == (None, ())
    assert check({"properties": {"a": {"anyOf": [{"pattern": pattern}, {"type": "null"}]}}}, arguments) == (None, ())


def test_other_faults_are_still_told_beside_a_pattern_that_stopped() -> None:
    schema = {"properties": {"a": {"pattern": r"^(a|a)*\1b$"}, "b": {"type": "integer"}}}
    problem, found = check(schema, {"a": "a" * 40 + "!", "b": "x"})
    assert problem is None
    assert [fault.path for fault in found] == ["/b"]


def test_a_pattern_of_an_honest_page_with_a_lookahead_works() -> None:
    schema = {"properties": {"code": {"pattern": "^(?!0)[A-Z0-9]{2}$"}}}
    assert check(schema, {"code": "A1"}) == (None, ())
    assert check(schema, {"code": "01"})[1][0].rule == "pattern"


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"pattern": "^((a{1,1000}){1,1000}){1,1000}$"}}},
        {"properties": {"a": {"pattern": "(?=x)(?:\\w{1,300}){1,300}"}}},
        {"properties": {"a": {"pattern": "(" * 20_000 + ")" * 20_000}}},
        {"properties": {f"p{i}": {"pattern": f"^\\w{{1,100}}{i}$"} for i in range(2000)}},
        {"patternProperties": {f"^\\w{{1,100}}{i}$": True for i in range(2000)}},
        {"$defs": {f"p{i}": {"pattern": f"^\\w{{1,100}}{i}$"} for i in range(2000)}},
    ],
)
def test_patterns_that_are_too_large_or_too_many_are_a_problem(schema: dict[str, Any]) -> None:
    problem, found = check(schema, {"a": "a" * 1000})
    assert problem is not None
    assert found == ()


# --- references ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reference",
    [
        "https://attacker.example/schema.json",
        "http://127.0.0.1:9/",
        "file:///etc/passwd",
        "other.json",
        "//attacker.example/x",
        "https://json-schema.org/draft/2020-12/schema",
        "json-schema:///other",
        "urn:x",
    ],
)
@pytest.mark.parametrize("keyword", ["$ref", "$dynamicRef", "$recursiveRef"])
def test_a_reference_to_another_document_is_a_problem_and_never_fetched(reference: str, keyword: str) -> None:
    problem, found = check({"properties": {"a": {keyword: reference}}}, {"a": 1})
    assert problem is not None
    assert "another document" in problem
    assert found == ()


def test_a_reference_relative_to_the_schemas_own_address_is_not_fetched() -> None:
    schema = {"$id": "https://attacker.example/a.json", "properties": {"a": {"$ref": "b.json"}}}
    assert "another document" in str(check(schema, {"a": 1})[0])


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"allOf": [{"$ref": "#"}]},
        {"not": {"$ref": "#"}},
        {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]},
        {"$dynamicAnchor": "n", "allOf": [{"$dynamicRef": "#n"}]},
        {"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"allOf": [{"$ref": "#/$defs/a"}]}}, "$ref": "#/$defs/a"},
        {"if": {"properties": {}}, "then": {"dependentSchemas": {"a": {"$ref": "#/then"}}}},
    ],
)
def test_a_reference_loop_is_a_problem(schema: dict[str, Any]) -> None:
    problem, found = check(schema, {"a": 1})
    assert problem is not None
    assert "refers to itself" in problem
    assert found == ()


@pytest.mark.parametrize(
    "schema",
    [
        {"$defs": {"x": {"$id": "x", "type": "string"}}, "properties": {"a": {"$ref": "#/$defs/x"}}},
        {"$defs": {"x": {"$schema": "http://json-schema.org/draft-04/schema#", "id": "y"}}, "$ref": "#/$defs/x"},
        {
            "$schema": "http://json-schema.org/draft-04/schema#",
            "definitions": {"x": {"id": "y"}},
            "$ref": "#/definitions/x",
        },
        {"$defs": {"a/b": {}, "a": {"b": {}}}, "$ref": "#/$defs/a%2Fb"},
    ],
)
def test_references_that_could_mean_something_else_to_the_validator_are_a_problem(schema: dict[str, Any]) -> None:
    assert check(schema, {})[0] is not None


# --- growth -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
@pytest.mark.parametrize("levels", [15, 30, 150])
def test_references_that_unfold_to_billions_of_schemas_are_a_problem(keyword: str, levels: int) -> None:
    schema = chain(levels, lambda reference: {keyword: [reference, reference]})
    problem, found = check(schema, {})
    assert problem is not None
    assert found == ()


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: {"allOf": [inner], "unevaluatedProperties": False},  # pyright: ignore[reportUnknownLambdaType]
        lambda inner: {"if": inner, "then": inner, "unevaluatedProperties": False},  # pyright: ignore[reportUnknownLambdaType]
        lambda inner: {"allOf": [inner], "unevaluatedProperties": inner},  # pyright: ignore[reportUnknownLambdaType]
    ],
)
def test_unevaluated_keywords_that_evaluate_all_again_at_each_level_are_a_problem(wrap: Any) -> None:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(12):
        schema = wrap(schema)
    assert check(schema, {})[0] is not None


@pytest.mark.parametrize("keyword", ["allOf", "anyOf"])
@pytest.mark.parametrize("levels", [14, 24, 60])
def test_a_recursive_schema_that_multiplies_with_the_arguments_depth_is_bounded(keyword: str, levels: int) -> None:
    schema: dict[str, Any] = {
        "properties": {"a": {keyword: [{"$ref": "#"}, {"$ref": "#"}]}},
        "required": ["missing"],
    }
    problem, found = check(schema, deep(levels))
    assert problem is None
    assert found in ((), found[:1])
    assert check(schema, {})[1][0].rule == "required"


def test_where_only_the_listing_would_be_too_large_one_problem_stands_for_all() -> None:
    schema = {"properties": {"a": {"items": {"anyOf": [{"type": "string"}] * 1000}}}}
    problem, found = check(schema, {"a": list(range(1000))})
    assert problem is None
    assert [(fault.path, fault.rule) for fault in found] == [("", "schema")]


# --- depth and size -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [150, 250, 1000, 50_000])
@pytest.mark.parametrize("keyword", ["not", "items", "additionalProperties", "if"])
def test_a_deeply_nested_schema_ends_quickly(levels: int, keyword: str) -> None:
    check(nest(levels, lambda inner: {keyword: inner}), {"a": 1})


@pytest.mark.parametrize("levels", [90, 300, 2000])
@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_long_chain_of_references_ends_quickly(levels: int, keyword: str) -> None:
    problem, found = check(chain(levels, lambda reference: {keyword: [reference]}), {})
    assert bool(found) != bool(problem)


@pytest.mark.parametrize("levels", [100, 1000, 100_000])
def test_deep_arguments_never_overflow_the_stack(levels: int) -> None:
    for schema in (
        {"properties": {"a": {"$ref": "#"}}},
        {"additionalProperties": {"$ref": "#"}, "unevaluatedProperties": False},
        {"properties": {"a": {"const": {"a": 1}}}},
        {"properties": {"a": {"uniqueItems": True}}},
        chain(2000, lambda reference: {"properties": {"a": reference}}),
    ):
        assert check(schema, deep(levels))[0] is None


def test_deep_arguments_that_are_wrong_are_refused_even_where_the_place_cannot_be_told() -> None:
    _, found = check({"properties": {"a": {"type": "string"}}}, deep(5000))
    assert [(fault.path, fault.rule) for fault in found] == [("", "schema")]


def test_recursion_within_reason_is_checked_to_its_end() -> None:
    schema = {"properties": {"a": {"$ref": "#"}}, "type": "object"}
    assert check(schema, deep(60)) == (None, ())
    assert check(schema, deep(60, leaf=7))[1][0].path == "/a" * 60


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {f"p{i}": {"type": "string"} for i in range(20_000)}},
        {"properties": {"a": {"enum": [f"value {i}" for i in range(50_000)]}}},
        {"anyOf": [{"type": "string"}] * 8000},
        {"description": "x" * 1_000_000},
    ],
)
def test_a_huge_schema_is_a_problem(schema: dict[str, Any]) -> None:
    problem, found = check(schema, {"a": 1})
    assert problem is not None
    assert found == ()


def test_a_large_schema_of_an_honest_page_is_checked() -> None:
    schema = {"properties": {f"p{i}": {"type": "string", "enum": ["a", "b"]} for i in range(1000)}}
    assert check(schema, {"p1": "c"})[1][0].path == "/p1"


def test_many_faults_in_large_arguments_end_quickly() -> None:
    _, found = check({"additionalProperties": {"type": "string"}}, {f"p{i}": i for i in range(300_000)})
    assert found


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    ['{"enum":' * 5000 + "1" + "}" * 5000, '{"properties":{"a":' * 50_000 + "{}" + "}}" * 50_000, "[" * 10_000_000],
)
def test_reading_a_hostile_text_ends_quickly(text: str) -> None:
    started = time.perf_counter()
    read = read_schema(text)
    assert read.schema is not None
    compile_schema(read.schema)
    assert time.perf_counter() - started < SECONDS

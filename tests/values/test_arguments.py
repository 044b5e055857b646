from __future__ import annotations

import json
import math
from collections import OrderedDict
from decimal import Decimal
from enum import Enum, IntEnum, StrEnum
from types import MappingProxyType
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pywebmcp.errors import InvalidArgumentsError
from pywebmcp.values.arguments import MAX_SAFE_INTEGER, encode_arguments, pointer

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-MAX_SAFE_INTEGER, MAX_SAFE_INTEGER)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


def refused(arguments: Any) -> InvalidArgumentsError:
    with pytest.raises(InvalidArgumentsError) as caught:
        encode_arguments(arguments, tool="add")
    assert {problem.rule for problem in caught.value.problems} == {"json"}
    return caught.value


def faults(arguments: Any) -> dict[str, str]:
    return {problem.path: problem.message for problem in refused(arguments).problems}


def test_no_arguments_are_an_empty_object() -> None:
    assert encode_arguments(None, tool="add") == ({}, "{}")
    assert encode_arguments({}, tool="add") == ({}, "{}")
    assert encode_arguments(" {} ", tool="add") == ({}, "{}")


def test_a_mapping_becomes_a_new_dict_and_its_compact_text() -> None:
    given = {"b": 1, "a": "é"}
    plain, text = encode_arguments(given, tool="add")
    assert (plain, text) == ({"b": 1, "a": "é"}, '{"b":1,"a":"é"}')
    assert plain is not given


def test_the_text_of_an_object_is_taken_and_made_compact() -> None:
    assert encode_arguments('{ "a" : [1, 2.5, null] }', tool="add") == ({"a": [1, 2.5, None]}, '{"a":[1,2.5,null]}')


@given(st.dictionaries(st.text(max_size=5), VALUES, max_size=4))
def test_json_arguments_arrive_unchanged_in_both_forms(arguments: dict[str, Any]) -> None:
    plain, text = encode_arguments(arguments, tool="add")
    assert plain == json.loads(text) == arguments
    assert encode_arguments(text, tool="add") == (plain, text)
    assert encode_arguments(MappingProxyType(arguments), tool="add") == (plain, text)


def test_tuples_and_nested_mappings_count_as_arrays_and_objects() -> None:
    given = OrderedDict(a=(1, MappingProxyType({"b": (2,)})), c=[{"d": {}}])
    plain, text = encode_arguments(given, tool="add")
    assert plain == {"a": [1, {"b": [2]}], "c": [{"d": {}}]}
    assert text == '{"a":[1,{"b":[2]}],"c":[{"d":{}}]}'
    assert type(plain) is dict
    assert type(plain["a"][1]) is dict


def test_the_given_mapping_and_what_it_holds_are_not_shared_with_the_copy() -> None:
    given: dict[str, Any] = {"a": [1, {"b": 2}]}
    plain, _ = encode_arguments(given, tool="add")
    plain["a"][1]["b"] = 3
    plain["a"].append(4)
    assert given == {"a": [1, {"b": 2}]}


def test_subclasses_of_str_int_and_float_become_plain_values() -> None:
    class Size(IntEnum):
        BIG = 3

    class Color(StrEnum):
        RED = "red"

    class Old(str, Enum):  # noqa: UP042 - programs have them
        NAME = "old"

    class Celsius(float):
        def __repr__(self) -> str:
            return "warm"

    plain, text = encode_arguments({Color.RED: [Size.BIG, Color.RED, Old.NAME, Celsius(20.5)]}, tool="add")
    assert text == '{"red":[3,"red","old",20.5]}'
    assert [type(value) for value in plain["red"]] == [int, str, str, float]
    assert type(next(iter(plain))) is str


def test_every_number_outside_of_javascripts_exact_ones_is_told_with_its_place() -> None:
    given = {
        "nan": math.nan,
        "deep": [0, {"inf": math.inf}],
        "big": MAX_SAFE_INTEGER + 1,
        "low": -MAX_SAFE_INTEGER - 1,
        "max": MAX_SAFE_INTEGER,
        "min": -MAX_SAFE_INTEGER,
        "float": 1e300,
    }
    told = faults(given)
    assert list(told) == ["/nan", "/deep/1/inf", "/big", "/low"]
    assert "NaN" in told["/nan"]
    assert "infinity" in told["/deep/1/inf"]
    assert "2^53" in told["/big"]


def test_numbers_outside_of_json_are_told_with_their_place_in_a_text_too() -> None:
    assert list(faults('{"a": NaN, "b": [1, -Infinity], "c": 12345678901234567890, "d": 1e400}')) == [
        "/a",
        "/b/1",
        "/c",
        "/d",
    ]


def test_python_objects_that_json_does_not_have_are_refused_by_type() -> None:
    class Mode(Enum):
        FAST = "fast"

    told = faults({"s": {1}, "b": b"x", "d": Decimal(1), "o": object(), "e": Mode.FAST, "g": iter([])})
    assert list(told) == ["/s", "/b", "/d", "/o", "/e", "/g"]
    assert '"set"' in told["/s"]
    assert '"bytes"' in told["/b"]
    assert "pass its value" in told["/e"]


def test_names_that_are_not_strings_are_refused_at_their_object() -> None:
    told = faults({1: "a", "b": {None: 1}, "c": [{(1, 2): 1}]})
    assert list(told) == ["", "/b", "/c/0"]
    assert '"1"' in told[""]


def test_what_contains_itself_is_refused_and_what_is_merely_shared_is_not() -> None:
    cycle: dict[str, Any] = {"a": [1]}
    cycle["a"].append(cycle)
    cycle["self"] = cycle
    assert faults(cycle) == {"/a/1": "contains itself", "/self": "contains itself"}
    shared = [1]
    assert encode_arguments({"a": shared, "b": shared}, tool="add")[1] == '{"a":[1],"b":[1]}'


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ([1, 2], "an array"),
        ("[1,2]", "an array"),
        ("3", "a number"),
        ("null", "null"),
        ("true", "a boolean"),
        ('"{}"', "a string"),
        (3, "a number"),
        (b"{}", "bytes"),
    ],
)
def test_only_an_object_can_be_the_root(arguments: Any, what: str) -> None:
    error = refused(arguments)
    assert [problem.path for problem in error.problems] == [""]
    assert what in error.problems[0].message


@pytest.mark.parametrize("text", ["", "{", "{'a': 1}", "a=1", '{"a":1}}', "\ufeff{}", "1" * 5000])
def test_a_text_that_is_not_json_is_refused(text: str) -> None:
    assert [problem.path for problem in refused(text).problems] == [""]


def test_the_error_says_what_to_do_and_that_nothing_ran() -> None:
    error = refused({"a": {1}, "b": math.nan, "c": b"", "d": b"", "e\n": b""})
    assert error.tool == "add"
    assert error.ran == "no"
    assert error.dom_name == "DataError"
    assert len(error.problems) == 5
    assert '"add"' in str(error)
    assert '"/a"' in str(error)
    assert "and 2 more" in str(error)
    assert "Pass a mapping, or the JSON text of an object" in str(error)


def test_the_message_shows_hostile_names_only_quoted_and_bounded() -> None:
    error = refused({"\n\x1b[2J" + "x" * 10_000: math.nan})
    assert "\n" not in str(error)
    assert "\x1b" not in str(error)
    assert len(str(error)) < 500


def test_at_most_fifty_faults_are_told() -> None:
    assert len(refused({"a": [math.nan] * 1000}).problems) == 50


def test_arguments_of_any_depth_are_taken() -> None:
    given: dict[str, Any] = {}
    for _ in range(20_000):
        given = {"a": [given]}
    plain, text = encode_arguments(given, tool="add")
    assert text == '{"a":[' * 20_000 + "{}" + "]}" * 20_000
    assert encode_arguments(text, tool="add")[1] == text
    inner: Any = plain
    for _ in range(20_000):
        inner = inner["a"][0]
    assert inner == {}


def test_a_lone_surrogate_is_a_string_of_javascript_and_passes_escaped() -> None:
    assert encode_arguments({"a": "\ud800"}, tool="add") == ({"a": "\ud800"}, '{"a":"\\ud800"}')


@pytest.mark.parametrize(
    ("tokens", "text"), [((), ""), (("a", 0, ""), "/a/0/"), (("a/b", "m~n", "~1"), "/a~1b/m~0n/~01")]
)
def test_a_pointer_escapes_what_rfc_6901_escapes(tokens: tuple[str | int, ...], text: str) -> None:
    assert pointer(tokens) == text


@given(st.dictionaries(st.text(max_size=3), VALUES | st.just(math.nan) | st.binary(max_size=1), max_size=5))
def test_each_fault_is_at_its_pointer(arguments: dict[str, Any]) -> None:
    bad = {pointer([name]) for name, value in arguments.items() if isinstance(value, bytes) or value is math.nan}
    if bad:
        assert {problem.path for problem in refused(arguments).problems} == bad
    else:
        assert cast("Any", encode_arguments(arguments, tool="add")[0]) == arguments

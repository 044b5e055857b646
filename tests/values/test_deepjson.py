from __future__ import annotations

import json
import math
from enum import IntEnum, StrEnum
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pywebmcp.values import deepjson
from pywebmcp.values.deepjson import dumps, loads, without_surrogates

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
    | st.text(st.characters(exclude_categories=())).filter(lambda text: _round_trips(text))
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=30)


def _round_trips(text: str) -> bool:
    """Halves of a pair that stand side by side are one character in JSON, so such texts are no JSON values."""
    return text == text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")


def parse_deep(text: str) -> Any:
    return deepjson._parse(text, deepjson._STRICT)


def nested(levels: int, opener: str, core: str, closer: str) -> str:
    return opener * levels + core + closer * levels


@given(VALUES)
def test_what_is_written_reads_back_the_same(value: Any) -> None:
    text = dumps(value)
    text.encode()
    assert loads(text) == value


@given(VALUES)
def test_both_writers_write_the_same(value: Any) -> None:
    assert deepjson._write_deep(value) == deepjson._write(value)


@given(VALUES, st.sampled_from([None, 1, "\t"]))
def test_both_parsers_read_the_same(value: Any, indent: int | str | None) -> None:
    text = json.dumps(value, indent=indent)
    assert parse_deep(text) == json.loads(text) == loads(text)


@given(VALUES, st.data())
def test_both_parsers_refuse_the_same_broken_texts(value: Any, data: st.DataObject) -> None:
    text = json.dumps(value)
    at = data.draw(st.integers(0, len(text)))
    broken = text[:at] + data.draw(st.text(st.sampled_from('{}[],:"\\0-+.eE tn\n\x00'), max_size=3)) + text[at + 1 :]
    assert outcome(parse_deep, broken) == outcome(loads, broken)


def outcome(parse: Any, text: str) -> tuple[str, Any]:
    try:
        return "read", parse(text)
    except ValueError:
        return "refused", None


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "[1,]",
        '{"a":1,}',
        "{'a':1}",
        '{"a" 1}',
        "1 2",
        "nul",
        "01",
        "+1",
        ".5",
        "\ufeff1",
        '"\n"',
        "[1}",
        "{]",
        "٣",
    ],
)
def test_what_is_not_json_is_refused(text: str) -> None:
    for parse in (loads, parse_deep):
        with pytest.raises(ValueError, match=r".+"):
            parse(text)


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", '{"a":[NaN]}', "1e400", "-1e400", '{"a":1e999}'])
def test_numbers_outside_of_json_are_refused_unless_asked_for(text: str) -> None:
    for parse in (loads, parse_deep):
        with pytest.raises(ValueError, match=r"not JSON|beyond the range"):
            parse(text)
    assert loads(text, allow_nan=True) is not None


def test_an_integer_longer_than_python_reads_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="digits"):
        loads("1" * 5000)


@pytest.mark.slow
@pytest.mark.parametrize(("opener", "closer"), [("[", "]"), ('{"o":', "}"), ('[{"o":', "}]")])
def test_a_hundred_thousand_levels_are_read_and_written(opener: str, closer: str) -> None:
    text = nested(100_000, opener, "7", closer)
    value = loads(text)
    levels = 0
    inner = value
    while isinstance(inner, (dict, list)):
        inner = cast("Any", inner)["o"] if isinstance(inner, dict) else cast("Any", inner)[0]
        levels += 1
    assert inner == 7
    assert levels == 100_000 * (text.count("[") > 0) + 100_000 * (text.count("{") > 0)
    assert dumps(value) == text


def test_deep_text_with_a_fault_is_a_value_error() -> None:
    with pytest.raises(ValueError, match=r".+"):
        loads("[" * 100_000)
    with pytest.raises(ValueError, match="not JSON"):
        loads(nested(100_000, "[", "NaN", "]"))
    assert math.isnan(_core(loads(nested(100_000, "[", "NaN", "]"), allow_nan=True)))


@pytest.mark.slow
def test_deep_text_too_large_to_be_read_in_a_second_or_two_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="deeper than Python's stack"):
        loads("[" * 20_000_000)
    wide = "[" * 2000 + "1," * 1_000_000 + "1" + "]" * 2000
    with pytest.raises(ValueError, match="more than 1,000,000 values"):
        loads(wide)
    assert len(loads("[" + "1," * 1_000_000 + "1]")) == 1_000_001


def _core(value: Any) -> Any:
    while isinstance(value, list):
        value = cast("list[Any]", value)[0]
    return value


def test_text_is_compact_and_bare_but_for_lone_surrogates() -> None:
    assert dumps({"a": [1, "é\u2028😀"], "b": None}) == '{"a":[1,"é\u2028😀"],"b":null}'
    assert dumps({"k\udc00": "\ud800x"}) == '{"k\\udc00":"\\ud800x"}'
    assert loads(dumps("\ud800")) == "\ud800"


def test_the_last_of_two_members_with_one_name_counts() -> None:
    assert loads('{"a":1,"a":2}') == parse_deep('{"a":1,"a":2}') == {"a": 2}


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [float("-inf")]])
def test_floats_that_are_not_finite_are_not_written(value: Any) -> None:
    for write in (dumps, deepjson._write_deep):
        with pytest.raises(ValueError, match="not JSON compliant"):
            write(value)


def test_a_value_that_contains_itself_is_not_written() -> None:
    cycle: list[Any] = []
    cycle.append({"o": cycle})
    for write in (dumps, deepjson._write_deep):
        with pytest.raises(ValueError, match="Circular"):
            write(cycle)
    shared = {"a": 1}
    assert dumps([shared, shared]) == deepjson._write_deep([shared, shared]) == '[{"a":1},{"a":1}]'


def test_a_deep_value_that_contains_itself_is_not_written() -> None:
    outer: list[Any] = []
    inner = outer
    for _ in range(5_000):
        inner.append([])
        inner = inner[0]
    inner.append(outer)
    with pytest.raises(ValueError, match="Circular"):
        dumps(outer)


def test_what_json_does_not_have_is_a_type_error() -> None:
    for write in (dumps, deepjson._write_deep):
        for value in ({1, 2}, b"x", object(), [{"a": 1j}]):
            with pytest.raises(TypeError):
                write(value)
    with pytest.raises(TypeError, match="keys must be strings"):
        deepjson._write_deep({1: 2})


def test_members_of_enums_are_written_as_their_values() -> None:
    class Size(IntEnum):
        BIG = 3

    class Color(StrEnum):
        RED = "red"

    assert dumps([Size.BIG, Color.RED]) == deepjson._write_deep([Size.BIG, Color.RED]) == '[3,"red"]'


def test_lone_surrogates_can_be_replaced_in_a_copy() -> None:
    value = {"k\udc00": ["\ud800x", 1]}
    assert without_surrogates(value) == {"k\ufffd": ["\ufffdx", 1]}
    assert value == {"k\udc00": ["\ud800x", 1]}

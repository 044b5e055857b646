"""JSON as the standard has it (RFC 8259), at any depth.

The standard library's parser takes ``NaN`` for JSON and gives up where Python's stack ends, after some hundred
levels; pages return deeper values. Both functions use its C code and go on without recursion where that fails.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any, cast

from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_DEEP_VALUES", "dumps", "loads", "without_surrogates"]

MAX_DEEP_VALUES = 1_000_000
"""Values of one text that are read without Python's stack, at about 1 µs each: a page must not stop us for minutes."""


def loads(text: str, *, allow_nan: bool = False) -> Any:
    """Parses one JSON text.

    Args:
        text: The text. Of a name that an object has twice, the last value counts.
        allow_nan: Takes ``NaN``, ``Infinity``, ``-Infinity`` and numbers like ``1e400`` for floats, for callers that
            look for them afterwards.

    Raises:
        ValueError: it is not JSON (`json.JSONDecodeError`); or a number in it is none that Python can hold (beyond
            the floats, or an integer of more than `sys.get_int_max_str_digits` digits); or it nests deeper than
            Python's stack and holds more than `MAX_DEEP_VALUES` values.
    """
    decoder = _LENIENT if allow_nan else _STRICT
    try:
        return decoder.decode(text)
    except RecursionError:
        return _parse(text, decoder)


def dumps(value: Any) -> str:
    """Writes a JSON value compactly: ``{"a":[1,"é"]}``.

    Lone surrogates are escaped, so the text can always be encoded as UTF-8. Everything else that JSON allows
    bare stays bare. ``loads(dumps(value)) == value`` for every JSON value.

    Raises:
        ValueError: a float is not finite, or the value contains itself.
        TypeError: something in it is not JSON.
    """
    text = _write(value)
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATE.sub(lambda surrogate: f"\\u{ord(surrogate[0]):04x}", text)
    return text


def without_surrogates(value: Any) -> Any:
    """Copies a JSON value with U+FFFD in place of each lone surrogate, for readers that take only UTF-8."""
    return loads(_SURROGATE.sub("\ufffd", _write(value)))


def _refuse(constant: str) -> Any:
    raise ValueError(f"{constant} is not JSON")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise ValueError(f"the number {quote(text, 40)} is beyond the range of floats")
    return number


_STRICT = json.JSONDecoder(parse_constant=_refuse, parse_float=_finite)
_LENIENT = json.JSONDecoder()
_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_SURROGATE = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\n\r]+")
_BLANKS = frozenset(" \t\n\r")


def _parse(text: str, decoder: json.JSONDecoder) -> Any:
    """`json.JSONDecoder.decode` without recursion; scalars are still read by its C scanner."""
    containers: list[dict[str, Any] | list[Any]] = []
    keys: list[str] = []  # one for each open object: the name whose value is being read

    def skip(at: int) -> int:
        return cast("re.Match[str]", _SPACE.match(text, at)).end() if text[at : at + 1] in _BLANKS else at

    def key(at: int) -> int:
        """Reads a name and its colon; gives the place of the value."""
        if text[at : at + 1] != '"':
            raise json.JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
        name, at = decoder.raw_decode(text, at)
        at = skip(at)
        if text[at : at + 1] != ":":
            raise json.JSONDecodeError("Expecting ':' delimiter", text, at)
        keys.append(name)
        return skip(at + 1)

    at = skip(0)
    for _ in range(MAX_DEEP_VALUES):
        opener = text[at : at + 1]
        if opener == "{" or opener == "[":
            value: Any = {} if opener == "{" else []
            inside = skip(at + 1)
            if text[inside : inside + 1] != ("}" if opener == "{" else "]"):
                containers.append(value)
                at = key(inside) if opener == "{" else inside
                continue
            at = inside + 1
        else:
            value, at = decoder.raw_decode(text, at)
        while containers:  # put the value where it belongs, and close what ends with it
            container = containers[-1]
            if isinstance(container, dict):
                container[keys.pop()] = value
            else:
                container.append(value)
            at = skip(at)
            delimiter = text[at : at + 1]
            if delimiter == ",":
                at = skip(at + 1)
                if isinstance(container, dict):
                    at = key(at)
                break
            if delimiter != ("}" if isinstance(container, dict) else "]"):
                raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
            value = containers.pop()
            at += 1
        else:
            at = skip(at)
            if at != len(text):
                raise json.JSONDecodeError("Extra data", text, at)
            return value
    raise ValueError(f"it nests deeper than Python's stack and holds more than {MAX_DEEP_VALUES:,} values")


def _write(value: Any) -> str:
    """The JSON text, surrogates and all."""
    try:
        return _ENCODER.encode(value)
    except RecursionError:
        return _write_deep(value)


def _write_deep(value: Any) -> str:
    """`json.JSONEncoder.encode` without recursion; scalars are still written by its C code."""
    parts: list[str] = []
    unfinished: list[tuple[Any, Iterator[Any], str]] = []
    open_ids: set[int] = set()
    todo: Any = value
    while True:
        first = isinstance(todo, (dict, list, tuple))
        if first:
            if id(todo) in open_ids:
                raise ValueError("Circular reference detected")
            open_ids.add(id(todo))
            is_object = isinstance(todo, dict)
            parts.append("{" if is_object else "[")
            unfinished.append((todo, iter(todo.items() if is_object else todo), "}" if is_object else "]"))
        else:
            parts.append(_ENCODER.encode(todo))
        while unfinished:
            container, members, closer = unfinished[-1]
            member = next(members, _END)
            if member is _END:
                unfinished.pop()
                open_ids.discard(id(container))
                parts.append(closer)
                first = False
                continue
            if not first:
                parts.append(",")
            if closer == "}":
                name, todo = member
                if not isinstance(name, str):
                    raise TypeError(f"keys must be strings, not {type(name).__name__}")
                parts.append(_ENCODER.encode(name) + ":")
            else:
                todo = member
            break
        else:
            return "".join(parts)


_END: Any = object()

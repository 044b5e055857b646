"""The arguments of a call as JSON that means the same to Python and to a page.

JavaScript reads every number as a double and JSON has neither NaN nor bytes: what would arrive as something else is
refused before the call, with the place and the reason of every fault.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING, Any, cast

from pywebmcp.errors import InvalidArgumentsError
from pywebmcp.types import Problem
from pywebmcp.values.deepjson import dumps, loads
from pywebmcp.values.quoting import quote, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["MAX_PROBLEMS", "MAX_SAFE_INTEGER", "encode_arguments", "pointer"]

MAX_SAFE_INTEGER = 2**53 - 1
"""The largest integer that a JavaScript number holds exactly (``Number.MAX_SAFE_INTEGER``)."""

MAX_PROBLEMS = 50
"""Faults told of one call; the rest is left out."""


def encode_arguments(arguments: Mapping[str, Any] | str | None, *, tool: str) -> tuple[dict[str, Any], str]:
    """Makes plain JSON of a call's arguments.

    Args:
        arguments: A mapping, the JSON text of an object, or None for no arguments. Mappings and lists and tuples in
            it count as objects and arrays, members of a `StrEnum` or `IntEnum` as their values. It is not changed.
        tool: The tool's name, for messages.

    Returns:
        A new dict of plain dicts, lists, strings, numbers, booleans and None, and its compact JSON text.

    Raises:
        InvalidArgumentsError: ``problems`` names every place that is not JSON, up to `MAX_PROBLEMS`.
    """
    if arguments is None:
        return {}, "{}"
    if type(arguments) is dict and all(map(_is_plain, arguments, arguments.values())):
        return dict(arguments), dumps(arguments)
    given: object = arguments
    if isinstance(given, str):
        try:
            given = loads(given, allow_nan=True)  # so that each NaN can be told with its place
        except ValueError as error:
            raise _invalid(tool, [_problem("", f"is not JSON: {visible(error)}")]) from None
    if not isinstance(given, Mapping):
        raise _invalid(tool, [_problem("", f"must be an object, not {_describe(given)}")])
    plain, problems = _convert(cast("Mapping[object, object]", given))
    if problems:
        raise _invalid(tool, problems)
    return plain, dumps(plain)


def pointer(tokens: Sequence[str | int]) -> str:
    """The JSON Pointer (RFC 6901) of a path of member names and indices; ``""`` for none."""
    return "".join(f"/{str(token).replace('~', '~0').replace('/', '~1')}" for token in tokens)


def _is_plain(key: object, value: object) -> bool:
    """Whether a member needs no conversion: the case of nearly every call."""
    if type(key) is not str:
        return False
    kind = type(value)
    return (
        kind is str
        or (kind is int and -MAX_SAFE_INTEGER <= value <= MAX_SAFE_INTEGER)  # pyright: ignore[reportOperatorIssue]
        or kind is bool
        or value is None
        or (kind is float and math.isfinite(value))  # pyright: ignore[reportArgumentType]
    )


_Path = tuple["_Path", "str | int"] | None
"""The way to a place, from its last step to the first."""


def _convert(given: Mapping[object, object]) -> tuple[dict[str, Any], list[Problem]]:
    """Copies to plain values, without recursion: arguments may be as deep as JSON text can be."""
    problems: list[Problem] = []
    plain: dict[str, Any] = {}
    unfinished: list[tuple[object, Iterator[tuple[object, object]], dict[str, Any] | list[Any], _Path]]
    unfinished = [(given, iter(given.items()), plain, None)]
    open_ids = {id(given)}
    while unfinished and len(problems) < MAX_PROBLEMS:
        source, members, target, path = unfinished[-1]
        key, value = next(members, (_END, None))
        if key is _END:
            unfinished.pop()
            open_ids.discard(id(source))
            continue
        if not isinstance(key, (str, int)) or (isinstance(target, dict) and not isinstance(key, str)):
            problems.append(_problem(_pointer(path), f"has the member name {quote(key, 60)}, which is not a string"))
            continue
        step: _Path = (path, key)
        if isinstance(value, (Mapping, list, tuple)):
            container = cast("Mapping[object, object] | list[object] | tuple[object, ...]", value)
            if id(container) in open_ids:
                problems.append(_problem(_pointer(step), "contains itself"))
                continue
            is_object = isinstance(container, Mapping)
            copied: Any = {} if is_object else []
            unfinished.append((container, iter(container.items() if is_object else enumerate(container)), copied, step))
            open_ids.add(id(container))
        else:
            copied, fault = _convert_scalar(value)
            if fault:
                problems.append(_problem(_pointer(step), fault))
        if isinstance(target, dict):
            target[str.__str__(cast("str", key))] = copied
        else:
            target.append(copied)
    return plain, problems


_END = object()


def _convert_scalar(value: object) -> tuple[Any, str | None]:
    """The plain value, or what is wrong with it."""
    if value is None or isinstance(value, bool):
        return value, None
    if isinstance(value, str):
        return str.__str__(value), None
    if isinstance(value, int):
        if abs(value) <= MAX_SAFE_INTEGER:
            return int(value), None
        return None, "is an integer beyond ±(2^53−1), which a page would round: pass it as a string"
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value), None
        return (
            None,
            f"is {'NaN' if math.isnan(value) else 'an infinity'}, which JSON does not have: pass None or a string",
        )
    if isinstance(value, Enum):
        return None, f"is a member of the enum {quote(type(value).__name__, 60)}: pass its value"
    return None, f"is {_describe(value)}, which JSON does not have"


def _describe(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, str):
        return "a string"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, (list, tuple)):
        return "an array"
    return f"a Python object of type {quote(type(value).__name__, 60)}"


def _pointer(path: _Path) -> str:
    steps: list[str | int] = []
    while path is not None:
        path, step = path
        steps.append(step)
    steps.reverse()
    return pointer(steps)


def _problem(path: str, message: str) -> Problem:
    return Problem(path=path, rule="json", message=message)


def _invalid(tool: str, problems: list[Problem]) -> InvalidArgumentsError:
    faults = [
        f"{quote(problem.path, 80) if problem.path else 'the whole'} {problem.message}" for problem in problems[:3]
    ]
    if len(problems) > 3:
        faults.append(f"and {len(problems) - 3} more")
    return InvalidArgumentsError(
        f"the arguments for the tool {quote(tool)} are not the JSON of an object: {'; '.join(faults)}. "
        "Pass a mapping, or the JSON text of an object, of strings, finite numbers, booleans, None, lists and objects.",
        problems=problems,
        tool=tool,
    )

"""The arguments of ``webmcp call``: JSON, a file, stdin, and ``-a key=value`` typed by the tool's input schema.

The types of ``-a`` follow the schema and nothing else: a parameter that is a string keeps its text, so that a zip
code ``01234`` stays one, and everything else is JSON. What the schema does not know is JSON where it parses, and
text otherwise.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pywebmcp.cli._exits import UsageError
from pywebmcp.cli._schema import ARRAY, Schema, allowed_types, json_type, parameters, resolve
from pywebmcp.cli._text import one_line
from pywebmcp.values.deepjson import loads

if TYPE_CHECKING:
    from io import BufferedReader

__all__ = ["read_json", "read_pairs", "typed"]


def read_json(argument: str | None) -> str | None:
    """The JSON text of the positional argument: itself, ``@file``, or ``-`` for stdin; None when there is none.

    Raises:
        UsageError: the file cannot be read, is not UTF-8, or the text is not the JSON of an object.
    """
    if argument is None:
        return None
    if argument == "@":
        raise UsageError("@ needs a file name")
    where = "stdin: " if argument == "-" else f"{argument[1:]}: " if argument.startswith("@") else ""
    text = argument
    try:
        if argument == "-":
            if sys.stdin is None:  # pyright: ignore[reportUnnecessaryComparison] - started with stdin closed (``<&-``)
                raise UsageError("stdin is closed")
            # Piece by piece: between two of them Python notices Ctrl-C.
            source = cast("BufferedReader", sys.stdin.buffer)
            pieces: list[bytes] = []
            while piece := source.read1(65536):
                pieces.append(piece)
            text = b"".join(pieces).decode("utf-8-sig")
        elif argument.startswith("@"):
            text = Path(argument[1:]).read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UsageError(f"{where}{reason}") from None
    try:
        value = loads(text, allow_nan=True)  # what JSON does not have is told by the library, with its place
    except ValueError as error:
        raise UsageError(f"{where}the arguments are not JSON: {error}") from None
    if not isinstance(value, dict):
        raise UsageError(f"{where}the arguments must be a JSON object, not {_with_article(json_type(value))}")
    return text


def read_pairs(pairs: tuple[str, ...]) -> list[tuple[str, str]]:
    """Splits every ``key=value`` at its first ``=``.

    Raises:
        UsageError: there is no ``=``, or nothing before it.
    """
    split: list[tuple[str, str]] = []
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise UsageError(f"-a {one_line(pair, 60)}: write -a key=value")
        split.append((key, value))
    return split


def typed(pairs: list[tuple[str, str]], schema: Schema | None) -> dict[str, Any]:
    """Gives every value the type that the schema asks for.

    Args:
        pairs: Keys and texts. A key of an array type may be repeated: each value is appended, a JSON array as a whole.
        schema: The tool's input schema; None when it has none.

    Raises:
        UsageError: a value does not fit its key's type, or a key that is no array is given twice.
    """
    root = schema or {}
    known = parameters(root)
    given: dict[str, Any] = {}
    for key, text in pairs:
        own: object = known.get(key, root.get("additionalProperties"))
        types = allowed_types(own, root)
        value = _array(key, text, own, root) if types == ARRAY else _value(key, text, types)
        if types == ARRAY and key in given:
            given[key] += value
        elif key in given:
            raise UsageError(f"-a {_name(key)} is given twice, and it is no array")
        else:
            given[key] = value
    return given


def _value(key: str, text: str, types: frozenset[str] | None) -> Any:
    try:
        parsed: tuple[Any] | None = (loads(text),)
    except ValueError:
        parsed = None
    if types is None:
        return parsed[0] if parsed else text
    if parsed and _fits(parsed[0], types - {"string"}):
        value = parsed[0]
        return int(value) if isinstance(value, float) and "number" not in types else value
    if "string" in types:
        return text
    raise UsageError(f"-a {_name(key)}: expected {_expected(types)}, not {one_line(text, 60) or 'an empty text'}")


def _array(key: str, text: str, schema: object, root: Schema) -> list[Any]:
    """The elements that one ``-a`` adds: those of a JSON array, or the one that the text is."""
    items = allowed_types(resolve(schema, root).get("items"), root)
    try:
        whole: object = loads(text)
    except ValueError:
        whole = None
    if isinstance(whole, list):
        elements = cast("list[Any]", whole)
        if items is None or all(_fits(element, items) for element in elements):
            return elements
        if "array" in items:
            return [elements]
    elif items is None or "string" in items or (whole is not None and _fits(whole, items)):
        return [_value(key, text, items)]
    of = f" of {_expected(items)}" if items else ""
    raise UsageError(f"-a {_name(key)}: expected array{of}, not {one_line(text, 60) or 'an empty text'}")


def _fits(value: object, types: frozenset[str]) -> bool:
    kind = json_type(value)
    return kind in types or (kind == "integer" and "number" in types)


def _name(key: str) -> str:
    return one_line(key, 60)


def _expected(types: frozenset[str]) -> str:
    words = {"boolean": "boolean (true or false)", "array": "array (JSON)", "object": "object (JSON)"}
    return " or ".join(words.get(name, name) for name in sorted(types))


def _with_article(kind: str) -> str:
    return "null" if kind == "null" else f"an {kind}" if kind[0] in "aio" else f"a {kind}"

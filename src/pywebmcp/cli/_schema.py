"""What a person needs to know of an input schema: its parameters, which are required, and their types.

A schema is the page's: any member may be of any shape, references may go round in circles. Nothing here fails for
that; what cannot be read counts as "anything".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pywebmcp.cli._text import one_line
from pywebmcp.values.deepjson import dumps

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["ARRAY", "Schema", "allowed_types", "json_type", "parameters", "required", "resolve", "type_text"]

Schema = dict[str, Any]

ARRAY = frozenset({"array"})
_DEPTH = 8
_SHOWN_CHOICES = 8
_TYPES = ("string", "integer", "number", "boolean", "object", "array", "null")


def parameters(root: Schema) -> dict[str, Schema]:
    """The named parameters, in the schema's order, those of ``allOf``, ``anyOf`` and ``oneOf`` at its top included.

    One that several branches describe is allowed what any of them allows.
    """
    found: dict[str, list[Schema]] = {}
    for schema in _branches(root, root, 0):
        named = schema.get("properties")
        if isinstance(named, dict):
            for name, inner in cast("dict[str, object]", named).items():
                found.setdefault(name, []).append(cast("Schema", inner) if isinstance(inner, dict) else {})
    return {name: schemas[0] if len(schemas) == 1 else {"anyOf": schemas} for name, schemas in found.items()}


def required(root: Schema) -> frozenset[str]:
    """The parameters that must be given in any case."""
    names: set[str] = set()
    for schema in _branches(root, root, 0, keywords=("allOf",)):
        listed = schema.get("required")
        if isinstance(listed, list):
            names.update(name for name in cast("list[object]", listed) if isinstance(name, str))
    return frozenset(names)


def resolve(schema: object, root: Schema) -> Schema:
    """The schema itself, or what its ``$ref`` inside the same document leads to; ``{}`` for what cannot be read."""
    for _ in range(_DEPTH * 2):
        if not isinstance(schema, dict):
            return {}
        found = cast("Schema", schema)
        reference = found.get("$ref")
        if not isinstance(reference, str):
            return found
        if not reference.startswith("#"):
            return {}
        schema = root
        for token in reference[1:].split("/")[1:]:
            name = token.replace("~1", "/").replace("~0", "~")
            schema = schema.get(name) if isinstance(schema, dict) else None
    return {}


def allowed_types(schema: object, root: Schema, depth: int = 0) -> frozenset[str] | None:
    """The JSON types (``integer`` beside ``number``) that a schema lets through; None for any."""
    read = resolve(schema, root)
    types: frozenset[str] | None = None
    declared = read.get("type")
    names = [declared] if isinstance(declared, str) else _list(read, "type")
    known = frozenset(name for name in names if isinstance(name, str) and name in _TYPES)
    if known:
        types = known
    if "const" in read:
        types = _both(types, frozenset({json_type(read["const"])}))
    if isinstance(read.get("enum"), list):
        types = _both(types, frozenset(map(json_type, read["enum"])))
    if depth < _DEPTH:
        for keyword in ("anyOf", "oneOf"):
            branches = _list(read, keyword)
            if branches:
                either = [allowed_types(branch, root, depth + 1) for branch in branches]
                if None not in either:
                    types = _both(types, frozenset().union(*filter(None, either)))
        for branch in _list(read, "allOf"):
            types = _both(types, allowed_types(branch, root, depth + 1))
    return types or None


def json_type(value: object) -> str:
    """The JSON Schema type of a parsed value; a float without a fraction is an ``integer``, as the standard says."""
    match value:
        case None:
            return "null"
        case bool():
            return "boolean"
        case int():
            return "integer"
        case float():
            return "integer" if value.is_integer() else "number"
        case str():
            return "string"
        case list():
            return "array"
        case _:
            return "object"


def type_text(schema: object, root: Schema, depth: int = 0) -> str:
    """A short name of a type for a person: ``integer``, ``"red" | "green"``, ``string[]``."""
    read = resolve(schema, root)
    if "const" in read:
        return _literal(read["const"])
    choices = _list(read, "enum")
    if choices:
        shown = " | ".join(map(_literal, choices[:_SHOWN_CHOICES]))
        return shown + (f" | … ({len(choices)})" if len(choices) > _SHOWN_CHOICES else "")
    types = allowed_types(read, root)
    if types is None:
        return "any"
    if types == ARRAY and isinstance(read.get("items"), dict) and depth < 2:
        inner = type_text(read["items"], root, depth + 1)
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    return " | ".join(name for name in _TYPES if name in types)


def _literal(value: object) -> str:
    try:
        return one_line(dumps(value), 40)
    except (TypeError, ValueError):
        return "?"


def _branches(
    schema: object, root: Schema, depth: int, keywords: tuple[str, ...] = ("allOf", "anyOf", "oneOf")
) -> Iterator[Schema]:
    read = resolve(schema, root)
    yield read
    if depth < _DEPTH // 2:
        for keyword in keywords:
            for branch in _list(read, keyword)[:64]:
                yield from _branches(branch, root, depth + 1, keywords)


def _both(one: frozenset[str] | None, other: frozenset[str] | None) -> frozenset[str] | None:
    """What both let through; every integer is a number."""
    if one is None or other is None:
        return one if other is None else other
    common = one & other
    if "integer" in one | other and "number" in one | other:
        common |= {"integer"}
    return common


def _list(schema: Schema, keyword: str) -> list[Any]:
    value = schema.get(keyword)
    return cast("list[Any]", value) if isinstance(value, list) else []

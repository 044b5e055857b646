"""Where schemas stand inside a JSON Schema (drafts 4 to 2020-12).

The keywords' shapes are data here, so that a member that a page merely *named* ``required`` or ``items`` is never
taken for a keyword.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DEFINITIONS", "FOR_ANY_MEMBER", "IN_PLACE", "SCHEMA_KEYWORDS", "Schema", "subschemas"]

Schema = dict[str, Any]

IN_PLACE = frozenset(
    {"allOf", "anyOf", "dependencies", "dependentSchemas", "else", "if", "not", "oneOf", "then"},
)
"""Keywords whose schemas apply to the same value as the schema that they stand in."""

FOR_ANY_MEMBER = frozenset({"additionalProperties", "patternProperties", "propertyNames", "unevaluatedProperties"})
"""Keywords whose schemas may apply to any member of an object."""

DEFINITIONS = frozenset({"$defs", "definitions"})
"""Keywords whose schemas apply only where a reference names them."""

_NAMED = DEFINITIONS | {"dependencies", "dependentSchemas", "patternProperties", "properties"}
_LISTED = frozenset({"allOf", "anyOf", "items", "oneOf", "prefixItems"})
_SINGLE = frozenset(
    {
        "additionalItems",
        "additionalProperties",
        "contains",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
SCHEMA_KEYWORDS = _NAMED | _LISTED | _SINGLE
"""Every keyword that holds schemas."""


def subschemas(schema: Schema) -> Iterator[tuple[str, str | int | None, Schema]]:
    """Yields the schemas directly inside `schema`: the keyword, the name or index in it, the schema.

    Boolean schemas, and what is no schema where one belongs, are left out.
    """
    for keyword, value in schema.items():
        if keyword not in SCHEMA_KEYWORDS:
            continue
        if isinstance(value, dict):
            if keyword in _SINGLE:
                yield keyword, None, cast("Schema", value)
            elif keyword in _NAMED:
                for name, inner in cast("dict[str, object]", value).items():
                    if isinstance(inner, dict):
                        yield keyword, name, cast("Schema", inner)
        elif isinstance(value, list) and keyword in _LISTED:
            for index, inner in enumerate(cast("list[object]", value)):
                if isinstance(inner, dict):
                    yield keyword, index, cast("Schema", inner)

"""The validator's errors as problems: where, which rule, and one bounded sentence in which page text is quoted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pywebmcp.types import Problem
from pywebmcp.values._subschemas import SCHEMA_KEYWORDS
from pywebmcp.values.arguments import pointer
from pywebmcp.values.deepjson import dumps
from pywebmcp.values.quoting import quote, visible

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

__all__ = ["explain"]

_SENTENCES = {
    "additionalItems": "has more items than the schema allows",
    "additionalProperties": "has members that the schema does not allow: {}",
    "anyOf": "fits none of the alternatives",
    "const": "must be {}",
    "contains": "holds no item of the kind that it must hold",
    "contentEncoding": "must be encoded as {}",
    "contentMediaType": "must be of the media type {}",
    "enum": "must be one of {}",
    "exclusiveMaximum": "must be less than {}",
    "exclusiveMinimum": "must be more than {}",
    "falseSchema": "is not allowed here",
    "format": "must have the format {}",
    "maxItems": "must have at most {} items",
    "maxLength": "must have at most {} characters",
    "maxProperties": "must have at most {} members",
    "maximum": "must be at most {}",
    "minItems": "must have at least {} items",
    "minLength": "must have at least {} characters",
    "minProperties": "must have at least {} members",
    "minimum": "must be at least {}",
    "multipleOf": "must be a multiple of {}",
    "not": "is of a kind that the schema forbids",
    "oneOf": "must fit exactly one of the alternatives",
    "pattern": "must match the pattern {}",
    "propertyNames": "has a member whose name the schema does not allow",
    "required": "lacks the member {}",
    "type": "must be of type {}",
    "unevaluatedItems": "has items that the schema does not allow: {}",
    "unevaluatedProperties": "has members that the schema does not allow: {}",
    "uniqueItems": "must not hold an item twice",
}
_FIELDS = {
    "additionalProperties": "unexpected",
    "const": "expected_value",
    "contentEncoding": "content_encoding",
    "contentMediaType": "content_media_type",
    "enum": "options",
    "format": "format",
    "multipleOf": "multiple_of",
    "pattern": "pattern",
    "required": "property",
    "type": "types",
    "unevaluatedItems": "unexpected",
    "unevaluatedProperties": "unexpected",
}
_REFINED = frozenset({"dependencies", "dependentRequired", "maxContains", "minContains"})
"""Keywords that the validator files under another one's name."""

_LISTED = 8


def explain(error: ValidationError) -> Problem:
    """Makes a problem of one of the validator's errors."""
    kind = error.kind
    name = kind.name
    keyword = name
    last = str(error.schema_path[-1]) if error.schema_path else ""
    if last in _REFINED:
        keyword = last
    elif name == "falseSchema":
        keyword = next((str(step) for step in reversed(error.schema_path) if step in SCHEMA_KEYWORDS), name)
    sentence = _SENTENCES.get(name)
    if sentence is None:
        message = visible(error.message)
    else:
        message = sentence.format(_show(name, getattr(kind, _FIELDS.get(name, "limit"), None)))
        if name == "type":
            message += f", not {_shorten(error.instance)}"
    return Problem(path=pointer(error.instance_path), rule=keyword, message=message)


def _show(name: str, value: Any) -> str:
    if not isinstance(value, list):
        return _shorten(value)
    values = cast("list[Any]", value)
    shorten = visible if name == "unevaluatedItems" else _shorten  # those come as JSON already
    more = f" and {len(values) - _LISTED} more" if len(values) > _LISTED else ""
    return ", ".join(shorten(item, 60) for item in values[:_LISTED]) + more


def _shorten(value: Any, limit: int = 60) -> str:
    if isinstance(value, str):
        return quote(value, limit)
    try:
        return visible(dumps(value), limit)
    except TypeError:  # a Decimal: a number too long for a float
        return visible(value, limit)

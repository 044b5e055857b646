"""Input schemas: reading what an engine hands over, and checking arguments against it.

A schema is the page's text. It may be broken, and it may be hostile: patterns that backtrack for hours, references
to files or the network, a few hundred bytes that unfold to billions of evaluations. Nothing here fails for it, waits
for it or fetches for it: a schema that cannot be used says so in `Compiled.problem`, and calls go on unvalidated,
as they do in every browser (none validates; webmcp#289).
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NoReturn, cast

from pywebmcp.types import Problem
from pywebmcp.values._subschemas import subschemas
from pywebmcp.values.arguments import MAX_PROBLEMS, pointer
from pywebmcp.values.deepjson import dumps, loads, without_surrogates
from pywebmcp.values.quoting import quote, visible

if TYPE_CHECKING:
    from jsonschema_rs import Validator

    from pywebmcp.values._cost import Cost

__all__ = ["MAX_SCHEMA_LENGTH", "Compiled", "ReadSchema", "compile_schema", "read_schema"]

MAX_SCHEMA_LENGTH = 262_144
"""Characters of JSON from which on a schema is not compiled."""

_MAX_WARNINGS = 10
_MAX_REPAIRED_SCHEMAS = 10_000
_MAX_EXPLAINED_EVALUATIONS = 50_000  # listing every fault costs the validator 15 µs and 1.6 KB an evaluation
_KEPT = 256  # compiled schemas


# --- reading ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSchema:
    """A schema as far as it could be read."""

    schema: dict[str, Any] | None
    """None when none was given; the empty object schema in place of what is no schema."""
    text: str | None
    """The JSON text as the engine handed it over, also when it is broken; None when none was given."""
    warnings: tuple[str, ...] = ()
    """What was odd and how it was read, for a person; page text in it is quoted."""


def read_schema(given: object) -> ReadSchema:
    """Reads a tool's schema; never raises.

    Args:
        given: The JSON text that the engine hands over, or the parsed object where it hands over only that; None or
            ``""`` for a tool without a schema.

    Returns:
        The schema. Text that is not the JSON of an object gives ``{"type": "object", "properties": {}}`` and a
        warning, so that one broken tool does not spoil a listing (FIELD-02). Members ``required`` and ``enum`` that
        are not arrays, as old libraries' ``Array.prototype.toJSON`` makes them, are dropped with a warning (FIELD-54).
    """
    if given is None or given == "":
        return ReadSchema(schema=None, text=None)
    text = given if isinstance(given, str) else _write(given)
    try:
        schema = loads(text)
    except ValueError as error:
        return _broken(text, f"is not JSON ({visible(error, 80)})")
    if not isinstance(schema, dict):
        return _broken(text, "is not an object")
    schema = cast("dict[str, Any]", schema)
    return ReadSchema(schema=schema, text=text, warnings=_repair(schema))


def _write(given: object) -> str:
    try:
        return dumps(given)
    except (TypeError, ValueError):
        return str(given)


def _broken(text: str, why: str) -> ReadSchema:
    warning = f"the schema {quote(text, 80)} {why}: the empty object schema stands in its place"
    return ReadSchema(schema={"type": "object", "properties": {}}, text=text, warnings=(warning,))


def _repair(root: dict[str, Any]) -> tuple[str, ...]:
    """Drops ``required`` and ``enum`` that are no arrays, in place, wherever schemas stand."""
    warnings: list[str] = []
    dropped = 0
    todo: deque[tuple[dict[str, Any], tuple[str | int, ...]]] = deque([(root, ())])
    for _ in range(_MAX_REPAIRED_SCHEMAS):
        if not todo:
            break
        schema, path = todo.popleft()
        for keyword in ("required", "enum"):
            if keyword in schema and not isinstance(schema[keyword], list):
                value = schema.pop(keyword)
                dropped += 1
                if dropped <= _MAX_WARNINGS:
                    place = quote(pointer((*path, keyword)), 120)
                    warnings.append(f"the schema's {place} is {quote(_write(value), 60)}, not an array: dropped")
        for keyword, name, inner in subschemas(schema):
            # Beyond a page's honest depth the path is left out: keeping it would cost the square of the depth.
            step = () if name is None else (name,)
            todo.append((inner, (*path, keyword, *step) if len(path) < 100 else path))
    if dropped > _MAX_WARNINGS:
        warnings.append(f"and {dropped - _MAX_WARNINGS} more like it")
    return tuple(warnings)


# --- checking -----------------------------------------------------------------------------------------------


class Compiled:
    """A schema ready to check arguments; made by `compile_schema`.

    Attributes:
        problem: Why the schema does not compile, or None. With a problem, `check` finds no faults.
    """

    __slots__ = ("_cost", "_is_valid", "_validator", "problem")

    def __init__(self, validator: Validator | None, cost: Cost | None, problem: str | None) -> None:
        self.problem = problem
        self._validator = validator
        self._cost = cost
        self._is_valid = validator.is_valid if validator and cost and not cost.grows else self._is_valid_within_bounds

    def check(self, arguments: dict[str, Any]) -> tuple[Problem, ...]:
        """Lists every fault of `arguments` under the schema, at most 50; empty when they may be sent.

        Arguments that cannot be checked within bounds count as valid. Where only the listing would go beyond them,
        one problem with the rule ``"schema"`` stands for all.

        Args:
            arguments: Plain JSON, as `pywebmcp.values.arguments.encode_arguments` gives it.
        """
        try:
            return () if self._is_valid(arguments) else self._explain(arguments)
        except UnicodeEncodeError:
            return self.check(without_surrogates(arguments))  # the validator cannot read them
        except ValueError:  # nested deeper than the validator goes
            return ()

    def _is_valid_within_bounds(self, arguments: dict[str, Any]) -> bool:
        if self._validator is None or self._cost is None or self._cost.of(arguments) is None:
            return True
        return self._validator.is_valid(arguments)

    def _explain(self, arguments: dict[str, Any]) -> tuple[Problem, ...]:
        from pywebmcp.values._faults import explain

        if self._validator is None or self._cost is None:
            return ()
        if self._cost.of(arguments, _MAX_EXPLAINED_EVALUATIONS) is None:
            return (_UNEXPLAINED,)
        try:
            errors = self._validator.iter_errors(arguments)
        except ValueError:
            return (_UNEXPLAINED,)
        told = (error for error in errors if type(error.kind).__name__ not in _ENGINE_LIMITS)
        return tuple(map(explain, islice(told, MAX_PROBLEMS)))


_UNEXPLAINED = Problem(path="", rule="schema", message="breaks the input schema; too large or too deep to say where")

_ENGINE_LIMITS = frozenset({"BacktrackLimitExceeded", "RegexEngineFailure"})
"""Errors of the validator that say nothing about the arguments: a pattern ran out of steps."""

_DRAFTS = {
    "json-schema.org/draft-04/schema": "Draft4Validator",
    "json-schema.org/draft-06/schema": "Draft6Validator",
    "json-schema.org/draft-07/schema": "Draft7Validator",
    "json-schema.org/draft/2019-09/schema": "Draft201909Validator",
}
"""By ``$schema`` without its scheme and an empty fragment; everything else is read as draft 2020-12."""


def compile_schema(schema: dict[str, Any]) -> Compiled:
    """Compiles an input schema; never raises, never fetches.

    Schemas with the same JSON text share one result, and the last 256 are kept. ``format`` is an annotation in
    every draft: pages check formats themselves, and the forms of Chromium write a regular expression there.

    Args:
        schema: JSON Schema of draft 2020-12, or of the draft 4, 6, 7 or 2019-09 that its ``$schema`` names.
    """
    try:
        text = dumps(schema)
    except (TypeError, ValueError) as error:
        return Compiled(None, None, f"the schema is not JSON: {visible(error)}")
    if len(text) > MAX_SCHEMA_LENGTH:
        return Compiled(None, None, f"the schema is longer than {MAX_SCHEMA_LENGTH:,} characters")
    return _compile(text)


@lru_cache(maxsize=_KEPT)
def _compile(text: str) -> Compiled:
    import jsonschema_rs

    from pywebmcp.values._cost import Cost

    schema = without_surrogates(loads(text))
    draft = _DRAFTS.get(re.sub(r"^https?://|#$", "", str(schema.get("$schema"))), "Draft202012Validator")
    try:
        cost = Cost(schema)
        validator = getattr(jsonschema_rs, draft)(
            schema,
            validate_formats=False,
            retriever=_refuse,
            pattern_options=jsonschema_rs.FancyRegexOptions(
                backtrack_limit=10_000, size_limit=262_144, dfa_size_limit=262_144
            ),
        )
    except jsonschema_rs.ValidationError as error:
        place = f" at {quote(pointer(error.instance_path), 80)}" if error.instance_path else ""
        return Compiled(None, None, f"the schema does not compile{place}: {visible(error.message)}")
    except (TypeError, ValueError) as error:  # TooCostlyError, and nesting deeper than the validator goes
        return Compiled(None, None, f"the schema does not compile: {visible(error)}")
    return Compiled(validator, cost, None)


def _refuse(uri: str) -> NoReturn:
    raise LookupError("schemas are never fetched")

"""How much work a page's schema can make of a check, found before the check is made.

A schema of a few hundred bytes can ask for 2^30 evaluations (``allOf`` of two references to an ``allOf`` of two
references …), and the validator, which nothing can interrupt, then takes the processor, all memory, or the process
itself. So the work is counted first: statically for schemas that cannot grow with the arguments, and by a walk over
the arguments for those that can (recursive ones). The count says how often a schema is evaluated; it is an upper
bound, because alternatives are counted as if all were tried.
"""

from __future__ import annotations

import re
from collections import Counter
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from pywebmcp.values._subschemas import DEFINITIONS, FOR_ANY_MEMBER, IN_PLACE, Schema, subschemas
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

__all__ = ["MAX_EVALUATIONS", "Cost", "TooCostlyError"]

MAX_EVALUATIONS = 200_000
"""Evaluations that one check may take: 2 ms of the validator without patterns, 50 ms to count them here."""

_MAX_SCHEMAS = 10_000
_MAX_PATTERNS = 300  # a pattern takes up to 2 ms to compile
_MAX_EVALUATIONS_AT_ONCE = 5_000  # of one value, at one place
_MAX_STACK = 200  # schemas applied inside each other; the validator overflows a stack of 512 KiB near 1,000
_MAX_NESTING = 100  # of the JSON; the compiler overflows a stack of 512 KiB near 160, inside "unevaluated…" near 60
_UNEVALUATED_FACTOR = 3  # measured: "unevaluated…" evaluates its neighbours up to 2.7 times over

_MANY = 10**9  # more is not counted

_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_ANCHORS = ("$anchor", "$dynamicAnchor")
_ENCODED_SEPARATOR = re.compile("%(2f|7e|25)", re.IGNORECASE)


class TooCostlyError(ValueError):
    """The schema is one that this module does not let anyone check against; the message says why."""


class _Node:
    """One schema and the schemas that it leads to."""

    __slots__ = ("any_item", "any_member", "evaluations", "in_place", "members", "positions", "spread")

    def __init__(self) -> None:
        self.in_place: Counter[_Node] = Counter()
        self.members: dict[str, list[_Node]] = {}
        self.any_member: list[_Node] = []
        self.positions: dict[int, list[_Node]] = {}
        self.any_item: list[_Node] = []
        self.evaluations = 1
        """Schemas evaluated at one value when this one is."""
        self.spread: Counter[_Node] | None = None
        """The schemas with parts that this one brings to bear on its own value, itself included."""

    @property
    def parts(self) -> Iterable[_Node]:
        """Every schema for a part of the value."""
        yield from self.any_member
        yield from self.any_item
        for nodes in (*self.members.values(), *self.positions.values()):
            yield from nodes

    def at(self, step: str | int) -> Iterator[_Node]:
        """The schemas for the member or the item there."""
        if isinstance(step, str):
            yield from self.members.get(step, ())
            yield from self.any_member
        else:
            yield from self.positions.get(step, ())
            yield from self.any_item


class Cost:
    """The work that checks against one schema take.

    Args:
        schema: The schema; it is not changed and must not change.

    Raises:
        TooCostlyError: no check against this schema is safe.

    Attributes:
        grows: True when the arguments can multiply the work, so that `of` must be asked before each check.
    """

    def __init__(self, schema: Schema) -> None:
        self._nodes: dict[int, _Node] = {}
        self._root = self._build(schema)
        nodes = list(self._nodes.values())
        folded = _fold(nodes, lambda node: node.in_place)
        if folded is None:
            raise TooCostlyError("it refers to itself without descending into a part of the value")
        evaluations, stack = folded
        for node in nodes:
            node.evaluations = evaluations[node]
        if max(evaluations.values()) > _MAX_EVALUATIONS_AT_ONCE:
            raise TooCostlyError(f"one value would be checked against more than {_MAX_EVALUATIONS_AT_ONCE:,} schemas")
        self._stack = max(stack.values())
        if self._stack > _MAX_STACK:
            raise TooCostlyError(f"more than {_MAX_STACK} schemas apply inside each other")
        folded = _fold(nodes, lambda node: node.in_place + Counter(node.parts))
        self.grows = (
            folded is None or folded[0][self._root] > _MAX_EVALUATIONS_AT_ONCE or folded[1][self._root] > _MAX_STACK
        )

    def of(self, arguments: object, limit: int = MAX_EVALUATIONS) -> int | None:
        """Counts the evaluations that a check of `arguments` takes at most; None above `limit` or nested too deep."""
        spent = self._root.evaluations
        todo: list[tuple[object, Counter[_Node], int]] = [(arguments, Counter({self._root: 1}), 1)]
        while todo:
            value, visits, depth = todo.pop()
            if isinstance(value, dict):
                parts = cast("dict[str | int, object]", value).items()
            elif isinstance(value, list):
                parts = enumerate(cast("list[object]", value))
            else:
                continue
            applied: Counter[_Node] = Counter()
            for node, times in visits.items():
                _add(applied, _spread(node), times)
            if not applied:
                continue
            depth += 1
            if self.grows and depth * self._stack > 2 * _MAX_STACK:
                return None
            for step, part in parts:
                on_part: Counter[_Node] = Counter()
                for node, times in applied.items():
                    for target in node.at(step):
                        on_part[target] += times
                        spent += target.evaluations * times
                if spent > limit:
                    return None
                if on_part:
                    todo.append((part, on_part, depth))
        return spent

    def _build(self, document: Schema) -> _Node:
        """Makes the graph of the schemas that the document's root reaches."""
        resolve = _resolver(document)
        queue: list[Schema] = []

        def node_of(schema: Schema) -> _Node:
            node = self._nodes.get(id(schema))
            if node is None:
                node = self._nodes[id(schema)] = _Node()
                queue.append(schema)
            return node

        root = node_of(document)
        while queue:
            schema = queue.pop()
            node = self._nodes[id(schema)]
            for keyword, name, inner in subschemas(schema):
                if keyword in DEFINITIONS:
                    continue
                target = node_of(inner)
                if keyword in IN_PLACE:
                    node.in_place[target] += 1
                elif keyword in FOR_ANY_MEMBER:
                    node.any_member.append(target)
                elif keyword == "properties":
                    node.members.setdefault(str(name), []).append(target)
                elif isinstance(name, int):
                    node.positions.setdefault(name, []).append(target)
                else:
                    node.any_item.append(target)
            for keyword in _REFERENCES:
                if isinstance(reference := schema.get(keyword), str):
                    node.in_place.update(map(node_of, resolve(reference)))
            if "unevaluatedProperties" in schema or "unevaluatedItems" in schema:
                for target in node.in_place:
                    node.in_place[target] *= _UNEVALUATED_FACTOR
            if len(self._nodes) > _MAX_SCHEMAS:
                raise TooCostlyError(f"it holds more than {_MAX_SCHEMAS:,} schemas")
        return root


def _resolver(document: Schema) -> Callable[[str], list[Schema]]:
    """Gives the function that finds what a reference leads to; more than one schema where that is ambiguous."""
    identifiers = ("$id", "id") if "draft-04" in str(document.get("$schema")) else ("$id",)
    own_id = document.get(identifiers[-1])
    base = own_id.partition("#")[0] if isinstance(own_id, str) else ""
    anchors: dict[str, list[Schema]] = {}
    patterns = 0
    has_documents = False
    for schema in _objects(document):
        patterns += isinstance(schema.get("pattern"), str)
        patterns += len(named) if isinstance(named := schema.get("patternProperties"), dict) else 0
        for name in _ANCHORS:
            if isinstance(anchor := schema.get(name), str):
                anchors.setdefault(anchor, []).append(schema)
        if schema is not document and any(isinstance(schema.get(name), str) for name in (*identifiers, "$schema")):
            has_documents = True
    if patterns > _MAX_PATTERNS:
        raise TooCostlyError(f"it holds more than {_MAX_PATTERNS} patterns")

    def resolve(reference: str) -> list[Schema]:
        if has_documents:
            raise TooCostlyError("it holds documents of their own ($id, $schema) beside references")
        address, _, fragment = reference.partition("#")
        if address not in ("", base):
            raise TooCostlyError(f"it refers to another document: {quote(reference)}")
        if _ENCODED_SEPARATOR.search(fragment):
            raise TooCostlyError(f"its reference {quote(reference)} has more than one reading")
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            found = anchors.get(fragment, [])
        else:
            place: object = document
            for token in fragment.split("/")[1:]:
                token = token.replace("~1", "/").replace("~0", "~")
                if isinstance(place, dict):
                    place = cast("dict[str, object]", place).get(token)
                elif isinstance(place, list) and token.isdecimal() and int(token) < len(cast("list[object]", place)):
                    place = cast("list[object]", place)[int(token)]
                else:
                    place = None
            found = [cast("Schema", place)] if isinstance(place, dict) else []
            if isinstance(place, bool):
                return []
        if not found:
            raise TooCostlyError(f"its reference {quote(reference)} leads nowhere")
        return found

    return resolve


def _objects(document: Schema) -> Iterator[Schema]:
    """Every object of the document, wherever it stands."""
    todo: list[tuple[object, int]] = [(document, 1)]
    while todo:
        value, level = todo.pop()
        if level > _MAX_NESTING:
            raise TooCostlyError(f"it nests deeper than {_MAX_NESTING} levels")
        if isinstance(value, list):
            todo.extend((inner, level + 1) for inner in cast("list[object]", value))
        elif isinstance(value, dict):
            yield cast("Schema", value)
            for name, inner in cast("Schema", value).items():
                todo.append((inner, level + (2 if name.startswith("unevaluated") else 1)))


def _fold(
    nodes: list[_Node], edges: Callable[[_Node], Counter[_Node]]
) -> tuple[dict[_Node, int], dict[_Node, int]] | None:
    """For each node, how many nodes it unfolds to and how deep; None when the edges form a cycle."""
    size: dict[_Node, int] = {}
    depth: dict[_Node, int] = {}
    graph = {node: edges(node) for node in nodes}
    try:
        for node in TopologicalSorter(graph).static_order():
            size[node] = min(1 + sum(size[target] * times for target, times in graph[node].items()), _MANY)
            depth[node] = 1 + max((depth[target] for target in graph[node]), default=0)
    except CycleError:
        return None
    return size, depth


def _spread(node: _Node) -> Counter[_Node]:
    if node.spread is None:
        spread: Counter[_Node] = Counter()
        if any(True for _ in node.parts):
            spread[node] = 1
        for target, times in node.in_place.items():
            _add(spread, _spread(target), times)
        node.spread = spread
    return node.spread


def _add(total: Counter[_Node], more: Counter[_Node], times: int) -> None:
    for node, count in more.items():
        total[node] += count * times

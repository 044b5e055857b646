"""The requirements manifest: what must hold, where that is said, and the tests that hold it. Neither side is missing.

`tests/requirements.toml`, and one more file a room in `tests/requirements/`, hold entries::

    [[requirement]]
    id = "house:floors"
    source = "DESIGN 2"
    behaviour = "A module imports only from floors below its own."
    tests = ["house/test_imports.py::test_floors_import_only_from_floors_below"]
    divergence = "optional: what does not hold yet, and why"

Each listed test, a path under `tests/`, carries ``@pytest.mark.requirement(id)``.
"""

from __future__ import annotations

import ast
import re
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

TESTS = Path(__file__).resolve().parents[1]
MEMBERS = {"id", "source", "behaviour", "tests", "divergence"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    id: str
    source: str
    behaviour: str
    tests: tuple[str, ...]
    divergence: str | None = None


def manifest(tests: Path) -> list[Requirement]:
    entries: list[Requirement] = []
    for path in [tests / "requirements.toml", *sorted((tests / "requirements").glob("*.toml"))]:
        read: list[dict[str, Any]] = tomllib.loads(path.read_text(encoding="utf-8")).get("requirement", [])
        for entry in read:
            assert set(entry) <= MEMBERS, f"{path.name}: {entry.get('id')} has members that nobody reads"
            members: dict[str, Any] = {**entry, "tests": tuple(entry.get("tests", ()))}
            entries.append(Requirement(**members))
    return entries


def carried(tests: Path) -> dict[str, set[str]]:
    """Each id, and the tests that carry its marker as ``path::name``; a marker outside a function carries ``path``."""
    found: dict[str, set[str]] = {}
    for path in sorted(tests.rglob("test_*.py")):
        place = path.relative_to(tests).as_posix()
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            is_test = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
            for call in ast.walk(node):
                match call:
                    case ast.Call(func=ast.Attribute(attr="requirement"), args=[ast.Constant(value=str(name)), *_]):
                        found.setdefault(name, set()).add(f"{place}::{node.name}" if is_test else place)
                    case _:
                        pass
    return found


def faults(tests: Path) -> list[str]:
    """Everything that is wrong between the manifest and the tests."""
    entries, markers = manifest(tests), carried(tests)
    known = {entry.id for entry in entries}
    told = [f"{name}: is there {count} times" for name, count in Counter(e.id for e in entries).items() if count > 1]
    for entry in entries:
        carriers = markers.get(entry.id, set())
        if not carriers and not entry.divergence:
            told.append(f"{entry.id}: no test carries its marker")
        for test in entry.tests:
            path, _, name = test.partition("::")
            if not (tests / path).is_file():
                told.append(f"{entry.id}: there is no {path}")
            elif not re.search(rf"^(async )?def {re.escape(name)}\(", (tests / path).read_text("utf-8"), re.MULTILINE):
                told.append(f"{entry.id}: {path} has no {name}")
            elif test not in carriers:
                told.append(f"{entry.id}: {test} does not carry its marker")
        if not entry.tests and not entry.divergence:
            told.append(f"{entry.id}: lists no test and admits no divergence")
    told += [
        f"{name}: marked in {', '.join(sorted(markers[name]))}, and no entry" for name in markers if name not in known
    ]
    return told


@pytest.mark.requirement("house:requirements")
def test_every_requirement_has_its_tests_and_every_marker_its_requirement() -> None:
    assert faults(TESTS) == []


def test_every_requirement_is_one_sentence_with_a_source() -> None:
    for entry in manifest(TESTS):
        assert re.fullmatch(r"[a-z][a-z0-9.-]*(:[a-z0-9.-]+)+", entry.id), entry.id
        assert entry.source.strip(), entry.id
        assert re.fullmatch(r"[A-Z`\"].*[.)]", entry.behaviour), entry.behaviour
        assert entry.divergence is None or entry.divergence.strip(), entry.id


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A small tree of tests without a fault."""
    (tmp_path / "requirements.toml").write_text(
        '[[requirement]]\nid = "a:one"\nsource = "x"\nbehaviour = "One."\ntests = ["test_a.py::test_one"]\n',
        encoding="utf-8",
    )
    (tmp_path / "test_a.py").write_text(
        'import pytest\n\n@pytest.mark.requirement("a:one")\nasync def test_one(): ...\n\ndef test_two(): ...\n',
        encoding="utf-8",
    )
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


def test_a_tree_without_a_fault_has_none(tree: Path) -> None:
    assert faults(tree) == []


@pytest.mark.requirement("house:requirements")
@pytest.mark.parametrize(
    ("path", "old", "new", "told"),
    [
        ("test_a.py", '@pytest.mark.requirement("a:one")', "", ["a:one: no test carries its marker", "not carry"]),
        ("test_a.py", "a:one", "a:two", ["no test carries", "does not carry", "a:two: marked in test_a.py::test_one"]),
        ("test_a.py", "test_one", "test_renamed", ["a:one: test_a.py has no test_one"]),
        ("requirements.toml", "test_a.py", "test_b.py", ["a:one: there is no test_b.py"]),
        ("requirements.toml", "::test_one", "::test_two", ["a:one: test_a.py::test_two does not carry its marker"]),
        ("requirements.toml", '["test_a.py::test_one"]', "[]", ["a:one: lists no test"]),
        ("requirements.toml", "a:one", "b:one", ["b:one: no test", "b:one: test_a.py", "a:one: marked in"]),
    ],
)
def test_a_missing_side_is_told(tree: Path, path: str, old: str, new: str, told: list[str]) -> None:
    change(tree / path, old, new)
    found = faults(tree)
    assert len(found) == len(told)
    for fault, part in zip(found, told, strict=True):
        assert part in fault


def test_a_requirement_that_is_there_twice_is_told(tree: Path) -> None:
    (tree / "requirements").mkdir()
    again = (tree / "requirements.toml").read_text(encoding="utf-8")
    (tree / "requirements" / "room.toml").write_text(again, encoding="utf-8")
    assert faults(tree) == ["a:one: is there 2 times"]


def test_a_known_gap_needs_no_test(tree: Path) -> None:
    change(tree / "test_a.py", '@pytest.mark.requirement("a:one")', "")
    change(tree / "requirements.toml", 'tests = ["test_a.py::test_one"]', 'divergence = "not yet"')
    assert faults(tree) == []

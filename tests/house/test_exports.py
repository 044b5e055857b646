"""Public names are said once, sorted, complete, importable and documented."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import itertools
import re
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

DESCRIBED_FIELDS = 0.4
"""Share of the fields of exported dataclasses that carry a docstring; names like ``url`` need none."""


def sorted_names(names: list[str]) -> list[str]:
    """The house's order: constants, classes and types, everything else; each by its name."""

    def key(name: str) -> tuple[int, str]:
        if re.fullmatch(r"[A-Z][A-Z0-9_]*", name):
            return 0, name
        return (1 if name[0].isupper() else 2), name

    return sorted(names, key=key)


def exported(module: ModuleType) -> list[str]:
    return list(getattr(module, "__all__", ()))


def is_our_own(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith("pywebmcp")


def test_all_is_sorted_in_every_public_module(public_modules: list[ModuleType]) -> None:
    unsorted = {module.__name__ for module in public_modules if exported(module) != sorted_names(exported(module))}
    assert not unsorted


def test_all_is_there_where_there_is_something_to_export(public_modules: list[ModuleType]) -> None:
    without = {module.__name__ for module in public_modules if not exported(module)}
    assert without == {"pywebmcp.values"}  # a folder of public modules


@pytest.mark.requirement("house:exports")
def test_all_names_exist_and_none_is_said_twice(public_modules: list[ModuleType]) -> None:
    for module in public_modules:
        names = exported(module)
        assert len(set(names)) == len(names), module.__name__
        for name in names:
            assert getattr(module, name) is not None, f"{module.__name__}.{name}"


@pytest.mark.requirement("house:exports")
def test_all_is_complete(public_modules: list[ModuleType]) -> None:
    """Functions and classes that a public module defines or takes from its private files are in its ``__all__``."""
    missing: set[str] = set()
    for module in public_modules:
        for name, value in vars(module).items():
            if name.startswith("_") or name in exported(module) or inspect.ismodule(value):
                continue
            home = getattr(value, "__module__", None)
            mine = home == module.__name__ or str(home).startswith(f"{module.__name__}._")
            if mine and (inspect.isfunction(value) or inspect.isclass(value)):
                missing.add(f"{module.__name__}.{name}")
    assert not missing


def test_dir_lists_what_is_exported() -> None:
    assert dir(pywebmcp) == sorted(pywebmcp.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = pywebmcp.no_such_name  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.requirement("house:lazy-names")
def test_lazy_names_are_the_typed_ones(root: Path) -> None:
    """What a type checker sees under ``TYPE_CHECKING``, what ``_HOMES`` loads and ``__all__`` are one list."""
    tree = ast.parse((root / "src/pywebmcp/__init__.py").read_text(encoding="utf-8"))
    typed: dict[str, list[str]] = {}
    for block in tree.body:
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING":
            for node in block.body:
                assert isinstance(node, ast.ImportFrom)
                typed[str(node.module)] = [alias.name for alias in node.names]
    assert {module: sorted(names) for module, names in typed.items()} == {
        module: sorted(names) for module, names in pywebmcp._HOMES.items()
    }
    assert {*(name for names in typed.values() for name in names), "__version__"} == set(pywebmcp.__all__)


def test_lazy_names_are_the_very_objects_of_their_homes() -> None:
    for module, names in pywebmcp._HOMES.items():
        for name in names:
            assert getattr(pywebmcp, name) is getattr(importlib.import_module(module), name)


# --- documentation ------------------------------------------------------------------------------------------


def test_every_module_says_what_it_is(root: Path) -> None:
    silent = [
        str(path.relative_to(root))
        for path in (root / "src").rglob("*.py")
        if ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) is None
    ]
    assert not silent


def members(owner: type) -> Iterator[tuple[str, Any]]:
    """The public methods and properties that a class defines itself."""
    for name, value in vars(owner).items():
        if name.startswith("_") or inspect.isclass(value):
            continue
        if isinstance(value, (property, classmethod, staticmethod)) or inspect.isfunction(value):
            yield name, value


@pytest.mark.requirement("house:documented")
def test_every_public_class_function_method_and_property_is_documented(public_modules: list[ModuleType]) -> None:
    undocumented: set[str] = set()
    for module in public_modules:
        for name in exported(module):
            value = getattr(module, name)
            if not (inspect.isclass(value) or inspect.isfunction(value)) or not is_our_own(value):
                continue
            made_up = dataclasses.is_dataclass(value) and str(value.__doc__).startswith(f"{name}(")
            if not value.__doc__ or made_up:
                undocumented.add(f"{module.__name__}.{name}")
            if inspect.isclass(value):
                kind: type = value
                silent = {member for member, _ in members(kind) if not inspect.getdoc(getattr(kind, member))}
                undocumented |= {f"{module.__name__}.{name}.{member}" for member in silent}
    assert not undocumented


@pytest.mark.requirement("house:documented")
def test_every_public_constant_and_alias_has_a_docstring_under_it(public_modules: list[ModuleType], root: Path) -> None:
    described = {name for path in (root / "src").rglob("*.py") for name in described_assignments(path)}
    undescribed: set[str] = set()
    for module in public_modules:
        for name in exported(module):
            value = getattr(module, name)
            is_code = (inspect.isclass(value) or inspect.isfunction(value)) and value.__name__ == name
            if not is_code and name != "__version__" and name not in described:
                undescribed.add(f"{module.__name__}.{name}")
    assert not undescribed


def is_text(node: ast.stmt | None) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def described_assignments(path: Path) -> Iterator[str]:
    for node, following in itertools.pairwise(ast.parse(path.read_text(encoding="utf-8")).body):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if is_text(
                following
            ):
                yield name
            case _:
                pass


def test_fields_that_do_not_speak_for_themselves_are_described(root: Path) -> None:
    fields: dict[str, bool] = {}
    for path in (root / "src/pywebmcp/types.py", *(root / "src/pywebmcp/testing").glob("*.py")):
        for owner in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(owner, ast.ClassDef) or "dataclass" not in map(called, owner.decorator_list):
                continue
            for field, following in zip(owner.body, [*owner.body[1:], None], strict=True):
                if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name):
                    name = field.target.id
                    told = is_text(following) or f"{name}:" in (ast.get_docstring(owner) or "")
                    fields[f"{owner.name}.{name}"] = told
    silent = [name for name, described in fields.items() if not described]
    assert fields
    assert len(silent) <= len(fields) * (1 - DESCRIBED_FIELDS), silent


def called(decorator: ast.expr) -> str:
    return ast.unparse(decorator.func if isinstance(decorator, ast.Call) else decorator)

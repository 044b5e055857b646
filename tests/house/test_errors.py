"""One tree of errors, drawn in `pywebmcp.errors`, with stable codes."""

from __future__ import annotations

import inspect
import re
from typing import TYPE_CHECKING

import pytest

import pywebmcp
from pywebmcp import errors

if TYPE_CHECKING:
    from types import ModuleType

CLASSES: list[type[errors.WebMCPError]] = [
    value for value in vars(errors).values() if inspect.isclass(value) and issubclass(value, Exception)
]  # pyright: ignore[reportAssignmentType] - that each is one is what is tested


def drawn() -> dict[str, str | None]:
    """The tree of the module's docstring: each class and the one that it hangs on."""
    parents: dict[str, str | None] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        match = re.fullmatch(r"( {4}(?:[│├└─ ]{4})*)(\w+Error)\b.*", line)
        if match:
            depth = len(match[1]) // 4 - 1
            path[depth:] = [match[2]]
            parents[match[2]] = path[depth - 1] if depth else None
    return parents


@pytest.mark.requirement("house:error-tree")
def test_the_drawn_tree_is_the_tree_of_the_classes() -> None:
    assert drawn() == {
        error.__name__: None if error is errors.WebMCPError else error.__bases__[0].__name__ for error in CLASSES
    }


@pytest.mark.requirement("house:error-tree")
@pytest.mark.parametrize("error", CLASSES, ids=lambda error: error.__name__)
def test_every_error_has_its_code_and_says_whether_the_tool_ran(error: type[errors.WebMCPError]) -> None:
    assert issubclass(error, errors.WebMCPError)
    assert error.__name__ in errors.__all__
    assert getattr(pywebmcp, error.__name__) is error
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", error.code)
    if error is not errors.WebMCPError:
        assert error.code.replace("_", "") == error.__name__.removesuffix("Error").lower()
    assert error("x").ran in ("no", "yes", "unknown")
    assert error.__doc__


def test_codes_are_unique() -> None:
    codes = [error.code for error in CLASSES]
    assert len(set(codes)) == len(codes)


@pytest.mark.requirement("house:error-tree")
def test_no_other_module_exports_an_error_of_its_own(public_modules: list[ModuleType]) -> None:
    strangers = {
        f"{module.__name__}.{name}"
        for module in public_modules
        for name in getattr(module, "__all__", ())
        if inspect.isclass(value := getattr(module, name))
        and issubclass(value, Exception)
        and not issubclass(value, errors.WebMCPError)
    }
    # what a scripted page throws, not what a caller sees
    assert strangers == {"pywebmcp.testing.ToolFailed", "pywebmcp.sync.testing.ToolFailed"}

"""`import pywebmcp.sync as pywebmcp`: code of blocking programs finds every name where async code finds it."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pywebmcp as package
import pywebmcp.sync as pywebmcp
from pywebmcp import testing
from pywebmcp.sync.testing import FakePage, ToolFailed, fake_tool

if TYPE_CHECKING:
    from collections.abc import Callable

TWINS = {"Browser", "EventStream", "Invocation", "Page", "connect", "launch"}
SYNC = Path(package.__file__).parent / "sync"


def test_every_name_of_the_package_but_attach_is_there() -> None:
    assert set(package.__all__) - set(pywebmcp.__all__) == {"attach"}
    assert set(pywebmcp.__all__) <= set(package.__all__)
    assert dir(pywebmcp) == sorted(pywebmcp.__all__)


def test_what_does_not_wait_is_the_very_same_object() -> None:
    same = {name for name in pywebmcp.__all__ if getattr(pywebmcp, name) is getattr(package, name)}
    assert set(pywebmcp.__all__) - same == TWINS
    assert pywebmcp.errors is package.errors
    assert pywebmcp.types is package.types


def test_type_checkers_see_the_names_that_are_there() -> None:
    tree = ast.parse((SYNC / "__init__.py").read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    seen = {alias.name for node in imports for alias in node.names}
    assert seen - {"annotations", "TYPE_CHECKING", "errors", "types", "testing"} == set(pywebmcp.__all__)


def test_names_are_loaded_when_they_are_used(run_script: Callable[[str], str]) -> None:
    printed = run_script(
        "import sys\n"
        "import pywebmcp.sync as pywebmcp\n"
        "print('pywebmcp.types' in sys.modules, 'pywebmcp.browser' in sys.modules)\n"
        "print(pywebmcp.Tool.__name__, pywebmcp.testing.FakePage.__module__)\n"
    )
    assert printed.splitlines() == ["False False", "Tool pywebmcp.sync.testing"]


def test_errors_are_caught_under_the_alias() -> None:
    def full(_: object) -> None:
        raise ToolFailed("no table")

    caught: list[object] = []
    with FakePage([fake_tool("book_table", full, input_schema={"required": ["people"]})]) as page:
        for arguments in ({}, {"people": 2}):
            try:
                page.call("book_table", arguments, timeout=20)
            except pywebmcp.InvalidArgumentsError as error:
                caught.append(error.problems[0].path)
            except pywebmcp.ToolFailedError as error:
                caught.append(error.page_error and error.page_error.message)
        try:
            page.call("no_such_tool")
        except pywebmcp.WebMCPError as error:
            caught.append(error.ran)
    assert caught == ["", "no table", "no"]


def test_attach_says_why_it_has_no_twin() -> None:
    with pytest.raises(AttributeError, match=r"Playwright's sync API .* cannot be shared .* async code"):
        _ = pywebmcp.attach  # pyright: ignore[reportAttributeAccessIssue]
    assert not hasattr(pywebmcp, "attach")


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = pywebmcp.no_such_name  # pyright: ignore[reportAttributeAccessIssue]


def test_the_helpers_of_tests_are_there_too() -> None:
    asynchronous, blocking = testing, pywebmcp.testing
    assert blocking.__all__ == asynchronous.__all__
    same = {name for name in blocking.__all__ if getattr(blocking, name) is getattr(asynchronous, name)}
    assert set(blocking.__all__) - same == {"FakePage"}


def test_docstrings_know_one_idiom() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in SYNC.glob("*.py"))
    assert "import pywebmcp.sync as pywebmcp" in text
    assert not re.search(r"from pywebmcp import sync|\bsync\.(launch|connect)\(", text)
    assert "async test" not in text

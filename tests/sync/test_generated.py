"""The blocking twin cannot drift from the async API: it is generated, and compared here member by member."""

from __future__ import annotations

import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp
from pywebmcp import sync
from pywebmcp.sync import testing as sync_testing
from pywebmcp.testing import FakePage

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "scripts" / "generate_sync.py"

PAIRS = [
    (pywebmcp.Browser, sync.Browser),
    (pywebmcp.Page, sync.Page),
    (pywebmcp.Invocation, sync.Invocation),
    (pywebmcp.EventStream, sync.EventStream),
    (FakePage, sync_testing.FakePage),
]
HIDDEN = {"put", "end", "open_dialog"}
"""Called by the library, or by handlers in the loop."""


@pytest.fixture
def generator(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate_sync", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "generate_sync", module)
    spec.loader.exec_module(module)
    return module


def _public(kind: type) -> dict[str, Any]:
    return {name: getattr(kind, name) for name in dir(kind) if not name.startswith("_")}


def _shape(function: Any) -> list[tuple[str, Any, Any, str]]:
    parameters = inspect.signature(function).parameters.values()
    return [(p.name, p.kind, p.default, str(p.annotation)) for p in parameters if not p.name.startswith("_")]


@pytest.mark.requirement("sync:drift")
def test_the_generated_files_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--check"], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.requirement("sync:drift")
def test_a_stale_file_is_found_and_shown(
    generator: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("_generated.py", "testing.py"):
        text = (generator.SYNC / name).read_text(encoding="utf-8")
        (tmp_path / name).write_text(text.replace("validate: bool = True", "validate: bool = False"), encoding="utf-8")
    monkeypatch.setattr(generator, "SYNC", tmp_path)
    monkeypatch.setattr(sys, "argv", ["generate_sync.py", "--check"])
    assert generator.main() == 1
    shown = capsys.readouterr()
    assert "+        validate: bool = True" in shown.out
    assert "_generated.py is out of date: run `make sync`" in shown.err
    assert "testing.py" not in shown.err


def test_a_docstring_that_still_speaks_of_async_is_refused(generator: ModuleType) -> None:
    node = generator.ast.parse('def f():\n    """Awaits the task."""').body[0]
    with pytest.raises(generator.Untranslatable, match="still says 'task'"):
        generator.Generator()._doc(node)


@pytest.mark.parametrize(
    ("returns", "body"),
    [
        ("Page", "return Page(value)"),
        ("Self", "value\nreturn self"),
        ("None", "value"),
        ("list[Page]", "return list(Page(each) for each in value)"),
        ("tuple[Page, ...]", "return tuple(Page(each) for each in value)"),
        ("dict[str, int]", "return value"),
    ],
)
def test_what_a_method_returns_is_wrapped(generator: ModuleType, returns: str, body: str) -> None:
    assert generator.Generator()._body(returns, "value") == body


def test_a_page_inside_an_unknown_type_is_refused(generator: ModuleType) -> None:
    with pytest.raises(generator.Untranslatable, match="how to wrap"):
        generator.Generator()._body("dict[str, Page]", "value")


@pytest.mark.parametrize(
    ("declared", "passed"),
    [("page: Page", "page._async"), ("page: Page | None", "page and page._async"), ("url: str", "url")],
)
def test_a_page_that_is_given_is_unwrapped(generator: ModuleType, declared: str, passed: str) -> None:
    arguments = generator.ast.parse(f"def f({declared}): ...").body[0].args
    assert generator.Generator()._passed(arguments.args[0]) == passed


@pytest.mark.parametrize(("asynchronous", "blocking"), PAIRS, ids=lambda kind: kind.__module__)
@pytest.mark.requirement("sync:mirror")
def test_every_public_member_has_a_twin_of_the_same_shape(asynchronous: type, blocking: type) -> None:
    members, twins = _public(asynchronous), _public(blocking)
    assert set(members) - set(twins) - HIDDEN == set()
    assert set(twins) - set(members) <= {"wait"}
    for name in set(members) - HIDDEN:
        member, twin = members[name], twins[name]
        assert isinstance(member, property) == isinstance(twin, property), name
        if isinstance(member, property):
            assert twin.fget.__annotations__["return"] == member.fget.__annotations__["return"]
        else:
            assert _shape(member) == _shape(twin), name
            assert not inspect.iscoroutinefunction(twin), name


@pytest.mark.parametrize("name", ["launch", "connect"])
def test_starters_take_the_same_arguments(name: str) -> None:
    assert _shape(getattr(pywebmcp, name)) == _shape(getattr(sync, name))


def test_docstrings_are_carried_over_in_the_blocking_voice() -> None:
    assert sync.Page.call.__doc__
    assert "Calls a tool once" in sync.Page.call.__doc__
    assert sync.EventStream.__doc__
    assert "async" not in sync.EventStream.__doc__

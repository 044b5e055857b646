"""The text that is injected: how it is joined and what it costs."""

from __future__ import annotations

import re
import statistics
from importlib.resources import files
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp.context._script import build_script, random_identifier

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Open = Callable[..., Awaitable[Any]]

CONFIG: dict[str, Any] = {"mode": "runtime", "dialogs": None}


def sources() -> dict[str, str]:
    folder = files("pywebmcp") / "context" / "runtime"
    return {item.name: item.read_text(encoding="utf-8") for item in folder.iterdir() if item.name.endswith(".js")}


def test_an_identifier_is_one_for_javascript_and_never_the_same() -> None:
    names = {random_identifier() for _ in range(100)}
    assert len(names) == 100
    assert all(re.fullmatch(r"[a-z][a-z0-9]{32}", name) for name in names)


def test_the_script_is_one_constant_that_holds_the_host() -> None:
    script = build_script(handle="HANDLE", binding="BINDING_NAME", config=CONFIG)
    assert script.startswith('const HANDLE = (() => {\n"use strict";\n')
    assert script.endswith("return host;\n})();")
    assert script.count("BINDING_NAME") == 1


def test_the_script_is_cached_by_its_arguments() -> None:
    first = build_script(handle="a", binding="b", config=CONFIG)
    assert build_script(handle="a", binding="b", config=dict(reversed(CONFIG.items()))) is first
    assert build_script(handle="a", binding="b", config={"mode": "off", "dialogs": None}) is not first


def test_the_answers_of_dialogs_reach_the_script_as_json() -> None:
    config = {"mode": "runtime", "dialogs": {"confirm": True, "prompt": 'a"\u2028</script>'}}
    script = build_script(handle="a", binding="b", config=config)
    assert '"confirm": true, "prompt": "a\\"\\u2028</script>"' in script


def test_the_script_is_under_40_kb() -> None:
    assert len(build_script(handle="h" * 33, binding="b" * 33, config=CONFIG).encode()) < 40_000


@pytest.mark.parametrize("name", sorted(sources()))
def test_a_source_file_is_one_idea_of_at_most_300_lines(name: str) -> None:
    text = sources()[name]
    assert text.startswith("/**\n * "), "says first what it is for"
    assert len(text.splitlines()) <= 300


@pytest.mark.parametrize("name", sorted(sources()))
def test_a_source_file_can_lose_its_comments_line_by_line(name: str) -> None:
    in_comment = False
    for line in map(str.strip, sources()[name].splitlines()):
        if in_comment or line.startswith("/*"):
            in_comment = not line.endswith("*/")
            continue
        if line.startswith("//"):
            continue
        assert line.count("`") % 2 == 0, f"a template over several lines: {line}"
        assert "/*" not in line or "*/" in line, f"a comment that starts behind code: {line}"
    assert not in_comment


@pytest.mark.slow
async def test_the_script_takes_under_a_millisecond_of_a_document(open_document: Open) -> None:
    def timed(script: str) -> str:
        return f"globalThis.started = performance.now();\n{script}\nglobalThis.spent = performance.now() - started;"

    page = await open_document(wrap=timed)
    spent: list[float] = []
    for _ in range(200):
        await page.goto("https://example.com/", "<!doctype html>")
        spent.append(await page.evaluate("spent"))
    assert statistics.median(spent) < 1.0

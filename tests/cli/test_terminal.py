"""What a person sees on a terminal."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

COLOUR = re.compile(r"\x1b\[[0-9]+m")


async def test_names_are_emphasised_on_a_terminal(on_terminal: Any, outcomes: Path) -> None:
    ran = await on_terminal("tools", outcomes)
    assert ran.code == 0
    assert "\x1b[1madd\x1b[0m" in ran.out


@pytest.mark.parametrize("changes", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
async def test_no_color_means_none(on_terminal: Any, outcomes: Path, changes: dict[str, str]) -> None:
    ran = await on_terminal("tools", outcomes, **changes)
    assert ran.code == 0
    assert "add  Addition" in ran.out
    assert "\x1b" not in ran.out


async def test_a_hostile_description_stays_text(on_terminal: Any, cli: Path) -> None:
    ran = await on_terminal("tools", cli / "hostile.html")
    shown = COLOUR.sub("", ran.out).replace("\r\n", "\n")
    assert all(c.isprintable() or c == "\n" for c in shown)
    assert r"\u001b[2J" in shown


async def test_a_hostile_result_stays_text_on_a_terminal_and_is_exact_in_a_pipe(
    on_terminal: Any, webmcp: Any, cli: Path, outcomes: Path
) -> None:
    arguments = ["call", cli / "hostile.html", "nice", '{"\\u001b[31mkey": "b"}']
    ran = await on_terminal(*arguments)
    assert ran.out == "\\u001b[2Jdone\r\n"
    assert (await webmcp(*arguments)).out == "\x1b[2Jdone\n"
    lines = await on_terminal("call", outcomes, "lines")
    assert lines.out == "one\r\ntwo \\u001b[31mred\\u001b[0m\r\n"


async def test_a_hostile_error_stays_text(on_terminal: Any, outcomes: Path) -> None:
    ran = await on_terminal("call", outcomes, "throws")
    assert ran.code == 1
    assert "\x1b[31mgood" not in ran.out
    assert r"\u001b[31mgood" in ran.out


async def test_what_takes_long_is_told_and_erased(on_terminal: Any, cli: Path) -> None:
    ran = await on_terminal("tools", cli / "late.html")
    assert "waiting for a first tool" in ran.out
    shown, _, rest = ran.out.rpartition("\r\x1b[K")
    assert "waiting" in shown
    assert "waiting" not in rest
    assert "first" in rest


async def test_what_is_quick_shows_no_progress(on_terminal: Any, outcomes: Path) -> None:
    ran = await on_terminal("tools", outcomes, NO_COLOR="1")
    assert "\x1b" not in ran.out


async def test_lines_fit_the_terminal(on_terminal: Any, cli: Path) -> None:
    ran = await on_terminal("tools", cli / "hostile.html", NO_COLOR="1", COLUMNS="60")
    assert max(map(len, ran.out.replace("\r\n", "\n").split("\n"))) <= 80
    assert "…" in ran.out


async def test_json_is_indented_on_a_terminal(on_terminal: Any, outcomes: Path) -> None:
    ran = await on_terminal("call", outcomes, "add", '{"a": 1, "b": 2}', "--json")
    assert '"value": {\r\n    "sum": 3' in ran.out

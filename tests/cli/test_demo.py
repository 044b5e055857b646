"""``webmcp demo`` and its page."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from pywebmcp.cli._target import DEMO_PAGE

TOOLS = ["search_teas", "view_cart", "add_to_cart", "checkout"]


async def test_the_tour_fits_one_screen(on_terminal: Any) -> None:
    found = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    ran = await on_terminal("demo", NO_COLOR="1", COLUMNS="80", PATH=found)
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert len(lines) <= 22  # between two prompts, on 24 rows
    assert max(map(len, lines)) <= 80
    assert all(any(line.strip().startswith(tool) for line in lines) for tool in TOOLS)
    assert any('"id":"sencha"' in line for line in lines)
    assert lines[-1].startswith("  webmcp doctor ")


async def test_the_tour_prints_the_command_that_it_was_started_with(on_terminal: Any) -> None:
    ran = await on_terminal("demo", NO_COLOR="1", PATH="/nowhere")
    assert f"$ {Path(sys.executable).with_name('webmcp')} tools demo" in ran.out


async def test_the_tour_as_json(webmcp: Any) -> None:
    told = (await webmcp("demo", "--json")).json
    assert [tool["name"] for tool in told["tools"]] == TOOLS
    assert told["call"]["ok"] is True
    assert [tea["id"] for tea in told["call"]["value"]] == ["sencha", "longjing"]


async def test_demo_means_the_demo_page_where_nothing_has_that_name(webmcp: Any, tmp_path: Path) -> None:
    listed = await webmcp("tools", "demo", "--json", cwd=tmp_path)
    assert [tool["name"] for tool in listed.json["tools"]] == TOOLS
    (tmp_path / "demo").mkdir()
    own = await webmcp("tools", "demo", cwd=tmp_path)
    assert (own.code, "demo: this folder has no index.html" in own.err) == (2, True)


@pytest.mark.slow
async def test_the_demo_page_is_a_page_like_any_other(webmcp: Any, on: list[str]) -> None:
    listed = await webmcp("tools", DEMO_PAGE, "--json", *on)
    assert [tool["name"] for tool in listed.json["tools"]] == TOOLS
    added = await webmcp(
        "call", DEMO_PAGE / "index.html", "add_to_cart", "-a", "tea=sencha", "-a", "grams=150", "--json", *on
    )
    assert added.json["value"] == {"lines": [{"tea": "sencha", "grams": 150, "euros": 12.75}], "total_euros": 12.75}
    empty = await webmcp("call", DEMO_PAGE, "checkout", "-a", "name=Ann", "-a", "postcode=01234", *on)
    assert (empty.code, empty.out) == (1, "The cart is empty: nothing was ordered.\n")
    unknown = await webmcp("call", DEMO_PAGE, "add_to_cart", "-a", "tea=coal", *on)
    assert unknown.code == 2
    sold_out = await webmcp("call", DEMO_PAGE, "add_to_cart", "-a", "tea=rooibos", *on)
    assert sold_out.code == 1
    assert "sold out" in sold_out.err

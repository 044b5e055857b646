"""``webmcp demo`` and its page."""

from __future__ import annotations

from typing import Any

from pywebmcp.cli._demo import DEMO_PAGE

TOOLS = ["search_teas", "view_cart", "add_to_cart", "checkout"]


async def test_the_tour_fits_one_screen(on_terminal: Any) -> None:
    ran = await on_terminal("demo", NO_COLOR="1")
    lines = ran.out.splitlines()
    assert ran.code == 0
    assert len(lines) < 24
    assert max(map(len, lines)) <= 140
    assert all(any(line.strip().startswith(tool) for line in lines) for tool in TOOLS)
    assert any('"id":"sencha"' in line for line in lines)
    assert "webmcp doctor" in lines[-1]


async def test_the_tour_as_json(webmcp: Any) -> None:
    told = (await webmcp("demo", "--json")).json
    assert [tool["name"] for tool in told["tools"]] == TOOLS
    assert told["call"]["ok"] is True
    assert [tea["id"] for tea in told["call"]["value"]] == ["sencha", "longjing"]


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

"""A page built like real ones: modules, fetch, a dynamic import, views whose tools come and go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp
from pywebmcp.cli._serve import serve

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

CATALOGUE = ["describe_view", "search_items", "reserve", "go_to"]
BASKET = ["describe_view", "view_basket", "clear_basket"]


@pytest.fixture
async def app(pages: Path) -> AsyncIterator[str]:
    async with serve(pages / "app") as server:
        yield server.origin
        assert server.missing == []


async def names(page: pywebmcp.Page) -> list[str]:
    return [tool.name for tool in await page.tools()]


async def test_its_tools_are_there_once_it_has_loaded(browser: pywebmcp.Browser, app: str) -> None:
    page = await browser.open(f"{app}/")
    assert await names(page) == []
    await page.wait_for_tool("go_to")
    assert await names(page) == CATALOGUE
    result = await page.call("search_items", {"available": True, "kind": "shelter"})
    assert [item["id"] for item in result.value] == ["tent-2", "tent-4"]


async def test_a_route_change_swaps_the_tools_before_its_call_is_answered(browser: pywebmcp.Browser, app: str) -> None:
    page = await browser.open(f"{app}/")
    await page.wait_for_tool("go_to")
    before = {tool.name: tool for tool in await page.tools()}
    reserved = await page.call("reserve", {"id": "stove", "days": 2, "code": "007"})
    assert reserved.value == {"id": "stove", "days": 2, "code": "007", "price": 8, "currency": "EUR"}

    assert (await page.call("go_to", {"view": "basket"})).value == {"view": "basket"}
    assert sorted(await names(page)) == sorted([*BASKET, "go_to"])
    assert [item["id"] for item in (await page.call("view_basket")).value] == ["stove"]
    # The same name means another tool now, and the old one is never mistaken for it.
    assert (await page.tool("describe_view")).description.startswith("The basket")
    for stale in ("describe_view", "search_items"):
        with pytest.raises(pywebmcp.ToolNotFoundError):
            await page.call(before[stale])
    assert (await page.call("clear_basket")).value is None

    await page.evaluate("history.back()")
    await page.wait_for_tool("search_items")
    assert sorted(await names(page)) == sorted(CATALOGUE)


async def test_effects_that_run_twice_leave_one_tool_each(browser: pywebmcp.Browser, app: str) -> None:
    page = await browser.open(f"{app}/?view=basket&strict=1")
    await page.wait_for_tool("go_to")
    assert await names(page) == [*BASKET, "go_to"]
    for view in ("catalogue", "basket") * 5:
        await page.call("go_to", {"view": view})
        assert sorted(await names(page)) == sorted(CATALOGUE if view == "catalogue" else [*BASKET, "go_to"])


async def test_what_a_tool_throws_is_told_with_its_name(browser: pywebmcp.Browser, app: str) -> None:
    page = await browser.open(f"{app}/")
    await page.wait_for_tool("reserve")
    with pytest.raises(pywebmcp.ToolFailedError) as caught:
        await page.call("reserve", {"id": "canoe", "days": 1})
    assert caught.value.page_error is not None
    assert (caught.value.page_error.name, caught.value.page_error.message) == ("RangeError", "Canoe is all out")


async def test_the_command_line_serves_it_as_it_is(webmcp: Any, pages: Path, on: list[str]) -> None:
    listed = await webmcp("tools", pages / "app", "--json", *on)
    assert [tool["name"] for tool in listed.json["tools"]] == CATALOGUE
    pairs = ["-a", "id=tent-2", "-a", "days=3", "-a", "code=007"]
    called = await webmcp("call", pages / "app", "reserve", *pairs, "--json", *on)
    assert called.json["value"]["code"] == "007"
    routed = await webmcp("tools", f"{pages / 'app' / 'index.html'}?view=basket", "--json", *on)
    assert [tool["name"] for tool in routed.json["tools"]] == [*BASKET, "go_to"]

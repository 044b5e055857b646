"""Starting browsers: what is refused, what falls back, what is told."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp
from pywebmcp.engines import _find

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ADD = """<script>(document.modelContext ?? navigator.modelContext).registerTool(
  {name: "add", description: "d", execute: () => 1})</script>"""


async def test_a_machine_without_lightpanda_falls_back_to_an_installed_chromium_and_says_so(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(_find, "_in_wheel", lambda: None)
    with caplog.at_level(logging.WARNING, "pywebmcp"):
        async with pywebmcp.launch() as browser:
            assert browser.engine.name == "chromium"
            page = await browser.open("https://example.com/", html=ADD)
            assert (await page.call("add")).value == 1
    assert "using the installed Chromium" in caplog.text


async def test_a_missing_executable_is_engine_not_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for engine in ("lightpanda", "chromium"):
        with pytest.raises(pywebmcp.EngineNotFoundError) as caught:
            await pywebmcp.launch(engine, executable=tmp_path / "missing")
        assert "missing" in str(caught.value)
        assert caught.value.ran == "no"
    monkeypatch.setenv("PYWEBMCP_LIGHTPANDA", str(tmp_path / "missing"))
    with pytest.raises(pywebmcp.EngineNotFoundError):
        await pywebmcp.launch()


async def test_an_executable_that_is_no_browser_is_engine_start() -> None:
    with pytest.raises(pywebmcp.EngineStartError):
        await pywebmcp.launch("lightpanda", executable="/bin/false")


@pytest.mark.parametrize(
    "options", [{"engine": "netscape"}, {"mode": "magic"}, {"dialogs": "maybe"}, {"storage_state": {"cookies": 5}}]
)
async def test_a_wrong_option_is_a_value_error_that_names_it(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"engine=|mode=|dialogs=|storage state"):
        async with pywebmcp.launch(**options) as browser:
            await browser.open("https://example.com/", html="<p>")


@pytest.mark.parametrize(
    ("engine", "options"),
    [
        ("lightpanda", {"mode": "native"}),
        ("lightpanda", {"headless": False}),
        ("chromium", {"block_private_networks": True}),
        ("chromium", {"obey_robots": True}),
        ("chromium", {"load": ["image"]}),
        ("auto", {"mode": "native", "block_private_networks": True}),
    ],
)
async def test_an_option_that_the_engine_lacks_is_unsupported_and_not_ignored(
    engine: str, options: dict[str, Any]
) -> None:
    with pytest.raises(pywebmcp.UnsupportedError, match="engine="):
        await pywebmcp.launch(engine, **options)


async def test_auto_takes_the_engine_that_has_what_is_asked_for() -> None:
    async with pywebmcp.launch(mode="native") as browser:
        assert browser.engine.name == "chromium"
    async with pywebmcp.launch(block_private_networks=True) as browser:
        assert browser.engine.name == "lightpanda"


def test_forgetting_to_await_a_launch_says_so() -> None:
    with pytest.raises(AttributeError, match="async with launch"):
        pywebmcp.launch().open  # noqa: B018


async def test_an_address_without_a_scheme_and_an_unknown_host_say_so(engine: str, start: Callable[..., Any]) -> None:
    async with await start(engine) as browser:
        with pytest.raises(pywebmcp.NavigationError, match="html="):
            await browser.open("page.html")
        with pytest.raises(pywebmcp.NavigationError, match="cannot be resolved"):
            await browser.open("http://nobody.invalid/")


@pytest.mark.parametrize("url", ["https://exämple.example/ü?q=漢#é", "https://Example.example:443/a/../b c"])
async def test_html_is_served_at_any_spelling_of_its_address(engine: str, start: Callable[..., Any], url: str) -> None:
    async with await start(engine) as browser:
        page = await browser.open(url, html=ADD)
        assert (await page.call("add")).value == 1
        await page.reload()
        assert (await page.call("add")).value == 1


@pytest.mark.slow
async def test_a_closing_that_is_cancelled_still_ends_the_engine(engine: str, start: Callable[..., Any]) -> None:
    for turns in range(0, 30, 3):
        browser = await start(engine)
        await browser.open("https://example.com/", html=ADD)
        closing = asyncio.ensure_future(browser.close())
        for _ in range(turns):
            await asyncio.sleep(0)
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        async with asyncio.timeout(10):
            await browser.close()
        assert browser._engine.exit_reason() is not None
        assert not browser._engine._folder.path.exists()


async def test_waiting_for_tools_ends_at_once_where_there_can_be_none(engine: str, start: Callable[..., Any]) -> None:
    async with await start(engine) as browser:
        page = await browser.open("http://plain.example/", html="<p>")
        async with asyncio.timeout(10):
            assert await page.wait_for_tools(timeout=60) == []


async def test_an_asking_hook_is_unsupported_where_dialogs_answer_themselves() -> None:
    async with pywebmcp.launch(dialogs=lambda _: True) as browser:
        with pytest.raises(pywebmcp.UnsupportedError, match="chromium"):
            await browser.open("https://example.com/", html="<p>")


async def test_a_closed_browser_opens_nothing(engine: str, start: Callable[..., Any]) -> None:
    browser = await start(engine)
    page = await browser.open("https://example.com/", html=ADD)
    await browser.close()
    await browser.close()
    assert page.closed
    with pytest.raises(pywebmcp.EngineError):
        await browser.open("https://example.com/", html=ADD)


async def test_a_screenshot_is_a_png(engine: str, start: Callable[..., Any]) -> None:
    async with await start(engine) as browser:
        page = await browser.open("https://example.com/", html="<h1>hello</h1>")
        assert (await page.screenshot()).startswith(b"\x89PNG")


async def test_supported_says_what_feature_detection_would(engine: str, start: Callable[..., Any]) -> None:
    async with await start(engine) as browser:
        page = await browser.open("https://example.com/", html="<p>")
        assert await page.supported() is True
        await page.goto("http://plain.example/", html="<p>")
        assert await page.supported() is False

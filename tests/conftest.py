"""What every room's tests share: engines that are started once, and pages served without a network."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

import pywebmcp

FIELD = Path(__file__).parent / "pages" / "field"

ENGINES = ("lightpanda", "chromium")
"""The two columns of the core: Lightpanda with our runtime, Chromium with its native model context."""

Open = Callable[..., Awaitable[pywebmcp.Page]]


def launch(engine: str, **options: Any) -> Any:
    """Starts the engine of one column."""
    return pywebmcp.launch(engine, mode="native" if engine == "chromium" else "auto", **options)


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The engine's name; tests that use it run once for each."""
    return request.param


@pytest.fixture
def start() -> Callable[[str], Any]:
    """Starts the engine of one column, for tests that end it themselves."""
    return launch


@pytest.fixture(scope="session")
async def shared_browsers() -> AsyncIterator[dict[str, pywebmcp.Browser]]:
    """The browsers that tests share, by engine; each test has its pages to itself."""
    browsers: dict[str, pywebmcp.Browser] = {}
    yield browsers
    async with asyncio.timeout(15):
        for browser in browsers.values():
            await browser.close()


@pytest.fixture
async def browser(engine: str, shared_browsers: dict[str, pywebmcp.Browser]) -> AsyncIterator[pywebmcp.Browser]:
    """A browser without pages and cookies; one that a test has killed is replaced for the next."""
    browser = shared_browsers.get(engine)
    if browser is None or browser._connection.closed:
        async with asyncio.timeout(30):
            if browser is not None:
                await browser.close()
            browser = shared_browsers[engine] = await launch(engine)
    yield browser
    async with asyncio.timeout(15):
        for page in browser.pages:
            await page.close()
        browser._jar.clear()
        if engine == "chromium" and not browser._connection.closed:
            await browser._connection.send("Storage.clearCookies")
    if browser._connection.closed:
        await shared_browsers.pop(engine).close()


@pytest.fixture
def open_page(browser: pywebmcp.Browser) -> Open:
    """Opens a page of given HTML at ``https://example.com/`` (or another address)."""

    async def open_page(html: str, url: str = "https://example.com/", **options: Any) -> pywebmcp.Page:
        return await browser.open(url, html=html, **options)

    return open_page


@pytest.fixture
def open_field(browser: pywebmcp.Browser) -> Open:
    """Opens one of the field pages by its number, at ``https://field.example/NAME``."""

    async def open_field(number: str, query: str = "", **options: Any) -> pywebmcp.Page:
        (path,) = FIELD.glob(f"{number}-*.html")
        text = path.read_text(encoding="utf-8")

        def route(request: pywebmcp.Request) -> pywebmcp.Response | None:
            here = request.url.partition("?")[0].partition("#")[0]
            if here == f"https://field.example/{path.name}":
                return pywebmcp.Response(text, content_type="text/html; charset=utf-8")
            return pywebmcp.Response("", status=404)

        return await browser.open(f"https://field.example/{path.name}{query}", route=route, **options)

    return open_field


@pytest.fixture(autouse=True)
def _fresh_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the developer's shell reaches a test."""
    for name in list(os.environ):
        if name.startswith("PYWEBMCP_") and name != "PYWEBMCP_CHROMIUM":
            monkeypatch.delenv(name)

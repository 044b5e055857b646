"""What the tests of the field problems share; most run on Lightpanda with our runtime and on native Chromium."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pytest

import pywebmcp

PAGES = Path(__file__).parents[1] / "pages" / "field"
BOUND = 20.0
"""Seconds after which a test gives up on what should have happened."""

Error = TypeVar("Error", bound=pywebmcp.WebMCPError)
Open = Callable[..., Awaitable[pywebmcp.Page]]
Launch = Callable[..., Awaitable[pywebmcp.Browser]]
Until = Callable[[pywebmcp.Page, str], Awaitable[Any]]
Begin = Callable[..., Awaitable[pywebmcp.Invocation]]
Html = Callable[[str], str]


class Fails(Protocol):
    """Awaits something that must end with exactly that error, and gives the error."""

    async def __call__(self, awaitable: Awaitable[Any], kind: type[Error]) -> Error: ...


@pytest.fixture
def fails() -> Fails:
    async def fails(awaitable: Awaitable[Any], kind: type[Error]) -> Error:
        async with asyncio.timeout(BOUND):
            with pytest.raises(pywebmcp.WebMCPError) as caught:
                await awaitable
        assert type(caught.value) is kind, repr(caught.value)
        return caught.value

    return fails


@pytest.fixture
def until() -> Until:
    """Waits in the page for an expression to become true, and gives its value."""

    async def until(page: pywebmcp.Page, expression: str) -> Any:
        look = f"const look = () => {{ const v = ({expression}); v ? done(v) : setTimeout(look, 5); }}; look();"
        return await page.evaluate(f"new Promise((done) => {{ {look} }})", timeout=BOUND)

    return until


@pytest.fixture
def begin() -> Begin:
    """Invokes a tool and waits until it runs in its page."""

    async def begin(page: pywebmcp.Page, tool: Any, arguments: Any = None, **options: Any) -> pywebmcp.Invocation:
        async with page.events() as events, asyncio.timeout(BOUND):
            invocation = await page.invoke(tool, arguments, **options)
            async for event in events:
                if isinstance(event, pywebmcp.ToolActivated) and event.invocation_id == invocation.id:
                    return invocation
        raise AssertionError("the page closed before the tool ran")

    return begin


@pytest.fixture
async def launch(engine: str) -> AsyncIterator[Launch]:
    """Starts further browsers of the column, with options of their own."""
    async with AsyncExitStack() as stack:

        async def launch(**options: Any) -> pywebmcp.Browser:
            options.setdefault("mode", "native" if engine == "chromium" else "auto")
            async with asyncio.timeout(30):
                return await stack.enter_async_context(pywebmcp.launch(engine, **options))

        yield launch


@pytest.fixture
async def chromium() -> AsyncIterator[Launch]:
    """Starts a Chromium, for what only one column has."""
    async with AsyncExitStack() as stack:

        async def chromium(**options: Any) -> pywebmcp.Browser:
            async with asyncio.timeout(30):
                return await stack.enter_async_context(pywebmcp.launch("chromium", **options))

        yield chromium


@pytest.fixture
def field_html() -> Html:
    """The text of a field page by its number."""

    def field_html(number: str) -> str:
        (path,) = PAGES.glob(f"{number}-*.html")
        return path.read_text(encoding="utf-8")

    return field_html


@pytest.fixture
def strict_json() -> Callable[[str], Any]:
    """Parses what RFC 8259 allows: no NaN, no Infinity."""

    def refuse(constant: str) -> Any:
        raise AssertionError(f"{constant} is not JSON")

    return lambda text: json.loads(text, parse_constant=refuse)


@pytest.fixture
def asyncio_complaints(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What asyncio complained about: exceptions that nobody retrieved, pending tasks that were destroyed."""
    caplog.set_level(logging.DEBUG, logger="asyncio")
    return lambda: [r.getMessage() for r in caplog.records if r.name == "asyncio" and r.levelno >= logging.ERROR]

"""Browsers that somebody else runs: a Playwright page, and an endpoint of a running browser."""

from __future__ import annotations

import asyncio
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp
from pywebmcp.engines import find_lightpanda

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

MC = "(document.modelContext ?? navigator.modelContext)"
PAGE = f"""<!doctype html><script>
{MC}?.registerTool({{name: "add", description: "d", execute: ({{a, b}}) => ({{sum: a + b}})}});
{MC}?.registerTool({{name: "never", description: "d", execute: () => new Promise(() => {{}})}});
</script><iframe src="https://other.example/frame" allow="tools"></iframe>"""
FRAME = f"<script>{MC}.registerTool({{name: 'framed', description: 'd', execute: () => origin}})</script>"
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]


@pytest.fixture(params=["native", "runtime"])
async def playwright_page(request: pytest.FixtureRequest) -> AsyncIterator[tuple[Any, str]]:
    """A Playwright page on a Chromium with WebMCP on, or off."""
    from playwright.async_api import async_playwright

    executable = os.environ.get("PYWEBMCP_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    features = ["--enable-features=WebMCP,WebMCPTesting"] if request.param == "native" else []
    async with asyncio.timeout(40), async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=executable, args=[*FLAGS, *features])
        page = await browser.new_page()

        async def serve(route: Any) -> None:
            text = FRAME if "other" in route.request.url else PAGE
            await route.fulfill(body=text, content_type="text/html")

        await page.route("**/*", serve)
        try:
            yield page, request.param
        finally:
            await browser.close()


async def test_a_playwright_page_lists_and_calls_and_stays_playwright_s(playwright_page: tuple[Any, str]) -> None:
    theirs, kind = playwright_page
    page = await pywebmcp.attach(theirs)
    await theirs.goto("https://example.com/")
    tool = await page.wait_for_tool("add")
    assert tool.surface == kind
    assert tool.origin == "https://example.com"
    assert (await page.call("add", {"a": 1, "b": 2})).value == {"sum": 3}
    with pytest.raises(pywebmcp.CallTimeoutError):
        await page.call("never", timeout=0.2)
    invocation = await page.invoke("never")
    await theirs.reload()
    with pytest.raises(pywebmcp.DocumentUnloadedError):
        await invocation.result()
    assert (await page.call("add", {"a": 2, "b": 2})).value == {"sum": 4}
    await page.close()
    assert await theirs.evaluate("1 + 1") == 2


async def test_a_playwright_page_that_was_open_before_is_native_at_once_or_says_reload(
    playwright_page: tuple[Any, str],
) -> None:
    theirs, kind = playwright_page
    await theirs.goto("https://example.com/")
    page = await pywebmcp.attach(theirs)
    tools = await page.tools()
    if kind == "native":
        assert [tool.name for tool in tools][:2] == ["add", "never"]
    else:
        assert tools == []
        assert page.surface.kind == "none"
        assert "reload" in page.surface.reason
        await theirs.reload()
        await page.wait_for_tool("add")
        assert (await page.call("add", {"a": 1, "b": 2})).value == {"sum": 3}


async def test_a_closed_playwright_page_ends_its_calls(playwright_page: tuple[Any, str]) -> None:
    theirs, _ = playwright_page
    page = await pywebmcp.attach(theirs)
    await theirs.goto("https://example.com/")
    await page.wait_for_tool("never")
    invocation = await page.invoke("never")
    await page.call("add", {"a": 1, "b": 2})
    await theirs.close()
    with pytest.raises(pywebmcp.OutcomeUnknownError):
        await invocation.result()


async def test_attach_refuses_what_is_no_playwright_page() -> None:
    with pytest.raises(pywebmcp.UnsupportedError, match="Playwright"):
        await pywebmcp.attach(object())


@pytest.fixture
async def running(engine: str, unused_tcp_port: int) -> AsyncIterator[str]:
    """The address of a browser that somebody else started."""
    if engine == "chromium":
        async with pywebmcp.launch("chromium", mode="native") as browser:
            assert browser._engine is not None
            yield browser._engine.endpoint.url
        return
    process = await asyncio.create_subprocess_exec(
        find_lightpanda(), "serve", "--host", "127.0.0.1", "--port", str(unused_tcp_port), "--load-resources", "iframe",
        env={**os.environ, "LIGHTPANDA_DISABLE_TELEMETRY": "true"}, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        assert process.stderr
        async with asyncio.timeout(10):
            async for line in process.stderr:
                if b"server running" in line:
                    break
        yield f"http://127.0.0.1:{unused_tcp_port}"
    finally:
        process.kill()
        await process.communicate()


async def test_connecting_to_a_running_browser_works_and_leaves_it_running(engine: str, running: str) -> None:
    mode = "native" if engine == "chromium" else "auto"
    async with pywebmcp.connect(running, mode=mode) as theirs:
        their_page = await theirs.open("https://theirs.example/", html="<p>theirs")
        async with pywebmcp.connect(running, mode=mode) as ours:
            assert ours.engine.name == engine
            page = await ours.open("https://example.com/", html=PAGE, route=lambda _: pywebmcp.Response(FRAME))
            assert (await page.call("add", {"a": 1, "b": 2})).value == {"sum": 3}
            assert ours.process_id is None
        assert await their_page.evaluate("document.body.textContent") == "theirs"
    async with pywebmcp.connect(running, mode=mode) as again:
        await again.open("https://example.com/", html="<p>")


@pytest.mark.parametrize("address", ["ws://127.0.0.1:9/", "http://127.0.0.1:9", "ftp://example.com", "nonsense"])
async def test_an_endpoint_where_nothing_answers_is_refused(address: str) -> None:
    with pytest.raises(pywebmcp.EndpointRefusedError):
        async with asyncio.timeout(15):
            await pywebmcp.connect(address)

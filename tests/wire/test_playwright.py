from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp.errors import EngineCrashedError, EngineError, ProtocolError, UnsupportedError
from pywebmcp.wire import PlaywrightSession

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from playwright.async_api import CDPSession, Page

WAIT = 5.0


class Emitter:
    """What Playwright's objects have in common: named events."""

    def __init__(self) -> None:
        self.listeners: list[tuple[str, Callable[..., None]]] = []

    def on(self, event: Any, f: Callable[..., None]) -> None:
        self.listeners.append((event, f))

    def remove_listener(self, event: str, f: Callable[..., None]) -> None:
        self.listeners.remove((event, f))

    def emit(self, event: str, *args: Any) -> None:
        for name, listener in tuple(self.listeners):
            if name == event:
                listener(*args)


class TargetClosedError(Exception):
    """Named as Playwright's."""


class FakeCDPSession(Emitter):
    """Answers with what `answer` gives."""

    def __init__(self) -> None:
        super().__init__()
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self.detached = False
        self.answer: Callable[[str], Awaitable[dict[str, Any]]] = self.nothing

    async def nothing(self, method: str) -> dict[str, Any]:
        return {"method": method}

    async def send(self, method: str, params: dict[str, Any] | None = None) -> dict[str, Any]:
        self.sent.append((method, params or {}))
        return await self.answer(method)

    async def detach(self) -> None:
        self.detached = True


async def never(method: str) -> dict[str, Any]:
    await asyncio.Event().wait()
    raise AssertionError("unreachable")


async def test_commands_and_events_pass_through() -> None:
    cdp = FakeCDPSession()
    session = PlaywrightSession(cdp)
    seen: list[dict[str, Any]] = []
    replies: list[dict[str, Any]] = []
    stop = session.on("WebMCP.toolsAdded", seen.append)
    session.on("WebMCP.toolsAdded", seen.append)
    assert await session.send("WebMCP.enable", {"a": 1}, on_reply=replies.append) == {"method": "WebMCP.enable"}
    assert replies == [{"method": "WebMCP.enable"}]
    assert cdp.sent == [("WebMCP.enable", {"a": 1})]
    stop()
    stop()
    cdp.emit("WebMCP.toolsAdded", {"tools": []})
    cdp.emit("WebMCP.toolsAdded", None)
    assert seen == [{"tools": []}, {}]


async def test_a_refusal_a_deadline_and_a_closed_target_are_told_apart() -> None:
    cdp = FakeCDPSession()
    session = PlaywrightSession(cdp)

    async def refuse(method: str) -> dict[str, Any]:
        raise RuntimeError(f"Protocol error ({method}): '{method}' wasn't found")

    async def closed(method: str) -> dict[str, Any]:
        raise TargetClosedError("gone")

    cdp.answer = refuse
    with pytest.raises(ProtocolError) as caught:
        await session.send("No.such")
    assert caught.value.number == -32601
    cdp.answer = never
    with pytest.raises(ProtocolError) as caught:
        await session.send("Test.slow", timeout=0.01)
    assert caught.value.number is None
    cdp.answer = closed
    with pytest.raises(EngineCrashedError):
        await session.send("Test.late")


@pytest.mark.parametrize("ending", ["session close", "page close", "page crash"])
async def test_the_end_wakes_waiters_tells_once_and_lets_go_of_the_page(ending: str) -> None:
    cdp, page = FakeCDPSession(), Emitter()
    session = PlaywrightSession(cdp, page)
    told: list[bool] = []
    session.on_closed(lambda: told.append(True))
    session.on("Test.event", lambda params: None)
    cdp.answer = never
    task = asyncio.ensure_future(session.send("Test.wait", timeout=None))
    await asyncio.sleep(0)
    source, event = ending.split()
    (cdp if source == "session" else page).emit(event, page)
    session._on_end(page)
    with pytest.raises(EngineCrashedError):
        async with asyncio.timeout(WAIT):
            await task
    assert told == [True]
    assert session.closed
    assert (cdp.listeners, page.listeners) == ([], [])
    with pytest.raises(EngineCrashedError):
        await session.send("Test.more")
    session.post("Test.more")


async def test_posts_run_and_their_failures_are_nobodys_concern() -> None:
    cdp = FakeCDPSession()
    session = PlaywrightSession(cdp)
    started = asyncio.Event()

    async def fail(method: str) -> dict[str, Any]:
        started.set()
        raise RuntimeError("boo")

    cdp.answer = fail
    session.post("Test.post")
    async with asyncio.timeout(WAIT):
        await started.wait()
    await session.close()
    assert cdp.detached
    assert session.closed


async def test_started_commands_and_requests_hear_of_their_outcome() -> None:
    cdp = FakeCDPSession()
    session = PlaywrightSession(cdp)
    seen: list[Any] = []
    assert await session.start("Test.start", {"n": 1}, on_reply=seen.append) == {"method": "Test.start"}
    assert seen == [{"method": "Test.start"}]
    told = asyncio.Event()

    def done(result: dict[str, Any], error: EngineError | None) -> None:
        seen.append((result, error))
        told.set()

    session.request("Test.request", None, done)
    async with asyncio.timeout(WAIT):
        await told.wait()
    assert seen[1:] == [({"method": "Test.request"}, None)]
    told.clear()
    cdp.answer = never
    session.request("Test.pending", None, done)
    await asyncio.sleep(0)
    cdp.emit("close", cdp)
    async with asyncio.timeout(WAIT):
        await told.wait()
    assert isinstance(seen[2][1], EngineCrashedError)
    with pytest.raises(EngineCrashedError):
        session.request("Test.more", None, done)


async def test_nested_sessions_are_unsupported() -> None:
    with pytest.raises(UnsupportedError, match="out-of-process"):
        PlaywrightSession(FakeCDPSession()).child("S")


@pytest.fixture
async def real() -> AsyncIterator[tuple[CDPSession, Page]]:
    from playwright.async_api import async_playwright

    from pywebmcp.engines import find_chromium

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        page = await browser.new_page()
        yield await page.context.new_cdp_session(page), page
        await browser.close()


@pytest.mark.chromium
async def test_on_a_real_page_replies_keep_their_place_among_events(real: tuple[CDPSession, Page]) -> None:
    cdp, page = real
    session = PlaywrightSession(cdp, page)
    seen: list[str] = []
    session.on("Runtime.bindingCalled", lambda params: seen.append(params["payload"]))
    await session.send("Runtime.enable")
    await session.send("Runtime.addBinding", {"name": "tell"})
    for _ in range(50):
        seen.clear()
        await session.send(
            "Runtime.evaluate",
            {"expression": "Promise.resolve().then(() => setTimeout(() => tell('after'))); tell('before')"},
            on_reply=lambda _: seen.append("reply"),
        )
        await session.send(
            "Runtime.evaluate",
            {"expression": "new Promise(done => setTimeout(() => setTimeout(done)))", "awaitPromise": True},
        )
        assert seen == ["before", "reply", "after"]


@pytest.mark.chromium
async def test_closing_a_real_page_wakes_a_waiting_command(real: tuple[CDPSession, Page]) -> None:
    cdp, page = real
    session = PlaywrightSession(cdp, page)
    told = asyncio.Event()
    session.on_closed(told.set)
    task = asyncio.ensure_future(
        session.send("Runtime.evaluate", {"expression": "new Promise(() => {})", "awaitPromise": True}, timeout=None)
    )
    await session.send("Runtime.evaluate", {"expression": "1"})
    await page.close()
    async with asyncio.timeout(WAIT):
        with pytest.raises(EngineCrashedError):
            await task
        await told.wait()

"""Our calls and bare loops on the same socket library, interleaved call by call. Milliseconds, medians."""

from __future__ import annotations

import json
import statistics
from time import perf_counter
from typing import TYPE_CHECKING, Any

from websockets.asyncio.client import connect, unix_connect

import pywebmcp

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ADD = "async ({a, b}) => ({sum: a + b})"


class Bare:
    """The least that a CDP client can do: send, receive until the answer is there."""

    def __init__(self, socket: Any) -> None:
        self.socket = socket
        self.number = 0
        self.events: list[dict[str, Any]] = []

    @classmethod
    async def to(cls, browser: pywebmcp.Browser) -> Bare:
        engine = browser._engine
        assert engine is not None
        options: dict[str, Any] = {"max_size": None, "compression": None, "ping_interval": None}
        endpoint = engine.endpoint
        if endpoint.unix:
            return cls(await unix_connect(endpoint.unix, endpoint.url, **options))
        return cls(await connect(endpoint.url, **options))

    async def send(self, method: str, params: dict[str, Any], session: str | None = None) -> dict[str, Any]:
        self.number += 1
        message: dict[str, Any] = {"id": self.number, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        await self.socket.send(json.dumps(message))
        while True:
            got = json.loads(await self.socket.recv())
            if got.get("id") == self.number:
                return got.get("result", {})
            self.events.append(got)

    async def event(self, method: str) -> dict[str, Any]:
        while True:
            for index, got in enumerate(self.events):
                if got.get("method") == method:
                    return self.events.pop(index)["params"]
            self.events.append(json.loads(await self.socket.recv()))

    async def page(self) -> str:
        target = (await self.send("Target.createTarget", {"url": "about:blank"}))["targetId"]
        return (await self.send("Target.attachToTarget", {"targetId": target, "flatten": True}))["sessionId"]


async def interleaved(times: int, *works: Callable[[], Awaitable[object]]) -> list[float]:
    """The medians of several works, one turn each, in milliseconds."""
    seen: list[list[float]] = [[] for _ in works]
    for _ in range(times):
        for work, times_seen in zip(works, seen, strict=True):
            start = perf_counter()
            await work()
            times_seen.append((perf_counter() - start) * 1e3)
    return [statistics.median(values) for values in seen]


async def embedded(url: str, calls: int) -> dict[str, float]:
    """Our call on Lightpanda beside one awaited `Runtime.callFunctionOn` of the same function."""
    async with pywebmcp.launch() as browser:
        page = await browser.open(url)
        await page.wait_for_tool("add")
        bare = await Bare.to(browser)
        session = await bare.page()
        await bare.send("Runtime.enable", {}, session)
        await bare.send("Page.enable", {}, session)
        await bare.send("Page.navigate", {"url": url}, session)
        created = await bare.event("Runtime.executionContextCreated")
        while created["context"]["origin"] == "":
            created = await bare.event("Runtime.executionContextCreated")
        params = {
            "functionDeclaration": ADD,
            "executionContextId": created["context"]["id"],
            "arguments": [{"value": {"a": 1, "b": 2}}],
            "awaitPromise": True,
            "returnByValue": True,
        }

        async def bare_call() -> None:
            got = await bare.send("Runtime.callFunctionOn", params, session)
            assert got["result"]["value"] == {"sum": 3}, got

        async def our_call() -> None:
            assert (await page.call("add", {"a": 1, "b": 2})).value == {"sum": 3}

        async def navigate_and_list() -> None:
            await page.goto(url)
            assert await page.tools()

        await interleaved(100, our_call, bare_call)
        ours, loop = await interleaved(calls, our_call, bare_call)
        (listing,) = await interleaved(300, page.tools)
        (goto_list,) = await interleaved(50, navigate_and_list)
        await bare.socket.close()
        return {"call": ours, "bare": loop, "list": listing, "goto_list": goto_list}


async def native(url: str, calls: int) -> dict[str, float]:
    """Our call on native Chromium beside a bare `WebMCP.invokeTool` and its `toolResponded`."""
    async with pywebmcp.launch("chromium", mode="native") as browser:
        page = await browser.open(url)
        await page.wait_for_tool("add")
        bare = await Bare.to(browser)
        session = await bare.page()
        for domain in ("Page", "WebMCP"):
            await bare.send(f"{domain}.enable", {}, session)
        await bare.send("Page.navigate", {"url": url}, session)
        frame = (await bare.event("WebMCP.toolsAdded"))["tools"][0]["frameId"]

        async def bare_call() -> None:
            bare.events.clear()
            invoke = {"frameId": frame, "toolName": "add", "input": {"a": 1, "b": 2}}
            await bare.send("WebMCP.invokeTool", invoke, session)
            got = await bare.event("WebMCP.toolResponded")
            assert got["output"] == {"sum": 3}, got

        async def our_call() -> None:
            assert (await page.call("add", {"a": 1, "b": 2})).value == {"sum": 3}

        await interleaved(50, our_call, bare_call)
        ours, loop = await interleaved(calls, our_call, bare_call)
        (listing,) = await interleaved(200, page.tools)
        await bare.socket.close()
        return {"call": ours, "bare": loop, "list": listing}

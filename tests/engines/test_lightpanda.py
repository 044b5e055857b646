from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import threading
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp.engines import LightpandaOptions, identify, start_lightpanda
from pywebmcp.errors import EngineCrashedError, EngineStartError
from pywebmcp.wire import Connection, Session, connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from pywebmcp.engines import RunningEngine

    from .conftest import Watch

WAIT = 10.0


async def wired(engine: RunningEngine) -> Connection:
    endpoint = await engine.ready()
    return await connect(endpoint.url, unix=endpoint.unix, name=engine.name)


async def new_page(engine: RunningEngine) -> Session:
    root = await wired(engine)
    await root.send("Target.createTarget", {"url": "about:blank"})
    target = (await root.send("Target.getTargets"))["targetInfos"][0]["targetId"]
    return root.child((await root.send("Target.attachToTarget", {"targetId": target, "flatten": True}))["sessionId"])


async def evaluate(page: Session, expression: str) -> Any:
    reply = await page.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
    return reply["result"].get("value")


@pytest.fixture
async def engine() -> AsyncIterator[RunningEngine]:
    engine = start_lightpanda()
    yield engine
    await engine.close()


async def test_it_starts_answers_and_leaves_nothing(
    watch: Callable[[int], Watch], folders: Callable[[], list[str]], temporary: Path
) -> None:
    threads = set(threading.enumerate())
    descriptors = len(os.listdir("/proc/self/fd"))
    engine = start_lightpanda()
    page = await new_page(engine)
    assert await evaluate(page, "1 + 1") == 2
    assert engine.name == "lightpanda"
    assert engine.executable.endswith("lightpanda")
    assert engine.exit_reason() is None
    assert [stat.S_IMODE((temporary / name).stat().st_mode) for name in folders()] == [0o700]
    watched = watch(engine.pid)
    assert engine.pid in watched.pids
    assert len(watched.pids) == 2  # the engine and its watcher
    page.abort()
    await engine.close()
    assert watched.ended()
    assert folders() == []
    assert engine.exit_reason() is not None
    await engine.close()
    assert set(threading.enumerate()) == threads
    await asyncio.sleep(0)  # the aborted transport closes its socket in the next turn
    assert len(os.listdir("/proc/self/fd")) == descriptors


async def test_it_tells_its_own_version(engine: RunningEngine) -> None:
    info = await identify(await engine.ready())
    assert info is not None
    assert info.name == "lightpanda"
    assert info.version.startswith("1.")


async def test_starting_returns_before_it_answers_and_ready_may_be_asked_twice(engine: RunningEngine) -> None:
    with pytest.raises(EngineStartError, match="not ready"):
        _ = engine.endpoint
    first = await engine.ready()
    assert await engine.ready() is first
    assert engine.endpoint is first
    assert first.unix is not None


async def test_two_live_side_by_side(engine: RunningEngine) -> None:
    other = start_lightpanda()
    pages = [await new_page(engine), await new_page(other)]
    await evaluate(pages[0], "globalThis.mark = 'first'")
    assert await evaluate(pages[1], "typeof mark") == "undefined"
    await other.close()
    assert await evaluate(pages[0], "mark") == "first"
    pages[0].abort()


async def test_killing_it_wakes_its_waiters_and_tells_how_it_ended(engine: RunningEngine) -> None:
    page = await new_page(engine)
    codes: list[int] = []
    exited = asyncio.Event()
    stop = engine.on_exit(codes.append)
    engine.on_exit(codes.append)
    engine.on_exit(lambda _: exited.set())
    stop()
    task = asyncio.ensure_future(page.send("Runtime.evaluate", {"expression": "1", "awaitPromise": True}))
    await task
    task = asyncio.ensure_future(
        page.send("Runtime.evaluate", {"expression": "new Promise(() => {})", "awaitPromise": True}, timeout=None)
    )
    await page.send("Runtime.evaluate", {"expression": "1"})
    os.kill(engine.pid, signal.SIGKILL)
    async with asyncio.timeout(2):
        with pytest.raises(EngineCrashedError):
            await task
        await exited.wait()
    assert codes == [-signal.SIGKILL]
    assert engine.exit_reason() == "lightpanda was ended by SIGKILL"
    late = asyncio.Event()
    engine.on_exit(lambda _: late.set())
    async with asyncio.timeout(2):
        await late.wait()


async def test_cutting_the_connection_of_a_looping_page_leaves_the_others_alive(engine: RunningEngine) -> None:
    looping, other = await new_page(engine), await new_page(engine)
    started = asyncio.Event()
    looping.on("Runtime.consoleAPICalled", lambda _: started.set())
    await looping.send("Runtime.enable")
    task = asyncio.ensure_future(
        looping.send("Runtime.evaluate", {"expression": "console.log('in'); for (;;);"}, timeout=None)
    )
    async with asyncio.timeout(WAIT):
        await started.wait()
        assert await evaluate(other, "1 + 1") == 2
        looping.abort()
        with pytest.raises(EngineCrashedError):
            await task
        assert await evaluate(other, "2 + 2") == 4
        another = await new_page(engine)
        assert await evaluate(another, "3 + 3") == 6
    assert engine.exit_reason() is None
    other.abort()
    another.abort()


async def test_a_looping_page_does_not_delay_the_end(engine: RunningEngine, watch: Callable[[int], Watch]) -> None:
    page = await new_page(engine)
    page.post("Runtime.evaluate", {"expression": "for (;;);"})
    watched = watch(engine.pid)
    async with asyncio.timeout(5):
        await engine.close()
    assert watched.ended(5)
    page.abort()


async def test_where_the_path_of_a_socket_would_be_too_long_it_takes_a_port(
    temporary: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = temporary / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    engine = start_lightpanda()
    try:
        endpoint = await engine.ready()
        assert endpoint.unix is None
        assert endpoint.url.startswith("ws://127.0.0.1:")
        page = await new_page(engine)
        assert await evaluate(page, "1 + 1") == 2
        info = await identify(endpoint)
        assert info is not None
        assert info.name == "lightpanda"
        page.abort()
    finally:
        await engine.close()
    assert list(deep.iterdir()) == []


async def test_options_reach_the_requests(web: tuple[str, list[str]]) -> None:
    url, requests = web
    engine = start_lightpanda(
        LightpandaOptions(
            headers={"X-First": "1", "X-Second": "two words"},
            user_agent_suffix="pywebmcp-test",
            resources=("image", "stylesheet", "worker"),
            args=("--locale", "de-DE"),
        )
    )
    try:
        page = await new_page(engine)
        await page.send("Page.navigate", {"url": url})
        assert await evaluate(page, "document.title") == "page"
        assert await evaluate(page, "navigator.language") == "de-DE"
        assert "X-First: 1\r\n" in requests[0]
        assert "X-Second: two words\r\n" in requests[0]
        assert "pywebmcp-test" in requests[0]
        page.abort()
    finally:
        await engine.close()


async def test_private_networks_can_be_blocked(web: tuple[str, list[str]]) -> None:
    url, requests = web
    engine = start_lightpanda(LightpandaOptions(block_private_networks=True))
    try:
        page = await new_page(engine)
        assert "errorText" in await page.send("Page.navigate", {"url": url})
        assert requests == []
        page.abort()
    finally:
        await engine.close()


async def test_a_proxy_gets_the_requests_of_any_host(web: tuple[str, list[str]]) -> None:
    url, requests = web
    engine = start_lightpanda(LightpandaOptions(proxy=url, obey_robots=True, ignore_tls_errors=True))
    try:
        page = await new_page(engine)
        await page.send("Page.navigate", {"url": "http://made-up.example/path"})
        assert {request.split()[1] for request in requests} == {
            "http://made-up.example/path",
            "http://made-up.example/robots.txt",
        }
        page.abort()
    finally:
        await engine.close()


async def test_cookies_are_kept_in_a_jar_and_read_back(tmp_path: Path) -> None:
    jar = tmp_path / "cookies.json"
    options = LightpandaOptions(cookie_file=jar, cookie_jar=jar)
    cookie = {"name": "sid", "value": "abc", "url": "https://a.example/", "expires": 4_000_000_000}
    engine = start_lightpanda(options)
    try:
        page = await new_page(engine)
        await page.send("Network.setCookie", cookie)
    finally:
        await engine.close()  # asks it to end, which saves them
    assert [(each["name"], each["value"]) for each in json.loads(jar.read_text("utf-8"))] == [("sid", "abc")]
    engine = start_lightpanda(options)
    try:
        page = await new_page(engine)
        cookies = (await page.send("Network.getAllCookies"))["cookies"]
        assert [(each["name"], each["value"]) for each in cookies] == [("sid", "abc")]
        page.abort()
    finally:
        await engine.close()


async def test_each_connection_has_cookies_of_its_own(engine: RunningEngine) -> None:
    first, second = await new_page(engine), await new_page(engine)
    await first.send("Network.setCookie", {"name": "sid", "value": "abc", "url": "https://a.example/"})
    assert len((await first.send("Network.getAllCookies"))["cookies"]) == 1
    assert (await second.send("Network.getAllCookies"))["cookies"] == []
    first.abort()
    second.abort()


async def test_one_process_carries_many_pages(engine: RunningEngine) -> None:
    pages = [await new_page(engine) for _ in range(40)]
    numbers = await asyncio.gather(*(evaluate(page, f"{number}") for number, page in enumerate(pages)))
    assert numbers == list(range(40))
    for page in pages:
        page.abort()


async def test_messages_of_20_mib_pass_both_ways(engine: RunningEngine) -> None:
    page = await new_page(engine)
    text = await evaluate(page, f'"{"x" * 20 * 1024 * 1024}"')
    assert len(text) == 20 * 1024 * 1024
    page.abort()

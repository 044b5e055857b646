from __future__ import annotations

import asyncio
import os
import signal
import stat
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp.engines import ChromiumOptions, identify, resolve_endpoint, start_chromium
from pywebmcp.engines._chromium import _flags
from pywebmcp.errors import EngineCrashedError, EngineStartError
from pywebmcp.wire import Connection, Session, connect

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pywebmcp.engines import RunningEngine
    from pywebmcp.types import Mode

    from .conftest import Watch

WAIT = 10.0


async def new_page(connection: Connection, url: str = "about:blank") -> Session:
    target = (await connection.send("Target.createTarget", {"url": url}))["targetId"]
    attached = await connection.send("Target.attachToTarget", {"targetId": target, "flatten": True})
    return connection.child(attached["sessionId"])


async def evaluate(page: Session, expression: str) -> Any:
    reply = await page.send("Runtime.evaluate", {"expression": expression, "awaitPromise": True, "returnByValue": True})
    return reply["result"].get("value")


async def wired(engine: RunningEngine) -> Connection:
    endpoint = await engine.ready()
    return await connect(endpoint.url, unix=endpoint.unix, name=engine.name)


@pytest.mark.chromium
async def test_it_starts_answers_and_leaves_nothing(
    watch: Callable[[int], Watch], folders: Callable[[], list[str]], temporary: Path
) -> None:
    engine = start_chromium()
    connection = await wired(engine)
    pages = [info for info in (await connection.send("Target.getTargets"))["targetInfos"] if info["type"] == "page"]
    assert pages == []
    page = await new_page(connection)
    assert await evaluate(page, "1 + 1") == 2
    info = await identify(engine.endpoint)
    assert info is not None
    assert info.name == "chromium"
    assert int(info.version.split(".")[0]) > 140
    watched = watch(engine.pid)
    assert len(watched.pids) > 3  # zygotes, renderers, services
    assert [stat.S_IMODE((temporary / name).stat().st_mode) for name in folders()] == [0o700]
    await connection.close()
    await engine.close()
    assert watched.ended(5)
    assert os.listdir(temporary) == []


@pytest.mark.chromium
async def test_a_running_one_is_found_by_its_http_address() -> None:
    engine = start_chromium()
    try:
        started = await engine.ready()
        port = started.url.split(":")[2].split("/")[0]
        for address in (
            f"http://127.0.0.1:{port}",
            f"http://localhost:{port}/",
            f"http://127.0.0.1:{port}/json/version",
        ):
            endpoint = await resolve_endpoint(address)
            assert endpoint.url.split("/devtools/")[1] == started.url.split("/devtools/")[1]
            connection = await connect(endpoint.url)
            assert "Chrome" in (await connection.send("Browser.getVersion"))["product"]
            await connection.close()
    finally:
        await engine.close()


@pytest.mark.chromium
@pytest.mark.parametrize(("mode", "present"), [("auto", True), ("native", True), ("runtime", False), ("off", False)])
async def test_the_mode_switches_the_native_model_context(
    mode: Mode, present: bool, web: tuple[str, list[str]]
) -> None:
    engine = start_chromium(ChromiumOptions(mode=mode))
    try:
        connection = await wired(engine)
        page = await new_page(connection)
        loaded = asyncio.Event()
        page.on("Page.loadEventFired", lambda _: loaded.set())
        await page.send("Page.enable")
        await page.send("Page.navigate", {"url": web[0]})
        async with asyncio.timeout(WAIT):
            await loaded.wait()
        assert await evaluate(page, "'modelContext' in Document.prototype") is present
        await connection.close()
    finally:
        await engine.close()


@pytest.mark.chromium
async def test_killing_it_wakes_waiters_and_takes_its_children_along(watch: Callable[[int], Watch]) -> None:
    engine = start_chromium()
    try:
        connection = await wired(engine)
        page = await new_page(connection)
        watched = watch(engine.pid)
        exited: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        engine.on_exit(exited.set_result)
        task = asyncio.ensure_future(
            page.send("Runtime.evaluate", {"expression": "new Promise(() => {})", "awaitPromise": True}, timeout=None)
        )
        await page.send("Runtime.evaluate", {"expression": "1"})
        os.kill(engine.pid, signal.SIGKILL)
        async with asyncio.timeout(2):
            with pytest.raises(EngineCrashedError):
                await task
            assert await exited == -signal.SIGKILL
        assert watched.ended(5)
        await connection.close()
    finally:
        await engine.close()


@pytest.mark.chromium
@pytest.mark.requirement("engine:kept-profile")
async def test_a_kept_profile_stays_and_is_read_again(tmp_path: Path, web: tuple[str, list[str]]) -> None:
    profile = tmp_path / "my profile"
    cookie = {"name": "sid", "value": "abc", "url": web[0], "expires": 4_000_000_000}
    for expected in ([], [("sid", "abc")]):
        engine = start_chromium(ChromiumOptions(profile=profile))
        try:
            connection = await wired(engine)
            found = (await connection.send("Storage.getCookies"))["cookies"]
            assert [(each["name"], each["value"]) for each in found] == expected
            await connection.send("Storage.setCookies", {"cookies": [cookie]})
            await connection.close()
        finally:
            await engine.close()
        assert (profile / "Default").is_dir()
        assert stat.S_IMODE(profile.stat().st_mode) == 0o700


@pytest.mark.chromium
async def test_a_kept_profile_in_use_says_so(tmp_path: Path) -> None:
    options = ChromiumOptions(profile=tmp_path / "profile")
    engine = start_chromium(options)
    try:
        await engine.ready()
        second = start_chromium(options)
        with pytest.raises(EngineStartError, match="in use by another browser"):
            await second.ready()
        connection = await wired(engine)
        assert await connection.send("Browser.getVersion")
        await connection.close()
    finally:
        await engine.close()


@pytest.mark.chromium
async def test_a_kept_profile_of_a_killed_browser_can_be_opened_again(tmp_path: Path) -> None:
    options = ChromiumOptions(profile=tmp_path / "profile")
    engine = start_chromium(options)
    await engine.ready()
    os.kill(engine.pid, signal.SIGKILL)
    await engine.close()
    engine = start_chromium(options)
    await engine.ready()
    await engine.close()


async def test_a_profile_that_cannot_be_made_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineStartError, match=r"profile .*file/profile cannot be made"):
        start_chromium(ChromiumOptions(profile=tmp_path / "file" / "profile"))


@pytest.mark.chromium
async def test_a_proxy_gets_the_requests_of_any_host(web: tuple[str, list[str]]) -> None:
    url, requests = web
    engine = start_chromium(ChromiumOptions(proxy=url.rstrip("/")))
    try:
        connection = await wired(engine)
        page = await new_page(connection)
        await page.send("Page.navigate", {"url": "http://made-up.example/path"})
        assert "http://made-up.example/path" in [request.split()[1] for request in requests]
        await connection.close()
    finally:
        await engine.close()


def flags(**options: Any) -> list[str]:
    return _flags(ChromiumOptions(**options))


def test_features_of_the_caller_join_ours() -> None:
    given = flags(args=("--enable-features=Mine,Other", "--disable-features=Theirs", "--lang=de"))
    enabled = [flag for flag in given if flag.startswith("--enable-features=")]
    disabled = [flag for flag in given if flag.startswith("--disable-features=")]
    assert enabled == ["--enable-features=WebMCP,WebMCPTesting,DevToolsWebMCPSupport,Mine,Other"]
    assert len(disabled) == 1
    assert disabled[0].endswith(",Theirs")
    assert given[-1] == "--lang=de"
    assert not [flag for flag in flags(mode="runtime") if flag.startswith("--enable-features=")]


def test_the_sandbox_is_given_up_for_root_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert "--no-sandbox" in flags()
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    assert "--no-sandbox" not in flags()


def test_switches_follow_the_options() -> None:
    assert "--headless=new" in flags()
    assert not [flag for flag in flags(headless=False) if "headless" in flag]
    assert "--ignore-certificate-errors" in flags(ignore_tls_errors=True)
    assert "--proxy-server=http://proxy:1" in flags(proxy="http://user:secret@proxy:1")
    assert "--proxy-server=proxy:1" in flags(proxy="proxy:1")

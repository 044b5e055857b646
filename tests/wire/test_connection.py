from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
import socket
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp.errors import EndpointRefusedError, EngineCrashedError, EngineError, ProtocolError
from pywebmcp.wire import Connection, connect

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from .conftest import FakeBrowser, Handler

    TcpServer = Callable[[Handler], Awaitable[int]]
    Settled = Callable[[Connection, FakeBrowser], Awaitable[None]]

WAIT = 5.0
MIB = 1024 * 1024


async def within(work: Awaitable[Any]) -> Any:
    async with asyncio.timeout(WAIT):
        return await work


# --- commands -----------------------------------------------------------------------------------------------


async def test_a_command_carries_its_parameters_and_returns_the_result(
    connection: Connection, browser: FakeBrowser
) -> None:
    task = asyncio.ensure_future(connection.send("Browser.getVersion", {"a": [1, "é", None]}))
    command = await browser.answer({"product": "Fake/1"})
    assert {"method": "Browser.getVersion", "params": {"a": [1, "é", None]}}.items() <= command.items()
    assert "sessionId" not in command
    assert await within(task) == {"product": "Fake/1"}


async def test_a_child_session_addresses_its_target(connection: Connection, browser: FakeBrowser) -> None:
    child = connection.child("S-1")
    task = asyncio.ensure_future(child.send("Page.enable"))
    assert (await browser.answer())["sessionId"] == "S-1"
    assert await within(task) == {}
    assert connection.child("S-1") is child


async def test_commands_arrive_in_the_order_of_their_calls(connection: Connection, browser: FakeBrowser) -> None:
    tasks = [asyncio.ensure_future(connection.send(f"Test.n{number}")) for number in range(200)]
    connection.child("S").post("Test.last")
    assert [(await browser.command())["method"] for _ in range(201)] == [
        "Test.last",  # posted before the tasks had their first turn
        *(f"Test.n{number}" for number in range(200)),
    ]
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_answers_in_any_order_reach_their_own_commands(connection: Connection, browser: FakeBrowser) -> None:
    tasks = [asyncio.ensure_future(connection.send("Test.echo", {"n": number})) for number in range(100)]
    commands = [await browser.command() for _ in tasks]
    await browser.say(*({"id": command["id"], "result": command["params"]} for command in reversed(commands)))
    assert await within(asyncio.gather(*tasks)) == [{"n": number} for number in range(100)]


async def test_a_refused_command_tells_number_and_reason(connection: Connection, browser: FakeBrowser) -> None:
    task = asyncio.ensure_future(connection.send("Nope.nope"))
    command = await browser.command()
    await browser.say({"id": command["id"], "error": {"code": -32601, "message": "'Nope.nope'\nwasn't found"}})
    with pytest.raises(ProtocolError) as caught:
        await within(task)
    assert (caught.value.method, caught.value.number) == ("Nope.nope", -32601)
    assert "\n" not in str(caught.value)


@pytest.mark.requirement("wire:deadline")
async def test_a_command_that_is_not_answered_ends_at_its_deadline_and_leaves_no_id(
    connection: Connection, browser: FakeBrowser, settled: Settled
) -> None:
    with pytest.raises(ProtocolError) as caught:
        await within(connection.send("Test.silence", timeout=0.02))
    assert caught.value.number is None
    assert "0.02 s" in str(caught.value)
    assert connection.pending == {}
    command = await browser.command()
    await browser.say({"id": command["id"], "result": {"late": True}})
    await settled(connection, browser)
    assert not connection.closed


async def test_a_canceled_command_leaves_no_id_and_its_late_answer_is_dropped(
    connection: Connection, browser: FakeBrowser, settled: Settled
) -> None:
    replies: list[dict[str, Any]] = []
    task = asyncio.ensure_future(connection.send("Test.canceled", timeout=None, on_reply=replies.append))
    command = await browser.command()
    assert len(connection.pending) == 1
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert connection.pending == {}
    await browser.say({"id": command["id"], "result": {}}, {"id": command["id"], "result": {}})
    await settled(connection, browser)
    assert replies == []


async def test_what_is_no_json_value_is_refused_before_it_is_sent(connection: Connection) -> None:
    with pytest.raises(ValueError, match="JSON"):
        await connection.send("Test.nan", {"n": float("nan")})
    with pytest.raises(TypeError):
        await connection.send("Test.object", {"n": object()})
    assert connection.pending == {}


async def test_a_post_works_in_a_canceled_task_and_never_raises(connection: Connection, browser: FakeBrowser) -> None:
    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            connection.post("Test.cleanup", {"n": 1})
            connection.post("Test.impossible", {"n": object()})

    task = asyncio.ensure_future(work())
    await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task])
    assert (await browser.command())["method"] == "Test.cleanup"
    await connection.close()
    connection.post("Test.closed")


async def test_a_started_command_is_on_its_way_before_anybody_waits(
    connection: Connection, browser: FakeBrowser
) -> None:
    seen: list[dict[str, Any]] = []
    first = connection.start("Test.first", {"n": 1}, on_reply=seen.append)
    refused = connection.start("Test.refused")
    assert [(await browser.command())["method"] for _ in range(2)] == ["Test.first", "Test.refused"]
    await browser.say({"id": 1, "result": {"ok": 1}}, {"id": 2, "error": {"code": -32000, "message": "no"}})
    assert await within(first) == {"ok": 1}
    assert seen == [{"ok": 1}]
    with pytest.raises(ProtocolError):
        await within(refused)
    assert connection.pending == {}


async def test_a_request_hears_of_its_outcome_once_and_in_order(
    connection: Connection, browser: FakeBrowser, settled: Settled, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Any] = []
    connection.on("Test.event", lambda params: seen.append("event"))

    def faulty(result: dict[str, Any], error: EngineError | None) -> None:
        raise RuntimeError("boo")

    connection.request("Test.a", None, lambda result, error: seen.append((result, error)))
    connection.request("Test.b", {}, lambda result, error: seen.append((result, type(error))))
    connection.request("Test.c", {}, faulty)
    for _ in range(3):
        await browser.command()
    await browser.say(
        {"id": 1, "result": {"n": 1}},
        {"method": "Test.event"},
        {"id": 2, "error": {"code": 1, "message": "no"}},
        {"id": 3, "result": {}},
        {"id": 1, "result": {"n": "again"}},
    )
    await settled(connection, browser)
    assert seen == [({"n": 1}, None), "event", ({}, ProtocolError)]
    assert "callback" in caplog.text


async def test_a_callback_that_asks_again_while_the_connection_dies_finds_it_closed(
    connection: Connection, browser: FakeBrowser
) -> None:
    child = connection.child("S")
    outcomes: list[str] = []

    def again(result: dict[str, Any], error: EngineError | None) -> None:
        assert isinstance(error, EngineCrashedError)
        for session in (connection, child, connection.child("new"), child.child("newer")):
            try:
                session.request("Test.again", None, again)
            except EngineCrashedError:
                outcomes.append("refused")

    child.request("Test.first", None, again)
    connection.request("Test.second", None, again)
    await browser.command()
    connection.abort()
    assert outcomes == ["refused"] * 8
    assert connection.pending == {}
    with pytest.raises(EngineCrashedError):
        connection.start("Test.more")


# --- order --------------------------------------------------------------------------------------------------


@pytest.mark.requirement("wire:order")
async def test_a_reply_is_seen_between_the_events_around_it(connection: Connection, browser: FakeBrowser) -> None:
    seen: list[str] = []
    connection.on("Test.event", lambda params: seen.append(params["n"]))
    task = asyncio.ensure_future(connection.send("Test.run", on_reply=lambda result: seen.append(result["n"])))
    command = await browser.command()
    await browser.say(
        {"method": "Test.event", "params": {"n": "before"}},
        {"id": command["id"], "result": {"n": "reply"}},
        {"method": "Test.event", "params": {"n": "after"}},
    )
    assert await within(task) == {"n": "reply"}
    await asyncio.sleep(0)
    assert seen == ["before", "reply", "after"]


async def test_no_event_of_a_burst_is_lost_and_order_holds(
    connection: Connection, browser: FakeBrowser, settled: Settled
) -> None:
    seen: list[int] = []
    connection.child("S").on("Test.burst", lambda params: seen.append(params["n"]))
    await browser.say(*({"method": "Test.burst", "sessionId": "S", "params": {"n": n}} for n in range(20_000)))
    await settled(connection, browser)
    assert seen == list(range(20_000))


async def test_a_session_announced_by_an_event_misses_none_of_its_events(
    connection: Connection, browser: FakeBrowser, settled: Settled
) -> None:
    seen: list[dict[str, Any]] = []
    connection.on(
        "Target.attachedToTarget",
        lambda params: connection.child(params["sessionId"]).on("Test.first", seen.append) and None,
    )
    await browser.say(
        {"method": "Target.attachedToTarget", "params": {"sessionId": "new"}},
        {"method": "Test.first", "sessionId": "new", "params": {"n": 1}},
    )
    await settled(connection, browser)
    assert seen == [{"n": 1}]


async def test_events_without_parameters_and_of_unheard_names_are_fine(
    connection: Connection, browser: FakeBrowser, settled: Settled
) -> None:
    seen: list[dict[str, Any]] = []
    connection.on("Brand.new", seen.append)
    await browser.say({"method": "Brand.new"}, {"method": "Never.heard", "params": {}}, {"no": "method"})
    await settled(connection, browser)
    assert seen == [{}]


# --- handlers -----------------------------------------------------------------------------------------------


async def test_a_handler_that_raises_is_logged_and_disturbs_nobody(
    connection: Connection, browser: FakeBrowser, settled: Settled, caplog: pytest.LogCaptureFixture
) -> None:
    seen: list[Any] = []

    def faulty(params: dict[str, Any]) -> None:
        raise RuntimeError("boo")

    connection.on("Test.event", faulty)
    connection.on("Test.event", seen.append)
    await browser.say({"method": "Test.event", "params": {"n": 1}}, {"method": "Test.event", "params": {"n": 2}})
    await settled(connection, browser)
    assert seen == [{"n": 1}, {"n": 2}]
    assert [record.name for record in caplog.records] == ["pywebmcp.wire"] * 2


async def test_an_on_reply_that_raises_is_logged_and_the_command_still_returns(
    connection: Connection, browser: FakeBrowser, caplog: pytest.LogCaptureFixture
) -> None:
    def faulty(result: dict[str, Any]) -> None:
        raise RuntimeError("boo")

    task = asyncio.ensure_future(connection.send("Test.run", on_reply=faulty))
    await browser.answer({"ok": True})
    assert await within(task) == {"ok": True}
    assert "on_reply" in caplog.text


async def test_unsubscribing_is_idempotent_and_touches_only_its_own_subscription(
    connection: Connection, browser: FakeBrowser, settled: Settled
) -> None:
    seen: list[Any] = []
    first = connection.on("Test.event", seen.append)
    connection.on("Test.event", seen.append)
    first()
    first()
    await browser.say({"method": "Test.event", "params": {"n": 1}})
    await settled(connection, browser)
    assert seen == [{"n": 1}]


async def test_a_handler_may_unsubscribe_and_subscribe_while_it_runs(
    connection: Connection, browser: FakeBrowser, settled: Settled
) -> None:
    seen: list[str] = []

    def once(params: dict[str, Any]) -> None:
        seen.append("once")
        stop()
        connection.on("Test.event", lambda params: seen.append("later"))

    stop = connection.on("Test.event", once)
    await browser.say({"method": "Test.event"}, {"method": "Test.event"})
    await settled(connection, browser)
    assert seen == ["once", "later"]


# --- sessions that come and go ------------------------------------------------------------------------------


@pytest.mark.requirement("wire:unknown-sessions")
async def test_messages_of_unknown_sessions_do_not_harm_the_connection(
    connection: Connection, browser: FakeBrowser, settled: Settled
) -> None:
    await browser.say(
        {"method": "Test.event", "sessionId": "never heard of", "params": {}},
        {"method": "Target.detachedFromTarget", "params": {"sessionId": "nor of this"}},
        {"method": "Target.detachedFromTarget"},
        {"id": 999_999, "result": {}},
    )
    await settled(connection, browser)
    assert not connection.closed


async def test_a_detached_session_wakes_its_waiters_and_only_those(
    connection: Connection, browser: FakeBrowser, settled: Settled
) -> None:
    ended: list[str] = []
    child, other = connection.child("gone"), connection.child("stays")
    grandchild = child.child("gone too")
    for name, session in (("child", child), ("grandchild", grandchild), ("other", other), ("root", connection)):
        session.on_closed(lambda name=name: ended.append(name))
    tasks = [asyncio.ensure_future(session.send("Test.wait", timeout=None)) for session in (child, grandchild)]
    lasting = asyncio.ensure_future(other.send("Test.wait", timeout=None))
    last = [await browser.command() for _ in range(3)][-1]
    await browser.say(
        {"method": "Target.detachedFromTarget", "params": {"sessionId": "gone"}},
        {"method": "Test.event", "sessionId": "gone", "params": {}},
    )
    for task in tasks:
        with pytest.raises(EngineCrashedError, match="detached"):
            await within(task)
    assert child.closed
    assert grandchild.closed
    assert ended == ["grandchild", "child"]
    await browser.say({"id": last["id"], "result": {"still": "here"}})
    assert await within(lasting) == {"still": "here"}
    with pytest.raises(EngineCrashedError):
        await child.send("Test.more")
    await settled(connection, browser)


async def test_a_session_that_detached_before_anybody_asked_for_it_is_closed(
    connection: Connection, browser: FakeBrowser, settled: Settled
) -> None:
    await browser.say({"method": "Target.detachedFromTarget", "params": {"sessionId": "short"}})
    await settled(connection, browser)
    child = connection.child("short")
    told: list[bool] = []
    child.on_closed(lambda: told.append(True))
    assert child.closed
    assert told == [True]


# --- the end ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["cut", "farewell"])
@pytest.mark.requirement("wire:waiters-woken")
async def test_a_closed_socket_wakes_every_waiter_and_tells_everybody_once(
    connection: Connection, browser: FakeBrowser, ending: str
) -> None:
    told: list[str] = []
    child = connection.child("S")
    connection.on_closed(lambda: told.append("root"))
    child.on_closed(lambda: told.append("child"))
    unsubscribed = child.on_closed(lambda: told.append("never"))
    unsubscribed()
    tasks = [
        asyncio.ensure_future(session.send("Test.wait", timeout=None))
        for session in (connection, child)
        for _ in range(50)
    ]
    for _ in tasks:
        await browser.command()
    await (browser.cut() if ending == "cut" else (await browser.socket()).close())
    results = await within(asyncio.gather(*tasks, return_exceptions=True))
    assert {type(result) for result in results} == {EngineCrashedError}
    assert "fake closed the connection" in str(results[0])
    assert told == ["child", "root"]
    assert connection.closed
    assert child.closed
    assert connection.pending == {}
    with pytest.raises(EngineCrashedError):
        await child.send("Test.more")
    assert connection.child("new").closed


async def test_a_closing_handler_that_raises_does_not_keep_it_from_the_others(
    connection: Connection, browser: FakeBrowser
) -> None:
    told = asyncio.Event()

    def faulty() -> None:
        raise RuntimeError("boo")

    connection.on_closed(faulty)
    connection.on_closed(told.set)
    await browser.cut()
    await within(told.wait())


async def test_abort_wakes_everybody_before_it_returns(connection: Connection, browser: FakeBrowser) -> None:
    told: list[bool] = []
    child = connection.child("S")
    child.on_closed(lambda: told.append(True))
    task = asyncio.ensure_future(child.send("Test.wait", timeout=None))
    await browser.command()
    child.abort()
    assert connection.closed
    assert told == [True]
    with pytest.raises(EngineCrashedError, match="cut"):
        await within(task)
    connection.abort()


async def test_closing_leaves_no_task_behind(browser: FakeBrowser) -> None:
    before = asyncio.all_tasks()
    connection = await connect(browser.url)
    await connection.close()
    await connection.close()
    ours = {task for task in asyncio.all_tasks() - before if "pywebmcp" in task.get_name()}
    assert ours == set()


async def test_a_waiter_canceled_while_the_socket_dies_leaves_nothing_unretrieved(
    connection: Connection, browser: FakeBrowser
) -> None:
    complaints: list[dict[str, Any]] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: complaints.append(context))
    task = asyncio.ensure_future(connection.send("Test.wait", timeout=None))
    await browser.command()
    connection.abort()
    task.cancel()
    await asyncio.wait([task])
    del task
    await asyncio.sleep(0)
    assert complaints == []


async def test_closing_is_bounded_when_the_engine_says_no_farewell(tcp_server: TcpServer) -> None:
    async def deaf(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = (await reader.readuntil(b"\r\n\r\n")).decode()
        key = next(
            line.split(": ")[1] for line in request.split("\r\n") if line.lower().startswith("sec-websocket-key")
        )
        magic = (key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()
        accept = base64.b64encode(hashlib.sha1(magic, usedforsecurity=False).digest()).decode()
        writer.write(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Accept: {accept}\r\n\r\n".encode()
        )
        await reader.read()  # until the client cuts

    connection = await connect(f"ws://127.0.0.1:{await tcp_server(deaf)}/")
    async with asyncio.timeout(1.0):
        await connection.close(timeout=0.05)
    assert connection.closed


# --- big, deep and broken messages --------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.requirement("wire:large-messages")
async def test_messages_of_120_mib_pass_both_ways(connection: Connection, browser: FakeBrowser) -> None:
    size = 120 * MIB
    async with asyncio.timeout(50):
        task = asyncio.ensure_future(connection.send("Test.big", {"text": "x" * size}, timeout=None))
        command = await browser.commands.get()
        assert len(command["params"]["text"]) == size
        await browser.say(f'{{"id":{command["id"]},"result":{{"text":"{"y" * size}"}}}}')
        assert len((await task)["text"]) == size


async def test_messages_nested_deeper_than_python_recurses_pass_both_ways(
    connection: Connection, browser: FakeBrowser
) -> None:
    depth = 100_000
    deep: list[Any] = []
    for _ in range(depth - 1):
        deep = [deep]
    browser.commands = asyncio.Queue()
    task = asyncio.ensure_future(connection.send("Test.echo", timeout=WAIT))
    command = await browser.command()
    await browser.say(f'{{"id":{command["id"]},"result":{{"deep":{"[" * depth}{"]" * depth}}}}}')
    value = (await within(task))["deep"]
    levels = 1
    while value:
        value, levels = value[0], levels + 1
    assert levels == depth
    from pywebmcp.wire._connection import _encode_params

    assert _encode_params({"deep": deep}) == f'{{"deep":{"[" * depth}{"]" * depth}}}'


async def test_messages_that_are_no_json_objects_are_dropped_and_logged(
    connection: Connection, browser: FakeBrowser, settled: Settled, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "pywebmcp.wire")
    await browser.say("not json", "[1, 2]", "null", b'{"broken": "\xff"}', '{"id":')
    await settled(connection, browser)
    assert len(caplog.records) == 5
    assert not connection.closed


async def test_lone_surrogates_pass_both_ways(connection: Connection, browser: FakeBrowser) -> None:
    task = asyncio.ensure_future(connection.send("Test.echo", {"text": "\ud800 é \U0001f600"}))
    command = await browser.command()
    assert command["params"] == {"text": "\ud800 é \U0001f600"}
    await browser.say(f'{{"id":{command["id"]},"result":{{"text":"\\udfff"}}}}')
    assert await within(task) == {"text": "\udfff"}


# --- opening ------------------------------------------------------------------------------------------------


async def test_a_unix_socket_works_alike(unix_browser: tuple[FakeBrowser, str]) -> None:
    browser, path = unix_browser
    connection = await connect("ws://localhost/", unix=path)
    task = asyncio.ensure_future(connection.send("Browser.getVersion"))
    await browser.answer({"ok": 1})
    assert await within(task) == {"ok": 1}
    await connection.close()


async def test_a_port_where_nobody_listens_is_refused() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(EndpointRefusedError, match=f"cannot connect to .*{port}"):
        await within(connect(f"ws://127.0.0.1:{port}/"))


async def test_a_missing_unix_socket_is_refused(tmp_path: Any) -> None:
    with pytest.raises(EndpointRefusedError, match="nothing"):
        await within(connect("ws://localhost/", unix=str(tmp_path / "nothing")))


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "nonsense", "ws://"])
async def test_what_is_no_websocket_address_is_refused(address: str) -> None:
    with pytest.raises(EndpointRefusedError):
        await within(connect(address))


async def test_a_server_that_speaks_no_websocket_is_refused(tcp_server: TcpServer) -> None:
    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nno")

    port = await tcp_server(page)
    with pytest.raises(EndpointRefusedError, match="404"):
        await within(connect(f"ws://127.0.0.1:{port}/"))


async def test_a_server_that_says_nothing_is_given_up_at_the_deadline(tcp_server: TcpServer) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    port = await tcp_server(silent)
    with pytest.raises(EndpointRefusedError, match=r"0\.05 s"):
        await within(connect(f"ws://127.0.0.1:{port}/", timeout=0.05))


async def test_the_commands_on_the_wire_are_plain_ascii_json(connection: Connection, browser: FakeBrowser) -> None:
    connection.child('odd"id').post("Test.text", {"é": '"\n'})
    command = await browser.command()
    assert (command["sessionId"], command["params"]) == ('odd"id', {"é": '"\n'})
    assert browser.texts[0].isascii()
    assert json.loads(browser.texts[0]) == command

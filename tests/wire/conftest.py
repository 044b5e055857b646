"""A scripted browser: the other end of a WebSocket, for the tests of the wire."""

from __future__ import annotations

import asyncio
import contextlib
import json
from typing import TYPE_CHECKING, Any

import pytest
from websockets.asyncio.server import ServerConnection, serve, unix_serve
from websockets.exceptions import ConnectionClosed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
    from pathlib import Path

    from pywebmcp.wire import Connection

    Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

WAIT = 5.0


class FakeBrowser:
    """Records commands and says what the test makes it say."""

    def __init__(self) -> None:
        self.url = ""
        self.commands: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.texts: list[str] = []
        self._socket: asyncio.Future[ServerConnection] = asyncio.get_running_loop().create_future()

    async def serve_one(self, socket: ServerConnection) -> None:
        self._socket.set_result(socket)
        with contextlib.suppress(ConnectionClosed):
            async for text in socket:
                assert isinstance(text, str)
                self.texts.append(text if len(text) < 100_000 else "")
                self.commands.put_nowait(json.loads(text))

    async def command(self) -> dict[str, Any]:
        """The next command of the client."""
        async with asyncio.timeout(WAIT):
            return await self.commands.get()

    async def socket(self) -> ServerConnection:
        async with asyncio.timeout(WAIT):
            return await self._socket

    async def say(self, *messages: Mapping[str, Any] | str | bytes) -> None:
        """Sends the messages back to back, so that they arrive together."""
        socket = await self.socket()
        for message in messages:
            text = message if isinstance(message, str | bytes) else json.dumps(message)
            await socket.send(text, text=True)

    async def answer(self, result: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Answers the next command; returns it."""
        command = await self.command()
        await self.say({"id": command["id"], "result": result or {}})
        return command

    async def cut(self) -> None:
        """Dies as a killed process does: no farewell."""
        (await self.socket()).transport.abort()


@pytest.fixture
async def browser() -> AsyncIterator[FakeBrowser]:
    fake = FakeBrowser()
    async with serve(fake.serve_one, "127.0.0.1", 0, compression=None, max_size=None, close_timeout=1) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        fake.url = f"ws://127.0.0.1:{port}/devtools/browser/fake"
        yield fake


@pytest.fixture
async def connection(browser: FakeBrowser) -> AsyncIterator[Connection]:
    from pywebmcp.wire import connect

    connection = await connect(browser.url, name="fake")
    yield connection
    await connection.close()


@pytest.fixture
async def unix_browser(tmp_path: Path) -> AsyncIterator[tuple[FakeBrowser, str]]:
    fake = FakeBrowser()
    path = str(tmp_path / "cdp")
    async with unix_serve(fake.serve_one, path, compression=None):
        yield fake, path


@pytest.fixture
async def tcp_server() -> AsyncIterator[Callable[[Handler], Awaitable[int]]]:
    """Starts a server on 127.0.0.1, gives its port, and ends it with all its connections after the test."""
    servers: list[asyncio.Server] = []
    tasks: set[asyncio.Task[None]] = set()

    async def start(handler: Handler) -> int:
        async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            task = asyncio.current_task()
            assert task is not None
            tasks.add(task)
            with contextlib.suppress(ConnectionError):
                await handler(reader, writer)
            writer.close()
            with contextlib.suppress(ConnectionError):
                await writer.wait_closed()

        servers.append(await asyncio.start_server(serve_one, "127.0.0.1", 0))
        return servers[-1].sockets[0].getsockname()[1]

    yield start
    for server in servers:
        server.close()
    if tasks:
        _, pending = await asyncio.wait(tasks, timeout=WAIT)
        assert not pending


@pytest.fixture
def settled() -> Callable[[Connection, FakeBrowser], Awaitable[None]]:
    """Waits until the connection has handled everything that the browser said so far."""

    async def wait(connection: Connection, browser: FakeBrowser) -> None:
        task = asyncio.ensure_future(connection.send("Test.barrier"))
        while (await browser.answer())["method"] != "Test.barrier":
            pass
        async with asyncio.timeout(WAIT):
            await task

    return wait

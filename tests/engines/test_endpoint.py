from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

import pytest

from pywebmcp.engines import Endpoint, identify, resolve_endpoint
from pywebmcp.errors import EndpointRefusedError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Awaitable, Callable

    from .conftest import Handler

    TcpServer = Callable[[Handler], Awaitable[int]]

DESCRIPTION = json.dumps(
    {"Browser": "Chrome/156.0.1", "webSocketDebuggerUrl": "ws://172.17.0.2:9222/devtools/browser/abc"}
).encode()


def answering(*parts: bytes) -> Handler:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        for part in parts:
            writer.write(part)
        await writer.drain()

    return handle


def response(body: bytes, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


@pytest.mark.parametrize("address", ["ws://host:1/devtools/browser/x", "wss://host/path?token=t", " ws://host:1/ "])
async def test_websocket_addresses_are_taken_as_they_are(address: str) -> None:
    assert await resolve_endpoint(address) == Endpoint(url=address.strip())


async def test_an_http_address_is_asked_and_its_host_and_port_are_kept(tcp_server: TcpServer) -> None:
    port = await tcp_server(answering(response(DESCRIPTION)))
    endpoint = await resolve_endpoint(f"http://localhost:{port}")
    assert endpoint == Endpoint(url=f"ws://localhost:{port}/devtools/browser/abc")


async def test_the_question_keeps_path_and_query_and_names_the_host(tcp_server: TcpServer) -> None:
    asked: list[bytes] = []

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(response(DESCRIPTION))
        await writer.drain()

    port = await tcp_server(handle)
    await resolve_endpoint(f"http://user:pw@127.0.0.1:{port}/prefix/?token=t")
    assert asked[0].startswith(b"GET /prefix/json/version?token=t HTTP/1.1\r\n")
    assert f"Host: 127.0.0.1:{port}\r\n".encode() in asked[0]


async def test_chunked_and_unbounded_answers_are_read(tcp_server: TcpServer) -> None:
    half = len(DESCRIPTION) // 2
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    for part in (DESCRIPTION[:half], DESCRIPTION[half:], b""):
        chunked += f"{len(part):x};x=y\r\n".encode() + part + b"\r\n"
    for answer in (chunked, b"HTTP/1.0 200 OK\r\n\r\n" + DESCRIPTION):
        port = await tcp_server(answering(answer))
        assert (await resolve_endpoint(f"http://127.0.0.1:{port}")).url.endswith("/devtools/browser/abc")


async def test_nobody_there_is_refused() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(EndpointRefusedError, match=f"nothing answers at .*{port}"):
        await resolve_endpoint(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    "answer",
    [
        response(b"<h1>It works</h1>"),
        response(b"[]"),
        response(b"{}"),
        response(b'{"webSocketDebuggerUrl": 5}'),
        response(b"Host header is specified and is not an IP address or localhost.", "500 Internal Server Error"),
    ],
)
async def test_what_answers_but_is_no_browser_is_refused(answer: bytes, tcp_server: TcpServer) -> None:
    port = await tcp_server(answering(answer))
    with pytest.raises(EndpointRefusedError, match=r"no browser with a debugging port.*status (200|500)"):
        await resolve_endpoint(f"http://127.0.0.1:{port}")


@pytest.mark.parametrize(
    "answer",
    [b"", b"SSH-2.0-OpenSSH_9\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc", b"HTTP/1.1 abc\r\n\r\n"],
)
async def test_what_speaks_no_http_is_refused(answer: bytes, tcp_server: TcpServer) -> None:
    port = await tcp_server(answering(answer))
    with pytest.raises(EndpointRefusedError, match="does not speak HTTP"):
        await resolve_endpoint(f"http://127.0.0.1:{port}")


async def test_silence_is_given_up_at_the_deadline(tcp_server: TcpServer) -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    port = await tcp_server(silent)
    with pytest.raises(EndpointRefusedError, match=r"within 0\.05 s"):
        await resolve_endpoint(f"http://127.0.0.1:{port}", timeout=0.05)


@pytest.mark.parametrize(
    "address", ["localhost:9222", "ftp://host", "", "9222", "http://", "http://host:port", "http://[::1", "chromium"]
)
async def test_what_is_no_address_of_a_browser_is_refused(address: str) -> None:
    with pytest.raises(EndpointRefusedError, match="no address"):
        await resolve_endpoint(address)


async def test_an_engine_that_does_not_say_what_it_is_stays_unknown(tcp_server: TcpServer) -> None:
    for answer in (response(b"no"), response(b"{}"), b"", response(b"[1]")):
        port = await tcp_server(answering(answer))
        assert await identify(Endpoint(url=f"ws://127.0.0.1:{port}/x")) is None
    port = await tcp_server(answering(response(b'{"Browser": "HeadlessChrome/149.0.1"}')))
    info = await identify(Endpoint(url=f"ws://127.0.0.1:{port}/x"))
    assert info is not None
    assert (info.name, info.version) == ("chromium", "149.0.1")

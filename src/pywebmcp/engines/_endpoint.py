"""From what a user gives to `connect` to the address of a WebSocket."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pywebmcp.engines._running import Endpoint
from pywebmcp.errors import EndpointRefusedError
from pywebmcp.types import EngineInfo

if TYPE_CHECKING:
    from urllib.parse import SplitResult

__all__ = ["identify", "resolve_endpoint"]

RESOLVE_TIMEOUT: Final = 5.0
"""Seconds for asking ``/json/version``."""

_ANSWER_LIMIT: Final = 1024 * 1024
_SECURE: Final = {"http": False, "https": True}


async def resolve_endpoint(address: str, *, timeout: float = RESOLVE_TIMEOUT) -> Endpoint:
    """Finds the WebSocket of a running browser.

    Args:
        address: ``ws://…`` and ``wss://…`` are taken as they are; ``http://host:port`` and ``https://host:port``
            are asked for ``/json/version``, whose ``webSocketDebuggerUrl`` is then reached at the given host and
            port (a browser in a container names the address that it sees itself).
        timeout: Seconds for the question.

    Raises:
        EndpointRefusedError: no such scheme, nothing answers, or what answers is no browser.
    """
    try:
        parts = urlsplit(address.strip())
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise EndpointRefusedError(f"{_quote(address)} is no address: {error}") from None
    if parts.scheme not in ("ws", "wss", *_SECURE) or not host:
        raise EndpointRefusedError(
            f"{_quote(address)} is no address of a browser: use ws://host:port/…, or http://host:port "
            "of one that was started with --remote-debugging-port"
        )
    if parts.scheme not in _SECURE:
        return Endpoint(url=address.strip())
    try:
        async with asyncio.timeout(timeout):
            status, body = await _get(parts)
    except TimeoutError:
        raise EndpointRefusedError(f"{_quote(address)} did not answer within {timeout:g} s") from None
    except OSError as error:
        raise EndpointRefusedError(f"nothing answers at {_quote(address)}: {error}") from error
    except (EOFError, ValueError) as error:
        raise EndpointRefusedError(f"{_quote(address)} does not speak HTTP: {error}") from error
    return Endpoint(url=_socket_url(address, parts, status, body))


def _socket_url(address: str, parts: SplitResult, status: int, body: bytes) -> str:
    try:
        described: Any = json.loads(body)
        named = urlsplit(described["webSocketDebuggerUrl"])
    except (ValueError, KeyError, TypeError, AttributeError):
        said = body[:200].decode("utf-8", "replace").strip()
        raise EndpointRefusedError(
            f"what answers at {_quote(address)} is no browser with a debugging port: "
            f"/json/version gave status {status}{f' and {_quote(said)}' if said else ''}"
        ) from None
    scheme = "wss" if _SECURE[parts.scheme] else "ws"
    netloc = parts.netloc.rpartition("@")[2]
    return named._replace(scheme=scheme, netloc=netloc).geturl()


async def identify(endpoint: Endpoint, *, timeout: float = RESOLVE_TIMEOUT) -> EngineInfo | None:
    """Asks ``/json/version`` at an endpoint what runs there; None when it does not tell.

    Lightpanda imitates a Chrome in the CDP command ``Browser.getVersion`` and tells its own version only here.
    """
    parts = urlsplit(endpoint.url)
    parts = parts._replace(scheme="https" if parts.scheme == "wss" else "http", path="", query="")
    try:
        async with asyncio.timeout(timeout):
            _, body = await _get(parts, unix=endpoint.unix)
        described: Any = json.loads(body)
        if "Lightpanda-Version" in described:
            return EngineInfo(name="lightpanda", version=str(described["Lightpanda-Version"]))
        product, _, version = str(described["Browser"]).partition("/")
    except (OSError, EOFError, ValueError, KeyError, TypeError):
        return None
    chromium = product in ("Chrome", "HeadlessChrome", "Chromium")
    return EngineInfo(name="chromium" if chromium else product.lower(), version=version)


async def _get(parts: SplitResult, *, unix: str | None = None) -> tuple[int, bytes]:
    """One GET of ``/json/version``; urllib and http.client would cost their import and a thread."""
    path = parts.path.rstrip("/").removesuffix("/json/version") + "/json/version"
    query = f"?{parts.query}" if parts.query else ""
    request = (
        f"GET {path}{query} HTTP/1.1\r\nHost: {parts.netloc.rpartition('@')[2]}\r\n"
        "Accept: application/json\r\nConnection: close\r\n\r\n"
    )
    reader, writer = await _open(parts, unix)
    try:
        writer.write(request.encode("ascii", "backslashreplace"))
        status_line = (await reader.readline()).split(None, 2)
        if len(status_line) < 2 or not status_line[0].startswith(b"HTTP/"):
            raise ValueError("no status line")
        headers: dict[bytes, bytes] = {}
        while line := (await reader.readline()).strip():
            name, _, value = line.partition(b":")
            headers[name.strip().lower()] = value.strip()
        return int(status_line[1]), await _body(reader, headers)
    finally:
        writer.transport.abort()


async def _open(parts: SplitResult, unix: str | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    if unix is not None:
        return await asyncio.open_unix_connection(unix, limit=_ANSWER_LIMIT)
    secure = _SECURE[parts.scheme]
    port = parts.port or (443 if secure else 80)
    return await asyncio.open_connection(parts.hostname, port, ssl=secure or None, limit=_ANSWER_LIMIT)


async def _body(reader: asyncio.StreamReader, headers: dict[bytes, bytes]) -> bytes:
    if headers.get(b"transfer-encoding", b"").lower() == b"chunked":
        chunks: list[bytes] = []
        while size := int((await reader.readline()).split(b";")[0], 16):
            if size > _ANSWER_LIMIT or len(chunks) > _ANSWER_LIMIT:
                raise ValueError("too long an answer")
            chunks.append(await reader.readexactly(size))
            await reader.readline()
        return b"".join(chunks)
    length = headers.get(b"content-length")
    if length is not None:
        return await reader.readexactly(min(int(length), _ANSWER_LIMIT))
    return await reader.read(_ANSWER_LIMIT)


def _quote(text: str) -> str:
    from pywebmcp.values.quoting import quote

    return quote(text)

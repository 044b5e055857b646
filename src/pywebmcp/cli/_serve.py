"""A small web server for one folder: loopback only, read only, gone with the command.

It exists because WebMCP needs a secure context, which ``http://localhost`` is, and because modules and ``fetch`` need
an origin. It is not ``http.server``: importing that takes longer than opening a page on the embedded engine.
"""

from __future__ import annotations

import asyncio
import logging
import os
import stat
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, BinaryIO, Final
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator
    from pathlib import Path

__all__ = ["FolderServer", "content_type_of", "serve"]

log = logging.getLogger("pywebmcp.cli")

IDLE = 30.0
"""Seconds that a connection may take to send a request."""
WRITE = 30.0
"""Seconds that a client may take to accept the next chunk."""
CHUNK = 256 * 1024
HEADER_LIMIT = 32 * 1024
_TRIES = 16
# O_NOFOLLOW: what became a link since its path was resolved is not followed. O_NONBLOCK: a pipe does not hang.
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_TEXT: Final = {
    "css": "text/css",
    "csv": "text/csv",
    "htm": "text/html",
    "html": "text/html",
    "js": "text/javascript",
    "json": "application/json",
    "jsonld": "application/ld+json",
    "map": "application/json",
    "md": "text/markdown",
    "mjs": "text/javascript",
    "svg": "image/svg+xml",
    "txt": "text/plain",
    "vtt": "text/vtt",
    "webmanifest": "application/manifest+json",
    "xhtml": "application/xhtml+xml",
    "xml": "text/xml",
}
_BINARY: Final = {
    "avif": "image/avif",
    "gif": "image/gif",
    "ico": "image/x-icon",
    "jpeg": "image/jpeg",
    "jpg": "image/jpeg",
    "mp3": "audio/mpeg",
    "mp4": "video/mp4",
    "ogg": "audio/ogg",
    "otf": "font/otf",
    "pdf": "application/pdf",
    "png": "image/png",
    "ttf": "font/ttf",
    "wasm": "application/wasm",
    "wav": "audio/wav",
    "webm": "video/webm",
    "webp": "image/webp",
    "woff": "font/woff",
    "woff2": "font/woff2",
}
_OWN_ENCODING = ("html", "htm", "xhtml", "xml", "svg")
"""Kinds of text that may name their encoding themselves."""


def content_type_of(name: str, head: bytes = b"") -> str:
    """The ``Content-Type`` of a file by its name; text is UTF-8 unless its first bytes name an encoding."""
    suffix = name.rpartition(".")[2].lower() if "." in name else ""
    if suffix in _TEXT:
        own = suffix in _OWN_ENCODING and (b"charset=" in head.lower() or b"encoding=" in head.lower())
        return _TEXT[suffix] if own else f"{_TEXT[suffix]}; charset=utf-8"
    return _BINARY.get(suffix, "application/octet-stream")


class FolderServer:
    """Serves the files of one folder.

    Hidden files, folders without an ``index.html``, and whatever lies outside (also by a symbolic link) are not found.

    Args:
        folder: The folder, resolved.

    Attributes:
        missing: Paths that were asked for and not found, in order, without the browser's own ``/favicon.ico``.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = os.path.realpath(folder)
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._hosts: frozenset[str] = frozenset()
        self.missing: list[str] = []
        self.origin = ""

    async def start(self) -> None:
        """Takes a free port, on IPv4 and (where there is one) IPv6: ``localhost`` may mean either.

        Raises:
            OSError: no port could be taken.
        """
        for _ in range(_TRIES):
            first = await asyncio.start_server(self._connected, "127.0.0.1", 0, limit=HEADER_LIMIT)
            self._servers = [first]
            port: int = first.sockets[0].getsockname()[1]
            try:
                self._servers.append(await asyncio.start_server(self._connected, "::1", port, limit=HEADER_LIMIT))
            except OSError as error:
                import errno

                if error.errno == errno.EADDRINUSE:  # somebody else's localhost: another port
                    first.close()
                    continue
            self.origin = f"http://localhost:{port}"
            self._hosts = frozenset(f"{host}:{port}" for host in ("localhost", "127.0.0.1", "[::1]"))
            return
        raise OSError("no free port on localhost")

    async def close(self) -> None:
        """Stops at once; connections are cut."""
        for server in self._servers:
            server.close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)

    # --- connections -----------------------------------------------------------------------------------------

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        try:
            while await self._exchange(reader, writer):
                pass
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
            log.debug("a connection to the local server ended: %r", error)
        except asyncio.CancelledError:
            pass  # the server closes: this task's only owner is `close`
        finally:
            writer.transport.abort() if writer.transport.get_write_buffer_size() else writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answers one request; False when the connection is over."""
        async with asyncio.timeout(IDLE):
            head = await reader.readuntil(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        method, _, rest = lines[0].partition(" ")
        target, _, version = rest.rpartition(" ")
        headers = {
            name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
        }
        keep = version == "HTTP/1.1" and headers.get("connection", "").lower() != "close"
        has_body = headers.get("content-length", "0") != "0" or "transfer-encoding" in headers
        keep = keep and not has_body
        if headers.get("host", "").lower() not in self._hosts:
            # Another site's name that points to this machine (DNS rebinding).
            await self._plain(writer, "421 Misdirected Request", keep=False)
            return False
        if method not in ("GET", "HEAD"):
            await self._plain(writer, "405 Method Not Allowed", "Allow: GET, HEAD\r\n", keep=keep)
            return keep
        path = urlsplit(target).path if not target.startswith("//") else target.partition("?")[0]
        found = self._find(path)
        if found is None:
            if path != "/favicon.ico":
                self.missing.append(path)
            await self._plain(writer, "404 Not Found", keep=keep)
        elif isinstance(found, str):
            query = urlsplit(target).query
            location = f"{found}?{query}" if query else found
            await self._plain(writer, "301 Moved Permanently", f"Location: {location}\r\n", keep=keep)
        else:
            with found[0] as file:
                await self._send(writer, file, found[1], head_only=method == "HEAD", keep=keep)
        return keep

    async def _send(
        self, writer: asyncio.StreamWriter, file: BinaryIO, name: str, *, head_only: bool, keep: bool
    ) -> None:
        size = os.fstat(file.fileno()).st_size
        chunk = file.read(min(CHUNK, size))
        _head(writer, "200 OK", size, f"Content-Type: {content_type_of(name, chunk[:1024])}\r\n", keep=keep)
        sent = 0
        while chunk and not head_only:
            writer.write(chunk)
            sent += len(chunk)
            async with asyncio.timeout(WRITE):
                await writer.drain()
            chunk = file.read(min(CHUNK, size - sent))
        if sent < size and not head_only:  # the file shrank while it was sent: the promised length is broken
            raise ConnectionAbortedError(f"{name} changed while it was sent")

    async def _plain(self, writer: asyncio.StreamWriter, status: str, headers: str = "", *, keep: bool) -> None:
        body = status.encode()
        _head(writer, status, len(body), f"Content-Type: text/plain\r\n{headers}", keep=keep)
        writer.write(body)
        async with asyncio.timeout(WRITE):
            await writer.drain()

    # --- files -----------------------------------------------------------------------------------------------

    def _find(self, path: str) -> tuple[BinaryIO, str] | str | None:
        """The open file and its name, or where to go instead, or None."""
        decoded = unquote(path, errors="surrogateescape")
        parts = [part for part in decoded.split("/") if part]
        if not decoded.startswith("/") or _hidden(parts) or "\\" in decoded or "\0" in decoded:
            return None
        try:
            real = os.path.realpath(os.path.join(self._folder, *parts))
            inside = os.path.relpath(real, self._folder)
            if inside != os.curdir and _hidden(inside.split(os.sep)):  # ".." is hidden too
                return None
            if os.path.isdir(real):
                if not os.path.isfile(os.path.join(real, "index.html")):
                    return None
                if not path.endswith("/"):
                    return "/" + path.lstrip("/") + "/"
                # Resolved again: the index may be a link itself.
                return self._find(path + "index.html")
            if path.endswith("/"):
                return None
            file = os.fdopen(os.open(real, _OPEN), "rb")
        except (OSError, ValueError):
            return None
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            file.close()
            return None
        return file, parts[-1]


def _hidden(parts: list[str]) -> bool:
    return any(part.startswith(".") and part != ".well-known" for part in parts)


def _head(writer: asyncio.StreamWriter, status: str, size: int, headers: str, *, keep: bool) -> None:
    writer.write(
        f"HTTP/1.1 {status}\r\nContent-Length: {size}\r\n{headers}Cache-Control: no-store\r\n"
        f"X-Content-Type-Options: nosniff\r\nConnection: {'keep-alive' if keep else 'close'}\r\n\r\n".encode()
    )


@asynccontextmanager
async def serve(folder: Path) -> AsyncGenerator[FolderServer]:
    """Serves a folder at ``server.origin`` inside the ``async with`` block."""
    server = FolderServer(folder)
    await server.start()
    try:
        yield server
    finally:
        await server.close()

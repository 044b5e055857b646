"""Watching processes that are not ours to wait for, and Pythons that end in all kinds of ways."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator

    Handler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

WAIT = 10.0


class Watch:
    """A set of processes, whose end can be waited for whoever their parent is."""

    def __init__(self, pids: list[int]) -> None:
        self.pids = pids
        self._descriptors: list[int] = []
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                self._descriptors.append(os.pidfd_open(pid))

    def ended(self, timeout: float = WAIT) -> bool:
        """Waits until all have ended; False when one is still there at the deadline."""
        poll = select.poll()
        for descriptor in self._descriptors:
            poll.register(descriptor, select.POLLIN)
        while self._descriptors:
            ready = poll.poll(timeout * 1000)
            if not ready:
                return False
            for descriptor, _ in ready:
                poll.unregister(descriptor)
                self._descriptors.remove(descriptor)
                os.close(descriptor)
        return True

    def close(self) -> None:
        for descriptor in self._descriptors:
            os.close(descriptor)
        self._descriptors.clear()


@pytest.fixture
def watch() -> Iterator[Callable[[int], Watch]]:
    """Watches a process and its whole process group."""
    watches: list[Watch] = []

    def start(pid: int) -> Watch:
        group = os.getpgid(pid)
        members: list[int] = []
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                if os.getpgid(int(entry.name)) == group:
                    members.append(int(entry.name))
        watches.append(Watch(members))
        return watches[-1]

    yield start
    for each in watches:
        each.close()


@pytest.fixture(autouse=True)
def temporary(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A temporary directory of the test's own, so that nothing else sweeps or is swept."""
    tmp_path_factory.getbasetemp()  # pytest's own place is decided before
    # short: the path of a Unix socket must fit into it
    folder = Path(tempfile.mkdtemp(prefix="pwt-"))
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def folders(temporary: Path) -> Callable[[], list[str]]:
    """The throwaway folders that exist."""
    return lambda: sorted(entry.name for entry in temporary.iterdir() if entry.name.startswith("pywebmcp-"))


class Script:
    """A Python of its own, which says ``key value`` lines."""

    def __init__(self, code: str, *, new_group: bool) -> None:
        prelude = "import asyncio, atexit, os, signal, sys, threading, time\nfrom pywebmcp.engines import *\n"
        prelude += "from pywebmcp.engines import start_lightpanda, start_chromium\n"
        prelude += "def say(*words): print(*words, flush=True)\n"
        self.process = subprocess.Popen(
            [sys.executable, "-c", prelude + textwrap.dedent(code)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=new_group,
        )

    def said(self, key: str) -> str:
        """The rest of the next line that begins so; the lines before it are dropped."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            word, _, rest = line.strip().partition(" ")
            if word == key:
                return rest
        raise AssertionError(f"the script ended without saying {key!r}")

    def go_on(self) -> None:
        """Lets a script that reads a line from its standard input continue."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.kill()
        self.process.communicate(timeout=WAIT)


@pytest.fixture
def script() -> Iterator[Callable[[str], Script]]:
    scripts: list[Script] = []

    def start(code: str) -> Script:
        scripts.append(Script(code, new_group=True))
        return scripts[-1]

    yield start
    for each in scripts:
        each.close()


@pytest.fixture
def executable(tmp_path: Path) -> Callable[[str], str]:
    """Writes a shell script that plays an engine."""

    def write(body: str) -> str:
        path = tmp_path / f"engine-{len(list(tmp_path.iterdir()))}"
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return str(path)

    return write


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
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
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
async def web(tcp_server: Callable[[Handler], Awaitable[int]]) -> tuple[str, list[str]]:
    """The URL of a small page, and the list of requests that came for it."""
    requests: list[str] = []

    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        requests.append((await reader.readuntil(b"\r\n\r\n")).decode("latin-1"))
        body = b"<title>page</title>"
        writer.write(
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\n"
            + f"Content-Length: {len(body)}\r\n\r\n".encode()
            + body
        )
        await writer.drain()

    return f"http://127.0.0.1:{await tcp_server(page)}/", requests

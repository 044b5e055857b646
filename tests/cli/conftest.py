"""Running the real ``webmcp`` as a process of its own, and what its tests talk to."""

from __future__ import annotations

import asyncio
import json
import os
import select
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import signal

WEBMCP = str(Path(sys.executable).with_name("webmcp"))
PAGES = Path(__file__).parent.parent / "pages"
LIMIT = 50.0
"""Seconds that any of these processes may take on a busy machine."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """How a process ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        assert self.out.count("\n") == 1, self.out
        return json.loads(self.out)


Run = Callable[..., Awaitable[Ran]]


def environment(**changes: str) -> dict[str, str]:
    return {**{name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "TERM")}, **changes}


@pytest.fixture
def pages() -> Path:
    return PAGES


@pytest.fixture
def cli() -> Path:
    return PAGES / "cli"


@pytest.fixture
def outcomes() -> Path:
    return PAGES / "cli" / "outcomes.html"


@pytest.fixture
async def webmcp() -> Run:
    """Runs ``webmcp`` with these arguments to its end."""

    async def run(*arguments: object, stdin: bytes | None = None, **rest: Any) -> Ran:
        process = await asyncio.create_subprocess_exec(
            WEBMCP,
            *map(str, arguments),
            stdin=asyncio.subprocess.PIPE if stdin is not None else asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env=environment(),
            **rest,
        )
        try:
            async with asyncio.timeout(LIMIT):
                out, err = await process.communicate(stdin)
        finally:
            if process.returncode is None:
                process.kill()
                await process.wait()
        assert process.returncode is not None
        return Ran(code=process.returncode, out=out.decode(), err=err.decode())

    return run


@pytest.fixture
def on(engine: str) -> list[str]:
    """The options that choose the engine of this column."""
    return ["--engine", engine, *(["--mode", "native"] if engine == "chromium" else [])]


# --- processes in the middle of something ------------------------------------------------------------------------


class Running:
    """A ``webmcp`` that was started and is watched."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def family(self) -> list[int]:
        """Descriptors (pidfd) of the process's descendants, to see them end."""
        return [os.pidfd_open(pid) for pid in _descendants(self.process.pid)]

    def ended(self, family: list[int]) -> bool:
        """Whether every process behind these descriptors ends within 3 seconds."""
        ended = all(select.select([descriptor], [], [], 3.0)[0] for descriptor in family)
        for descriptor in family:
            os.close(descriptor)
        return ended

    async def end(self) -> Ran:
        async with asyncio.timeout(LIMIT):
            out, err = await self.process.communicate()
        assert self.process.returncode is not None
        return Ran(code=self.process.returncode, out=out.decode(), err=err.decode())


def _descendants(pid: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *_descendants(child)]
    return found


@pytest.fixture
async def start_raw() -> AsyncIterator[Callable[..., Awaitable[asyncio.subprocess.Process]]]:
    """Starts ``webmcp`` and leaves it running."""
    processes: list[asyncio.subprocess.Process] = []

    async def start(
        *arguments: object, stdin: int = asyncio.subprocess.DEVNULL, stdout: int = asyncio.subprocess.PIPE
    ) -> asyncio.subprocess.Process:
        process = await asyncio.create_subprocess_exec(
            WEBMCP,
            *map(str, arguments),
            stdin=stdin,
            stdout=stdout,
            stderr=asyncio.subprocess.PIPE,
            env=environment(),
        )
        processes.append(process)
        return process

    yield start
    for process in processes:
        if process.returncode is None:
            process.kill()
            await process.wait()


@pytest.fixture
def started(start_raw: Callable[..., Awaitable[asyncio.subprocess.Process]]) -> Callable[..., Awaitable[Running]]:
    """Starts ``webmcp`` to watch it and to send it signals."""

    async def start(*arguments: object) -> Running:
        return Running(await start_raw(*arguments))

    return start


# --- on a terminal -------------------------------------------------------------------------------------------


@pytest.fixture
def on_terminal() -> Callable[..., Awaitable[Ran]]:
    """Runs ``webmcp`` with stdout and stderr on a terminal; ``out`` is all that the terminal was sent."""

    async def run(*arguments: object, **changes: str) -> Ran:
        ours, theirs = os.openpty()
        loop = asyncio.get_running_loop()
        told = bytearray()
        closed = asyncio.Event()

        def read() -> None:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # Linux's way to say that the last writer is gone
                chunk = b""
            told.extend(chunk)
            if not chunk:
                loop.remove_reader(ours)
                closed.set()

        try:
            process = await asyncio.create_subprocess_exec(
                WEBMCP,
                *map(str, arguments),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=theirs,
                stderr=theirs,
                env=environment(**{"TERM": "xterm", "COLUMNS": "100", "LINES": "24", **changes}),
            )
            os.close(theirs)
            loop.add_reader(ours, read)
            async with asyncio.timeout(LIMIT):
                code = await process.wait()
                await closed.wait()
        finally:
            os.close(ours)
        return Ran(code=code, out=told.decode(), err="")

    return run


# --- a server that the pages, or the engines, talk to ------------------------------------------------------------


@dataclass(slots=True)
class Site:
    """A small HTTP server that is also a proxy: it answers every host with the same page."""

    port: int = 0
    body: str = ""
    status: str = "200 OK"
    headers: str = ""
    requests: asyncio.Queue[str] = field(default_factory=asyncio.Queue[str])

    @property
    def url(self) -> str:
        return f"http://localhost:{self.port}"

    async def asked_for(self, text: str) -> None:
        """Waits for a request whose target has this text."""
        async with asyncio.timeout(LIMIT):
            while text not in await self.requests.get():
                pass

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            writer.close()
            return
        self.requests.put_nowait(head.split(b" ")[1].decode())
        body = self.body.encode()
        writer.write(
            f"HTTP/1.1 {self.status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n{self.headers}"
            "Access-Control-Allow-Origin: *\r\nConnection: close\r\n\r\n".encode()
            + body
        )
        writer.close()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.answer, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    yield site
    server.close()

"""A child process that never outlives us.

Each engine gets a watcher: a `/bin/sh` of a few hundred kilobytes that leads a process group of its own and reads
from a pipe whose other end only this Python holds. The engine is started into that group. However this Python
ends (return, exception, Ctrl-C, ``kill -9``), the kernel closes the pipe, and the watcher kills the group: the
engine, its children, itself. Why so and not otherwise:

- Linux's ``PR_SET_PDEATHSIG`` is bound to the *thread* that started the child and would kill an engine whose
  starting thread ends; the pipe is bound to the process.
- The pipe's end is closed in the engine by its ``exec``, after it joined the group: there is no moment in which a
  dying Python could leave an engine behind.
- The watcher is unreaped while the group is in use, so the group's number cannot come to mean somebody else.
- Ctrl-C in a terminal goes to the foreground group only: the engine goes on, and Python decides.

Two threads belong to each engine: one drains its output for its whole life and keeps the tail, one waits for its
end. Neither needs a running event loop. Where there are no process groups (Windows) the engine is a plain child.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING, Final

from pywebmcp.errors import EngineNotFoundError, EngineStartError

if TYPE_CHECKING:
    import re
    from collections.abc import Awaitable, Callable, Mapping, Sequence

__all__ = ["EngineProcess"]

logger = logging.getLogger("pywebmcp.engines")

TAIL_BYTES: Final = 64 * 1024
"""How much of an engine's output is kept."""

KILL_TIMEOUT: Final = 1.0
"""Seconds in which a killed engine must be gone, and then its output closed."""

_POSIX: Final = os.name == "posix"
_SHELL: Final = "/bin/sh"
_WATCH: Final = 'trap "" HUP INT TERM; read -r _; kill -KILL 0'
# for images without a shell; slower by the start of a Python
_WATCH_PYTHON: Final = (
    "import os,signal as s\n"
    "for n in (s.SIGHUP,s.SIGINT,s.SIGTERM): s.signal(n,s.SIG_IGN)\n"
    "os.read(0,1);os.killpg(0,s.SIGKILL)"
)


class EngineProcess:
    """A running engine.

    Args:
        command: Executable and arguments.
        name: What to call it in messages.
        environment: The environment; None for ours.

    Raises:
        EngineNotFoundError: there is no such file.
        EngineStartError: the system cannot run it.
    """

    def __init__(self, command: Sequence[str], *, name: str, environment: Mapping[str, str] | None = None) -> None:
        self.name: Final = name
        self._lock = threading.Lock()
        self._tail = bytearray()
        self._exit_code: int | None = None
        self._listeners: list[Callable[[], None]] = []
        self._lifeline: int | None = None
        self._watcher = self._start_watcher() if _POSIX else None
        try:
            self._popen = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=environment,
                process_group=self._watcher.pid if self._watcher is not None else None,
            )
        except OSError as error:
            self._end_group()
            if isinstance(error, FileNotFoundError):
                raise EngineNotFoundError(f"cannot start {name}: there is no {command[0]}") from error
            raise EngineStartError(f"cannot start {name}: {command[0]}: {error.strerror or error}") from error
        _living.add(self)
        self._drainer = threading.Thread(target=self._drain, name=f"pywebmcp {name} output", daemon=True)
        self._waiter = threading.Thread(target=self._wait, name=f"pywebmcp {name} exit", daemon=True)
        self._drainer.start()
        self._waiter.start()

    @property
    def pid(self) -> int:
        """The engine's own process id, not the watcher's."""
        return self._popen.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, ``-n`` for death by signal n, None while it runs."""
        return self._exit_code

    def tail(self) -> str:
        """The end of what it wrote to its standard output and error."""
        with self._lock:
            return self._tail.decode("utf-8", "replace")

    def on_exit(self, handler: Callable[[int], None]) -> Callable[[], None]:
        """Calls `handler` with the exit code, in the event loop that runs now.

        It is called once, soon if the process has already ended; the returned unsubscribe is idempotent.
        """
        loop = asyncio.get_running_loop()
        wanted = True

        def deliver() -> None:
            if wanted and self._exit_code is not None:
                handler(self._exit_code)

        def tell() -> None:
            with contextlib.suppress(RuntimeError):  # that loop is closed: nobody is left to be told
                loop.call_soon_threadsafe(deliver)

        def unsubscribe() -> None:
            nonlocal wanted
            wanted = False
            self._unlisten(tell)

        with self._lock:
            ended = self._exit_code is not None
            if not ended:
                self._listeners.append(tell)
        if ended:
            tell()
        return unsubscribe

    async def find_output(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Waits for a text in the output; None when the process ends without it. Has no deadline of its own."""
        loop = asyncio.get_running_loop()
        news = asyncio.Event()

        def tell() -> None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(news.set)

        with self._lock:
            self._listeners.append(tell)
        try:
            while True:
                news.clear()
                ended = self._exit_code is not None
                match = pattern.search(self.tail())
                if match is not None or ended:
                    return match
                await news.wait()
        finally:
            self._unlisten(tell)

    async def close(self, *, grace: float = 0.0, ask: Callable[[], Awaitable[None]] | None = None) -> None:
        """Ends the process and everything that it started; at most `grace` + 2 seconds. Idempotent.

        Args:
            grace: Seconds in which it may end by itself after it was asked to; 0 kills at once.
            ask: How to ask; by the signal for that (``SIGTERM``) where this is None.
        """
        exited = asyncio.Event()
        unsubscribe = self.on_exit(lambda _: exited.set())
        try:
            if grace > 0 and self._exit_code is None:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(grace):
                        await (ask() if ask is not None else self.terminate())
                        await exited.wait()
            self.kill()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(2 * KILL_TIMEOUT):
                    await exited.wait()
            if self._exit_code is None:
                logger.warning("%s (process %d) does not end although it was killed", self.name, self.pid)
            else:
                self._waiter.join(KILL_TIMEOUT)  # it told us as the last thing it does
        finally:
            self.kill()
            unsubscribe()

    async def terminate(self) -> None:
        """Asks it to end, by the signal for that; does not wait."""
        if self._exit_code is None:
            self._popen.terminate()

    def kill(self) -> None:
        """Kills the process and everything that it started, now; does not wait. Idempotent, from any thread."""
        with self._lock:
            if self._watcher is not None:
                _kill_group(self._watcher.pid)
            elif self._exit_code is None and not _POSIX:
                self._popen.kill()

    def join(self, timeout: float) -> None:
        """Blocks until the process is reaped, at most `timeout` seconds."""
        self._waiter.join(timeout)

    # --- the group -----------------------------------------------------------------------------------------

    def _start_watcher(self) -> subprocess.Popen[bytes]:
        reading, self._lifeline = os.pipe()
        try:
            return _popen_watcher(reading)
        except OSError as error:
            os.close(self._lifeline)
            raise EngineStartError(f"cannot start {self.name}: no watcher for it: {error}") from error
        finally:
            os.close(reading)

    def _end_group(self) -> None:
        """Kills what is left of the group, the watcher included, and reaps the watcher."""
        with self._lock:
            watcher, self._watcher = self._watcher, None
            lifeline, self._lifeline = self._lifeline, None
            if watcher is not None:
                _kill_group(watcher.pid)
                watcher.wait()
        if lifeline is not None:
            os.close(lifeline)

    def drop_lifeline(self) -> None:
        """In a forked child of ours: gives up the copy of the pipe, so that it does not keep the engine alive."""
        lifeline, self._lifeline = self._lifeline, None
        if lifeline is not None:
            os.close(lifeline)

    # --- the threads ---------------------------------------------------------------------------------------

    def _drain(self) -> None:
        stream = self._popen.stdout
        assert stream is not None
        with stream:
            while chunk := os.read(stream.fileno(), 65536):
                with self._lock:
                    self._tail += chunk
                    del self._tail[:-TAIL_BYTES]
                self._tell()

    def _wait(self) -> None:
        code = self._popen.wait()
        self._end_group()
        # the output closes when the last of the group is gone: wait for that, and for the last words
        self._drainer.join(KILL_TIMEOUT)
        self._exit_code = code
        _living.discard(self)
        self._tell()

    def _tell(self) -> None:
        with self._lock:
            listeners = tuple(self._listeners)
        for tell in listeners:
            tell()

    def _unlisten(self, tell: Callable[[], None]) -> None:
        with self._lock, contextlib.suppress(ValueError):
            self._listeners.remove(tell)


_living: set[EngineProcess] = set()


def _popen_watcher(reading: int) -> subprocess.Popen[bytes]:
    try:
        return _popen_in_new_group([_SHELL, "-c", _WATCH], reading)
    except FileNotFoundError:
        return _popen_in_new_group([sys.executable, "-I", "-S", "-c", _WATCH_PYTHON], reading)


def _popen_in_new_group(command: list[str], reading: int) -> subprocess.Popen[bytes]:
    quiet = subprocess.DEVNULL
    return subprocess.Popen(command, stdin=reading, stdout=quiet, stderr=quiet, cwd="/", process_group=0)


def _kill_group(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _end_all() -> None:
    """At the interpreter's exit: what nobody closed ends now."""
    deadline = time.monotonic() + KILL_TIMEOUT
    processes = tuple(_living)
    for process in processes:
        process.kill()
    for process in processes:
        process.join(max(0.0, deadline - time.monotonic()))


def _after_fork() -> None:
    """In a forked child: the engines belong to the parent."""
    for process in _living:
        process.drop_lifeline()
    _living.clear()


atexit.register(_end_all)
if _POSIX:
    os.register_at_fork(after_in_child=_after_fork)

"""An engine that we started, whatever its make."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pywebmcp.errors import EngineStartError

if TYPE_CHECKING:
    from collections.abc import Callable

    from pywebmcp.engines._folders import ThrowawayFolder
    from pywebmcp.engines._process import EngineProcess

__all__ = ["Endpoint", "RunningEngine"]

_SHOWN_LINES: Final = 12
_SHOWN_WIDTH: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Where a browser answers: the arguments of `pywebmcp.wire.connect`."""

    url: str
    """``ws://`` or ``wss://`` address; with `unix` only its path and host matter."""
    unix: str | None = None
    """Path of a Unix socket."""

    def __str__(self) -> str:
        return self.unix or self.url


class RunningEngine:
    """A started process and what belongs to it. Made by `start_lightpanda` and `start_chromium`.

    Starting returns at once, while the engine is still coming up; `ready` waits for it. Between the two the caller
    has time for its imports.

    Attributes:
        name: ``"lightpanda"`` or ``"chromium"``.
        executable: The path that runs.
    """

    name: str

    def __init__(
        self,
        *,
        executable: str,
        process: EngineProcess,
        folder: ThrowawayFolder,
        grace: float,
        start_timeout: float,
    ) -> None:
        self.executable: Final = executable
        self._process: Final = process
        self._folder = folder
        self._grace = grace
        self._start_timeout = start_timeout
        self._endpoint: Endpoint | None = None

    @property
    def pid(self) -> int:
        """The engine's own process id."""
        return self._process.pid

    @property
    def endpoint(self) -> Endpoint:
        """Where it answers.

        Raises:
            EngineStartError: it is not `ready` yet.
        """
        if self._endpoint is None:
            raise EngineStartError(f"{self.name} is not ready yet: await ready() first")
        return self._endpoint

    async def ready(self) -> Endpoint:
        """Waits until the engine answers. An engine that does not is ended.

        Raises:
            EngineStartError: it ended, or did not come up in time; the message has its last words.
        """
        if self._endpoint is not None:
            return self._endpoint
        try:
            async with asyncio.timeout(self._start_timeout):
                endpoint = await self._reach()
        except TimeoutError:
            await self.close()
            raise EngineStartError(
                f"{self.name} did not become usable within {self._start_timeout:g} s{self._last_words()}"
            ) from None
        except BaseException:  # boundary: cleans up, then raises it again
            self._process.kill()
            raise
        if endpoint is None:
            reason = self._start_failure()
            await self.close()
            raise EngineStartError(reason)
        self._endpoint = endpoint
        return endpoint

    async def close(self) -> None:
        """Ends the process with all its children and removes its throwaway folder; at most 5 seconds. Idempotent."""
        try:
            await self._process.close(grace=self._grace, ask=self._ask_to_end)
        finally:
            self._folder.remove()

    def kill(self) -> None:
        """Ends the process with all its children now, without waiting for it; `close` still removes its folder."""
        self._process.kill()

    def on_exit(self, handler: Callable[[int], None]) -> Callable[[], None]:
        """Calls `handler` once, in the running loop, with the exit code; returns an idempotent unsubscribe."""
        return self._process.on_exit(handler)

    def exit_reason(self) -> str | None:
        """How the process ended, for a message: ``"lightpanda was ended by SIGKILL"``; None while it runs."""
        code = self._process.exit_code
        if code is None:
            return None
        if code >= 0:
            return f"{self.name} ended with exit code {code}"
        try:
            return f"{self.name} was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"{self.name} was ended by signal {-code}"

    async def _reach(self) -> Endpoint | None:
        """Waits for the endpoint; None when the process has ended. Without a deadline of its own."""
        raise NotImplementedError

    async def _ask_to_end(self) -> None:
        """Asks the engine to save what it has to and to end."""
        await self._process.terminate()

    def _start_failure(self) -> str:
        return f"{self.exit_reason()} before it was usable{self._last_words()}"

    def _last_words(self) -> str:
        lines = [line.rstrip() for line in self._process.tail().splitlines() if line.strip()]
        if not lines:
            return "; it wrote nothing"
        shown = "".join(f"\n  | {_printable(line[:_SHOWN_WIDTH])}" for line in lines[-_SHOWN_LINES:])
        return f"; it wrote last:{shown}"


def _printable(line: str) -> str:
    return "".join(character if character.isprintable() else "\N{REPLACEMENT CHARACTER}" for character in line)

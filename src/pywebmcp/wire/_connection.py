"""A CDP connection over a WebSocket, with flat child sessions.

One reader task takes the messages in their order and handles each synchronously: a reply resolves its waiter, an
event goes to the handlers of its session. Nothing else reads the socket, so order is the engine's order.
Commands are written synchronously too; their order is that of the calls.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from websockets.asyncio.client import connect as _ws_connect
from websockets.asyncio.client import unix_connect as _ws_unix_connect
from websockets.asyncio.connection import broadcast
from websockets.exceptions import ConnectionClosed, WebSocketException

from pywebmcp.errors import EndpointRefusedError, EngineCrashedError, EngineError, ProtocolError, UnsupportedError
from pywebmcp.wire._listeners import Listeners
from pywebmcp.wire._session import DEFAULT_TIMEOUT
from pywebmcp.wire._trace import Trace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from websockets.asyncio.client import ClientConnection

    from pywebmcp.wire._session import Done

__all__ = ["Connection", "FlatSession", "connect"]

logger = logging.getLogger("pywebmcp.wire")

CLOSE_TIMEOUT: Final = 2.0
"""Seconds that `Connection.close` waits for the engine's farewell before it cuts the connection."""

_REMEMBERED_DETACHED: Final = 64
_ENVELOPE: Final = 200
_encode = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode


class FlatSession(Listeners):
    """A session of a `Connection`: one target, addressed by its ``sessionId`` (the root has none).

    Implements `Session`; made by `Session.child`, never directly.
    """

    __slots__ = ("_address", "_children", "_gone", "_parent", "_root", "session_id")

    def __init__(self, root: Connection, parent: FlatSession | None, session_id: str | None) -> None:
        super().__init__()
        self.session_id: Final = session_id
        self._root = root
        self._parent = parent
        self._children: set[FlatSession] = set()
        self._address = "" if session_id is None else f'"sessionId":{_encode(session_id)},'
        self._gone = "the target detached"

    async def send(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        on_reply: Callable[[dict[str, Any]], None] | None = None,
    ) -> dict[str, Any]:
        """Sends a command and returns its result; see `Session.send`."""
        waiter = self._root.loop.create_future()
        ident = self._request(method, params, _filling(waiter, on_reply))
        timer = None if timeout is None else self._root.loop.call_later(timeout, _expire, waiter, method, timeout)
        try:
            return await waiter
        finally:
            self._root.pending.pop(ident, None)
            if timer is not None:
                timer.cancel()

    def start(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        on_reply: Callable[[dict[str, Any]], None] | None = None,
    ) -> asyncio.Future[dict[str, Any]]:
        """Sends a command now and returns the future of its result; see `Session.start`."""
        waiter: asyncio.Future[dict[str, Any]] = self._root.loop.create_future()
        self._request(method, params, _filling(waiter, on_reply))
        return waiter

    def request(self, method: str, params: Mapping[str, Any] | None, done: Done) -> None:
        """Sends a command now and calls `done` with its outcome; see `Session.request`."""
        self._request(method, params, done)

    def _request(self, method: str, params: Mapping[str, Any] | None, done: Done) -> int:
        if self._closed:
            raise self._crashed(method)
        root = self._root
        ident = root.next_id()
        root.pending[ident] = (done, self, method)
        try:
            root.write(ident, method, params, self)
        except BaseException:  # boundary: cleans up, then raises it again
            del root.pending[ident]
            raise
        return ident

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Sends a command whose reply nobody needs; never raises."""
        if self._closed:
            return
        try:
            self._root.write(self._root.next_id(), method, params, self)
        except Exception:  # boundary: callers post while they clean up and cannot handle anything
            logger.exception("%s could not be sent", method)

    def child(self, session_id: str) -> FlatSession:
        """The session that ``Target.attachedToTarget`` announced; the same object each time."""
        return self._root.adopt(self, session_id)

    def fail(self, why: str) -> None:
        """Ends every command on its way in this session; see `Session.fail`."""
        pending = self._root.pending
        for ident, (done, owner, method) in tuple(pending.items()):
            if owner is self and pending.pop(ident, None):
                _tell(done, {}, EngineCrashedError(f"{method}: {why}"))

    def abort(self) -> None:
        """Cuts the whole connection, at once and without a farewell."""
        self._root.abort()

    def family(self) -> list[FlatSession]:
        """The session and all below it, the deepest first."""
        return [*(each for child in self._children for each in child.family()), self]

    def shut(self, reason: str) -> None:
        """Closes the session for the connection that owns it; `tell_end` tells its listeners."""
        self._gone = reason
        self._closed = True

    def _crashed(self, method: str) -> EngineCrashedError:
        return EngineCrashedError(f"{method}: {self._gone}")


class Connection(FlatSession):
    """The root session (the browser itself) and the owner of the socket. Made by `connect`.

    Attributes:
        name: What the other side is called in messages and traces.
        pending: Commands on their way, by id: who is told, session, method. For this module's use.
        loop: The loop that it lives in.
        max_message: Bytes of a message that the other side takes; a longer one is refused before it is sent.
    """

    __slots__ = (
        "_detached",
        "_reader",
        "_sessions",
        "_socket",
        "_trace",
        "loop",
        "max_message",
        "name",
        "next_id",
        "pending",
    )

    def __init__(self, socket: ClientConnection, *, name: str) -> None:
        super().__init__(self, None, None)
        self.name: Final = name
        self.loop: Final = asyncio.get_running_loop()
        self.next_id: Final = count(1).__next__
        self.pending: Final[dict[int, tuple[Done, FlatSession, str]]] = {}
        self.max_message: int | None = None
        self._socket = socket
        self._sessions: dict[str | None, FlatSession] = {None: self}
        self._detached: deque[str] = deque(maxlen=_REMEMBERED_DETACHED)
        self._trace = Trace.from_environment(name)
        self._reader = self.loop.create_task(self._read(), name=f"pywebmcp wire reader of {name}")

    async def close(self, *, timeout: float = CLOSE_TIMEOUT) -> None:
        """Says farewell for at most `timeout` seconds, then cuts. Waiters raise, handlers hear of it. Idempotent."""
        self._finish(f"the connection to {self.name} was closed")
        try:
            async with asyncio.timeout(timeout):
                await self._socket.close()
        except TimeoutError:
            logger.info("%s did not say farewell within %g s", self.name, timeout)
        finally:
            self._socket.transport.abort()
            await asyncio.wait([self._reader], timeout=timeout)

    def abort(self) -> None:
        """Cuts the connection at once: waiters raise and handlers run before this returns. Idempotent."""
        self._socket.transport.abort()
        self._finish(f"the connection to {self.name} was cut")

    def adopt(self, parent: FlatSession, session_id: str) -> FlatSession:
        """The child session of that id, made under `parent` when it is new."""
        session = self._sessions.get(session_id)
        if session is None:
            session = FlatSession(self, parent, session_id)
            if self._closed or session_id in self._detached:
                session.shut("the target detached")
            else:
                self._sessions[session_id] = session
                parent._children.add(session)
        return session

    def write(self, ident: int, method: str, params: Mapping[str, Any] | None, session: FlatSession) -> None:
        """Puts one command on the socket, now."""
        body = "{}" if params is None else _encode_params(params)
        if self.max_message is not None and len(body) + _ENVELOPE > self.max_message:
            raise UnsupportedError(
                f"{method} needs a message of {len(body)} bytes, and {self.name} takes at most {self.max_message}"
            )
        if self._trace is not None:
            self._trace.sent(ident, method, params, session.session_id)
        # broadcast() is the library's synchronous send: no backpressure, and no await between two commands
        broadcast((self._socket,), f'{{"id":{ident},"method":"{method}",{session._address}"params":{body}}}')

    async def _read(self) -> None:
        reason = f"the connection to {self.name} ended"
        try:
            recv = self._socket.recv
            while True:
                self._receive(await recv(decode=False))
        except ConnectionClosed as closed:
            reason = f"{self.name} closed the connection ({closed})"
        except Exception:  # boundary: whatever stops the reader must wake the waiters
            logger.exception("the reader of %s failed", self.name)
        finally:
            self._finish(reason)
            self._socket.transport.abort()

    def _receive(self, data: bytes) -> None:
        if self._closed:
            return
        message = _decode(data)
        if message is None:
            return
        if self._trace is not None:
            self._trace.received(message)
        ident = message.get("id")
        if ident is not None:
            entry = self.pending.pop(ident, None)
            if entry is not None:
                done, _, method = entry
                error = message.get("error")
                if error is None:
                    _tell(done, message.get("result") or {}, None)
                else:
                    _tell(done, {}, _refused(method, error))
            return
        session = self._sessions.get(message.get("sessionId"))
        if session is None:
            return
        method = message.get("method")
        params = message.get("params") or {}
        if method == "Target.detachedFromTarget":
            self._detach(params.get("sessionId"))
        session.emit(method or "", params)

    def _detach(self, session_id: str | None) -> None:
        session = self._sessions.get(session_id) if session_id is not None else None
        if session is not None:
            self._end_session(session, "the target detached")
        elif session_id is not None:
            self._detached.append(session_id)

    def _end_session(self, session: FlatSession, reason: str) -> None:
        """Ends a session and those below it: first all are closed, then waiters hear of it, then handlers.

        So whatever a callback does, it finds them closed and leaves nothing behind that nobody would wake.
        """
        ending = session.family()
        for each in ending:
            each.shut(reason)
            if each is not self:
                self._sessions.pop(each.session_id, None)
                self._detached.append(each.session_id or "")
        if session._parent is not None:
            session._parent._children.discard(session)
        for ident, (done, owner, method) in tuple(self.pending.items()):
            if owner in ending:
                del self.pending[ident]
                _tell(done, {}, owner._crashed(method))
        for each in ending:
            each.tell_end()

    def _finish(self, reason: str) -> None:
        if self._closed:
            return
        self._end_session(self, reason)
        if self._trace is not None:
            self._trace.close()


def _tell(done: Done, result: dict[str, Any], error: EngineError | None) -> None:
    try:
        done(result, error)
    except Exception:  # boundary: the caller's callback must not stop the reader
        logger.exception("a callback for a reply failed")


def _filling(
    waiter: asyncio.Future[dict[str, Any]], on_reply: Callable[[dict[str, Any]], None] | None
) -> Callable[[dict[str, Any], EngineError | None], None]:
    def done(result: dict[str, Any], error: EngineError | None) -> None:
        if waiter.done():
            return
        if error is not None:
            waiter.set_exception(error)
            return
        try:
            if on_reply is not None:
                on_reply(result)
        finally:
            if not waiter.done():
                waiter.set_result(result)

    return done


def _expire(waiter: asyncio.Future[dict[str, Any]], method: str, timeout: float) -> None:
    if not waiter.done():
        waiter.set_exception(ProtocolError(f"{method} was not answered within {timeout:g} s", method=method))


def _refused(method: str, error: dict[str, Any]) -> ProtocolError:
    from pywebmcp.values.quoting import quote

    text = str(error.get("message") or "no reason given")
    if error.get("data"):
        text = f"{text}: {error['data']}"
    number = error.get("code")
    return ProtocolError(
        f"the engine refused {method}: {quote(text, 500)}",
        method=method,
        number=number if isinstance(number, int) else -32000,
    )


def _encode_params(params: Mapping[str, Any]) -> str:
    plain = params if isinstance(params, dict) else dict(params)
    try:
        return _encode(plain)
    except RecursionError:
        from pywebmcp.values.deepjson import dumps

        return dumps(plain)


def _decode(data: bytes) -> dict[str, Any] | None:
    try:
        text = data.decode("utf-8", "surrogatepass")
        try:
            message: Any = json.loads(text)
        except RecursionError:
            from pywebmcp.values.deepjson import loads

            message = loads(text)
    except ValueError as error:
        logger.warning("dropped a message that is not JSON (%d bytes): %s", len(data), error)
        return None
    if not isinstance(message, dict):
        logger.warning("dropped a message that is not an object (%d bytes)", len(data))
        return None
    return message  # pyright: ignore[reportUnknownVariableType]


async def connect(url: str, *, unix: str | None = None, timeout: float = 10.0, name: str = "the engine") -> Connection:
    """Opens a connection.

    Args:
        url: ``ws://`` or ``wss://`` address. With `unix` it only gives the path and the ``Host`` header.
        unix: Path of a Unix socket to connect to instead.
        timeout: Seconds for the whole opening.
        name: What to call the other side in messages and traces.

    Raises:
        EndpointRefusedError: nothing answers there, not in time, or not as a WebSocket.
    """
    options: dict[str, Any] = {
        "open_timeout": timeout,
        "close_timeout": CLOSE_TIMEOUT,
        "compression": None,
        "ping_interval": None,
        "max_size": None,
        "user_agent_header": None,
    }
    try:
        if unix is None:
            socket = await _ws_connect(url, proxy=None, **options)
        else:
            socket = await _ws_unix_connect(unix, url, **options)
    except (OSError, ValueError, WebSocketException) as error:
        from pywebmcp.values.quoting import quote

        place = unix or url
        reason = f"no answer within {timeout:g} s" if isinstance(error, TimeoutError) else str(error) or repr(error)
        raise EndpointRefusedError(f"cannot connect to {quote(place)}: {reason}") from error
    return Connection(socket, name=name)

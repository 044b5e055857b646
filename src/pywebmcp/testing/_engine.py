"""A scripted engine: one page's session, answered by Python in place of a browser.

It speaks what a browser with our runtime in it speaks (the few commands that a page needs, and the runtime's own
messages), so everything above the session is the real thing: the mirror of registrations, lookups, validation,
deadlines, cancellation and errors.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import re
from collections import deque
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urlsplit

from pywebmcp.errors import EngineCrashedError, ProtocolError, UnsupportedError
from pywebmcp.testing._execution import Execution, Reply, awaited
from pywebmcp.testing._tools import Received, scripted
from pywebmcp.values import deepjson
from pywebmcp.wire import DEFAULT_TIMEOUT
from pywebmcp.wire._listeners import Listeners

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterable, Mapping

    from pywebmcp.errors import EngineError
    from pywebmcp.testing._tools import ScriptedTool
    from pywebmcp.wire._session import Done

    Site = Callable[[str], Iterable[ScriptedTool]]

__all__ = ["ScriptedDocument", "ScriptedEngine"]

log = logging.getLogger("pywebmcp.testing")

FINISH_TIMEOUT = 2.0
"""Seconds that canceled handlers may take to end when the page closes."""

HOST_FUNCTION = re.compile(r"=>\w+\.(\w+)\(")
"""The member of the runtime's host object that a ``Runtime.callFunctionOn`` of ours calls."""


class ScriptedDocument:
    """One document of a fake page: its tools, and the calls of them that run."""

    __slots__ = (
        "context_id",
        "frame_id",
        "loader_id",
        "name",
        "next_number",
        "origin",
        "running",
        "secure",
        "tools",
        "url",
    )

    def __init__(self, frame_id: str, name: str, url: str, number: int) -> None:
        self.frame_id = frame_id
        self.name = name
        """The frame's, as its window has it."""
        self.url = url
        self.loader_id = f"loader-{number}"
        self.context_id = number
        self.origin = _origin(url)
        self.secure = _is_secure(url)
        self.tools: dict[int, ScriptedTool] = {}
        self.running: dict[str, Execution] = {}
        self.next_number = itertools.count(1).__next__

    def number_of(self, name: str) -> int | None:
        """The registration's number of a tool by its name."""
        return next((number for number, tool in self.tools.items() if tool.name == name), None)


class ScriptedEngine(Listeners):
    """Implements `pywebmcp.wire.Session` for one page.

    Args:
        binding: The name of the runtime's binding, with which its messages are labelled.
        top: Id of the top frame.
        site: Gives the tools that the top document at an address registers.
        evaluate: Answers ``Runtime.evaluate``.
    """

    __slots__ = (
        "_binding",
        "_dialogs",
        "_evaluate",
        "_frames",
        "_ids",
        "_parents",
        "_site",
        "_tasks",
        "_top",
        "_waiting",
        "received",
    )

    def __init__(self, *, binding: str, top: str, site: Site, evaluate: Callable[[str], Any] | None) -> None:
        super().__init__()
        self.received: list[Received] = []
        self._binding = binding
        self._top = top
        self._site = site
        self._evaluate = evaluate
        self._frames: dict[str, ScriptedDocument] = {}
        self._parents: dict[str, str] = {}
        self._ids = itertools.count(1)
        self._dialogs: deque[asyncio.Future[bool | str | None]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._waiting: set[Reply] = set()

    # --- the session -----------------------------------------------------------------------------------------

    async def send(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = DEFAULT_TIMEOUT,
        on_reply: Callable[[dict[str, Any]], None] | None = None,
    ) -> dict[str, Any]:
        """Answers a command; see `Session.send`."""
        try:
            async with asyncio.timeout(timeout):
                return await self.start(method, params, on_reply=on_reply)
        except TimeoutError:
            raise ProtocolError(f"{method} was not answered within {timeout:g} s", method=method) from None

    def start(
        self,
        method: str,
        params: Mapping[str, Any] | None = None,
        *,
        on_reply: Callable[[dict[str, Any]], None] | None = None,
    ) -> asyncio.Future[dict[str, Any]]:
        """Answers a command, by a future; see `Session.start`."""
        reply: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()

        def done(result: dict[str, Any], error: EngineError | None) -> None:
            if reply.done():
                return
            if error:
                reply.set_exception(error)
                return
            if on_reply:
                on_reply(result)
            reply.set_result(result)

        self.request(method, params, done)
        return reply

    def request(self, method: str, params: Mapping[str, Any] | None, done: Done) -> None:
        """Answers a command, by a call; see `Session.request`."""
        if self._closed:
            raise EngineCrashedError(f"{method}: the fake page's engine is gone")
        reply = Reply(done, self._waiting)
        try:
            self._answer(method, dict(params or {}), reply)
        except BaseException:
            self._waiting.discard(reply)
            raise

    def post(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Takes a command whose reply nobody needs; see `Session.post`."""
        if method == "Page.handleJavaScriptDialog" and self._dialogs:
            waiting = self._dialogs.popleft()
            answer = dict(params or {})
            if not waiting.done():
                waiting.set_result(answer.get("promptText", True) if answer["accept"] else None)

    def child(self, session_id: str) -> ScriptedEngine:
        """Never announced: all frames of a fake page live in its one session."""
        raise UnsupportedError(f"a fake page has no session {session_id!r}")

    def fail(self, why: str) -> None:
        """Ends every command on its way; see `Session.fail`."""
        for reply in list(self._waiting):
            reply.fail(EngineCrashedError(why))

    def abort(self) -> None:
        """The engine dies; see `Session.abort`."""
        if self._closed:
            return
        self.fail("the fake page's engine died")
        self.end()
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        """Ends the session and every handler that runs; bounded."""
        self.abort()
        if self._tasks:
            _, stubborn = await asyncio.wait(self._tasks, timeout=FINISH_TIMEOUT)
            if stubborn:
                log.warning("%d handlers of a fake page do not end when they are canceled", len(stubborn))

    def _answer(self, method: str, params: dict[str, Any], reply: Reply) -> None:
        match method:
            case "Runtime.callFunctionOn":
                self._call_host(params, reply)
            case "Runtime.evaluate" if self._evaluate:
                self._own(self._evaluated(self._evaluate, params["expression"], reply))
            case "Page.navigate":
                reply.settle(self._navigated(params["url"]))
            case "Page.reload":
                self.commit(self._top, self._frames[self._top].url)
                reply.settle({})
            case "Page.captureScreenshot":
                reply.settle({})
            case "Runtime.evaluate":
                raise UnsupportedError("a fake page runs no JavaScript: give it evaluate=")
            case _:
                raise UnsupportedError(f"{method}: a fake page has no browser")

    def _own(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, name="pywebmcp fake page")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    @staticmethod
    async def _evaluated(evaluate: Callable[[str], Any], expression: str, reply: Reply) -> None:
        try:
            value = await awaited(evaluate(expression))
        except Exception as error:  # noqa: BLE001 - boundary: it is what the page's script throws
            thrown = {"className": type(error).__name__, "description": f"{type(error).__name__}: {error}"}
            reply.settle({"exceptionDetails": {"exception": thrown}})
        else:
            reply.settle({"result": {"value": value}})

    # --- documents -------------------------------------------------------------------------------------------

    def document(self, frame_id: str | None = None) -> ScriptedDocument:
        """The document of a frame; default the top one.

        Raises:
            LookupError: there is no such frame.
        """
        try:
            return self._frames[frame_id or self._top]
        except KeyError:
            raise LookupError(f"the fake page has no frame {frame_id!r}") from None

    def commit(
        self, frame_id: str, url: str, tools: Iterable[ScriptedTool] | None = None, *, name: str | None = None
    ) -> None:
        """Puts a new document into a frame, which ends the one before and every frame below it."""
        listed = scripted(self._site(url) if tools is None else tools)
        if name is None:
            name = self._frames[frame_id].name if frame_id in self._frames else ""
        self._clear(frame_id)
        document = ScriptedDocument(frame_id, name, url, next(self._ids))
        self._frames[frame_id] = document
        frame = {
            "id": frame_id,
            "loaderId": document.loader_id,
            "url": url,
            "securityOrigin": document.origin,
            "name": name,
        }
        if frame_id in self._parents:
            frame["parentId"] = self._parents[frame_id]
        self.emit("Page.frameNavigated", {"frame": frame})
        context = {
            "id": document.context_id,
            "origin": document.origin,
            "auxData": {"frameId": frame_id, "isDefault": True},
        }
        self.emit("Runtime.executionContextCreated", {"context": context})
        surface = "runtime" if document.secure else "insecure"
        hello = {"t": "hello", "surface": surface, "origin": document.origin, "secure": document.secure, "name": name}
        self._tell(document, hello)
        for tool in listed:
            self.register(document, tool)
        if frame_id == self._top:
            self.emit("Page.domContentEventFired", {})
        self.emit("Page.frameStoppedLoading", {"frameId": frame_id})

    def attach(self, parent: str, url: str, tools: Iterable[ScriptedTool], name: str) -> str:
        """Adds a frame and returns its id."""
        self.document(parent)
        tools = scripted(tools)
        frame_id = f"{self._top}.{next(self._ids)}"
        self._parents[frame_id] = parent
        self.emit("Page.frameAttached", {"frameId": frame_id, "parentFrameId": parent})
        self.commit(frame_id, url, tools, name=name)
        return frame_id

    def detach(self, frame_id: str) -> None:
        """Removes a frame."""
        self.document(frame_id)
        self._clear(frame_id)
        self._parents.pop(frame_id, None)
        self.emit("Page.frameDetached", {"frameId": frame_id, "reason": "remove"})

    def _navigated(self, url: str) -> dict[str, Any]:
        here = self._frames[self._top]
        if "#" in url and urldefrag(url).url == urldefrag(here.url).url:
            here.url = url
            self.emit("Page.navigatedWithinDocument", {"frameId": self._top, "url": url})
            return {"frameId": self._top}
        self.commit(self._top, url)
        return {"frameId": self._top, "loaderId": self._frames[self._top].loader_id}

    def _clear(self, frame_id: str) -> None:
        for child in [child for child, parent in self._parents.items() if parent == frame_id]:
            self._clear(child)
            del self._parents[child]
        document = self._frames.pop(frame_id, None)
        if document:
            self.emit("Runtime.executionContextDestroyed", {"executionContextId": document.context_id})
            gone = ProtocolError("Execution context was destroyed.", method="Runtime.callFunctionOn", number=-32000)
            self._destroy(document, gone)

    @staticmethod
    def _destroy(document: ScriptedDocument, error: EngineError) -> None:
        for execution in list(document.running.values()):
            execution.abandon(error)
        document.running.clear()

    # --- tools -----------------------------------------------------------------------------------------------

    def register(self, document: ScriptedDocument, tool: ScriptedTool) -> None:
        """What ``registerTool`` does; a page without a secure context has none.

        Raises:
            ValueError: the document has a tool of that name.
        """
        if document.number_of(tool.name) is not None:
            raise ValueError(f"the fake page has a tool {tool.name!r}: remove it first")
        if not document.secure:
            return
        number = document.next_number()
        document.tools[number] = tool
        message: dict[str, Any] = {"t": "add", "id": number, "name": tool.name, "description": tool.description}
        if tool.title is not None:
            message["title"] = tool.title
        if tool.input_schema is not None:
            message["schema"] = tool.input_schema
        if tool.output_schema is not None:
            message["output"] = tool.output_schema
        if tool.annotations is not None:
            message["annotations"] = tool.annotations.to_json()
        self._tell(document, message)

    def unregister(self, document: ScriptedDocument, name: str) -> None:
        """What aborting a registration's signal does; calls that run go on.

        Raises:
            LookupError: the document has no such tool.
        """
        number = document.number_of(name)
        if number is None:
            raise LookupError(f"the fake page has no tool {name!r}")
        del document.tools[number]
        self._tell(document, {"t": "remove", "id": number})

    def _tell(self, document: ScriptedDocument, message: dict[str, Any]) -> None:
        """Sends one message of the runtime."""
        params = {"name": self._binding, "executionContextId": document.context_id, "payload": json.dumps(message)}
        self.emit("Runtime.bindingCalled", params)

    # --- what the host object does ---------------------------------------------------------------------------

    def _call_host(self, params: dict[str, Any], reply: Reply) -> None:
        here = (each for each in self._frames.values() if each.context_id == params["executionContextId"])
        document = next(here, None)
        found = HOST_FUNCTION.search(params["functionDeclaration"])
        values = [argument["value"] for argument in params.get("arguments", ())]
        if document is None:
            reply.fail(ProtocolError("Cannot find context with specified id", number=-32000))
            return
        match found and found[1]:
            case "call":
                self._call(document, tuple(values), reply)
            case "cancel":
                reply.settle({"result": {"value": self._cancel(document, *values)}})
            case "foreign":
                reply.settle({"result": {"value": '{"present":false}'}})
            case other:
                raise NotImplementedError(f"the runtime's host.{other} has no scripted counterpart")

    def _call(self, document: ScriptedDocument, params: tuple[int, str, str, bool], reply: Reply) -> None:
        number, invocation, text, told = params
        tool = document.tools.get(number)
        if tool is None:
            reply.settle({"result": {"value": "g"}})
            return
        arguments: dict[str, Any] = deepjson.loads(text)
        self.received.append(Received(tool=tool.name, arguments=arguments))
        execution = document.running[invocation] = Execution(number, tool.name, reply)
        execution.task = self._own(execution.run(tool, arguments))
        execution.task.add_done_callback(lambda _: document.running.pop(invocation, None))
        if told:
            # The callback starts, then the document fires `toolactivated`.
            activated = {"t": "activated", "id": number, "name": tool.name, "invocation": invocation}
            asyncio.get_running_loop().call_soon(self._tell, document, activated)

    def _cancel(self, document: ScriptedDocument, invocation: str) -> bool:
        execution = document.running.pop(invocation, None)
        if execution is None or not execution.settle("c"):
            return False
        canceled = {"t": "canceled", "id": execution.number, "name": execution.tool_name, "invocation": invocation}
        self._tell(document, canceled)
        execution.stop()
        return True

    # --- dialogs ---------------------------------------------------------------------------------------------

    async def dialog(self, kind: str, message: str, default: str | None) -> bool | str | None:
        """Opens a dialog and waits for what the page's policy answers."""
        answer: asyncio.Future[bool | str | None] = asyncio.get_running_loop().create_future()
        self._dialogs.append(answer)
        params: dict[str, Any] = {"url": self._frames[self._top].url, "type": kind, "message": message}
        self.emit("Page.javascriptDialogOpening", {**params, "defaultPrompt": default or ""})
        return await answer


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if parts.scheme in ("http", "https") else "null"


def _is_secure(url: str) -> bool:
    """Potentially trustworthy: https, or this machine."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    local = host in ("localhost", "127.0.0.1", "::1") or host.endswith(".localhost")
    return parts.scheme in ("https", "file") or (parts.scheme == "http" and local)

"""The browser's own model context over the CDP domain ``WebMCP`` (Chromium 150 and later; Lightpanda's early one).

CDP tells of registrations and runs tools with the page's real exceptions; what it leaves out (title, origin, output
schema) is completed from ``getTools()`` in an isolated world, where page scripts cannot have patched anything.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, Literal

from pywebmcp.context._documents import MAX_TOOLS, Document, Registration, Run
from pywebmcp.context.surfaces._answers import fail_from_reply, tool_failed
from pywebmcp.context.surfaces._base import annotations_from, text_or_none
from pywebmcp.errors import (
    CallCanceledError,
    InvalidArgumentsError,
    OutcomeUnknownError,
    ProtocolError,
    ToolFailedError,
    ToolNotFoundError,
    WebMCPError,
)
from pywebmcp.types import PageError, Problem, ToolActivated, ToolCanceled
from pywebmcp.values import deepjson, results
from pywebmcp.values.quoting import quote
from pywebmcp.values.schemas import read_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from pywebmcp.context._capabilities import Capabilities
    from pywebmcp.errors import EngineError
    from pywebmcp.types import PageEvent
    from pywebmcp.wire import Session

__all__ = ["NativeSurface"]

log = logging.getLogger("pywebmcp.context")

WORLD = "pywebmcp"

GET_TOOLS_WAIT = 300
"""Milliseconds that a document's own ``getTools()`` may take: on Chromium 156 it never settles in some documents of
pages with frames (7 of 120 loads of a page with four), which otherwise work."""

DETAILS = f"""(async () => {{
  const context = document.modelContext ?? navigator.modelContext;
  const secure = isSecureContext, tools = [];
  if (!context) return JSON.stringify({{secure, has: false, tools}});
  try {{
    const late = new Promise((resolve) => setTimeout(resolve, {GET_TOOLS_WAIT}, []));
    for (const {{name, title, origin, outputSchema, window: owner}} of await Promise.race([context.getTools(), late]))
      if (owner === undefined || owner === window) tools.push({{name, title, origin, outputSchema}});
  }} catch (error) {{
    return JSON.stringify({{secure, has: true, denied: `${{error.name}}: ${{error.message}}`, tools}});
  }}
  return JSON.stringify({{secure, has: true, tools}});
}})()"""

HIDDEN = """(() => {
  const context = document.modelContext ?? navigator.modelContext;
  return !!context && !(typeof ModelContext === "function" && context instanceof ModelContext);
})()"""


class NativeSurface:
    """The native tools of every document of one session.

    Args:
        session: The page's session, or that of an out-of-process frame.
        find: Gives the living document of a frame.
        emit: Takes the events that pages cause.
        capabilities: The engine's row of the table of browser facts.
    """

    kind: Literal["native"] = "native"

    def __init__(
        self,
        session: Session,
        *,
        find: Callable[[str], Document | None],
        emit: Callable[[PageEvent], None],
        capabilities: Capabilities,
    ) -> None:
        self._session = session
        self._capabilities = capabilities
        self._find = find
        self._emit = emit
        self._count = 0
        self._runs: dict[str, Run] = {}
        self._active: dict[str, tuple[str, Document, str | None]] = {}
        self._unclaimed = 0
        self._orphans: list[dict[str, Any]] = []
        self._early: list[tuple[str, dict[str, Any]]] = []
        for name, handler in (
            ("WebMCP.toolsAdded", self._added),
            ("WebMCP.toolsRemoved", self._removed),
            ("WebMCP.toolInvoked", self._invoked),
            ("WebMCP.toolResponded", self._responded),
        ):
            session.on(name, handler)

    # --- registrations ---------------------------------------------------------------------------------------

    def _added(self, params: dict[str, Any]) -> None:
        for tool in params.get("tools", ()):
            document = self._find(tool.get("frameId", ""))
            name = tool.get("name")
            if not isinstance(name, str):
                continue
            if document is None:
                # Registered by a script that ran before the engine told of its document (`Capabilities.late_srcdoc`).
                if self._capabilities.late_srcdoc and len(self._orphans) < MAX_TOOLS:
                    self._orphans.append(tool)
                continue
            previous = document.find(name, self.kind)
            if previous:
                document.remove(previous)
            self._count += 1
            schema = tool.get("inputSchema")
            annotations = tool.get("annotations") or {}
            if not self._capabilities.native_complete:
                # Lightpanda writes {} and false where the page gave nothing.
                schema, annotations = schema or None, {name: hint for name, hint in annotations.items() if hint}
            declarative = "backendNodeId" in tool
            document.add(
                Registration(
                    document,
                    self._count,
                    self,
                    name=name,
                    description=str(tool.get("description", "")),
                    input=read_schema(schema),
                    annotations=None if declarative else annotations_from(annotations),
                    declarative=declarative,
                    autosubmit=bool(annotations.get("autosubmit")),
                )
            )

    def arrived(self, document: Document) -> None:
        """The engine told of a document: takes what was registered in it before, forgets what ran in its forerunner."""
        self._active = {key: active for key, active in self._active.items() if active[1].alive}
        mine = [tool for tool in self._orphans if tool.get("frameId") == document.frame_id]
        if mine:
            self._orphans = [tool for tool in self._orphans if tool.get("frameId") != document.frame_id]
            self._added({"tools": mine})

    def _removed(self, params: dict[str, Any]) -> None:
        for tool in params.get("tools", ()):
            document = self._find(tool.get("frameId", ""))
            registration = document.find(tool.get("name", ""), self.kind) if document else None
            if document and registration:
                document.remove(registration)

    async def complete(self, document: Document, timeout: float) -> str | None:
        """Adds what CDP leaves out to the registrations of a document; asks only when something is missing.

        Returns:
            Why the document has no usable model context; None where it has one, or did not answer in time.
        """
        mine = [registration for registration in document.registrations.values() if registration.surface is self]
        if document.asked and all(registration.completed for registration in mine):
            return document.problem
        try:
            details = await self._ask(document, timeout)
        except (WebMCPError, KeyError, ValueError, RecursionError) as error:
            # A document that is busy, navigating or crashing is listed from what CDP told.
            log.debug("no details of %s: %s", quote(document.url), error)
            return document.problem
        document.asked = True
        document.problem = _problem(details)
        for registration in mine:
            registration.completed = True
        for tool in details["tools"]:
            registration = document.find(tool["name"], self.kind)
            if registration is not None:
                registration.title = text_or_none(tool.get("title"))
                if tool.get("outputSchema") is not None:
                    registration.output = read_schema(tool["outputSchema"])
        return document.problem

    async def _ask(self, document: Document, timeout: float) -> dict[str, Any]:
        if document.world_id is None:
            made = await self._session.send(
                "Page.createIsolatedWorld", {"frameId": document.frame_id, "worldName": WORLD}, timeout=timeout
            )
            document.world_id = int(made["executionContextId"])
        reply = await self._session.send(
            "Runtime.evaluate",
            {"expression": DETAILS, "contextId": document.world_id, "awaitPromise": True, "returnByValue": True},
            timeout=timeout,
        )
        return json.loads(reply["result"]["value"])

    async def hidden(self, document: Document, timeout: float) -> bool:
        """Whether the page's scripts see another object than the browser's at ``document.modelContext``."""
        if document.context_id is None:
            return False
        try:
            reply = await self._session.send(
                "Runtime.evaluate",
                {"expression": HIDDEN, "contextId": document.context_id, "returnByValue": True},
                timeout=timeout,
            )
        except WebMCPError as error:
            log.debug("the model context of %s cannot be looked at: %s", quote(document.url), error)
            return False
        return reply.get("result", {}).get("value") is True

    # --- calls -----------------------------------------------------------------------------------------------

    def start(self, run: Run) -> None:
        """Sends ``WebMCP.invokeTool``; the outcome is the event ``toolResponded`` with the id that it answers."""
        registration = run.registration
        self._session.request(
            "WebMCP.invokeTool",
            {"frameId": registration.document.frame_id, "toolName": registration.name, "input": run.arguments},
            lambda result, error: self._refused(run, error) if error else self._claim(run, str(result["invocationId"])),
        )
        self._unclaimed += 1

    def _claim(self, run: Run, invocation: str) -> None:
        """Binds the browser's id to the run, before any event that names it is dispatched."""
        self._runs[invocation] = run
        run.engine_id = invocation
        if run.unwanted:
            self._post_cancel(run)
        run.future.add_done_callback(lambda _: self._runs.pop(invocation, None))
        early = [(what, params) for what, params in self._early if params.get("invocationId") == invocation]
        self._forget_one()
        for what, params in early:
            (self._invoked if what == "invoked" else self._responded)(params)

    def _forget_one(self) -> None:
        self._unclaimed -= 1
        if self._unclaimed == 0:
            self._early.clear()

    def _refused(self, run: Run, error: EngineError) -> None:
        self._forget_one()
        if isinstance(error, ProtocolError) and error.number is not None:
            name = quote(run.registration.name)
            text = error.message
            if "Tool not found" in text or "NotFound" in text or "No frame" in text or "InvalidFrameId" in text:
                run.fail(ToolNotFoundError(f"the tool {name} is no longer registered; list the tools again"))
                return
            if "WriteFailed" in text:
                # Lightpanda's answer to a result that is no JSON; the tool has run.
                run.fail(tool_failed(run, PageError(name="", message=text), unserializable=True))
                return
            if "Invalid parameters" in text:
                problem = Problem(path="", rule="json", message="the browser refused the arguments")
                run.fail(InvalidArgumentsError(f"the browser refused the arguments of {name}", problems=[problem]))
                return
        fail_from_reply(run, error)

    def _invoked(self, params: dict[str, Any]) -> None:
        run = self._runs.get(params.get("invocationId", ""))
        if run is None and self._unclaimed:
            self._early.append(("invoked", params))
            return
        document = run.registration.document if run else self._find(params.get("frameId", ""))
        if document is None:
            return
        name = run.registration.name if run else str(params.get("toolName", ""))
        self._active[params["invocationId"]] = (name, document, run.id if run else None)
        self._emit(
            ToolActivated(
                tool_name=name,
                origin=document.origin,
                frame_id=document.frame_id,
                invocation_id=run.id if run else None,
            )
        )
        if run is None:
            return
        if not run.registration.alive:
            # The removal overtook the call: the browser looked the name up again and ran what it found.
            self._post_cancel(run)
            run.fail(
                OutcomeUnknownError(
                    f"the tool {quote(name)} was replaced while the call was on its way, and its successor ran",
                    ran="yes",
                )
            )
        elif run.registration.declarative and not run.registration.autosubmit:
            run.wait_for_submission()

    def _responded(self, params: dict[str, Any]) -> None:
        invocation = params.get("invocationId", "")
        run = self._runs.get(invocation)
        if run is None and self._unclaimed and invocation not in self._active:
            self._early.append(("responded", params))
            return
        name, document, run_id = self._active.pop(invocation, ("", None, None))
        if document and params.get("status") == "Canceled":
            event = ToolCanceled(
                tool_name=name, origin=document.origin, frame_id=document.frame_id, invocation_id=run_id
            )
            self._emit(event)
        if run is None:
            return
        exception = params.get("exception")
        if isinstance(exception, dict) and "objectId" in exception:
            self._session.post("Runtime.releaseObject", {"objectId": exception["objectId"]})
        match params.get("status"):
            case "Completed" | "Success":
                self._completed(run, params)
            case "Canceled":
                name = quote(run.registration.name)
                why = params.get("errorText")
                run.fail(CallCanceledError(f"the tool {name} was canceled{': ' + quote(why) if why else ''}"))
            case _:
                self._errored(run, params)

    def _completed(self, run: Run, params: dict[str, Any]) -> None:
        if run.navigating:
            run.settle(results.navigated(params.get("output") or None))
        elif "output" in params:
            read = results.from_value if self._capabilities.native_values_exact else results.from_native
            run.settle(read(params["output"]))
        else:
            run.settle(results.undefined())

    def _errored(self, run: Run, params: dict[str, Any]) -> None:
        text = params.get("errorText") or ""
        exception = params.get("exception")
        name = quote(run.registration.name)
        if exception is None and run.registration.declarative and text:
            if run.navigating:
                run.settle(results.navigated(None))
            elif "programming error" in text:
                run.fail(ToolFailedError(f"the form {name} ran and did not answer: {quote(text)}"))
            else:
                problem = Problem(path="", rule="form", message=quote(text))
                run.fail(
                    InvalidArgumentsError(f"the form {name} refused its values: {quote(text)}", problems=[problem])
                )
        else:
            run.fail(
                tool_failed(
                    run, _page_error(exception) if exception else PageError(name="", message=text) if text else None
                )
            )

    async def cancel(self, run: Run, timeout: float) -> bool:
        """Cancels in the browser, which aborts the tool's signal (Chromium 153 and later)."""
        command: tuple[str, dict[str, Any]] = ("WebMCP.cancelInvocation", {"invocationId": run.engine_id})
        if run.engine_id is None:
            # The page has not taken the call yet: it is canceled as soon as it does. Does the page yield?
            run.unwanted = True
            command = ("Runtime.evaluate", {"expression": "0"})
        try:
            await self._session.send(*command, timeout=timeout)
        except ProtocolError as error:
            return error.number is not None
        except WebMCPError:
            return True
        return True

    def _post_cancel(self, run: Run) -> None:
        if run.engine_id:
            self._session.post("WebMCP.cancelInvocation", {"invocationId": run.engine_id})


def _page_error(remote: dict[str, Any]) -> PageError:
    """Name, message and stack of a thrown value from its CDP RemoteObject, without running page code."""
    description = remote.get("description")
    if remote.get("subtype") != "error" or not isinstance(description, str):
        value = remote.get("value", description if description is not None else remote.get("type", ""))
        return PageError(name="", message=value if isinstance(value, str) else deepjson.dumps(value))
    head, _, _ = description.partition("\n    at ")
    name, colon, message = head.partition(": ")
    if not colon or " " in name:
        name, message = str(remote.get("className", "Error")), head
    return PageError(name=name, message=message, stack=description)


def _problem(details: dict[str, Any]) -> str | None:
    """Why a document has no usable model context, from what it said of itself."""
    if not details["secure"] and not details["has"]:
        return "insecure context: WebMCP needs https, or http on localhost"
    if not details["has"]:
        return "the browser has no document.modelContext: use mode='auto', or give it --enable-features=WebMCP"
    if details.get("denied"):
        return f'the document may not use tools: {quote(details["denied"])} (a cross-origin frame needs allow="tools")'
    return None

"""Our runtime in the page: registrations arrive over the binding, calls go out as one evaluate.

Trust follows the channel: a message belongs to the document whose execution context sent it, whatever it claims,
and every member is checked before it is used, since a page is free to send rubbish in its own name.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any, Literal

from pywebmcp.context._documents import Document, Registration, Run
from pywebmcp.context.surfaces._answers import cancel_by_function, start_by_function
from pywebmcp.context.surfaces._base import annotations_from, text_or_none
from pywebmcp.types import ToolActivated, ToolCanceled
from pywebmcp.values.names import is_valid_tool_name
from pywebmcp.values.schemas import read_schema

if TYPE_CHECKING:
    from collections.abc import Callable

    from pywebmcp.types import PageEvent
    from pywebmcp.wire import Session

__all__ = ["RuntimeSurface"]

log = logging.getLogger("pywebmcp.context")

MAX_FRAME_NAME = 1000
OF_TOOLS = frozenset({"add", "remove", "activated", "canceled"})


class RuntimeSurface:
    """Every document of one page in which our script runs.

    Args:
        handle: The lexical name under which the script keeps its host object.
        binding: The name of the binding that it talks through.
        find: Gives the living document of an execution context.
        emit: Takes the events that pages cause.
        wants: Whether anybody listens for events of a kind.
        changed: Told when a document's own model context (a page's polyfill) changed.
        named: Told the name of a document's frame, which not every engine tells.
        prompt: Told the default text of the prompt that opens next.
    """

    kind: Literal["runtime"] = "runtime"

    def __init__(
        self,
        *,
        handle: str,
        binding: str,
        find: Callable[[Session, int], Document | None],
        emit: Callable[[PageEvent], None],
        wants: Callable[[type], bool],
        changed: Callable[[Document], None],
        named: Callable[[Document, str], None],
        prompt: Callable[[str], None],
    ) -> None:
        self.handle = handle
        self.binding = binding
        self._find = find
        self._emit = emit
        self._wants = wants
        self._changed = changed
        self._named = named
        self._prompt = prompt
        self._call = f"(i,n,a,t)=>{handle}.call(i,n,a,t)"
        self._cancel = f"(n)=>{handle}.cancel(n)"

    def listen(self, session: Session) -> None:
        """Takes the binding's messages of one session."""
        session.on("Runtime.bindingCalled", lambda params: self._message(session, params))

    # --- from the page ---------------------------------------------------------------------------------------

    def _message(self, session: Session, params: dict[str, Any]) -> None:
        if params.get("name") != self.binding:
            return
        document = self._find(session, params.get("executionContextId", -1))
        if document is None or not document.alive:
            return
        try:
            message = json.loads(params.get("payload", ""))
        except (ValueError, TypeError, RecursionError):
            log.debug("a document sent something that is not JSON over the binding")
            return
        if isinstance(message, dict):
            self.take(document, message)

    def take(self, document: Document, message: dict[str, Any]) -> None:
        """Handles one message of a document; anything malformed is dropped."""
        kind = message.get("t")
        if kind in OF_TOOLS and document.hello != "runtime":
            log.debug("a document in which our runtime is not installed sent a message about its tools")
            return
        match kind:
            case "hello":
                self._hello(document, message)
            case "add":
                self._add(document, message)
            case "remove":
                registration = self._by_id(document, message)
                if registration:
                    document.remove(registration)
            case "activated" | "canceled" as what:
                self._lifecycle(document, message, ToolActivated if what == "activated" else ToolCanceled)
            case "dialog":
                if isinstance(default := message.get("default"), str):
                    self._prompt(default)
            case "changed":
                self._changed(document)
            case _:
                log.debug("a document sent a message of an unknown kind over the binding")

    def _lifecycle(
        self, document: Document, message: dict[str, Any], event: type[ToolActivated] | type[ToolCanceled]
    ) -> None:
        # A tool may have unregistered itself before it was told to have started: the message names it.
        name, invocation = message.get("name"), message.get("invocation")
        if isinstance(name, str) and is_valid_tool_name(name):
            self._emit(
                event(
                    tool_name=name,
                    origin=document.origin,
                    frame_id=document.frame_id,
                    invocation_id=invocation if isinstance(invocation, str) and invocation in document.runs else None,
                )
            )

    def _hello(self, document: Document, message: dict[str, Any]) -> None:
        surface, origin = message.get("surface"), message.get("origin")
        if document.hello is None and isinstance(surface, str):
            document.hello = surface
            # The document knows best whether its origin is opaque; it may only narrow what the engine told.
            if origin == "null":
                document.origin = "null"
            if isinstance(name := message.get("name"), str):
                self._named(document, name[:MAX_FRAME_NAME])

    def _by_id(self, document: Document, message: dict[str, Any]) -> Registration | None:
        number = message.get("id")
        return document.registrations.get(f"{document.id}.r{number}") if isinstance(number, int) else None

    def _add(self, document: Document, message: dict[str, Any]) -> None:
        number, name, description = message.get("id"), message.get("name"), message.get("description")
        exposed = message.get("exposed")
        if type(number) is not int or not isinstance(name, str) or not isinstance(description, str):
            log.debug("dropped a malformed registration")
            return
        if not is_valid_tool_name(name) or f"{document.id}.r{number}" in document.registrations:
            log.debug("dropped a registration that the runtime cannot have sent")
            return
        document.add(
            Registration(
                document,
                number,
                self,
                name=name,
                description=description,
                title=text_or_none(message.get("title")),
                input=read_schema(text_or_none(message.get("schema"))),
                output=read_schema(text_or_none(message.get("output"))),
                annotations=annotations_from(message.get("annotations")),
                exposed_to=tuple(o for o in exposed if isinstance(o, str)) if isinstance(exposed, list) else (),
            )
        )

    # --- to the page -----------------------------------------------------------------------------------------

    def start(self, run: Run) -> None:
        """Sends the call as one awaited evaluate; its reply is the outcome."""
        start_by_function(run, self._call, run.registration.id, told=self._wants(ToolActivated))

    async def cancel(self, run: Run, timeout: float) -> bool:
        """Aborts the tool's signal."""
        return await cancel_by_function(run, self._cancel, timeout)

"""The frame tree of one page, kept from the engine's events, and which document lives in which frame.

Only frames that hang on the page's own top frame count: Lightpanda reports popups on the opener's session, Chromium
moves cross-origin frames to sessions of their own.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, NamedTuple

from pywebmcp.context import Document, Registry
from pywebmcp.types import Frame, Navigated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pywebmcp.types import PageEvent
    from pywebmcp.wire import Session

__all__ = ["FrameNode", "FrameTree"]

log = logging.getLogger("pywebmcp.browser")


class _Context(NamedTuple):
    session: Session
    id: int
    origin: str


class FrameNode:
    """One frame: a place for documents."""

    __slots__ = ("children", "context", "document", "id", "name", "parent", "session")

    def __init__(self, frame_id: str, parent: FrameNode | None, session: Session) -> None:
        self.id = frame_id
        self.parent = parent
        self.session = session
        self.name = ""
        self.children: list[FrameNode] = []
        self.document: Document | None = None
        self.context: _Context | None = None
        """Where its page's own scripts run now: a frame's first, empty document may hand it on to the next one."""

    def walk(self) -> Iterator[FrameNode]:
        """This frame and all below it, in tree order."""
        todo: list[FrameNode] = [self]
        while todo:
            node = todo.pop()
            yield node
            todo.extend(reversed(node.children))

    def snapshot(self) -> Frame:
        """The public, frozen view."""
        return Frame(
            id=self.id,
            name=self.name,
            url=self.document.url if self.document else "",
            parent_id=self.parent.id if self.parent else None,
        )


class FrameTree:
    """Follows the frames of one page over all its sessions.

    Args:
        page_id: Prefix of the ids of its documents.
        registry: Where their tools are registered.
        emit: Takes `Navigated` events.
        committed: Told of each new document.
    """

    def __init__(
        self,
        page_id: str,
        top_frame_id: str,
        session: Session,
        registry: Registry,
        *,
        emit: Callable[[PageEvent], None],
        committed: Callable[[Document], None],
    ) -> None:
        self.page_id = page_id
        self.registry = registry
        self.top = FrameNode(top_frame_id, None, session)
        self._nodes: dict[str, FrameNode] = {top_frame_id: self.top}
        self._contexts: dict[Session, dict[int, Document]] = {}
        self._emit = emit
        self._committed = committed
        self._count = 0

    # --- looking up ------------------------------------------------------------------------------------------

    def node(self, frame_id: str) -> FrameNode | None:
        """The frame with that id."""
        return self._nodes.get(frame_id)

    def document(self, frame_id: str) -> Document | None:
        """The living document of a frame."""
        node = self._nodes.get(frame_id)
        return node.document if node else None

    def document_of_context(self, session: Session, context_id: int) -> Document | None:
        """The living document whose scripts run in that execution context."""
        return self._contexts.get(session, {}).get(context_id)

    def named(self, document: Document, name: str) -> None:
        """The document told its frame's name; the engine's own word counts more."""
        node = self._nodes.get(document.frame_id)
        if node is not None and not node.name:
            node.name = name

    def documents(self) -> list[Document]:
        """All living documents, in tree order."""
        return [node.document for node in self.top.walk() if node.document is not None]

    def select(self, frame: str) -> list[FrameNode]:
        """The frames that a user means: an id, else a name, else a URL."""
        if frame in self._nodes:
            return [self._nodes[frame]]
        nodes = list(self.top.walk())
        named = [node for node in nodes if node.name and node.name == frame]
        return named or [node for node in nodes if node.document and node.document.url == frame]

    # --- following -------------------------------------------------------------------------------------------

    def listen(self, session: Session) -> None:
        """Follows one session: the page's own, or that of an out-of-process frame."""
        self._contexts[session] = {}
        for name, handler in (
            ("Page.frameAttached", self._attached),
            ("Page.frameNavigated", self._navigated),
            ("Page.navigatedWithinDocument", self._moved_within),
            ("Page.frameDetached", self._detached),
            ("Runtime.executionContextCreated", self._context_created),
            ("Runtime.executionContextDestroyed", self._context_destroyed),
        ):
            session.on(name, lambda params, handler=handler: handler(session, params))
        session.on("Runtime.executionContextsCleared", lambda _: self._contexts_cleared(session))

    def forget(self, session: Session, *, engine_lost: str | None = None) -> None:
        """The session is gone: so are the documents that it spoke for."""
        self._contexts.pop(session, None)
        for node in list(self._nodes.values()):
            if node.session is session:
                node.context = None
                if node.document:
                    node.document.destroy(engine_lost=engine_lost)
                    node.document = None

    def seed(self, session: Session, tree: dict[str, Any]) -> None:
        """Takes the answer of ``Page.getFrameTree``, for pages that were open before we came."""
        todo = [tree]
        while todo:
            branch = todo.pop()
            self._navigated(session, {"frame": branch["frame"]}, announce=False)
            todo.extend(reversed(branch.get("childFrames", ())))

    def _attached(self, session: Session, params: dict[str, Any]) -> None:
        parent = self._nodes.get(params.get("parentFrameId", ""))
        frame_id = params["frameId"]
        if parent is not None and frame_id not in self._nodes:
            self._add(frame_id, parent, session)

    def _add(self, frame_id: str, parent: FrameNode, session: Session) -> FrameNode:
        node = FrameNode(frame_id, parent, session)
        parent.children.append(node)
        self._nodes[frame_id] = node
        return node

    def _navigated(self, session: Session, params: dict[str, Any], *, announce: bool = True) -> None:
        frame = params["frame"]
        node = self._nodes.get(frame["id"])
        if node is None:
            parent = self._nodes.get(frame.get("parentId", ""))
            if parent is None:
                return
            node = self._add(frame["id"], parent, session)
        node.session = session
        if "name" in frame:
            node.name = frame["name"]
        url = frame.get("url", "") + frame.get("urlFragment", "")
        if node.document and node.document.loader_id == frame["loaderId"]:
            node.document.url = url
            return
        for child in list(node.children):
            self._remove(child)
        if node.document:
            node.document.destroy()
        self._count += 1
        node.document = Document(
            f"{self.page_id}.d{self._count}",
            self.registry,
            frame_id=node.id,
            loader_id=frame["loaderId"],
            session=session,
            url=url,
            origin=_origin(frame.get("securityOrigin", "")),
            is_top=node is self.top,
        )
        if node.context and node.context.session is session:
            self._enter(node.document, node.context)
        self._committed(node.document)
        if announce:
            self._emit(Navigated(frame_id=node.id, url=url, is_top=node is self.top))

    def _moved_within(self, _: Session, params: dict[str, Any]) -> None:
        document = self.document(params["frameId"])
        if document:
            document.url = params["url"]

    def _detached(self, session: Session, params: dict[str, Any]) -> None:
        node = self._nodes.get(params["frameId"])
        if node is None or node is self.top:
            return
        if params.get("reason") == "swap":
            # It lives on in another process, whose session tells of its document; it may have done so already.
            if node.session is session and node.document:
                node.document.destroy()
                node.document = None
            return
        self._remove(node)

    def _remove(self, node: FrameNode) -> None:
        for gone in list(node.walk()):
            if gone.document:
                gone.document.destroy()
                gone.document = None
            self._nodes.pop(gone.id, None)
        if node.parent:
            node.parent.children.remove(node)

    def _context_created(self, session: Session, params: dict[str, Any]) -> None:
        context = params["context"]
        aux = context.get("auxData") or {}
        node = self._nodes.get(aux.get("frameId", ""))
        if not aux.get("isDefault") or node is None:
            return
        node.context = _Context(session, context["id"], context.get("origin", ""))
        if node.document:
            node.document.session = session
            self._enter(node.document, node.context)

    def _enter(self, document: Document, context: _Context) -> None:
        document.context_id = context.id
        if context.origin:
            document.origin = _origin(context.origin)
        self._contexts.setdefault(context.session, {})[context.id] = document

    def _context_destroyed(self, session: Session, params: dict[str, Any]) -> None:
        self._leave(session, params["executionContextId"])

    def _contexts_cleared(self, session: Session) -> None:
        for context_id in list(self._contexts.get(session, ())):
            self._leave(session, context_id)
        for node in self._nodes.values():
            if node.context and node.context.session is session:
                node.context = None

    def _leave(self, session: Session, context_id: int) -> None:
        document = self._contexts.get(session, {}).pop(context_id, None)
        if document and document.context_id == context_id:
            document.context_id = document.world_id = None
        for node in self._nodes.values():
            if node.context and node.context.session is session and node.context.id == context_id:
                node.context = None

    def close(self, *, engine_lost: str | None = None) -> None:
        """The page is gone."""
        for node in list(self._nodes.values()):
            if node.document:
                node.document.destroy(engine_lost=engine_lost)
                node.document = None
        self._contexts.clear()


def _origin(told: str) -> str:
    """The serialised origin; engines write ``://`` or nothing for an opaque one."""
    return told if told not in {"", "://"} else "null"

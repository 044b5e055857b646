"""Finding tools: listing them in order, resolving what a caller names, waiting for what is not there yet."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, NoReturn

from pywebmcp.errors import (
    AmbiguousToolError,
    InvalidDocumentError,
    NotExposedError,
    ToolNotFoundError,
    UnsupportedError,
    WebMCPError,
)
from pywebmcp.types import Surface, Tool
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pywebmcp.browser._frames import FrameTree
    from pywebmcp.context import Capabilities, Document, NativeSurface, PageSurface, Registration, Registry
    from pywebmcp.types import Mode
    from pywebmcp.wire import Session

__all__ = ["Lookup"]

log = logging.getLogger("pywebmcp.browser")

REFRESH_TIMEOUT = 5.0
"""Seconds that a document may take to tell of its tools before it is listed from what it told before."""
LEAST_LOOK = 0.25
"""Seconds that a look takes at most when a wait has no time left."""
POLL = 0.25
"""Seconds between two looks at a page's own model context, which need not tell of its changes."""

INSECURE = "insecure context: WebMCP needs https, or http on localhost"


class Lookup:
    """The tools of one page, for its `Page`."""

    def __init__(
        self,
        page_id: str,
        mode: Mode,
        frames: FrameTree,
        registry: Registry,
        natives: Mapping[Session, NativeSurface],
        page_surface: PageSurface,
        capabilities: Capabilities,
        *,
        late_script: str,
        check_open: Callable[[], None],
    ) -> None:
        self._page_id = page_id
        self._mode: Mode = mode
        self._frames = frames
        self._registry = registry
        self._natives = natives
        self._page_surface = page_surface
        self._capabilities = capabilities
        self._late_script = late_script
        self._check_open = check_open
        self._problems: dict[str, str] = {}
        self._changed = asyncio.Event()

    def wake(self) -> None:
        """Something about the tools changed."""
        self._changed.set()

    # --- listing ---------------------------------------------------------------------------------------------

    async def refresh(self, timeout: float = REFRESH_TIMEOUT) -> None:
        """Completes what the engine's events told, one round trip a document; at most `timeout` seconds."""
        if self._mode == "off":
            raise UnsupportedError("the browser was launched with mode='off': WebMCP is hidden from its pages")
        documents = self._frames.documents()
        if len(documents) == 1:
            await self._refresh(documents[0], timeout)
        else:
            await asyncio.gather(*(self._refresh(document, timeout) for document in documents))
        self._check_open()
        living = {document.id for document in self._frames.documents()}
        self._problems = {key: why for key, why in self._problems.items() if key in living}

    async def _refresh(self, document: Document, timeout: float) -> None:
        try:
            async with asyncio.timeout(timeout):
                problem = await self._ask(document)
        except TimeoutError:
            log.debug("a document at %s did not tell of its tools in time", quote(document.url))
            return
        if problem:
            self._problems[document.id] = problem
        else:
            self._problems.pop(document.id, None)

    async def _ask(self, document: Document) -> str | None:
        problems: list[str | None] = []
        native = self._natives.get(document.session)
        if native and self._capabilities.native_complete and document.hello in (None, "native"):
            problems.append(await native.complete(document, REFRESH_TIMEOUT))
            if document.hello is None and not problems[0] and await native.hidden(document, REFRESH_TIMEOUT):
                # The page put an object of its own before the browser's: only a script of ours can look at it.
                await self._inject_late(document)
        if document.context_id is not None and document.hello not in (None, "insecure"):
            problems.append(await self._page_surface.refresh(document, REFRESH_TIMEOUT))
        return next((why for why in problems if why), None)

    async def _inject_late(self, document: Document) -> None:
        """Brings the script that looks at the page's own object; without the binding, so it only answers."""
        try:
            await document.session.send(
                "Runtime.evaluate",
                {"expression": self._late_script, "contextId": document.context_id},
                timeout=REFRESH_TIMEOUT,
            )
        except WebMCPError as error:
            log.debug("the page's own model context at %s cannot be looked at: %s", quote(document.url), error)
        else:
            document.hello = "native"

    def tools(self, origins: Sequence[str] | None) -> list[Tool]:
        """The mirrored tools: tree order, then registration order."""
        listed: list[Tool] = []
        for node in self._frames.top.walk():
            document = node.document
            if document is None or (origins is not None and document.origin not in origins):
                continue
            frame = node.snapshot()
            listed += [registration.snapshot(frame) for registration in document.registrations.values()]
        return listed

    def snapshot(self, registration: Registration) -> Tool:
        """One registration's public view."""
        node = self._frames.node(registration.document.frame_id)
        if node is None:
            raise ToolNotFoundError(
                f"the document of the tool {quote(registration.name)} is gone", tool=registration.name
            )
        return registration.snapshot(node.snapshot())

    def surface(self, document: Document | None) -> Surface:
        """How a document exposes its tools, and why so."""
        if self._mode == "off":
            return Surface(kind="none", reason="mode='off' hides WebMCP from scripts")
        if document is None:
            return Surface(kind="none", reason="no document is loaded")
        problem = self._problems.get(document.id)
        if document.foreign:
            return Surface(kind="page", reason=problem or "the page brought its own document.modelContext")
        if document.hello == "insecure":
            return Surface(kind="none", reason=INSECURE)
        if document.hello == "runtime":
            why = "asked for" if self._mode == "runtime" else "the engine has no complete model context of its own"
            return Surface(kind="runtime", reason=f"our model context, injected before page scripts: {why}")
        if self._mode == "runtime" or (problem and self._mode == "auto" and document.hello is None):
            return Surface(
                kind="none", reason="the page was open before our model context could be injected: reload it"
            )
        if problem:
            return Surface(kind="none", reason=problem)
        return Surface(kind="native", reason="the browser's own model context, over CDP")

    # --- resolving -------------------------------------------------------------------------------------------

    def quick(self, tool: Tool | str) -> Registration | None:
        """The registration, where it is beyond doubt without asking the page; the hot path of a call."""
        if isinstance(tool, str):
            named = self._registry.named(tool)
            return named[0] if len(named) == 1 else None
        ref: object = getattr(tool, "ref", None)
        if not isinstance(ref, str):
            raise TypeError(f"a tool is named by its name or its Tool, not by {type(tool).__name__}")
        return self._registry.by_ref(ref)

    async def find(
        self,
        tool: Tool | str,
        *,
        frame: str | None = None,
        origin: str | None = None,
        fresh: bool = False,
        timeout: float = REFRESH_TIMEOUT,
    ) -> Registration:
        """The registration that a caller means; see `Page.tool` and `Page.call` for the errors."""
        if not isinstance(tool, str):
            return self.quick(tool) or self._gone(tool)
        if fresh or not self._registry.named(tool):
            await self.refresh(timeout)
        found = self._matching(tool, frame, origin)
        if len(found) > 1:
            candidates = [self.snapshot(registration) for registration in found]
            places = ", ".join(f"{quote(c.frame.name or c.frame.url)} of {c.origin}" for c in candidates[:8])
            raise AmbiguousToolError(
                f"{len(found)} documents registered {quote(tool)} (frames {places}): pass frame=, origin= or the Tool",
                candidates=candidates,
                tool=tool,
            )
        if not found:
            raise self._absent(tool, frame, origin)
        return found[0]

    def _gone(self, tool: Tool) -> NoReturn:
        """Says what became of the registration of a snapshot."""
        if not tool.ref.startswith(f"{self._page_id}."):
            raise InvalidDocumentError(
                f"the tool {quote(tool.name)} belongs to another page", tool=tool.name, origin=tool.origin
            )
        document = tool.ref.rpartition(".")[0]
        here = any(living.id == document for living in self._frames.documents())
        replaced = any(other.document.id == document for other in self._registry.named(tool.name))
        why = (
            "was replaced under its name" if replaced else "was unregistered" if here else "is gone with its document"
        )  # fmt: skip
        raise ToolNotFoundError(
            f"the tool {quote(tool.name)} {why}; list the tools again",
            tool=tool.name,
            origin=tool.origin,
            available=self._registry.names(),
        )

    def _matching(self, name: str, frame: str | None, origin: str | None) -> list[Registration]:
        found = self._registry.named(name)
        if frame is not None:
            ids = {node.id for node in self._frames.select(frame)}
            found = [registration for registration in found if registration.document.frame_id in ids]
        if origin is not None:
            found = [registration for registration in found if registration.document.origin == origin]
        return found

    def _absent(self, name: str, frame: str | None, origin: str | None) -> WebMCPError:
        surface = self.surface(self._frames.top.document)
        available = self._registry.names()
        if surface.kind == "none" and not available:
            if surface.reason == INSECURE:
                return NotExposedError(f"no tool {quote(name)}: {surface.reason}", tool=name)
            return UnsupportedError(f"no tool {quote(name)}: {surface.reason}", tool=name)
        if frame is not None and not self._frames.select(frame):
            return ToolNotFoundError(
                f"no frame {quote(frame)} for the tool {quote(name)}", tool=name, available=available
            )
        where = f" in frame {quote(frame)}" if frame is not None else ""
        where += f" of origin {quote(origin)}" if origin is not None else ""
        shown = ", ".join(quote(other, 40) for other in available[:20]) or "none yet (wait_for_tool waits for one)"
        return ToolNotFoundError(f"no tool {quote(name)}{where}; there are: {shown}", tool=name, available=available)

    # --- waiting ---------------------------------------------------------------------------------------------

    async def wait_for_tool(self, name: str, timeout: float, *, frame: str | None, origin: str | None) -> Tool:
        """See `Page.wait_for_tool`."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while True:
            self._check_open()
            self._changed.clear()
            try:
                within = min(REFRESH_TIMEOUT, max(end - loop.time(), LEAST_LOOK))
                return self.snapshot(await self.find(name, frame=frame, origin=origin, fresh=True, timeout=within))
            except (ToolNotFoundError, UnsupportedError, NotExposedError) as error:
                left = end - loop.time()
                if self._mode == "off" or left <= 0:
                    if self._mode != "off" and timeout > 0:
                        error.args = (f"{error.args[0]} (waited {timeout:g} s)",)
                    raise
            await self._next_change(left)

    async def wait_for_tools(self, timeout: float, quiet: float) -> list[Tool]:
        """See `Page.wait_for_tools`."""
        loop = asyncio.get_running_loop()
        end = loop.time() + timeout
        while True:
            self._check_open()
            self._changed.clear()
            await self.refresh(min(REFRESH_TIMEOUT, max(end - loop.time(), LEAST_LOOK)))
            self._check_open()
            left = end - loop.time()
            documents = self._frames.documents()
            hopeless = documents and all(self.surface(document).kind == "none" for document in documents)
            if len(self._registry) or left <= 0 or hopeless:
                break
            await self._next_change(left)
        settled = loop.time() + quiet
        while len(self._registry) and (left := min(settled, end + quiet) - loop.time()) > 0:
            self._changed.clear()
            try:
                async with asyncio.timeout(left):
                    await self._changed.wait()
                settled = loop.time() + quiet
            except TimeoutError:
                await self.refresh(min(REFRESH_TIMEOUT, max(quiet, LEAST_LOOK)))
                break
        return self.tools(None)

    async def _next_change(self, left: float) -> None:
        try:
            async with asyncio.timeout(min(left, POLL)):
                await self._changed.wait()
        except TimeoutError:
            pass

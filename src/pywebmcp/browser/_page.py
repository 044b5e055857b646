"""A page: its tools, their calls, its events."""

from __future__ import annotations

import asyncio
import base64
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

from pywebmcp.browser._calls import Calls
from pywebmcp.browser._dialogs import Dialogs
from pywebmcp.browser._events import EventHub, EventStream
from pywebmcp.browser._frames import FrameTree
from pywebmcp.browser._lookup import Lookup
from pywebmcp.browser._navigation import Navigator
from pywebmcp.browser._routing import Router
from pywebmcp.browser._target import Targets
from pywebmcp.context import Document, PageSurface, Registration, Registry, RuntimeSurface
from pywebmcp.errors import (
    DocumentUnloadedError,
    EngineCrashedError,
    InvalidDocumentError,
    ProtocolError,
    ScriptFailedError,
    UnsupportedError,
    WebMCPError,
)
from pywebmcp.types import (
    InvocationSettled,
    Navigated,
    PageError,
    ToolActivated,
    ToolCanceled,
    ToolsChanged,
)
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from pywebmcp.browser._calls import CallHooks
    from pywebmcp.browser._dialogs import DialogPolicy
    from pywebmcp.browser._events import StopSignal, Subscription
    from pywebmcp.browser._invocation import Invocation
    from pywebmcp.browser._navigation import WaitUntil
    from pywebmcp.browser._routing import Route
    from pywebmcp.browser._target import TargetSetup
    from pywebmcp.types import Frame, Mode, Surface, Tool, ToolResult
    from pywebmcp.wire import Session

__all__ = ["CALL_TIMEOUT", "NAVIGATION_TIMEOUT", "Page", "PageSetup"]

log = logging.getLogger("pywebmcp.browser")

CRASHED = "the renderer of the page crashed"
CALL_TIMEOUT = 600.0
"""Seconds that a call may take unless the caller says otherwise."""
NAVIGATION_TIMEOUT = 30.0
"""Seconds that opening a page may take unless the caller says otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageSetup:
    """What a browser hands to each of its pages."""

    id: str
    target_id: str
    mode: Mode
    handle: str
    late_script: str
    """Looks at a page's own model context in documents that got no script of ours (mode ``native``)."""
    target: TargetSetup
    hooks: CallHooks
    dialogs: DialogPolicy
    call_timeout: float | None
    on_close: Callable[[Page], None]
    close_target: Callable[[], Awaitable[None]]


def check_seconds(timeout: float) -> None:
    """Refuses what is no time to wait, NaN included.

    Raises:
        ValueError: it is negative or no number.
    """
    if not timeout >= 0:
        raise ValueError(f"timeout={timeout!r}: seconds from 0 on")


class Page:
    """One top-level page and its frames. Made by `Browser.open`, `Browser.new_page` and `pywebmcp.attach`.

    It is an async context manager that closes the page.
    """

    def __init__(self, session: Session, setup: PageSetup) -> None:
        self._session = session
        self._setup = setup
        self._hub = EventHub()
        self._registry = Registry(self._registration_changed)
        capabilities = setup.target.capabilities
        self._frames = FrameTree(
            setup.id, setup.target_id, session, self._registry, emit=self._hub.emit, committed=self._committed
        )
        self._runtime = RuntimeSurface(
            handle=setup.handle,
            binding=setup.target.binding,
            find=self._frames.document_of_context,
            emit=self._hub.emit,
            wants=self._hub.wants,
            changed=self._page_changed,
            named=self._frames.named,
            prompt=lambda default: self._dialogs.told_default(default),
        )
        self._calls = Calls(
            setup.id, capabilities, setup.hooks, hub=self._hub, abandoned=lambda: self._dialogs.dismiss_open()
        )
        self._dialogs = Dialogs(
            setup.dialogs, wait=capabilities.dialogs_wait, report=self._calls.report, asking=self._calls.asking
        )
        self._targets = Targets(
            setup.target, self._frames, self._runtime, self._dialogs, emit=self._hub.emit, crashed=self._crashed
        )
        self._navigator = Navigator(session, setup.target_id)
        self._lookup = Lookup(
            setup.id,
            setup.mode,
            self._frames,
            self._registry,
            self._targets.natives,
            PageSurface(handle=setup.handle),
            capabilities,
            late_script=setup.late_script,
            check_open=self._check_open,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._closing: asyncio.Task[None] | None = None
        self._lost: str | None = None
        self._renderer_lost = False
        session.on_closed(lambda: self._engine_lost("the engine or its connection died"))

    async def _prepare(self, router: Router | None) -> None:
        if router:
            router.top_frame_id = self._setup.target_id
        self._targets.router = router
        await self._targets.prepare(self._session)

    # --- who it is -------------------------------------------------------------------------------------------

    @property
    def id(self) -> str:
        """Unique in the process; the prefix of refs and invocation ids."""
        return self._setup.id

    @property
    def url(self) -> str:
        """Address of the top document."""
        document = self._frames.top.document
        return document.url if document else "about:blank"

    @property
    def origin(self) -> str:
        """Serialised origin of the top document."""
        document = self._frames.top.document
        return document.origin if document else "null"

    @property
    def frames(self) -> tuple[Frame, ...]:
        """All frames in tree order, the top one first."""
        return tuple(node.snapshot() for node in self._frames.top.walk())

    @property
    def closed(self) -> bool:
        """True once the page is closed or its engine is gone."""
        return self._closed or self._lost is not None

    @property
    def surface(self) -> Surface:
        """How the top document exposes its tools, and why so; exact after `tools`, `tool` or a wait."""
        return self._lookup.surface(self._frames.top.document)

    async def supported(self) -> bool:
        """What a script's feature detection would say: whether the top document has a usable model context."""
        self._check_open()
        await self._lookup.refresh()
        return self.surface.kind != "none"

    # --- tools -----------------------------------------------------------------------------------------------

    async def tools(self, *, origins: Sequence[str] | None = None) -> list[Tool]:
        """Lists what the documents of all frames registered: tree order, then registration order.

        A barrier: whatever the page registered before a call's result is in the next list. A document that has no
        model context has no tools; `surface` says why.

        Args:
            origins: Only tools of documents with these serialised origins.

        Raises:
            UnsupportedError: the browser runs with ``mode="off"``.
            InvalidDocumentError: the page is closed.
        """
        self._check_open()
        await self._lookup.refresh()
        return self._lookup.tools(origins)

    async def tool(self, name: str, *, frame: str | None = None, origin: str | None = None) -> Tool:
        """Finds one tool by its name.

        Args:
            name: As registered.
            frame: Only in this frame: its id, else its name, else its URL.
            origin: Only in documents of this serialised origin.

        Raises:
            ToolNotFoundError: there is none; ``available`` lists what is there.
            AmbiguousToolError: several documents registered it; ``candidates`` lists them.
            UnsupportedError: there is no usable model context.
        """
        self._check_open()
        registration = await self._lookup.find(name, frame=frame, origin=origin, fresh=True)
        return self._lookup.snapshot(registration)

    async def wait_for_tool(
        self, name: str, timeout: float = 10.0, *, frame: str | None = None, origin: str | None = None
    ) -> Tool:
        """Waits until a tool of that name is registered; woken by events.

        Raises:
            ToolNotFoundError: the deadline passed; ``available`` lists what is there.
            AmbiguousToolError: several documents registered it.
        """
        self._check_open()
        check_seconds(timeout)
        return await self._lookup.wait_for_tool(name, timeout, frame=frame, origin=origin)

    async def wait_for_tools(self, timeout: float = 3.0, *, quiet: float = 0.25) -> list[Tool]:
        """Waits for a first tool, then until no tool came or went for `quiet` seconds.

        Returns:
            The tools; ``[]`` at the deadline of a page that registers none, and at once for one that cannot have any
            (`surface` says why).
        """
        self._check_open()
        check_seconds(timeout)
        check_seconds(quiet)
        return await self._lookup.wait_for_tools(timeout, quiet)

    # --- calls -----------------------------------------------------------------------------------------------

    async def call(
        self,
        tool: Tool | str,
        arguments: Mapping[str, Any] | str | None = None,
        *,
        timeout: float | Literal["default"] | None = "default",
        validate: bool = True,
        frame: str | None = None,
        origin: str | None = None,
    ) -> ToolResult:
        """Calls a tool once and returns what it answered.

        A tool that is not there fails at once; `wait_for_tool` waits for one that comes later. A result that says of
        itself that it is an error (``is_error``) is returned; `ToolResult.raise_for_error` raises it.

        Args:
            tool: A `Tool` (that very registration runs, or nothing does), or a name.
            arguments: A mapping, or the JSON text of an object; None is ``{}``.
            timeout: Seconds; None waits for ever; ``"default"`` is the browser's ``call_timeout`` (600 s).
                At the deadline the page's work is canceled.
            validate: False skips the check against the tool's input schema.
            frame: With a name: only in this frame (id, else name, else URL).
            origin: With a name: only in documents of this origin.

        Raises:
            WebMCPError: one of the errors of `pywebmcp.errors`, whose ``ran`` says whether the tool may have run.
        """
        self._check_open()
        registration = self._lookup.quick(tool) if frame is None and origin is None else None
        if registration is None:
            registration = await self._lookup.find(tool, frame=frame, origin=origin)
        run = self._calls.prepare(registration, arguments, validate=validate)
        return await self._calls.run(run, self._limit(timeout))

    async def invoke(
        self,
        tool: Tool | str,
        arguments: Mapping[str, Any] | str | None = None,
        *,
        timeout: float | Literal["default"] | None = "default",
        validate: bool = True,
        frame: str | None = None,
        origin: str | None = None,
    ) -> Invocation:
        """Starts a call and returns its handle at once; arguments and errors as for `call`."""
        self._check_open()
        registration = await self._lookup.find(tool, frame=frame, origin=origin)
        run = self._calls.prepare(registration, arguments, validate=validate)
        return self._calls.invoke(run, self._limit(timeout))

    # --- events ----------------------------------------------------------------------------------------------

    def events(self) -> EventStream:
        """Everything that happens from now on: an async iterator, also an async context manager.

        Each reader has its own buffer of 1,000 events; one that lags behind is told so by `EventsLost`.
        """
        return EventStream(self._hub)

    def on_tools_changed(
        self, callback: Callable[[ToolsChanged], object], *, signal: StopSignal | None = None
    ) -> Subscription:
        """Calls back when tools come or go; the returned `Subscription` takes it back."""
        return self._hub.on(ToolsChanged, callback, signal)

    def on_tool_activated(
        self, callback: Callable[[ToolActivated], object], *, signal: StopSignal | None = None
    ) -> Subscription:
        """Calls back when a tool starts to run, whoever called it."""
        return self._hub.on(ToolActivated, callback, signal)

    def on_tool_canceled(
        self, callback: Callable[[ToolCanceled], object], *, signal: StopSignal | None = None
    ) -> Subscription:
        """Calls back when a running tool is canceled."""
        return self._hub.on(ToolCanceled, callback, signal)

    def on_invocation_settled(
        self, callback: Callable[[InvocationSettled], object], *, signal: StopSignal | None = None
    ) -> Subscription:
        """Calls back when one of our invocations ends."""
        return self._hub.on(InvocationSettled, callback, signal)

    def on_navigated(
        self, callback: Callable[[Navigated], object], *, signal: StopSignal | None = None
    ) -> Subscription:
        """Calls back when a frame has a new document."""
        return self._hub.on(Navigated, callback, signal)

    # --- the page itself -------------------------------------------------------------------------------------

    async def goto(
        self,
        url: str,
        *,
        html: str | bytes | None = None,
        route: Route | None = None,
        wait: WaitUntil = "load",
        timeout: float = NAVIGATION_TIMEOUT,
    ) -> Self:
        """Opens an address in this page.

        Args:
            url: Where to go.
            html: Serves this text as the document of `url`, without a network and with its real origin.
            route: Answers every other request of the page; None as its answer lets it go to the network.
                What is served stays served until the next `goto` with ``html=`` or ``route=``.
            wait: ``"load"`` (frames included), ``"domcontentloaded"`` or ``"commit"``.
            timeout: Seconds.

        Raises:
            NavigationError: DNS, TLS, refused, an HTTP status of 400 or more, or the deadline.
        """
        self._check_there()
        check_seconds(timeout)
        self._revive()
        if html is not None or route is not None:
            if self._targets.router is None:
                router = Router(url, html, route)
                router.top_frame_id = self._setup.target_id
                await self._targets.route(router)
            else:
                self._targets.router.update(url, html, route)
        await self._navigator.goto(url, wait=wait, timeout=timeout)
        return self

    async def reload(self, *, wait: WaitUntil = "load", timeout: float = NAVIGATION_TIMEOUT) -> Self:
        """Loads the page anew; raises `NavigationError` like `goto`."""
        self._check_there()
        check_seconds(timeout)
        self._revive()
        await self._navigator.reload(wait=wait, timeout=timeout)
        return self

    async def evaluate(self, expression: str, *, frame: str | None = None, timeout: float = 30.0) -> Any:
        """Evaluates JavaScript among the page's own scripts, awaits a promise, returns the JSON value.

        Args:
            expression: JavaScript; never build it from untrusted text.
            frame: In this frame (id, else name, else URL); default the top one.
            timeout: Seconds.

        Raises:
            ScriptFailedError: it threw or rejected.
            DocumentUnloadedError: the frame navigated meanwhile.
            InvalidDocumentError: there is no such frame, or it is still coming up.
        """
        self._check_open()
        check_seconds(timeout)
        document = self._document(frame)
        params: dict[str, Any] = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        if document.context_id is not None:
            params["contextId"] = document.context_id
        elif not document.is_top:
            raise InvalidDocumentError(f"the frame at {quote(document.url)} has no scripts to evaluate among yet")
        try:
            reply = await document.session.send("Runtime.evaluate", params, timeout=timeout)
        except ProtocolError as error:
            if error.number is None:
                raise
            raise DocumentUnloadedError(
                f"the document at {quote(document.url)} went away before the expression was evaluated",
                origin=document.origin,
            ) from error
        details = reply.get("exceptionDetails")
        if details is not None:
            thrown = details.get("exception") or {}
            text = thrown.get("description") or str(thrown.get("value", details.get("text", "")))
            head, _, _ = text.partition("\n    at ")
            raise ScriptFailedError(
                f"the expression threw {quote(head)}",
                page_error=PageError(name=str(thrown.get("className", "")), message=head, stack=text),
                origin=document.origin,
            )
        return reply.get("result", {}).get("value")

    async def screenshot(self) -> bytes:
        """A PNG of the viewport, as the engine draws it (Lightpanda draws text and boxes only).

        Raises:
            UnsupportedError: the engine cannot.
        """
        self._check_open()
        reply = await self._session.send("Page.captureScreenshot", {"format": "png"})
        if "data" not in reply:
            raise UnsupportedError("this engine draws no pages; use engine='chromium'")
        return base64.b64decode(reply["data"])

    async def close(self) -> None:
        """Closes the page; calls on their way end with `OutcomeUnknownError`. Closing twice is fine.

        Cancelling it leaves the closing to go on in the background.
        """
        self._closed = True
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close(), name="pywebmcp page closing")
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        self._frames.close(engine_lost="the page was closed")
        self._lookup.wake()
        await self._calls.close()
        self._hub.close()
        await self._dialogs.close()
        await self._targets.close()
        if self._targets.router:
            await self._targets.router.close()
        self._setup.on_close(self)
        if not self._session.closed:
            try:
                await self._setup.close_target()
            except WebMCPError as error:
                log.debug("closing the target failed: %s", error)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Page {self.id} {self.url}{' (closed)' if self.closed else ''}>"

    # --- inside ----------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        self._check_there()
        if self._renderer_lost:
            raise EngineCrashedError(f"{CRASHED}; reload it")

    def _revive(self) -> None:
        """A navigation brings a new renderer."""
        if self._renderer_lost:
            self._renderer_lost = False
            self._navigator.revived()

    def _check_there(self) -> None:
        loop = asyncio.get_running_loop()
        self._loop = self._loop or loop
        if loop is not self._loop:
            raise RuntimeError(
                "the page belongs to another event loop: use asyncio.run_coroutine_threadsafe() with that loop, or "
                "pywebmcp.sync, which works from any thread"
            )
        if self._closed:
            raise InvalidDocumentError("the page is closed; open another one")
        if self._lost:
            raise EngineCrashedError(f"{self._lost}; open the page again")

    def _limit(self, timeout: float | Literal["default"] | None) -> float | None:
        if timeout == "default":
            return self._setup.call_timeout
        if timeout is not None:
            check_seconds(timeout)
        return timeout

    def _document(self, frame: str | None) -> Document:
        nodes = [self._frames.top] if frame is None else self._frames.select(frame)
        documents = [node.document for node in nodes if node.document]
        if len(documents) != 1:
            what = "no frame" if not documents else "several frames"
            raise InvalidDocumentError(f"{what} of the page match {quote(frame or 'top')}; see page.frames")
        return documents[0]

    def _committed(self, document: Document) -> None:
        if document.is_top:
            self._navigator.committed(document.loader_id)
        native = self._targets.natives.get(document.session)
        if native:
            native.arrived(document)

    def _registration_changed(self, registration: Registration, added: bool) -> None:
        names = (registration.name,)
        self._lookup.wake()
        self._hub.emit(
            ToolsChanged(
                origin=registration.document.origin,
                frame_id=registration.document.frame_id,
                added=names if added else (),
                removed=() if added else names,
            )
        )

    def _page_changed(self, document: Document) -> None:
        document.foreign = True
        self._lookup.wake()

    def _crashed(self, session: Session) -> None:
        """A renderer died: its documents are gone; when it was the top one's, the page can be loaded again."""
        self._frames.forget(session, engine_lost=CRASHED)
        session.fail(CRASHED)
        if session is self._session:
            self._renderer_lost = True
            self._navigator.lost(CRASHED)
        self._lookup.wake()

    def _engine_lost(self, why: str) -> None:
        self._lost = self._lost or why
        self._frames.close(engine_lost=why)
        self._navigator.lost(why)
        self._lookup.wake()
        self._hub.close()
        self._setup.on_close(self)

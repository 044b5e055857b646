"""Making a target ready: its domains on, our script in place, its frames followed, before any page script runs.

A page is one target; on Chromium each cross-origin frame is another, attached as a child while it waits to start.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pywebmcp.context import NativeSurface
from pywebmcp.errors import ProtocolError, WebMCPError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pywebmcp.browser._dialogs import Dialogs
    from pywebmcp.browser._frames import FrameTree
    from pywebmcp.browser._routing import Router
    from pywebmcp.context import Capabilities, RuntimeSurface
    from pywebmcp.types import PageEvent
    from pywebmcp.wire import Session

__all__ = ["TargetSetup", "Targets"]

log = logging.getLogger("pywebmcp.browser")


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetSetup:
    """What every target of one page is given."""

    capabilities: Capabilities
    script: str | None
    """The injected script; None injects nothing (mode ``native``)."""
    binding: str
    storage_script: str | None = None
    """Restores a storage state's ``localStorage``."""
    headers: Mapping[str, str] | None = None
    user_agent: str | None = None
    adopt: bool = False
    """True for a page that was open before we came: its frames and contexts are asked for."""
    auto_attach: bool = True
    """False where frame targets cannot be attached through this session (Playwright)."""


class Targets:
    """All targets of one page: the top one and, on Chromium, its out-of-process frames."""

    def __init__(
        self,
        setup: TargetSetup,
        frames: FrameTree,
        runtime: RuntimeSurface,
        dialogs: Dialogs,
        *,
        emit: Callable[[PageEvent], None],
        crashed: Callable[[Session], None],
    ) -> None:
        self.setup = setup
        self.router: Router | None = None
        self.natives: dict[Session, NativeSurface] = {}
        self._frames = frames
        self._runtime = runtime
        self._dialogs = dialogs
        self._emit = emit
        self._crashed = crashed
        self._tasks: set[asyncio.Task[None]] = set()

    async def prepare(self, session: Session) -> None:
        """Readies one target. Commands are sent in one go; the engine answers them in order."""
        setup, capabilities = self.setup, self.setup.capabilities
        self._frames.listen(session)
        self._runtime.listen(session)
        self._dialogs.listen(session)
        self.natives[session] = NativeSurface(
            session, find=self._frames.document, emit=self._emit, capabilities=capabilities
        )
        session.on("Target.attachedToTarget", lambda params: self._attached(session, params))
        if self.router:
            self.router.listen(session)
        commands: list[tuple[str, dict[str, Any]]] = [("Page.enable", {})]
        if capabilities.crash_events:
            session.on("Inspector.targetCrashed", lambda _: self._crashed(session))
            commands.append(("Inspector.enable", {}))
        if setup.script is not None:
            commands.append(("Runtime.addBinding", {"name": setup.binding}))
            commands.append(("Page.addScriptToEvaluateOnNewDocument", {"source": setup.script}))
        if setup.storage_script is not None:
            commands.append(("Page.addScriptToEvaluateOnNewDocument", {"source": setup.storage_script}))
        if setup.adopt or session is not self._frames.top.session:
            commands.append(("Page.getFrameTree", {}))
        commands += [("Runtime.enable", {}), ("Network.enable", {}), ("WebMCP.enable", {})]
        if setup.headers:
            commands.append(("Network.setExtraHTTPHeaders", {"headers": dict(setup.headers)}))
        if setup.user_agent:
            commands.append(("Emulation.setUserAgentOverride", {"userAgent": setup.user_agent}))
        if self.router:
            commands.append(("Fetch.enable", {"patterns": [{"urlPattern": "*"}]}))
        if capabilities.frame_targets and setup.auto_attach:
            only_frames = [{"type": "iframe", "exclude": False}, {"exclude": True}]
            commands.append(
                (
                    "Target.setAutoAttach",
                    {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": only_frames},
                )
            )

        def seed(reply: dict[str, Any]) -> None:
            self._frames.seed(session, reply["frameTree"])

        replies: list[asyncio.Future[dict[str, Any]]] = []
        for method, params in commands:
            replies.append(session.start(method, params, on_reply=seed if method == "Page.getFrameTree" else None))
        async with asyncio.timeout(30):
            answers = await asyncio.gather(*replies, return_exceptions=True)
        for (method, _), answer in zip(commands, answers, strict=True):
            if isinstance(answer, ProtocolError) and method in {"WebMCP.enable", "Inspector.enable"}:
                continue
            if isinstance(answer, BaseException):
                raise answer

    async def route(self, router: Router) -> None:
        """Starts answering requests on targets that are already there."""
        self.router = router
        for session in self.natives:
            router.listen(session)
            await session.send("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})

    def _attached(self, session: Session, params: dict[str, Any]) -> None:
        """An out-of-process frame waits to start."""
        child = session.child(params["sessionId"])
        target = params.get("targetInfo", {})
        task = asyncio.get_running_loop().create_task(self._join(child, target.get("targetId", "")))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _join(self, child: Session, frame_id: str) -> None:
        def gone() -> None:
            self.natives.pop(child, None)
            self._frames.forget(child)

        child.on_closed(gone)
        try:
            if self._frames.node(frame_id) is not None:
                await self.prepare(child)
        except WebMCPError as error:
            log.debug("a frame went away while it was made ready: %s", error)
        finally:
            child.post("Runtime.runIfWaitingForDebugger")

    async def close(self) -> None:
        """Stops joining frames."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

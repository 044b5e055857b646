"""A browser: an engine that runs, and its pages."""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pywebmcp.browser import _storage
from pywebmcp.browser._dialogs import declared
from pywebmcp.browser._page import CALL_TIMEOUT, NAVIGATION_TIMEOUT, Page, PageSetup, check_seconds
from pywebmcp.browser._routing import Router
from pywebmcp.browser._target import TargetSetup
from pywebmcp.context import build_script, capabilities_of, random_identifier
from pywebmcp.errors import EngineCrashedError, NavigationError, WebMCPError
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from pywebmcp.browser._calls import CallHooks
    from pywebmcp.browser._dialogs import DialogPolicy
    from pywebmcp.browser._navigation import WaitUntil
    from pywebmcp.browser._routing import Route
    from pywebmcp.engines import RunningEngine
    from pywebmcp.types import Cookie, EngineInfo, Mode, StorageState
    from pywebmcp.wire import Connection, Session

__all__ = ["Browser", "BrowserSetup"]

log = logging.getLogger("pywebmcp.browser")

_page_numbers = itertools.count(1)


@dataclass(frozen=True, slots=True, kw_only=True)
class BrowserSetup:
    """What `launch` and `connect` hand to a browser."""

    mode: Mode
    hooks: CallHooks
    dialogs: DialogPolicy = "dismiss"
    call_timeout: float | None = CALL_TIMEOUT
    headers: Mapping[str, str] | None = None
    user_agent: str | None = None
    storage_state: StorageState | None = None
    cookie_file: Path | None = None
    """Where we keep the cookies of a kept profile: Lightpanda has no profile, and Chromium (seen on 156) loses those
    of its last half minute when it ends."""


class Browser:
    """An engine and its pages. Made by `pywebmcp.launch` and `pywebmcp.connect`.

    It is an async context manager that closes everything that it started.
    """

    def __init__(
        self,
        connection: Connection,
        info: EngineInfo,
        setup: BrowserSetup,
        *,
        engine: RunningEngine | None,
        dial: Callable[[], Awaitable[Connection]],
    ) -> None:
        self._connection = connection
        self._info = info
        self._setup = setup
        self._engine = engine
        self._dial = dial
        self._capabilities = capabilities_of(info.name)
        connection.max_message = self._capabilities.max_message
        self._handle = random_identifier()
        self._binding = random_identifier()
        self._pages: dict[str, Page] = {}
        self._connections: set[Connection] = {connection}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._spare = self._capabilities.page_per_connection
        self._restored = False
        self._jar: dict[tuple[str, str, str], Cookie] = {}
        self._closed = False
        self._closing: asyncio.Task[None] | None = None

    # --- who it is -------------------------------------------------------------------------------------------

    @property
    def engine(self) -> EngineInfo:
        """What runs the pages."""
        return self._info

    @property
    def mode(self) -> Mode:
        """How documents get their model context, as asked for."""
        return self._setup.mode

    @property
    def pages(self) -> tuple[Page, ...]:
        """The open pages, oldest first; popups are pages of their own where the engine has them."""
        return tuple(self._pages.values())

    @property
    def process_id(self) -> int | None:
        """The engine's process, when we started it."""
        return self._engine.pid if self._engine else None

    # --- pages -----------------------------------------------------------------------------------------------

    async def open(
        self,
        url: str,
        *,
        html: str | bytes | None = None,
        route: Route | None = None,
        wait: WaitUntil = "load",
        timeout: float = NAVIGATION_TIMEOUT,
        dialogs: DialogPolicy | None = None,
    ) -> Page:
        """Opens a new page at an address; see `Page.goto` for the arguments and errors.

        Args:
            url: Where to go.
            html: Serves this text as the document of `url`, without a network.
            route: Answers every other request of the page.
            wait: How far it has to load.
            timeout: Seconds.
            dialogs: How this page's dialogs are answered, other than the browser's.
        """
        check_seconds(timeout)
        router = Router(url, html, route) if html is not None or route is not None else None
        end = asyncio.get_running_loop().time() + timeout
        try:
            async with asyncio.timeout(timeout):
                page = await self.new_page(dialogs=dialogs, _router=router)
        except TimeoutError:
            raise NavigationError(f"the engine gave no page for {quote(url)} within {timeout:g} s", url=url) from None
        try:
            await page.goto(url, wait=wait, timeout=max(0.0, end - asyncio.get_running_loop().time()))
        except BaseException:  # boundary: cleans up, then raises it again
            await page.close()
            raise
        return page

    async def new_page(self, *, dialogs: DialogPolicy | None = None, _router: Router | None = None) -> Page:
        """Opens an empty page."""
        if self._closed:
            raise EngineCrashedError("the browser is closed; launch another one")
        # Half an opening cannot be undone: one that is cancelled is finished in the background, and then closed.
        opening = asyncio.get_running_loop().create_task(self._open_target(dialogs or self._setup.dialogs, _router))
        self._tasks.add(opening)
        opening.add_done_callback(self._tasks.discard)
        try:
            return await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(self._abandon)
            raise

    def _abandon(self, opening: asyncio.Task[Page]) -> None:
        if not opening.cancelled() and not opening.exception():
            closing = asyncio.get_running_loop().create_task(opening.result().close())
            self._tasks.add(closing)
            closing.add_done_callback(self._tasks.discard)

    async def _open_target(self, policy: DialogPolicy, router: Router | None) -> Page:
        connection = self._connection
        if self._capabilities.page_per_connection and not self._spare:
            connection = await self._dial()
            connection.max_message = self._capabilities.max_message
            self._connections.add(connection)
        self._spare = False
        target_id = ""
        try:
            created = await connection.send("Target.createTarget", {"url": "about:blank"})
            target_id = created["targetId"]
            attached = await connection.send("Target.attachToTarget", {"targetId": target_id, "flatten": True})
            session = connection.child(attached["sessionId"])
            page = await self._add_page(session, target_id, connection, policy, router=router)
        except BaseException:  # boundary: cleans up, then raises it again
            if connection is not self._connection:
                self._connections.discard(connection)
                connection.abort()
            elif target_id:
                connection.post("Target.closeTarget", {"targetId": target_id})
            raise
        try:
            await self._bring_cookies(session)
        except BaseException:  # boundary: cleans up, then raises it again
            await page.close()
            raise
        return page

    async def _bring_cookies(self, session: Session) -> None:
        """Gives a new page the cookies that it should find: those kept, those restored, those of the other pages."""
        if not self._restored:
            self._restored = True
            if self._setup.cookie_file and self._setup.cookie_file.exists():
                there = {_storage.key(cookie) for cookie in await _storage.cookies(session)}
                kept = _storage.load_cookies(self._setup.cookie_file)
                self._jar.update({_storage.key(c): c for c in kept if _storage.key(c) not in there})
            if self._setup.storage_state:
                given = self._setup.storage_state.get("cookies", ())
                await _storage.add_cookies(session, [*self._jar.values(), *given])
                self._jar.update({_storage.key(c): c for c in await _storage.cookies(session)})
                return
        elif self._capabilities.cookies_shared:
            if len(self._pages) > 1:
                return
        else:
            await self._collect_cookies()
        await _storage.add_cookies(session, self._jar.values())

    async def _collect_cookies(self) -> None:
        """Brings the jar up to date from the open pages; later ones win."""
        for page in list(self._pages.values()):
            if not page.closed:
                self._jar.update({_storage.key(c): c for c in await _storage.cookies(page._session)})

    async def _add_page(
        self,
        session: Session,
        target_id: str,
        connection: Connection,
        policy: DialogPolicy,
        *,
        router: Router | None = None,
        adopt: bool = False,
    ) -> Page:
        injects = self._setup.mode != "native"
        config: dict[str, Any] = {
            "mode": self._setup.mode if injects else "auto",
            "dialogs": None if self._capabilities.dialogs_wait else declared(policy),
        }
        script = build_script(handle=self._handle, binding=self._binding, config=config)
        own_connection = connection is not self._connection

        async def close_target() -> None:
            # Lightpanda's cookies go with their page, Chromium's session cookies with the last one (seen on 156).
            if self._closing is None and not (self._capabilities.cookies_shared and self._pages):
                if self._capabilities.cookies_shared:
                    self._jar.clear()
                self._jar.update({_storage.key(c): c for c in await _storage.cookies(session)})
            if self._capabilities.page_per_connection:
                if own_connection:
                    self._connections.discard(connection)
                    await connection.close()
                else:
                    # Not used again for another page: what was injected into this one would stay.
                    await connection.send("Target.closeTarget", {"targetId": target_id}, timeout=5)
            else:
                await connection.send("Target.closeTarget", {"targetId": target_id}, timeout=5)

        page = Page(
            session,
            PageSetup(
                id=f"p{next(_page_numbers)}",
                target_id=target_id,
                mode=self._setup.mode,
                handle=self._handle,
                late_script=script,
                target=TargetSetup(
                    capabilities=self._capabilities,
                    script=script if injects else None,
                    binding=self._binding,
                    storage_script=_storage.restore_script(self._setup.storage_state or {}),
                    headers=self._setup.headers,
                    user_agent=self._setup.user_agent,
                    adopt=adopt,
                ),
                hooks=self._setup.hooks,
                dialogs=policy,
                call_timeout=self._setup.call_timeout,
                on_close=self._forget,
                close_target=close_target,
            ),
        )
        await page._prepare(router)
        self._pages[page.id] = page
        return page

    def _forget(self, page: Page) -> None:
        self._pages.pop(page.id, None)

    async def _watch_popups(self) -> None:
        """Takes windows that our pages open as pages of their own, before their scripts run."""
        self._connection.on("Target.attachedToTarget", self._popup)
        only_pages = [{"type": "page", "exclude": False}, {"exclude": True}]
        await self._connection.send(
            "Target.setAutoAttach",
            {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": only_pages},
        )

    def _popup(self, params: dict[str, Any]) -> None:
        if not params.get("waitingForDebugger"):
            return  # one that we attached to ourselves
        target = params["targetInfo"]
        session = self._connection.child(params["sessionId"])
        if not target.get("openerId"):
            # Our own new page: it is attached explicitly.
            session.post("Runtime.runIfWaitingForDebugger")
            self._connection.post("Target.detachFromTarget", {"sessionId": params["sessionId"]})
            return
        task = asyncio.get_running_loop().create_task(self._join_popup(session, target["targetId"]))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _join_popup(self, session: Session, target_id: str) -> None:
        try:
            await self._add_page(session, target_id, self._connection, self._setup.dialogs, adopt=True)
        except WebMCPError as error:
            log.debug("a popup went away while it was made ready: %s", error)
        finally:
            session.post("Runtime.runIfWaitingForDebugger")

    # --- logged-in work --------------------------------------------------------------------------------------

    async def cookies(self) -> list[Cookie]:
        """All cookies, in Playwright's form."""
        if self._capabilities.cookies_shared:
            return await _storage.cookies((await self._sessions())[0])
        await self._collect_cookies()
        return list(self._jar.values())

    async def add_cookies(self, cookies: Iterable[Mapping[str, Any]]) -> None:
        """Sets cookies given in Playwright's form, for all pages."""
        given = list(cookies)
        for session in await self._sessions():
            await _storage.add_cookies(session, given)

    async def clear_cookies(self) -> None:
        """Removes all cookies, of all pages."""
        self._jar.clear()
        for session in await self._sessions():
            await _storage.clear_cookies(session)

    async def storage_state(self, *, path: str | Path | None = None) -> StorageState:
        """Cookies, and the ``localStorage`` of the origins that open pages show, in Playwright's form.

        Args:
            path: Also writes it to this file, readable by its owner only.
        """
        state: StorageState = {
            "cookies": await self.cookies(),
            "origins": await _storage.local_storage(self.pages),
        }
        if path is not None:
            _write_private(Path(path), json.dumps(state, indent=2))
        return state

    async def _sessions(self) -> list[Session]:
        """Those that together reach all cookies; a page is opened when there is none."""
        sessions = [page._session for page in self._pages.values() if not page.closed]
        if not sessions:
            sessions = [(await self.new_page())._session]
        return sessions[:1] if self._capabilities.cookies_shared else sessions

    # --- the end ---------------------------------------------------------------------------------------------

    async def close(self) -> None:
        """Closes the pages, and the engine when we started it. Closing twice is fine.

        Cancelling it ends the engine at once, and the rest of the closing in the background.
        """
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close(), name="pywebmcp closing")
        try:
            await asyncio.shield(self._closing)
        except asyncio.CancelledError:
            if self._engine:
                self._engine.kill()
            raise

    async def _close(self) -> None:
        try:
            if self._setup.cookie_file and (self._pages or self._jar) and not self._connection.closed:
                try:
                    _write_private(self._setup.cookie_file, json.dumps(await self.cookies()))
                except (WebMCPError, OSError) as error:
                    log.warning("the cookies of the profile were not saved: %s", error)
            self._closed = True
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=2)
            for task in self._tasks:
                task.cancel()
            await asyncio.gather(*self._tasks, return_exceptions=True)
            await asyncio.gather(*(page.close() for page in self.pages))
            await asyncio.gather(*(connection.close() for connection in self._connections))
        finally:
            self._closed = True
            if self._engine:
                await self._engine.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<Browser {self._info.name} {self._info.version}, {len(self._pages)} pages>"


def _write_private(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(text, encoding="utf-8")

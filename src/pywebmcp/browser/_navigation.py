"""Opening pages: one navigation at a time, waited for by events, with every failure named."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any, Literal

from pywebmcp.errors import EngineCrashedError, NavigationError, ProtocolError
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from pywebmcp.wire import Session

    WaitUntil = Literal["load", "domcontentloaded", "commit"]

__all__ = ["Navigator"]

WAITS = ("load", "domcontentloaded", "commit")
SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
REASONS = tuple(
    (re.compile(pattern, re.IGNORECASE), words)
    for pattern, words in (
        (r"resolve|NAME_NOT", "its host name cannot be resolved"),
        (r"Couldnt?Connect|CONNECTION_REFUSED", "nothing accepts connections there"),
        (r"CERT|SSL|TLS|PeerFailed", "its TLS certificate or handshake is not acceptable"),
        (r"TIMED?_?OUT", "it did not answer in time"),
        (r"UnsupportedProtocol|UNKNOWN_URL_SCHEME", "this engine does not open such addresses"),
        (r"ERR_ABORTED", "there is no page to show: a download, or an empty answer"),
        (r"INTERNET_DISCONNECTED|NETWORK", "the network does not reach it"),
    )
)
"""What engines call failures: Chromium's ``net::ERR_…``, Lightpanda's names of curl."""


class Navigator:
    """Navigates the top frame of one page and knows how far its document is.

    Args:
        session: The page's session.
        frame_id: Id of its top frame.
    """

    def __init__(self, session: Session, frame_id: str) -> None:
        self._session = session
        self._frame_id = frame_id
        self._changed = asyncio.Event()
        self._reached: dict[str, set[str]] = {}
        self._status: dict[str, int] = {}
        self._loader = ""
        self._committed: set[str] = set()
        self._lost: str | None = None
        session.on("Page.frameStoppedLoading", self._stopped)
        session.on("Page.domContentEventFired", lambda _: self._mark(self._loader, "domcontentloaded"))
        session.on("Network.responseReceived", self._response)
        session.on_closed(lambda: self.lost("the engine or its connection died"))

    def committed(self, loader_id: str) -> None:
        """A new document of the top frame."""
        self._loader = loader_id
        self._committed.add(loader_id)
        self._reached = {loader_id: self._reached.get(loader_id, set())}
        self._mark(loader_id, "commit")

    def lost(self, why: str) -> None:
        """Nothing will load any more."""
        self._lost = why
        self._changed.set()

    def revived(self) -> None:
        """A renderer that died is replaced by the next navigation."""
        self._lost = None

    def _mark(self, loader_id: str, what: str) -> None:
        self._reached.setdefault(loader_id, set()).add(what)
        self._changed.set()

    def _stopped(self, params: dict[str, Any]) -> None:
        if params.get("frameId") == self._frame_id:
            self._mark(self._loader, "domcontentloaded")
            self._mark(self._loader, "load")

    def _response(self, params: dict[str, Any]) -> None:
        # A document's request carries the loader's id as its own, on every engine that tells the type or not.
        if params.get("frameId") == self._frame_id and params.get("type", "Document") == "Document":
            self._status[str(params.get("loaderId", ""))] = int(params.get("response", {}).get("status", 0))

    async def goto(self, url: str, *, wait: WaitUntil, timeout: float) -> None:
        """Opens `url` in the top frame.

        Raises:
            NavigationError: DNS, TLS, refused, an HTTP status of 400 or more, or the deadline.
            ValueError: `wait` is none of its three values.
        """
        if wait not in WAITS:
            raise ValueError(f"wait={wait!r}: one of {', '.join(WAITS)}")
        if not SCHEME.match(url):
            raise NavigationError(
                f"cannot open {quote(url)}: an address starts with https:// or http:// (html= serves your own text)",
                url=url,
            )
        self._status.clear()
        try:
            async with asyncio.timeout(timeout):
                try:
                    reply = await self._session.send(
                        "Page.navigate", {"url": url, "frameId": self._frame_id}, timeout=None
                    )
                except ProtocolError as error:
                    raise NavigationError(f"cannot open {quote(url)}: {quote(error.message)}", url=url) from error
                if reply.get("errorText"):
                    raise NavigationError(f"cannot open {quote(url)}: {_reason(reply['errorText'])}", url=url)
                loader_id = reply.get("loaderId")
                if loader_id:
                    await self._wait(loader_id, wait)
        except TimeoutError:
            raise NavigationError(f"{quote(url)} did not load within {timeout:g} s", url=url) from None
        self._check_status(url, reply.get("loaderId") or "")

    async def reload(self, *, wait: WaitUntil, timeout: float) -> None:
        """Loads the current document anew."""
        before = self._loader
        self._status.clear()
        try:
            async with asyncio.timeout(timeout):
                try:
                    await self._session.send("Page.reload", {}, timeout=None)
                except ProtocolError as error:
                    raise NavigationError(f"cannot reload the page: {quote(error.message)}") from error
                while self._loader == before:
                    await self._next()
                await self._wait(self._loader, wait)
        except TimeoutError:
            raise NavigationError(f"the page did not reload within {timeout:g} s") from None
        self._check_status("the page", self._loader)

    async def _wait(self, loader_id: str, wait: WaitUntil) -> None:
        # A page may go on to another document by itself while it loads: that one is then what we wait for.
        while True:
            current = self._loader if loader_id in self._committed else loader_id
            if wait in self._reached.get(current, ()):
                return
            await self._next()

    async def _next(self) -> None:
        if self._lost:
            raise EngineCrashedError(f"{self._lost} while the page loaded")
        self._changed.clear()
        await self._changed.wait()
        if self._lost:
            raise EngineCrashedError(f"{self._lost} while the page loaded")

    def _check_status(self, url: str, loader_id: str) -> None:
        status = self._status.get(loader_id)
        if status is not None and status >= 400:
            raise NavigationError(f"{quote(url)} answered with HTTP status {status}", url=url, status=status)


def _reason(told: str) -> str:
    """The engine's word for a failure, with a plain one before it where it is known."""
    plain = next((words for pattern, words in REASONS if pattern.search(told)), None)
    return f"{plain} ({quote(told)})" if plain else quote(told)

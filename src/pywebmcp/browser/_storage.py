"""Logged-in work: cookies and storage state, read and written in Playwright's form."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pywebmcp.errors import WebMCPError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pywebmcp.browser._page import Page
    from pywebmcp.types import Cookie, StorageState
    from pywebmcp.wire import Session

__all__ = [
    "add_cookies",
    "clear_cookies",
    "cookies",
    "key",
    "load_cookies",
    "load_state",
    "local_storage",
    "restore_script",
]

log = logging.getLogger("pywebmcp.browser")

COOKIE_TIMEOUT = 5.0
"""Seconds that an engine may take to tell its cookies: closing a page asks for them."""
LOCAL_STORAGE = "JSON.stringify(Object.entries(localStorage).map(([name, value]) => ({name, value})))"


async def cookies(session: Session) -> list[Cookie]:
    """All cookies of the browser, in Playwright's form."""
    reply = await session.send("Network.getAllCookies", timeout=COOKIE_TIMEOUT)
    return [
        {
            "name": cookie["name"],
            "value": cookie["value"],
            "domain": cookie["domain"],
            "path": cookie["path"],
            "expires": cookie.get("expires", -1),
            "httpOnly": bool(cookie.get("httpOnly")),
            "secure": bool(cookie.get("secure")),
            "sameSite": cookie.get("sameSite") or "Lax",
        }
        for cookie in reply.get("cookies", ())
    ]


def key(cookie: Cookie) -> tuple[str, str, str]:
    """What makes a cookie the same cookie."""
    return cookie["name"], cookie["domain"], cookie["path"]


def load_cookies(path: Path) -> list[Cookie]:
    """The cookies that `Browser.close` kept in a profile; none when the file is damaged."""
    try:
        kept = json.loads(path.read_text(encoding="utf-8"))
        return [cookie for cookie in kept if all(cookie[member] is not None for member in ("name", "domain", "path"))]
    except (OSError, ValueError, TypeError, KeyError) as error:
        log.warning("the cookies in %s cannot be read: %s", path, error)
        return []


async def add_cookies(session: Session, given: Iterable[Mapping[str, Any]]) -> None:
    """Sets cookies given in Playwright's form (``url``, or ``domain`` and ``path``).

    Raises:
        ValueError: a cookie lacks its name, its value, or where it belongs.
    """
    prepared: list[dict[str, Any]] = []
    for cookie in given:
        if "name" not in cookie or "value" not in cookie or not ("url" in cookie or "domain" in cookie):
            raise ValueError("a cookie needs name, value, and url or domain (Playwright's form)")
        members = {key: value for key, value in cookie.items() if value is not None}
        if members.get("expires") in (-1, None):
            members.pop("expires", None)
        if "url" not in members:
            members.setdefault("path", "/")
        prepared.append(members)
    if prepared:
        await session.send("Network.setCookies", {"cookies": prepared})


async def clear_cookies(session: Session) -> None:
    """Removes all cookies of the browser."""
    await session.send("Network.clearBrowserCookies")


def load_state(state: StorageState | str | Path) -> StorageState:
    """A storage state from a mapping or from a file that Playwright or `Browser.storage_state` wrote.

    Raises:
        ValueError: it is no storage state.
    """
    if isinstance(state, (str, Path)):
        state = json.loads(Path(state).read_text(encoding="utf-8"))
    if not isinstance(state, dict) or not isinstance(state.get("cookies", []), list):
        raise ValueError('a storage state is {"cookies": [...], "origins": [...]}')
    return state


def restore_script(state: StorageState) -> str | None:
    """A script that fills the empty ``localStorage`` of the state's origins; None where it has none."""
    by_origin = {
        origin["origin"]: [[item["name"], item["value"]] for item in origin.get("localStorage", ())]
        for origin in state.get("origins", ())
    }
    if not any(by_origin.values()):
        return None
    # "<" is escaped so that the text is safe wherever an engine might embed a script.
    entries = json.dumps(by_origin).replace("<", "\\u003c")
    return (
        "(() => { try { const mine = " + entries + "[origin];"
        " if (mine && localStorage.length === 0) for (const [name, value] of mine) localStorage.setItem(name, value);"
        " } catch {} })();"
    )


async def local_storage(pages: Iterable[Page]) -> list[dict[str, Any]]:
    """The ``localStorage`` of every origin that an open page shows."""
    found: dict[str, list[dict[str, str]]] = {}
    for page in pages:
        for frame in page.frames:
            try:
                origin = await page.evaluate("origin", frame=frame.id, timeout=5)
                if origin in found or origin == "null":
                    continue
                found[origin] = json.loads(await page.evaluate(LOCAL_STORAGE, frame=frame.id, timeout=5))
            except (WebMCPError, ValueError, TypeError):
                continue  # a frame without storage, or one that went away
    return [{"origin": origin, "localStorage": items} for origin, items in found.items() if items]

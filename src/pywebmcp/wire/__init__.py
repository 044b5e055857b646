"""The wire: JSON messages to a browser, and nothing about tools.

`Session` is the one seam. `connect` opens a CDP connection over a WebSocket, whose root session is the
browser and whose children are its targets; `PlaywrightSession` wraps the CDP session of a Playwright page.
Importing this package loads no socket library: what needs one is loaded at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pywebmcp.wire._session import DEFAULT_TIMEOUT, Done, Session

if TYPE_CHECKING:
    from pywebmcp.wire._connection import Connection, connect
    from pywebmcp.wire._playwright import PlaywrightSession

__all__ = ["DEFAULT_TIMEOUT", "Connection", "Done", "PlaywrightSession", "Session", "connect"]

_HOMES = {
    "Connection": "pywebmcp.wire._connection",
    "PlaywrightSession": "pywebmcp.wire._playwright",
    "connect": "pywebmcp.wire._connection",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value

"""The wire trace: every message of every connection, one line each, for whoever debugs.

Set ``PYWEBMCP_TRACE`` to ``1`` or ``stderr`` for standard error, or to the path of a file, which is appended to
(and readable by its owner only). Lines are bounded, and what grants access is left out: the values of cookies and
of ``Cookie``, ``Set-Cookie``, ``Authorization`` and ``Proxy-Authorization`` headers, and passwords. What a page
itself puts into its texts (a token in an argument of a tool) is not recognised.

Off, it costs one comparison a message.
"""

from __future__ import annotations

import json
import logging
import os
import re
import sys
import time
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LINE_LIMIT", "Trace", "VARIABLE"]

logger = logging.getLogger("pywebmcp.wire")

VARIABLE: Final = "PYWEBMCP_TRACE"
"""The environment variable that turns the trace on."""

LINE_LIMIT: Final = 2000
"""Characters of a line's message; the rest is counted, not shown."""

_DEPTH_LIMIT: Final = 24
_ITEM_LIMIT: Final = 100
_REDACTED: Final = "[redacted]"
_SECRET_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization", "set-cookie"})
_SECRET_MEMBERS: Final = frozenset({"binaryresponseheaders", "cookieline", "password", "rawcookieline"})
_SECRET_TEXT: Final = re.compile(
    r"""(?ix) (?P<name> \b (?: (?:proxy-)?authorization | (?:set-)?cookie ) ["']? \s* : \s* ["']? ) [^"'\r\n]+
    | (?P<scheme> :// ) [^/@\s"']+ (?=@)"""
)


class Trace:
    """The trace of one connection.

    Args:
        stream: Where the lines go.
        name: The connection's name, on every line.
        owned: Whether `close` closes the stream.
    """

    __slots__ = ("_name", "_owned", "_stream")

    def __init__(self, stream: TextIO, name: str, *, owned: bool = False) -> None:
        self._stream = stream
        self._name = name
        self._owned = owned

    @classmethod
    def from_environment(cls, name: str) -> Trace | None:
        """The trace that ``PYWEBMCP_TRACE`` asks for now; None when it is unset, empty, ``0``, or unusable."""
        target = os.environ.get(VARIABLE, "")
        if target in ("", "0"):
            return None
        if target in ("1", "stderr"):
            return cls(sys.stderr, name)
        try:
            descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        except OSError as error:
            logger.warning("%s: cannot write the trace: %s", VARIABLE, error)
            return None
        stream = open(descriptor, "w", encoding="utf-8", errors="backslashreplace", buffering=1)  # noqa: SIM115
        return cls(stream, name, owned=True)

    def sent(self, ident: int, method: str, params: Mapping[str, Any] | None, session_id: str | None) -> None:
        """Writes a command."""
        message: dict[str, Any] = {"id": ident, "method": method}
        if session_id is not None:
            message["sessionId"] = session_id
        message["params"] = params or {}
        self._line("-->", message)

    def received(self, message: Mapping[str, Any]) -> None:
        """Writes a reply or an event."""
        self._line("<--", message)

    def close(self) -> None:
        """Closes a stream of its own."""
        if self._owned:
            self._stream.close()

    def _line(self, arrow: str, message: Mapping[str, Any]) -> None:
        now = time.time()
        stamp = f"{time.strftime('%H:%M:%S', time.localtime(now))}.{int(now * 1000) % 1000:03d}"
        try:
            shown = _presentable(message, about_cookies="cookie" in str(message.get("method", "")).lower(), depth=0)
            text = json.dumps(shown, ensure_ascii=True, default=repr)
            self._stream.write(f"{stamp} {self._name} {arrow} {_bounded(text)}\n")
        except (OSError, ValueError) as error:  # a closed or full stream must not disturb the connection
            logger.debug("the trace of %s lost a line: %s", self._name, error)


def _bounded(text: str, limit: int = LINE_LIMIT) -> str:
    return text if len(text) <= limit else f"{text[:limit]}… (+{len(text) - limit})"


def _presentable(value: Any, *, about_cookies: bool, depth: int) -> Any:
    """A copy without secrets, bounded in depth, in members and in the length of each text."""
    if depth > _DEPTH_LIMIT:
        return "…"
    if isinstance(value, str):
        return _SECRET_TEXT.sub(_hide, _bounded(value))
    if isinstance(value, dict):
        return _presentable_object(cast("dict[str, Any]", value), about_cookies=about_cookies, depth=depth)
    if isinstance(value, list | tuple):
        items = cast("list[Any]", value)
        shown = [_presentable(item, about_cookies=about_cookies, depth=depth + 1) for item in items[:_ITEM_LIMIT]]
        return shown if len(items) <= _ITEM_LIMIT else [*shown, f"… (+{len(items) - _ITEM_LIMIT})"]
    return value


def _presentable_object(value: dict[str, Any], *, about_cookies: bool, depth: int) -> dict[str, Any]:
    secret_value = "name" in value and (about_cookies or str(value["name"]).lower() in _SECRET_HEADERS)
    shown: dict[str, Any] = {}
    for key, member in value.items():
        if len(shown) == _ITEM_LIMIT:
            shown["…"] = f"(+{len(value) - _ITEM_LIMIT})"
            break
        name = key.lower()
        # a member "cookie" that is an object is a cookie, whose name may be shown; a text is a header's value
        header = name in _SECRET_HEADERS and not isinstance(member, dict)
        if header or name in _SECRET_MEMBERS or (name == "value" and secret_value):
            shown[key] = _REDACTED
        else:
            about = about_cookies or "cookie" in name
            shown[key] = _presentable(member, about_cookies=about, depth=depth + 1)
    return shown


def _hide(match: re.Match[str]) -> str:
    return f"{match['name'] or match['scheme']}{_REDACTED}"

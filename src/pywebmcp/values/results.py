"""What an engine hands over as the answer of a tool, read as a value.

Our runtime hands over the JSON text of the answer: nothing is lost. Native Chromium hands over the answer's *text*
(strings bare, everything else as JSON) and its debugging protocol parses that text when it is JSON, so ``42`` and
``"42"``, nothing and ``"undefined"`` come out alike. Whatever was read by the likelier of two meanings is marked
``decoded_by_guess``. (FACTS part B section 4 and 8; field problems 06, 07 and 43.)
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pywebmcp.types import TextContent
from pywebmcp.values.content import read_content
from pywebmcp.values.deepjson import dumps, loads

if TYPE_CHECKING:
    from pywebmcp.types import Content

__all__ = ["Decoded", "from_json", "from_native", "from_text", "from_value", "navigated", "undefined"]

_AMBIGUOUS_TEXTS = frozenset({"NaN", "Infinity", "-Infinity", "[object Object]"})
"""Texts that a string has in common with a number outside JSON, or with an object that Chromium up to 152 could not
serialise. They stay text: Python's nan is no JSON, and the object is lost."""

_UNPARSED_DEPTH = 900
"""Chromium 156 leaves JSON text unparsed from 999 levels on; between 299 and 998 its renderer crashes (measured)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decoded:
    """The parts of a `pywebmcp.types.ToolResult` that come from the tool's answer."""

    value: Any
    json: str
    content: tuple[Content, ...]
    json_exact: bool = True
    is_error: bool = False
    decoded_by_guess: bool = False
    navigated: bool = False


def from_json(text: str) -> Decoded:
    """Reads the JSON text of an answer; exact.

    A text that holds a number beyond what Python can (``1e400``, which a page can make with ``JSON.rawJSON``) is
    given as a string, marked as a guess.
    """
    try:
        value = loads(text)
    except ValueError:
        return _decode(text, dumps(text), exact=False, guess=True)
    return _decode(value, text)


def undefined() -> Decoded:
    """An answer of nothing: ``undefined``, a function, a symbol."""
    return _decode(None, "null")


def from_native(output: object) -> Decoded:
    """Reads ``WebMCP.toolResponded``'s ``output``.

    Args:
        output: What the protocol holds. ``"undefined"`` is read as None, ``"Operation succeeded"`` (the browser's
            own words for an empty string) as ``""``, other strings as themselves; what is not a string was parsed by
            the browser and may have been a string that looks like JSON.

    Raises:
        ValueError: it holds a number that JSON does not have, which no browser sends.
    """
    if not isinstance(output, str):
        return _decode(output, dumps(output), exact=False, guess=True)
    if output == "Operation succeeded":
        return _decode("", '""', exact=False, guess=True)
    if output == "undefined":
        return _decode(None, "null", exact=False, guess=True)
    if _is_latin_1(output):
        # The protocol parses only text that is UTF-8, and Blink keeps such a string as Latin-1 (Chromium 156).
        return from_text(output)
    if output[:1] in ("{", "[") and output.count("{") + output.count("[") >= _UNPARSED_DEPTH:
        return from_text(output)
    return _decode(output, dumps(output), guess=output in _AMBIGUOUS_TEXTS)


def from_text(text: str) -> Decoded:
    """Reads the string that a page's own polyfill answers: JSON where it is JSON, otherwise the text."""
    if text == "undefined":
        return _decode(None, "null", exact=False, guess=True)
    try:
        value = loads(text)
    except ValueError:
        return _decode(text, dumps(text), guess=text in _AMBIGUOUS_TEXTS)
    return _decode(value, text, guess=True)


def from_value(output: object) -> Decoded:
    """Reads an output that is the tool's value itself, as Lightpanda's own ``WebMCP.toolResponded`` has it."""
    return _decode(output, dumps(output), exact=False)


def navigated(output: object) -> Decoded:
    """The result of a form that navigated: the JSON-LD of the new document.

    Args:
        output: A list of its JSON-LD blocks, as Chromium hands it over; empty or None when it has none, which is
            None as a value and never an empty success.
    """
    return replace(_decode(output or None, dumps(output or None), exact=False), navigated=True)


def _is_latin_1(text: str) -> bool:
    """Whether it has characters beyond ASCII and none beyond Latin-1; fast for megabytes."""
    if text.isascii():
        return False
    try:
        text.encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def _decode(value: Any, json: str, *, exact: bool = True, guess: bool = False) -> Decoded:
    content, is_error = read_content(value) or ((TextContent(text=value if isinstance(value, str) else json),), False)
    return Decoded(value=value, json=json, content=content, json_exact=exact, is_error=is_error, decoded_by_guess=guess)

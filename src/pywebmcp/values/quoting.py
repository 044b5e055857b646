"""Text that others wrote, made safe to stand in a message: bounded, on one line, with nothing hidden.

A page can hide orders in its text (Unicode tag characters, zero width and bidirectional controls, escape
sequences of terminals) or imitate the text around it. `quote` gives a literal that shows every such character as
an escape and that the text cannot close. Emoji families and scripts that need joiners stay as they are.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["quote", "visible"]

_UNIT = re.compile("[\ud800-\udbff][\udc00-\udfff]|.", re.DOTALL)
"""What is never cut in two: a code point, or the two halves of a surrogate pair that nobody joined."""

_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_QUOTED_ESCAPES = {'"': '\\"', **_ESCAPES}

_JOINERS = "\u200c\u200d"
_EMOJI_STYLES = "\ufe0e\ufe0f"
_KEYCAPS = frozenset("0123456789#*")
_MONGOLIAN_SELECTORS = "\u180b\u180c\u180d\u180e\u180f"
_VISIBLE_FORMAT_CHARACTERS = frozenset("\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd")
"""Signs that Unicode files under "format" although they have a glyph (prepended concatenation marks)."""

_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2060-\u206f\u3164\ufe00-\ufe0f\uffa0\ufff0-\ufff8\U000e0000-\U000e0fff]"
)
"""Default ignorable code points (DerivedCoreProperties) that `str.isprintable` takes for letters and marks."""


def quote(text: object, limit: int = 200) -> str:
    r"""Gives `text` as a double-quoted literal of at most `limit` characters between its quotes.

    Args:
        text: What to show; anything but a string goes through `str` first.
        limit: Characters between the quotes. A longer text is cut between two characters, never inside an escape
            or a surrogate pair, and the mark ``…`` follows the closing quote, where no text can forge it.

    Returns:
        For example ``"say \"hi\"\n"``; code points beyond U+FFFF are written ``\u{e0041}``.
    """
    text = text if isinstance(text, str) else str(text)
    if len(text) <= limit and _is_plain(text) and '"' not in text:
        return f'"{text}"'
    body, cut = _escape(text, limit, _QUOTED_ESCAPES)
    return f'"{body}"…' if cut else f'"{body}"'


def visible(text: object, limit: int = 200) -> str:
    """Gives `text` like `quote`, but without quotes and with its own as they are: for text that is JSON already."""
    text = text if isinstance(text, str) else str(text)
    if len(text) <= limit and _is_plain(text):
        return text
    body, cut = _escape(text, limit, _ESCAPES)
    return body + "…" if cut else body


def _is_plain(text: str) -> bool:
    return text.isprintable() and "\\" not in text and (text.isascii() or not _INVISIBLE.search(text))


def _escape(text: str, limit: int, escapes: dict[str, str]) -> tuple[str, bool]:
    """The escaped text, as far as it fits, and whether it was cut."""
    shown: list[str] = []
    room = limit
    for unit in _UNIT.finditer(text, 0, limit + 2):
        piece = escapes.get(unit[0]) or _show(text, unit.start(), unit.end())
        room -= len(piece)
        if room < 0:
            return "".join(shown).rstrip(_JOINERS), True
        shown.append(piece)
    return "".join(shown), False


def _show(text: str, start: int, end: int) -> str:
    unit = text[start:end]
    before = text[start - 1 : start]
    if unit in _JOINERS:
        kept = _joins(before) and _joins(text[end : end + 1])
    elif unit in _EMOJI_STYLES:
        kept = before in _KEYCAPS or (_joins(before) and not _INVISIBLE.match(before))
    elif unit in _MONGOLIAN_SELECTORS:
        kept = "\u1820" <= before <= "\u18aa"
    elif "\U000e0100" <= unit <= "\U000e01ef":  # variants of ideographs
        kept = before > "\u2e80" and unicodedata.category(before) == "Lo"
    elif _INVISIBLE.match(unit):
        kept = False
    else:
        kept = unit.isprintable() or _is_seen(unit)
    return unit if kept else "".join(_code(ord(char)) for char in unit)


def _joins(neighbour: str) -> bool:
    """Whether a joiner has something to join there: letters and marks of scripts that shape, or emoji."""
    return neighbour > "\x7f" and unicodedata.category(neighbour)[0] in "LMS"


def _is_seen(unit: str) -> bool:
    """What a reader sees although `str.isprintable` denies it: wide spaces, signs, emoji newer than this Python."""
    if len(unit) > 1:
        return False
    return (
        unit in _VISIBLE_FORMAT_CHARACTERS or "\U0001f000" <= unit <= "\U0001faff" or unicodedata.category(unit) == "Zs"
    )


def _code(point: int) -> str:
    return f"\\u{point:04x}" if point <= 0xFFFF else f"\\u{{{point:x}}}"

"""Text of pages, made safe to show: what a terminal would act upon, or hide, is shown as an escape."""

from __future__ import annotations

import re

from pywebmcp.values.quoting import visible

__all__ = ["ascii_json", "harmless", "one_line"]

_KEPT = re.compile(r"([\n\t\\]+)")
_NOT_ASCII = re.compile(r"[^\n\x20-\x7e]")
_LONGEST_ESCAPE = 10


def harmless(text: str) -> str:
    r"""The text with its lines, tabs and backslashes as they are and every other control, bidi, zero-width or tag
    character as an escape such as ``\u001b``.
    """
    if text.isascii() and text.isprintable():
        return text
    parts = _KEPT.split(text.replace("\r\n", "\n"))
    parts[::2] = [visible(part, _LONGEST_ESCAPE * len(part)) for part in parts[::2]]
    return "".join(parts)


def one_line(text: str, width: int) -> str:
    """The harmless text on one line of at most `width` characters: blanks are joined, what is cut ends in ``…``."""
    bounded = text[: width * 8 + 64]  # descriptions of megabytes exist
    line = harmless(" ".join(bounded.split()))
    if len(line) > width or len(bounded) < len(text):
        line = line[: max(width - 1, 1)].rstrip() + "…"
    return line


def ascii_json(text: str) -> str:
    """The same JSON in ASCII: nothing for a terminal to act upon, and any encoding of stdout can write it."""
    return text if text.isascii() and "\x7f" not in text else _NOT_ASCII.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    point = ord(match[0])
    if point < 0x10000:
        return f"\\u{point:04x}"
    point -= 0x10000
    return f"\\u{0xD800 + (point >> 10):04x}\\u{0xDC00 + (point & 0x3FF):04x}"

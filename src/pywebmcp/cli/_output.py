"""Where words go: data to stdout, everything else to stderr; colours only where a person looks."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from pywebmcp.cli._text import ascii_json, harmless
from pywebmcp.values.deepjson import dumps

if TYPE_CHECKING:
    from pywebmcp.cli._exits import UsageError
    from pywebmcp.errors import WebMCPError

__all__ = ["Style", "emit", "emit_json", "is_terminal", "note", "report"]

_STACK_LINES = 6
_PROBLEMS = 20


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a person looks at this stream, on a terminal that understands control sequences."""
    try:
        return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"
    except ValueError:  # closed
        return False


class Style:
    """Colours for one stream; plain text where it is no terminal or ``NO_COLOR`` (https://no-color.org) is set."""

    def __init__(self, stream: TextIO | None) -> None:
        self._on = is_terminal(stream) and not os.environ.get("NO_COLOR")

    def bold(self, text: str) -> str:
        """For names."""
        return self._paint("1", text)

    def dim(self, text: str) -> str:
        """For what can be skipped."""
        return self._paint("2", text)

    def red(self, text: str) -> str:
        """For failures."""
        return self._paint("31", text)

    def green(self, text: str) -> str:
        """For what is well."""
        return self._paint("32", text)

    def yellow(self, text: str) -> str:
        """For warnings."""
        return self._paint("33", text)

    def cyan(self, text: str) -> str:
        """For what to type."""
        return self._paint("36", text)

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._on and text else text


def emit(text: str) -> None:
    """Writes data and a newline to stdout. A reader that closed its end (``| head -1``) has had enough: no error.

    Raises:
        OutputLostError: stdout cannot be written, for example because its disk is full.
    """
    if sys.stdout is None:  # pyright: ignore[reportUnnecessaryComparison] - started with stdout closed (``>&-``)
        return
    try:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    except OSError as error:
        # What is still buffered would fail again when Python exits.
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
        if not isinstance(error, BrokenPipeError):
            from pywebmcp.cli._exits import OutputLostError

            raise OutputLostError(
                f"cannot write to stdout: {error.strerror or error}; what was asked for has been done"
            ) from None


def emit_json(value: Any) -> None:
    """Writes one JSON value to stdout: on one line, or indented on a terminal; in ASCII, at any depth."""
    text: str | None = None
    if is_terminal(sys.stdout):
        try:
            text = json.dumps(value, indent=2, allow_nan=False)
        except RecursionError:
            text = None
    emit(ascii_json(text or dumps(value)))


def note(text: str) -> None:
    """Writes a line for the person to stderr; page text in it is made harmless."""
    _stderr(harmless(text))


def report(error: WebMCPError | UsageError, *, as_json: bool) -> None:
    """Tells how a command failed: a person on stderr, and with ``--json`` a program on stdout."""
    from pywebmcp.cli._exits import UsageError, error_json

    if as_json:
        emit_json({"ok": False, "error": error_json(error)})
    style = Style(sys.stderr)
    text = str(error)
    if isinstance(error, UsageError):
        if error.usage:
            _stderr(harmless(f"{error.usage}\n"))
        _stderr(f"{style.red('webmcp:')} {harmless(text)}")
        return
    told = error_json(error)
    faults = [
        f"{problem['path'] or '(root)'}: {problem['message']} [{problem['rule']}]"
        for problem in told.get("problems", [])
    ]
    head, _, listed = text.partition(f": {faults[0]}") if len(faults) > 1 else (text, "", "")
    if listed:
        text = head  # each fault on a line of its own instead
    _stderr(f"{style.red('webmcp:')} {harmless(text)}  {style.dim(_about(error))}".rstrip())
    stack = (told.get("pageError") or {}).get("stack") or ""
    for line in stack.splitlines()[1:_STACK_LINES]:
        _stderr(style.dim(f"    {harmless(line.strip())}"))
    for fault in faults[:_PROBLEMS] if listed else []:
        _stderr(harmless(f"  {fault}"))
    if listed and len(faults) > _PROBLEMS:
        _stderr(f"  and {len(faults) - _PROBLEMS} more")
    for candidate in told.get("candidates", []):
        frame = candidate["frame"]
        _stderr(harmless(f"  --frame {frame['name'] or frame['id']}  --origin {candidate['origin']}  ({frame['url']})"))


def _about(error: WebMCPError) -> str:
    ran = {"no": "", "yes": "; the tool ran", "unknown": "; the tool may have run"}[error.ran]
    return f"[{error.code}{ran}]"


def _stderr(line: str) -> None:
    """Like `note`, for lines that are harmless already and may hold colours."""
    # Nobody reads it (closed, or started without one): what is only for people is then for nobody.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(line + "\n")
        sys.stderr.flush()

"""How a command ends: its exit code, and the error as JSON."""

from __future__ import annotations

from typing import Any

from pywebmcp.errors import (
    AmbiguousToolError,
    ApprovalDeniedError,
    CallCanceledError,
    CallTimeoutError,
    DocumentUnloadedError,
    EngineError,
    InvalidArgumentsError,
    InvalidDocumentError,
    NavigationError,
    NotExposedError,
    OutcomeUnknownError,
    PolicyDeniedError,
    ScriptFailedError,
    ToolFailedError,
    ToolNotFoundError,
    UnsupportedError,
    WebMCPError,
)

__all__ = [
    "AwaitingSubmissionError",
    "BUG",
    "DONE",
    "EXITS",
    "OutputLostError",
    "UsageError",
    "error_json",
    "exit_code",
]

EXITS = """\
exit codes:
    0  done; also an empty list from a page that has a model context
    1  the tool failed, or says so of its result (isError; "ok" of --json is then true)
    2  wrong usage or arguments, or an ambiguous name
    3  no such tool, no model context, or none that can be used; doctor: no tools
    4  timeout, canceled, document unloaded, outcome unknown, a form that waits
    5  the engine, the connection, or a page that could not be opened
    6  denied by a policy or a person
   70  a fault of this program
   74  stdout could not be written; what was asked for has been done
  130  Ctrl-C; 143 SIGTERM, 129 SIGHUP
"""
"""The table that ``webmcp --help`` prints; nothing else defines the codes."""

DONE = 0
BUG = 70
"""EX_SOFTWARE of sysexits.h: a fault of this program, with a traceback on stderr."""


class UsageError(Exception):
    """The command was given something that it cannot use; nothing was started or called for it.

    Args:
        message: What is wrong and what would be right.
        usage: Lines to show a person before it.
    """

    code = "usage"

    def __init__(self, message: str, *, usage: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.usage = usage


class OutputLostError(UsageError):
    """The command has been carried out, and its output could not be written."""

    code = "output_lost"


class AwaitingSubmissionError(WebMCPError):
    """The form is filled in and waits for a person to submit it; the call was canceled."""

    default_ran = "unknown"
    default_dom_name = "AbortError"


_CODES: tuple[tuple[tuple[type[Exception], ...], int], ...] = (
    ((OutputLostError,), 74),
    ((ToolFailedError, ScriptFailedError), 1),
    ((UsageError, InvalidArgumentsError, AmbiguousToolError), 2),
    ((ToolNotFoundError, UnsupportedError, NotExposedError, InvalidDocumentError), 3),
    (
        (AwaitingSubmissionError, CallCanceledError, CallTimeoutError, DocumentUnloadedError, OutcomeUnknownError),
        4,
    ),
    ((EngineError, NavigationError), 5),
    ((PolicyDeniedError, ApprovalDeniedError), 6),
)


def exit_code(error: Exception) -> int:
    """The exit code of a command that ended with this error."""
    return next((code for kinds, code in _CODES if isinstance(error, kinds)), BUG)


def error_json(error: WebMCPError | UsageError) -> dict[str, Any]:
    """The error of ``{"ok": false, "error": …}``.

    Returns:
        ``code``, ``domName`` (None where a script would see no exception), ``message``, ``ran``, and where they
        are known ``pageError`` (``name``, ``message``, ``stack``), ``problems`` (``path``, ``rule``, ``message``),
        ``available`` (names of tools), ``candidates`` (``ref``, ``origin``, ``frame``).
    """
    told: dict[str, Any] = {"code": error.code, "domName": None, "message": error.message, "ran": "no"}
    if isinstance(error, WebMCPError):
        # A deadline adds to the message after the error was made: what it would print is what counts.
        told |= {"domName": error.dom_name, "message": str(error), "ran": error.ran}
    if isinstance(error, (ToolFailedError, ScriptFailedError)) and error.page_error:
        page_error = error.page_error
        told["pageError"] = {"name": page_error.name, "message": page_error.message, "stack": page_error.stack}
    if isinstance(error, InvalidArgumentsError) and error.problems:
        told["problems"] = [{"path": p.path, "rule": p.rule, "message": p.message} for p in error.problems]
    if isinstance(error, ToolNotFoundError):
        told["available"] = list(error.available)
    if isinstance(error, AmbiguousToolError) and error.candidates:
        told["candidates"] = [
            {
                "ref": tool.ref,
                "origin": tool.origin,
                "frame": {"id": tool.frame.id, "name": tool.frame.name, "url": tool.frame.url},
            }
            for tool in error.candidates
        ]
    return told

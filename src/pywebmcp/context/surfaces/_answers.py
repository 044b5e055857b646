"""Calls through the injected script, and from what a document answers to how a run ends.

The answer is one text whose first character tells its kind, so that a result of many megabytes is neither wrapped
nor parsed twice: ``v`` JSON of the value, ``u`` undefined, ``s`` raw text of a page's polyfill, ``e`` JSON of an
error, ``g`` registration gone, ``a`` arguments are not an object, ``c`` canceled, ``n`` shape not supported.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from pywebmcp.errors import (
    CallCanceledError,
    EngineCrashedError,
    EngineError,
    InvalidArgumentsError,
    OutcomeUnknownError,
    ProtocolError,
    ToolFailedError,
    ToolNotFoundError,
    UnsupportedError,
    WebMCPError,
)
from pywebmcp.types import PageError, Problem
from pywebmcp.values import deepjson, results
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from pywebmcp.context._documents import Run

__all__ = ["cancel_by_function", "fail_from_reply", "start_by_function", "tool_failed"]

RUNTIME_FRAMES = re.compile(r"(\n    at [^\n]*<?anonymous>?(:\d+:\d+|>)\)?)+$")
"""The end of a stack: lines of the injected script, which has no URL."""

REFUSED_SHAPE = re.compile(r"(failed to parse|invalid) input (argument|object|string)", re.IGNORECASE)
"""How model contexts say that they wanted JSON text and got an object, or the other way round (Chromium 150-156)."""


def start_by_function(run: Run, function: str, tool: int | str, *, told: bool = True) -> None:
    """Sends a run as one awaited ``Runtime.callFunctionOn``; its reply is the outcome.

    Args:
        run: The run; its id and arguments are handed over as the 2nd and 3rd argument.
        function: A JavaScript function expression that resolves with an answer as described above.
        tool: What names the tool to that function, its 1st argument.
        told: Whether anybody listens for the start of tools, its 4th argument: one message less a call if not.
    """
    document = run.registration.document

    def done(result: dict[str, Any], error: EngineError | None) -> None:
        if error is None:
            settle_from_text(run, result)
        else:
            fail_from_reply(run, error)

    document.session.request(
        "Runtime.callFunctionOn",
        {
            "functionDeclaration": function,
            "executionContextId": document.context_id,
            "arguments": [{"value": tool}, {"value": run.id}, {"value": run.arguments_json}, {"value": told}],
            "awaitPromise": True,
            "returnByValue": True,
        },
        done,
    )


async def cancel_by_function(run: Run, function: str, timeout: float) -> bool:
    """Tells the page to stop; True when its document answered within `timeout` seconds, whatever it said."""
    document = run.registration.document
    try:
        await document.session.send(
            "Runtime.callFunctionOn",
            {
                "functionDeclaration": function,
                "executionContextId": document.context_id,
                "arguments": [{"value": run.id}],
                "returnByValue": True,
            },
            timeout=timeout,
        )
    except ProtocolError as error:
        return error.number is not None
    except WebMCPError:
        return True
    return True


def tool_failed(run: Run, page_error: PageError | None, *, unserializable: bool = False) -> ToolFailedError:
    """The error for a tool that threw, or whose result cannot be written as JSON."""
    name = quote(run.registration.name)
    if page_error is None:
        return ToolFailedError(f"the tool {name} failed; the browser does not say why")
    thrown = quote(f"{page_error.name}: {page_error.message}" if page_error.name else page_error.message)
    if unserializable:
        return ToolFailedError(
            f"the tool {name} ran, and its result cannot be written as JSON: {thrown}", page_error=page_error
        )
    return ToolFailedError(f"the tool {name} failed: {thrown}", page_error=page_error)


def settle_from_text(run: Run, result: dict[str, Any]) -> None:
    """Ends a run with the answer of `host.call` or `host.callForeign`."""
    answer = result.get("result", {}).get("value")
    if not isinstance(answer, str) or not answer:
        run.fail(
            OutcomeUnknownError(
                f"the tool {quote(run.registration.name)} was called and its document answered nonsense"
            )
        )
        return
    kind, rest = answer[0], answer[1:]
    name = quote(run.registration.name)
    try:
        match kind:
            case "v":
                run.settle(results.from_json(rest))
            case "u":
                run.settle(results.undefined())
            case "s":
                run.settle(results.from_text(rest))
            case "e":
                run.fail(_thrown(run, rest))
            case "g":
                run.fail(ToolNotFoundError(f"the tool {name} is no longer registered; list the tools again"))
            case "a":
                problem = Problem(path="", rule="json", message="the page needs an object")
                run.fail(InvalidArgumentsError(f"the tool {name} takes an object", problems=[problem]))
            case "c":
                run.fail(CallCanceledError(f"the tool {name} was canceled"))
            case "n":
                run.fail(UnsupportedError(f"the page's own model context cannot run the tool {name}: {quote(rest)}"))
            case _:
                run.fail(OutcomeUnknownError(f"the tool {name} was called and its document answered nonsense"))
    except (ValueError, TypeError) as error:
        run.fail(ToolFailedError(f"the tool {name} ran and its answer cannot be read: {quote(error)}"))


def _thrown(run: Run, text: str) -> ToolFailedError | UnsupportedError:
    members = deepjson.loads(text)
    if not isinstance(members, dict):
        return tool_failed(run, None)
    stack = members.get("stack")
    page_error = PageError(
        name=str(members.get("name") or ""),
        message=str(members.get("message") or ""),
        stack=RUNTIME_FRAMES.sub("", stack) if isinstance(stack, str) else None,
    )
    if run.registration.surface.kind == "page" and REFUSED_SHAPE.search(page_error.message):
        # Most likely it refused how the arguments were handed over; a tool's own code may say the same.
        return UnsupportedError(
            f"the page's own model context refused the call of {quote(run.registration.name)}: "
            f"{quote(page_error.message)}",
            ran="unknown",
        )
    return tool_failed(run, page_error, unserializable=members.get("kind") == "unserializable")


def fail_from_reply(run: Run, error: EngineError) -> None:
    """Ends a run whose command was answered with an error, or never.

    A context that is gone before the call reached it means that nothing ran; one that went away during the call
    is a document that unloaded.
    """
    name = quote(run.registration.name)
    if isinstance(error, ProtocolError):
        text = error.message.lower()
        if "cannot find context" in text or "no execution context" in text:
            run.fail(ToolNotFoundError(f"the document of the tool {name} is gone; list the tools again"))
        elif "context was destroyed" in text or "promise was collected" in text or "navigated" in text:
            run.unload()
        else:
            run.fail(OutcomeUnknownError(f"the engine ended the call of {name}: {quote(error.message)}"))
    elif isinstance(error, EngineCrashedError):
        run.fail(
            OutcomeUnknownError(f"the engine or its connection died while the tool {name} ran; it may have had effects")
        )
    else:
        run.fail(OutcomeUnknownError(f"the call of {name} ended unexpectedly: {quote(error)}"))

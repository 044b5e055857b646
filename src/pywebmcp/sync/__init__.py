"""The blocking twin: the same objects for code without an event loop.

::

    import pywebmcp.sync as pywebmcp

    with pywebmcp.launch() as browser:
        page = browser.open("https://shop.example/")
        for tool in page.tools():
            print(tool.name, tool.description)
        try:
            print(page.call("add", {"a": 1, "b": 2}).value)
        except pywebmcp.InvalidArgumentsError as error:
            print(error.problems)

Arguments, results, errors and deadlines are those of the async API; only the waiting differs. Every name of the
package but ``attach`` is here too: those that do not wait (errors, values, `CallHooks`) are the very same objects.
`pywebmcp.sync.testing` has the fake page for tests of blocking code.

- *Threads.* All browsers live in one daemon thread with an event loop, started at the first use. Calls may come from
  any thread, several at a time. A thread that runs an event loop gets `RuntimeError` from calls that wait: use the
  async API there.
- *Ctrl-C* in a call cancels the page's work, then goes on. In `Invocation.result` it ends only the wait.
- *Callbacks* (``on_…``, ``route=``, ``dialogs=``, `CallHooks`) run in the loop's thread, where they hold up every
  page until they return. They may be async. Properties can be read in them; calls that wait are refused there.
- *The end.* Browsers left open are closed when the process ends. A fork starts with none.
- ``attach`` has no twin: a page of Playwright's blocking API lives in an event loop of Playwright's own, which only
  runs inside Playwright's calls. Use ``pywebmcp.attach`` with Playwright's async API.

Twins of the same page are equal, though not identical: ``page in browser.pages``.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from pywebmcp.sync._generated import Browser, EventStream, Invocation, Page, connect, launch

if TYPE_CHECKING:
    from pywebmcp import (
        AmbiguousToolError,
        ApprovalDeniedError,
        AudioContent,
        CallCanceledError,
        CallHooks,
        CallTimeoutError,
        Content,
        Cookie,
        Dialog,
        DocumentUnloadedError,
        EndpointRefusedError,
        EngineCrashedError,
        EngineError,
        EngineInfo,
        EngineNotFoundError,
        EngineStartError,
        EventsLost,
        Frame,
        ImageContent,
        InvalidArgumentsError,
        InvalidDocumentError,
        InvocationSettled,
        InvocationStatus,
        Navigated,
        NavigationError,
        NotExposedError,
        OutcomeUnknownError,
        PageError,
        PageEvent,
        PolicyDeniedError,
        Problem,
        ProtocolError,
        Request,
        ResourceContent,
        Response,
        ScriptFailedError,
        StorageState,
        Subscription,
        Surface,
        TextContent,
        Tool,
        ToolActivated,
        ToolAnnotations,
        ToolCanceled,
        ToolFailedError,
        ToolNotFoundError,
        ToolResult,
        ToolsChanged,
        UnsupportedError,
        WebMCPError,
        __version__,
    )
    from pywebmcp import errors as errors
    from pywebmcp import types as types
    from pywebmcp.sync import testing as testing

__all__ = [
    "AmbiguousToolError",
    "ApprovalDeniedError",
    "AudioContent",
    "Browser",
    "CallCanceledError",
    "CallHooks",
    "CallTimeoutError",
    "Content",
    "Cookie",
    "Dialog",
    "DocumentUnloadedError",
    "EndpointRefusedError",
    "EngineCrashedError",
    "EngineError",
    "EngineInfo",
    "EngineNotFoundError",
    "EngineStartError",
    "EventStream",
    "EventsLost",
    "Frame",
    "ImageContent",
    "InvalidArgumentsError",
    "InvalidDocumentError",
    "Invocation",
    "InvocationSettled",
    "InvocationStatus",
    "Navigated",
    "NavigationError",
    "NotExposedError",
    "OutcomeUnknownError",
    "Page",
    "PageError",
    "PageEvent",
    "PolicyDeniedError",
    "Problem",
    "ProtocolError",
    "Request",
    "ResourceContent",
    "Response",
    "ScriptFailedError",
    "StorageState",
    "Subscription",
    "Surface",
    "TextContent",
    "Tool",
    "ToolActivated",
    "ToolAnnotations",
    "ToolCanceled",
    "ToolFailedError",
    "ToolNotFoundError",
    "ToolResult",
    "ToolsChanged",
    "UnsupportedError",
    "WebMCPError",
    "__version__",
    "connect",
    "launch",
]

if not TYPE_CHECKING:  # or type checkers would believe in any name

    def __getattr__(name: str) -> object:
        if name == "attach":
            raise AttributeError(
                "pywebmcp.sync has no attach: Playwright's sync API runs an event loop of its own, which cannot be "
                "shared with ours. In async code, `import pywebmcp` and give pywebmcp.attach a page of Playwright's "
                "async API"
            )
        if name == "testing":
            return importlib.import_module("pywebmcp.sync.testing")
        if name not in __all__ and name not in ("errors", "types"):
            raise AttributeError(f"module 'pywebmcp.sync' has no attribute {name!r}")
        value = globals()[name] = getattr(importlib.import_module("pywebmcp"), name)
        return value


def __dir__() -> list[str]:
    return sorted(__all__)

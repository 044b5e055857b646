"""pywebmcp: find and call the tools that web pages publish with WebMCP.

::

    import asyncio, pywebmcp

    async def main():
        async with pywebmcp.launch() as browser:
            page = await browser.open("https://shop.example/")
            for tool in await page.tools():
                print(tool.name, tool.description)
            result = await page.call("add", {"a": 1, "b": 2})
            print(result.value)

    asyncio.run(main())

Names are loaded when they are first used, so that importing this package costs next to nothing.
`pywebmcp.sync` is the blocking twin, `pywebmcp.testing` has a fake page for tests of your own code.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pywebmcp.browser import (
        Browser,
        CallHooks,
        EventStream,
        Invocation,
        Page,
        Subscription,
        attach,
        connect,
        launch,
    )
    from pywebmcp.errors import (
        AmbiguousToolError,
        ApprovalDeniedError,
        CallCanceledError,
        CallTimeoutError,
        DocumentUnloadedError,
        EndpointRefusedError,
        EngineCrashedError,
        EngineError,
        EngineNotFoundError,
        EngineStartError,
        InvalidArgumentsError,
        InvalidDocumentError,
        NavigationError,
        NotExposedError,
        OutcomeUnknownError,
        PolicyDeniedError,
        ProtocolError,
        ScriptFailedError,
        ToolFailedError,
        ToolNotFoundError,
        UnsupportedError,
        WebMCPError,
    )
    from pywebmcp.types import (
        AudioContent,
        Content,
        Cookie,
        Dialog,
        EngineInfo,
        EventsLost,
        Frame,
        ImageContent,
        InvocationSettled,
        InvocationStatus,
        Navigated,
        PageError,
        PageEvent,
        Problem,
        Request,
        ResourceContent,
        Response,
        StorageState,
        Surface,
        TextContent,
        Tool,
        ToolActivated,
        ToolAnnotations,
        ToolCanceled,
        ToolResult,
        ToolsChanged,
    )

__version__ = "0.1.0"

_HOMES = {
    "pywebmcp.browser": (
        "Browser",
        "CallHooks",
        "EventStream",
        "Invocation",
        "Page",
        "Subscription",
        "attach",
        "connect",
        "launch",
    ),
    "pywebmcp.errors": (
        "AmbiguousToolError",
        "ApprovalDeniedError",
        "CallCanceledError",
        "CallTimeoutError",
        "DocumentUnloadedError",
        "EndpointRefusedError",
        "EngineCrashedError",
        "EngineError",
        "EngineNotFoundError",
        "EngineStartError",
        "InvalidArgumentsError",
        "InvalidDocumentError",
        "NavigationError",
        "NotExposedError",
        "OutcomeUnknownError",
        "PolicyDeniedError",
        "ProtocolError",
        "ScriptFailedError",
        "ToolFailedError",
        "ToolNotFoundError",
        "UnsupportedError",
        "WebMCPError",
    ),
    "pywebmcp.types": (
        "AudioContent",
        "Content",
        "Cookie",
        "Dialog",
        "EngineInfo",
        "EventsLost",
        "Frame",
        "ImageContent",
        "InvocationSettled",
        "InvocationStatus",
        "Navigated",
        "PageError",
        "PageEvent",
        "Problem",
        "Request",
        "ResourceContent",
        "Response",
        "StorageState",
        "Surface",
        "TextContent",
        "Tool",
        "ToolActivated",
        "ToolAnnotations",
        "ToolCanceled",
        "ToolResult",
        "ToolsChanged",
    ),
}
_SUBMODULES = ("errors", "sync", "testing", "types")
_HOME = {name: module for module, names in _HOMES.items() for name in names}

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
    "attach",
    "connect",
    "launch",
]


def __getattr__(name: str) -> object:
    if name in _SUBMODULES:
        return importlib.import_module(f"pywebmcp.{name}")
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module 'pywebmcp' has no attribute {name!r}")
    value = getattr(importlib.import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)

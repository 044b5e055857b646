"""Every error that pywebmcp raises, in one tree.

::

    WebMCPError
    ├── ToolNotFoundError         unregistered, replaced under its name, or its document is gone
    ├── AmbiguousToolError        several documents registered that name
    ├── InvalidArgumentsError     not the JSON of an object, or against the input schema
    ├── ToolFailedError           the callback threw, or its result cannot be serialised
    ├── DocumentUnloadedError     the document went away before the tool answered
    ├── InvalidDocumentError      the document was destroyed, or belongs to another page
    ├── NotExposedError           permissions policy, origin, insecure context
    ├── CallTimeoutError          our deadline passed; the page's work was canceled
    ├── CallCanceledError         the caller canceled; the page's signal was aborted
    ├── OutcomeUnknownError       the engine or the renderer died, or the page wedged, with the call sent
    ├── PolicyDeniedError         a policy said no
    ├── ApprovalDeniedError       a person said no
    ├── UnsupportedError          this document has no usable model context
    ├── NavigationError           the page could not be opened
    ├── ScriptFailedError         an expression given to `evaluate` threw
    └── EngineError               the engine or the connection to it, with no call sent
        ├── EngineNotFoundError       no executable
        ├── EngineStartError          the process did not come up
        ├── EngineCrashedError        the process or its socket died
        ├── EndpointRefusedError      nothing usable answers at that address
        └── ProtocolError             the engine refused a command, or did not answer it in time

One ``except`` catches them all::

    try:
        result = await page.call("book_table", {"people": 2})
    except pywebmcp.WebMCPError as error:
        print(error.code, error.ran)

``ran`` says whether the tool's code may have had effects: ``"no"``, ``"yes"`` or ``"unknown"``.
``dom_name`` is the ``DOMException`` name that a script of the page would see for the same ending.
Text that came from a page stands in messages only quoted, bounded and labelled.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, ClassVar, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pywebmcp.types import PageError, Problem, Tool

__all__ = [
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
    "Ran",
    "ScriptFailedError",
    "ToolFailedError",
    "ToolNotFoundError",
    "UnsupportedError",
    "WebMCPError",
]

Ran = Literal["no", "yes", "unknown"]
"""Whether the tool's code ran: ``"no"`` is a promise, ``"unknown"`` means it may have."""


class WebMCPError(Exception):
    """The root: catch this one to catch everything that pywebmcp raises.

    Args:
        message: What happened and what to do, for a person. Page text in it is already quoted.
        tool: The tool's name as registered.
        origin: The serialised origin of the tool's document.
        invocation_id: The id of the invocation that ended so.
        ran: Overrides what the class promises about effects.
        dom_name: Overrides the class's DOMException name.
    """

    code: ClassVar[str] = "web_mcp"
    """Stable name for programs: the class name in snake case without "Error"."""

    default_ran: ClassVar[Ran] = "no"
    default_dom_name: ClassVar[str | None] = None

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.code = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__.removesuffix("Error")).lower()

    def __init__(
        self,
        message: str,
        *,
        tool: str | None = None,
        origin: str | None = None,
        invocation_id: str | None = None,
        ran: Ran | None = None,
        dom_name: str | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.tool = tool
        self.origin = origin
        self.invocation_id = invocation_id
        self.ran: Ran = ran or self.default_ran
        self.dom_name = dom_name or self.default_dom_name

    def about(
        self, *, tool: str | None = None, origin: str | None = None, invocation_id: str | None = None
    ) -> WebMCPError:
        """Fills in what deeper code could not know; what is already set stays. Returns itself."""
        self.tool = self.tool or tool
        self.origin = self.origin or origin
        self.invocation_id = self.invocation_id or invocation_id
        return self


class ToolNotFoundError(WebMCPError):
    """No such tool: never registered, unregistered, replaced under the same name, or its document is gone.

    Attributes:
        available: Names of the tools that were there when the search ended.
    """

    default_dom_name = "NotFoundError"

    def __init__(self, message: str, *, available: Sequence[str] = (), tool: str | None = None, **about: str | None):
        super().__init__(message, tool=tool, **about)  # pyright: ignore[reportArgumentType] - same keywords as the root
        self.available = tuple(available)


class AmbiguousToolError(WebMCPError):
    """Several documents registered that name; pass ``frame=``, ``origin=`` or the `Tool` itself.

    Attributes:
        candidates: The tools that the name could mean.
    """

    def __init__(self, message: str, *, candidates: Sequence[Tool] = (), tool: str | None = None):
        super().__init__(message, tool=tool)
        self.candidates = tuple(candidates)


class InvalidArgumentsError(WebMCPError):
    """The arguments are not the JSON of an object, or break the tool's input schema. The tool did not run.

    Attributes:
        problems: Every fault, with the path into the arguments and the rule that it breaks.
    """

    default_dom_name = "DataError"

    def __init__(
        self,
        message: str,
        *,
        problems: Sequence[Problem] = (),
        tool: str | None = None,
        origin: str | None = None,
        invocation_id: str | None = None,
    ):
        super().__init__(message, tool=tool, origin=origin, invocation_id=invocation_id)
        self.problems = tuple(problems)


class ToolFailedError(WebMCPError):
    """The tool ran and failed: it threw, rejected, or returned what cannot be serialised.

    Attributes:
        page_error: What the page threw, where the engine reveals it; untrusted text.
    """

    default_ran = "yes"
    default_dom_name = "OperationError"

    def __init__(
        self,
        message: str,
        *,
        page_error: PageError | None = None,
        tool: str | None = None,
        origin: str | None = None,
        invocation_id: str | None = None,
        ran: Ran | None = None,
    ):
        super().__init__(message, tool=tool, origin=origin, invocation_id=invocation_id, ran=ran)
        self.page_error = page_error


class DocumentUnloadedError(WebMCPError):
    """The document went away (navigation, reload, frame removed) before the tool answered."""

    default_ran = "unknown"
    default_dom_name = "AbortError"


class InvalidDocumentError(WebMCPError):
    """The document was destroyed earlier, or belongs to another page."""

    default_dom_name = "InvalidStateError"


class NotExposedError(WebMCPError):
    """The document may not use tools: permissions policy, origin, or an insecure context."""

    default_dom_name = "NotAllowedError"


class CallTimeoutError(WebMCPError):
    """The deadline passed. The page was told to stop; effects may have happened.

    Attributes:
        timeout: The limit that passed, in seconds.
    """

    default_ran = "unknown"
    default_dom_name = "AbortError"

    def __init__(
        self,
        message: str,
        *,
        timeout: float | None = None,
        tool: str | None = None,
        origin: str | None = None,
        invocation_id: str | None = None,
    ):
        super().__init__(message, tool=tool, origin=origin, invocation_id=invocation_id)
        self.timeout = timeout


class CallCanceledError(WebMCPError):
    """The caller canceled. The page's signal was aborted; effects may have happened."""

    default_ran = "unknown"
    default_dom_name = "AbortError"


class OutcomeUnknownError(WebMCPError):
    """The call was sent and nobody can say how it ended: never repeated by pywebmcp."""

    default_ran = "unknown"


class PolicyDeniedError(WebMCPError):
    """A policy refused the call."""


class ApprovalDeniedError(WebMCPError):
    """A person refused the call, or none could be asked."""


class UnsupportedError(WebMCPError):
    """This document, mode or engine cannot do that; the message says why and what to do."""


class NavigationError(WebMCPError):
    """The page could not be opened: DNS, TLS, refused, HTTP status, deadline.

    Attributes:
        url: The address that was asked for.
        status: The HTTP status, where one came.
    """

    def __init__(self, message: str, *, url: str | None = None, status: int | None = None):
        super().__init__(message)
        self.url = url
        self.status = status


class ScriptFailedError(WebMCPError):
    """An expression given to `Page.evaluate` threw or rejected.

    Attributes:
        page_error: What it threw; untrusted text.
    """

    default_ran = "yes"

    def __init__(self, message: str, *, page_error: PageError | None = None, origin: str | None = None):
        super().__init__(message, origin=origin)
        self.page_error = page_error


class EngineError(WebMCPError):
    """The engine or the connection to it failed, with no call on its way."""


class EngineNotFoundError(EngineError):
    """No executable of that engine on this machine; the message says how to get one."""


class EngineStartError(EngineError):
    """The engine's process started and did not become usable."""


class EngineCrashedError(EngineError):
    """The engine's process ended or its socket closed."""


class EndpointRefusedError(EngineError):
    """Nothing usable answers at the address given to `connect`."""


class ProtocolError(EngineError):
    """The engine refused a command of ours, or did not answer it in time.

    Attributes:
        method: The command, for example ``"Page.navigate"``.
        number: The protocol's error number; None where the deadline passed.
    """

    def __init__(self, message: str, *, method: str | None = None, number: int | None = None):
        super().__init__(message)
        self.method = method
        self.number = number

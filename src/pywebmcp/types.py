"""The value objects of pywebmcp: frozen, without behaviour beyond reading themselves.

Everything that a page wrote (names, descriptions, schemas, results, messages) is data of that page:
never trusted, never an instruction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Literal

from pywebmcp.errors import ToolFailedError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
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
    "Mode",
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
]

Mode = Literal["auto", "native", "runtime", "off"]
"""How documents get their model context; see `pywebmcp.launch`."""


class InvocationStatus(StrEnum):
    """Where an invocation stands. It leaves ``pending`` (and the two waiting states) exactly once."""

    PENDING = "pending"
    AWAITING_APPROVAL = "awaiting_approval"
    AWAITING_SUBMISSION = "awaiting_submission"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELED = "canceled"
    TIMED_OUT = "timed_out"
    UNKNOWN = "unknown"


# --- engines, frames, surfaces ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineInfo:
    """What runs the pages."""

    name: str
    """``"lightpanda"``, ``"chromium"``; for a remote endpoint what it says of itself."""
    version: str
    """As the engine tells it, for example ``"156.0.8078.114"``."""
    executable: str | None = None
    """Path of the process that we started; None for one that we connected to."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One frame of a page, as it stood when the snapshot was taken."""

    id: str
    name: str
    """The ``name`` attribute of the frame element; ``""`` for the top frame or without one."""
    url: str
    parent_id: str | None = None
    """None for the top frame."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """The way one document exposes its tools, and why that way was chosen."""

    kind: Literal["native", "runtime", "page", "none"]
    """``native`` (the browser's own, over CDP), ``runtime`` (ours), ``page`` (the page's own polyfill), ``none``."""
    reason: str
    """One sentence for a person."""

    def __str__(self) -> str:
        return self.kind


# --- tools --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolAnnotations:
    """The page's hints; None where the page (or the engine) said nothing. Hints, never proofs."""

    read_only: bool | None = None
    """``readOnlyHint``: changes no state."""
    untrusted_content: bool | None = None
    """``untrustedContentHint``: the output may hold content that the author does not vouch for."""
    consequential: bool | None = None
    """``consequentialHint``: significant or irreversible; a person should confirm."""
    debugging: bool | None = None
    """``debugging``: for developer tooling; agents of end users should hide it."""

    def to_json(self) -> dict[str, bool]:
        """The hints that are set, under the standard's names."""
        names = {
            "readOnlyHint": self.read_only,
            "untrustedContentHint": self.untrusted_content,
            "consequentialHint": self.consequential,
            "debugging": self.debugging,
        }
        return {name: value for name, value in names.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A snapshot of one registration. Given to `Page.call` it runs that registration or fails, never its successor."""

    name: str
    description: str
    ref: str
    """Opaque and unique in the page: names this one registration of this one document."""
    origin: str
    """Serialised origin of the document, for example ``"https://shop.example"``; ``"null"`` when opaque."""
    frame: Frame
    surface: str
    """The `Surface.kind` that lists and calls it."""
    title: str | None = None
    input_schema: dict[str, Any] | None = None
    """JSON Schema as registered; None when none was given."""
    input_schema_json: str | None = None
    """The schema's text: exact where the engine hands over text, otherwise our own serialisation."""
    output_schema: dict[str, Any] | None = None
    annotations: ToolAnnotations | None = None
    declarative: bool = False
    """True for a form."""
    schema_problem: str | None = None
    """Why the input schema does not compile; calls then go on unvalidated."""
    warnings: tuple[str, ...] = ()
    """What was odd about the registration and how it was read."""


# --- results ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class TextContent:
    """A block of text."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageContent:
    """An image; ``data`` is base64 as the page gave it."""

    data: str
    mime_type: str
    type: Literal["image"] = "image"


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioContent:
    """Audio; ``data`` is base64 as the page gave it."""

    data: str
    mime_type: str
    type: Literal["audio"] = "audio"


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceContent:
    """An embedded resource or a link to one; ``resource`` is the page's object as it is."""

    resource: Mapping[str, Any]
    type: Literal["resource", "resource_link"] = "resource"


Content = TextContent | ImageContent | AudioContent | ResourceContent
"""One block of a result."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dialog:
    """A JavaScript dialog that a page opened."""

    type: Literal["alert", "confirm", "prompt", "beforeunload"]
    message: str
    """The page's text: untrusted."""
    default: str | None = None
    """The default value of a ``prompt``."""
    accepted: bool = False
    """How it was answered."""
    answer: str | None = None
    """The text given to a ``prompt``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What a tool answered."""

    value: Any
    """The parsed value; None for ``null``, ``undefined`` and nothing."""
    json: str
    """The JSON text of the value."""
    tool: str
    """The tool's name."""
    duration: float
    """Seconds from the call to its end."""
    content: tuple[Content, ...] = ()
    """At least one block: those of an MCP-shaped result, otherwise one text block."""
    json_exact: bool = True
    """False where the engine hands over only a parsed value, so that the text is our serialisation."""
    is_error: bool = False
    """True when the page said so in the MCP shape (``{"content": […], "isError": true}``)."""
    navigated: bool = False
    """True when a form navigated; ``value`` is then the new document's JSON-LD or None."""
    dialogs: tuple[Dialog, ...] = ()
    """Dialogs that were open during the call, with their answers."""
    decoded_by_guess: bool = False
    """True where the engine hands over the same text for different values and the likelier one was taken."""
    invocation_id: str | None = None

    @property
    def text(self) -> str:
        """The content flattened: text blocks joined by newlines, other blocks as ``[image image/png]``."""
        parts: list[str] = []
        for block in self.content:
            match block:
                case TextContent():
                    parts.append(block.text)
                case ImageContent() | AudioContent():
                    parts.append(f"[{block.type} {block.mime_type}]")
                case ResourceContent():
                    inner = block.resource.get("text")
                    parts.append(inner if isinstance(inner, str) else f"[resource {block.resource.get('uri', '')}]")
        return "\n".join(parts)

    def raise_for_error(self) -> ToolResult:
        """Returns itself, or raises `ToolFailedError` when ``is_error`` is set."""
        if self.is_error:
            from pywebmcp.values.quoting import quote

            raise ToolFailedError(
                f"the tool {quote(self.tool)} reported an error: {quote(self.text)}",
                tool=self.tool,
                invocation_id=self.invocation_id,
            )
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class PageError:
    """What a page threw: untrusted text."""

    name: str
    message: str
    stack: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault of a call's arguments."""

    path: str
    """JSON Pointer into the arguments; ``""`` is the whole object."""
    rule: str
    """The keyword that is broken (``"required"``, ``"type"``), or ``"json"`` for what is not JSON."""
    message: str

    def __str__(self) -> str:
        from pywebmcp.values.quoting import visible

        return f"{visible(self.path) or '(root)'}: {self.message} [{self.rule}]"


# --- events -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolsChanged:
    """The set of tools of one document changed."""

    origin: str
    frame_id: str
    added: tuple[str, ...] = ()
    """Names registered."""
    removed: tuple[str, ...] = ()
    """Names unregistered, or gone with their document."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolActivated:
    """A tool began to run, whoever called it (``toolactivated``)."""

    tool_name: str
    origin: str
    frame_id: str
    invocation_id: str | None = None
    """Our invocation, or None for a call that somebody else made."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCanceled:
    """A running tool was canceled (``toolcancel``)."""

    tool_name: str
    origin: str
    frame_id: str
    invocation_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InvocationSettled:
    """One of our invocations ended."""

    invocation_id: str
    tool_name: str
    status: InvocationStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class Navigated:
    """A frame has a new document."""

    frame_id: str
    url: str
    is_top: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsLost:
    """The reader was slower than the page: that many events were dropped before the next one."""

    count: int


PageEvent = ToolsChanged | ToolActivated | ToolCanceled | InvocationSettled | Navigated | EventsLost
"""What `Page.events` yields."""


# --- network ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request of a page, given to a ``route=`` callback."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    resource_type: str = "Other"
    """CDP's resource type: ``"Document"``, ``"Script"``, ``"Fetch"``, ``"XHR"``, …"""
    frame: str | None = None
    """Id of the frame that asked, where the engine tells it."""


@dataclass(frozen=True, slots=True)
class Response:
    """The answer of a ``route=`` callback.

    Args:
        body: Bytes, or text that is sent as UTF-8.
        status: HTTP status.
        headers: Response headers.
        content_type: Shorthand for that header; guessed from the body and the URL when absent.
    """

    body: bytes | str = b""
    status: int = field(default=200, kw_only=True)
    headers: Mapping[str, str] | None = field(default=None, kw_only=True)
    content_type: str | None = field(default=None, kw_only=True)


Cookie = dict[str, Any]
"""One cookie in Playwright's form: ``name``, ``value``, ``domain``, ``path``, ``expires``, ``httpOnly``, ``secure``,
``sameSite``."""

StorageState = dict[str, Any]
"""Playwright's storage state: ``{"cookies": [Cookie, …], "origins": [{"origin", "localStorage": […]}, …]}``."""

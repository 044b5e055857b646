"""Why a page has no tools, or fewer than it should: what its documents say, and what they should say."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import urlsplit

from pywebmcp.errors import InvalidDocumentError, WebMCPError
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from pywebmcp.browser import Page
    from pywebmcp.cli._open import Opened
    from pywebmcp.types import Frame, Tool

__all__ = ["Finding", "PageReport", "ScriptErrors", "examine_page"]

_FRAMES = 32
_ERRORS = 5
_FRAME = re.compile(r"\n +at .*?([a-z][a-z0-9+.-]*://\S+?):(\d+):\d+\)?(?=\n|$)")
"""A line of a stack with an address; those of our runtime and of ``eval`` have none."""

_PROBE = """(() => {
  const policy = document.featurePolicy, known = !!policy && policy.features().includes("tools");
  const frames = [...document.querySelectorAll("iframe, frame")].slice(0, 32);
  const origin = (url) => { try { return new URL(url, document.baseURI).origin } catch { return null } };
  return {
    secure: self.isSecureContext, origin: self.origin, keyed: self.originAgentCluster ?? null,
    context: "modelContext" in document, allowed: known ? policy.allowsFeature("tools") : null,
    forms: document.querySelectorAll("form[toolname]").length,
    described: document.querySelectorAll("form[toolname][tooldescription]").length,
    frames: frames.map((frame) => ({
      src: frame.hasAttribute("srcdoc") ? "about:srcdoc" : frame.src || "about:blank",
      foreign: /^https?:/.test(frame.src) && !frame.hasAttribute("srcdoc") && origin(frame.src) !== self.origin,
      allow: frame.getAttribute("allow") ?? "", sandbox: frame.getAttribute("sandbox"),
    })),
  };
})()"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that was found."""

    level: Literal["problem", "warning", "note"]
    code: str
    message: str
    """What is so, and what to do; page text in it is quoted."""
    frame: str | None = None
    """URL of the frame it is about; None for the page."""

    def to_json(self) -> dict[str, str]:
        """``level``, ``code``, ``message`` and, where it is about one, ``frame``."""
        told = {"level": self.level, "code": self.code, "message": self.message, "frame": self.frame}
        return {name: value for name, value in told.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReport:
    """One page."""

    url: str
    origin: str
    engine: str
    surface: str
    reason: str
    tools: tuple[str, ...]
    frames: int
    findings: list[Finding] = field(default_factory=list[Finding])

    @property
    def usable(self) -> bool:
        """Whether there is a tool to call."""
        return bool(self.tools)

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "url": self.url,
            "origin": self.origin,
            "engine": self.engine,
            "surface": self.surface,
            "reason": self.reason,
            "tools": list(self.tools),
            "frames": self.frames,
            "findings": [finding.to_json() for finding in self.findings],
            "usable": self.usable,
        }


class ScriptErrors:
    """Collects what the page's own scripts throw, or report as errors on the console, while it loads: the most common
    reason for missing tools.

    Attributes:
        thrown: What nobody caught: its first line, and the address and line (from 1) of the page's script, if known.
        logged: The texts given to ``console.error``.
    """

    def __init__(self) -> None:
        self.thrown: list[tuple[str, tuple[str, int] | None]] = []
        self.logged: list[str] = []

    def listen(self, page: Page) -> None:
        """Starts to listen; call it before the page is opened."""
        page._session.on("Runtime.exceptionThrown", self._thrown)
        page._session.on("Runtime.consoleAPICalled", self._logged)

    def _logged(self, params: dict[str, Any]) -> None:
        if params.get("type") == "error":
            parts = [argument.get("description") or argument.get("value", "") for argument in params.get("args", [])]
            self.logged.append(" ".join(str(part).partition("\n")[0] for part in parts))

    def _thrown(self, params: dict[str, Any]) -> None:
        details = params.get("exceptionDetails", {})
        exception = details.get("exception") or {}
        text = str(exception.get("description") or exception.get("value") or details.get("text", ""))
        self.thrown.append((text.partition("\n")[0], _place(details, text)))


def _place(details: dict[str, Any], stack: str) -> tuple[str, int] | None:
    """Where the page's own script was: frames of our runtime, which have no address, are passed over."""
    frames = (details.get("stackTrace") or {}).get("callFrames", [])
    for frame in [details, *frames]:
        url = str(frame.get("url") or "")
        if ":" in url:
            return url, int(frame.get("lineNumber", 0)) + 1
    found = _FRAME.search(stack)
    return (found[1], int(found[2])) if found else None


async def examine_page(
    opened: Opened, errors: ScriptErrors, tools: list[Tool], wait: float, hidden: str | None
) -> PageReport:
    """Asks every frame, and says what is wrong with it.

    Args:
        opened: The open page.
        errors: What its scripts threw and reported.
        tools: Those of its tools that the command line chooses.
        wait: Seconds that were waited for them.
        hidden: What to say when the command line chose none of those that there are.
    """
    page, engine = opened.page, opened.browser.engine
    surface = page.surface
    report = PageReport(
        url=page.url,
        origin=page.origin,
        engine=f"{engine.name} {engine.version}",
        surface=surface.kind,
        reason=surface.reason,
        tools=tuple(tool.name for tool in tools),
        frames=len(page.frames),
    )
    found = report.findings
    for frame in page.frames[:_FRAMES]:
        found += await _examine_frame(page, frame, [tool for tool in tools if tool.frame.id == frame.id], engine.name)
    if opened.server:
        found += [
            Finding(
                level="problem",
                code="missing_file",
                message=f"the page asked for {quote(path)}, which the folder lacks",
            )
            for path in dict.fromkeys(opened.server.missing[:_ERRORS])
        ]
    documents = {frame.url.partition("#")[0] for frame in page.frames} if engine.name == "lightpanda" else set[str]()
    for text, place in errors.thrown[:_ERRORS]:
        message = f"a script of the page threw {quote(text)}"
        if place:
            url, line = place
            # Lightpanda counts the lines of an inline script from that script's own first one.
            inline = f", line {line} of an inline script" if url in documents else f", line {line}"
            message += f" at {quote(url, 200)}{inline}"
        found.append(Finding(level="problem", code="script_error", message=message))
    found += [
        Finding(level="warning", code="console", message=f"a script of the page reported {quote(text)}")
        for text in errors.logged[:_ERRORS]
    ]
    if hidden:
        found.append(Finding(level="problem", code="none_chosen", message=hidden))
    elif not tools and not any(finding.level == "problem" for finding in found):
        found.append(_nothing(surface.kind, surface.reason, wait))
    found += _about_tools(tools)
    if surface.kind == "runtime":
        found.append(Finding(level="note", code="runtime", message=f"pages get our runtime: {surface.reason}"))
    return report


def _nothing(kind: str, reason: str, wait: float) -> Finding:
    if kind == "none":
        return Finding(level="problem", code="no_context", message=reason)
    return Finding(
        level="problem",
        code="nothing_registered",
        message=f"no document registered a tool within {wait:g} s; it may do so later (--wait S), "
        "after a login (--profile DIR), or not at all",
    )


async def _examine_frame(page: Page, frame: Frame, tools: list[Tool], engine: str) -> list[Finding]:
    where = frame.url if frame.parent_id else None
    if frame.url.startswith("chrome-error:"):
        return [_not_loaded(where)]
    try:
        answer = await page.evaluate(_PROBE, frame=frame.id, timeout=5.0)
    except InvalidDocumentError:
        return [_not_loaded(where)]
    except WebMCPError as error:
        return [Finding(level="warning", code="unreachable", message=f"the frame did not answer: {error}", frame=where)]
    # A page can make up every one of these: they are shown, never relied upon.
    said = cast("dict[str, Any]", answer) if isinstance(answer, dict) else {}
    found: list[Finding] = []

    def tell(level: Literal["problem", "warning", "note"], code: str, message: str) -> None:
        found.append(Finding(level=level, code=code, message=message, frame=where))

    origin = said.get("origin")
    if said.get("secure") is False or _insecure(frame.url):
        tell("problem", "insecure_context", "no secure context: WebMCP needs https, or http on localhost")
    elif said.get("context") is False and not tools:
        tell(
            "problem",
            "no_feature",
            "the browser gives this document no document.modelContext: start Chromium with "
            "--enable-features=WebMCP,WebMCPTesting,DevToolsWebMCPSupport, or use --mode auto or runtime",
        )
    if said.get("allowed") is False and not frame.parent_id:
        tell("problem", "policy", "a header Permissions-Policy forbids tools here: it has to allow tools=(self)")
    if said.get("keyed") is False and not tools and engine == "chromium":
        tell("warning", "origin_keyed", "Origin-Agent-Cluster: ?0 is set: Chromium 152 to 156 then refuse every tool")
    if origin == "null" and frame.url.startswith(("http", "about:srcdoc")):
        tell("warning", "opaque_origin", "a sandbox makes the origin opaque: other documents cannot use its tools")
    forms, described = _count(said.get("forms")), _count(said.get("described"))
    if forms and not any(tool.declarative for tool in tools):
        tell(
            "problem" if not tools else "warning",
            "forms",
            f"{forms} form{'s have' if forms > 1 else ' has'} a toolname and none is a tool: "
            + (
                "the tooldescription is missing"
                if not described
                else "this engine has no form tools; use --engine chromium"
            ),
        )
    frames = said.get("frames")
    for inner in cast("list[Any]", frames)[:_FRAMES] if isinstance(frames, list) else []:
        if isinstance(inner, dict):
            found += _frame_element(cast("dict[str, Any]", inner), where)
    return found


def _not_loaded(where: str | None) -> Finding:
    return Finding(level="warning", code="not_loaded", message="a frame could not be loaded", frame=where)


def _frame_element(element: dict[str, Any], where: str | None) -> list[Finding]:
    src, allow = str(element.get("src", "")), str(element.get("allow", ""))
    found: list[Finding] = []
    features = {part.split()[0].lower() for part in re.split(r"[;,]", allow) if part.split()}
    shown = quote(src, 100)
    if "webmcp" in features and "tools" not in features:
        # Measured on Chromium 156: the console says "Unrecognized feature: 'webmcp'.", registerTool NotAllowedError.
        message = (
            f'the frame {shown} has allow="webmcp", an older spelling, ignored by Chromium 156: write allow="tools"'
        )
        found.append(Finding(level="problem", code="allow_webmcp", message=message, frame=where))
    elif element.get("foreign") is True and "tools" not in features:
        message = f'the frame {shown} is of another origin and lacks allow="tools": Chromium refuses its tools'
        found.append(Finding(level="warning", code="policy", message=message, frame=where))
    sandbox = element.get("sandbox")
    if isinstance(sandbox, str) and "allow-scripts" not in sandbox.lower().split():
        message = f"the frame {shown} has a sandbox without allow-scripts: no script of it runs"
        found.append(Finding(level="warning", code="sandbox", message=message, frame=where))
    return found


def _about_tools(tools: list[Tool]) -> list[Finding]:
    found: list[Finding] = []
    for tool in tools:
        where = tool.frame.url if tool.frame.parent_id else None
        if tool.schema_problem:
            message = f"the schema of {quote(tool.name)} is of no use, arguments go unchecked: {tool.schema_problem}"
            found.append(Finding(level="warning", code="schema", message=message, frame=where))
        found += [
            Finding(level="warning", code="tool", message=f"{quote(tool.name)}: {warning}", frame=where)
            for warning in tool.warnings
        ]
    return found


def _insecure(url: str) -> bool:
    """By the URL alone: Lightpanda calls every context secure."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    local = host in ("localhost", "::1") or host.endswith(".localhost") or host.startswith("127.")
    return parts.scheme == "http" and not local


def _count(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0

"""The JSON of ``--json``: tools and results in the standard's names, absent members left out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pywebmcp.types import AudioContent, ImageContent, ResourceContent, TextContent

if TYPE_CHECKING:
    from pywebmcp.browser import Browser, Page
    from pywebmcp.types import Content, Frame, Tool, ToolResult

__all__ = ["content_json", "frame_json", "listing_json", "result_json", "tool_json"]


def tool_json(tool: Tool) -> dict[str, Any]:
    """One tool: ``name``, ``description``, ``origin``, ``frame``, ``surface``, ``declarative``, ``ref``, and where the
    page gave them ``title``, ``inputSchema``, ``outputSchema``, ``annotations``.
    """
    told: dict[str, Any] = {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": tool.input_schema,
        "outputSchema": tool.output_schema,
        "annotations": tool.annotations.to_json() if tool.annotations else None,
        "origin": tool.origin,
        "frame": frame_json(tool.frame),
        "surface": tool.surface,
        "declarative": tool.declarative,
        "ref": tool.ref,
    }
    return {name: value for name, value in told.items() if value is not None}


def frame_json(frame: Frame) -> dict[str, str]:
    """One frame: ``id``, ``name`` (``""`` for the top one), ``url``."""
    return {"id": frame.id, "name": frame.name, "url": frame.url}


def listing_json(browser: Browser, page: Page, tools: list[Tool]) -> dict[str, Any]:
    """A page's tools: ``url``, ``engine`` (``name``, ``version``), ``surface`` (of the top document), ``tools``."""
    return {
        "url": page.url,
        "engine": {"name": browser.engine.name, "version": browser.engine.version},
        "surface": page.surface.kind,
        "tools": [tool_json(tool) for tool in tools],
    }


def result_json(result: ToolResult) -> dict[str, Any]:
    """What a tool answered: ``ok``, ``value``, ``json`` (text), ``content``, ``isError``, ``tool``, ``durationMs``."""
    return {
        "ok": True,
        "value": result.value,
        "json": result.json,
        "content": [content_json(block) for block in result.content],
        "isError": result.is_error,
        "tool": result.tool,
        "durationMs": round(result.duration * 1000, 3),
    }


def content_json(block: Content) -> dict[str, Any]:
    """One content block in the shape of MCP."""
    match block:
        case TextContent():
            return {"type": "text", "text": block.text}
        case ImageContent() | AudioContent():
            return {"type": block.type, "data": block.data, "mimeType": block.mime_type}
        case ResourceContent(type="resource_link"):
            return {**block.resource, "type": "resource_link"}
        case ResourceContent():
            return {"type": "resource", "resource": dict(block.resource)}

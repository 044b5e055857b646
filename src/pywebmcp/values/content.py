"""Results in the shape of MCP: ``{"content": [block, …], "structuredContent": {…}, "isError": true}``.

Pages return this shape (a ``CallToolResult``) to say more than one value. Objects of a page's own that merely
have a member ``content`` are data and stay data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from pywebmcp.types import AudioContent, ImageContent, ResourceContent, TextContent
from pywebmcp.values.deepjson import dumps

if TYPE_CHECKING:
    from pywebmcp.types import Content

__all__ = ["read_content"]

_MEMBERS = frozenset({"content", "structuredContent", "isError", "_meta"})


def read_content(value: object) -> tuple[tuple[Content, ...], bool] | None:
    """Reads a result that has the shape of MCP.

    It has the shape when every member is one of ``content``, ``structuredContent``, ``isError`` (a boolean) and
    ``_meta`` (an object), and ``content`` is a list of valid blocks, or is absent while ``structuredContent``
    is an object. A ``structuredContent`` beside ``content`` may be any JSON: pages put lists there.

    Args:
        value: The parsed result.

    Returns:
        The blocks and whether the page reported an error, or None for ordinary data. There is always at least one
        block: without any, one text block holds the JSON of ``structuredContent``, or ``""``.
    """
    if not isinstance(value, dict):
        return None
    result = cast("dict[str, Any]", value)
    if not (result.keys() <= _MEMBERS):
        return None
    is_error = result.get("isError", False)
    if not isinstance(is_error, bool) or not isinstance(result.get("_meta", {}), dict):
        return None
    structured = result.get("structuredContent")
    if "content" not in result:
        return ((TextContent(text=dumps(structured)),), is_error) if isinstance(structured, dict) else None
    if not isinstance(result["content"], list):
        return None
    blocks: list[Content] = []
    for member in cast("list[object]", result["content"]):
        block = _read_block(member)
        if block is None:
            return None
        blocks.append(block)
    if not blocks:
        blocks.append(TextContent(text="" if structured is None else dumps(structured)))
    return tuple(blocks), is_error


def _read_block(member: object) -> Content | None:
    match member:
        case {"type": "text", "text": str(text)}:
            return TextContent(text=text)
        case {"type": "image", "data": str(data), "mimeType": str(mime_type)}:
            return ImageContent(data=data, mime_type=mime_type)
        case {"type": "audio", "data": str(data), "mimeType": str(mime_type)}:
            return AudioContent(data=data, mime_type=mime_type)
        case {
            "type": "resource",
            "resource": {"uri": str(), "text": str()} | {"uri": str(), "blob": str()} as resource,
        }:
            return ResourceContent(resource=cast("dict[str, Any]", resource))
        case {"type": "resource_link", "uri": str(), "name": str()}:
            return ResourceContent(resource=cast("dict[str, Any]", member), type="resource_link")
        case _:
            return None

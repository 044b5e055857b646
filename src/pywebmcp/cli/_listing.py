"""The listing of tools that a person reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pywebmcp.cli._schema import parameters, required, type_text
from pywebmcp.cli._text import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pywebmcp.cli._output import Style
    from pywebmcp.types import Tool

__all__ = ["hints", "listing"]

_PARAMETERS = 24
_NAME_COLUMN = 24
_TYPE_COLUMN = 32


def listing(tools: Sequence[Tool], style: Style, width: int) -> str:
    """Every tool with its hints, its description on one line and its parameters; page text is harmless.

    ``*`` marks a required parameter. Where a page's tools come from several documents, each says which.
    """
    several = len({(tool.frame.id, tool.origin) for tool in tools}) > 1
    return "\n\n".join("\n".join(_tool(tool, style, width, several=several)) for tool in tools)


def hints(tool: Tool) -> list[str]:
    """What the page says of a tool's nature, in words."""
    said = tool.annotations
    words: list[str] = []
    if said:
        if said.read_only is not None:
            words.append("read-only" if said.read_only else "changes things")
        words += ["consequential"] if said.consequential else []
        words += ["untrusted output"] if said.untrusted_content else []
        words += ["for debugging"] if said.debugging else []
    if tool.declarative:
        words.append("form")
    return words


def _tool(tool: Tool, style: Style, width: int, *, several: bool) -> list[str]:
    head = style.bold(one_line(tool.name, 128))
    if tool.title and tool.title != tool.name:
        head += f"  {one_line(tool.title, 80)}"
    words = hints(tool)
    if words:
        head += "  " + style.dim(f"[{', '.join(words)}]")
    lines = [head, f"  {one_line(tool.description, width - 2)}"]
    if several:
        frame = f"frame {tool.frame.name or tool.frame.url}" if tool.frame.parent_id else "top frame"
        lines.append("  " + style.dim(one_line(f"in {tool.origin}, {frame}", width - 2)))
    lines += _parameters(tool, style, width)
    if tool.schema_problem:
        lines.append("  " + style.yellow(one_line(f"! its schema cannot be used: {tool.schema_problem}", width - 2)))
    lines += ["  " + style.yellow(one_line(f"! {warning}", width - 2)) for warning in tool.warnings]
    return lines


def _parameters(tool: Tool, style: Style, width: int) -> list[str]:
    root = tool.input_schema or {}
    known = parameters(root)
    needed = required(root)
    rows: list[tuple[str, str, str]] = []
    for name, schema in list(known.items())[:_PARAMETERS]:
        description = schema.get("description")
        rows.append(
            (
                one_line(name, 40) + ("*" if name in needed else ""),
                one_line(type_text(schema, root), 80),
                description if isinstance(description, str) else "",
            )
        )
    names = min(max((len(row[0]) for row in rows), default=0), _NAME_COLUMN)
    types = min(max((len(row[1]) for row in rows), default=0), _TYPE_COLUMN)
    lines: list[str] = []
    for name, kind, description in rows:
        columns = f"    {name:<{names}}  {kind:<{types}}"
        text = one_line(description, max(width - len(columns) - 2, 20)) if description else ""
        lines.append(f"    {name:<{names}}  {style.dim(f'{kind:<{types}}')}  {text}".rstrip())
    if len(known) > _PARAMETERS:
        lines.append(style.dim(f"    … and {len(known) - _PARAMETERS} more parameters"))
    return lines

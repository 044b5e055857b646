"""Scripted tools: what a fake page registers, with a Python function in place of the page's callback."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NoReturn

from pywebmcp.values import deepjson
from pywebmcp.values.names import is_valid_tool_name

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pywebmcp.types import ToolAnnotations

    Handler = Callable[[dict[str, Any]], Any | Awaitable[Any]]

__all__ = ["Received", "ScriptedTool", "ToolFailed", "fake_tool", "hang", "scripted"]


class ToolFailed(Exception):
    """Raised by a handler: the page's callback throws this. The caller sees `pywebmcp.ToolFailedError`.

    Every other exception of a handler becomes a thrown error too, named for its class; this one chooses the name.

    Args:
        message: The error's message.
        name: Its JavaScript name, for example ``"TypeError"``.
        stack: Its stack, where the page reveals one.
    """

    def __init__(self, message: str, *, name: str = "Error", stack: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.name = name
        self.stack = stack


@dataclass(frozen=True, slots=True, kw_only=True)
class ScriptedTool:
    """One tool of a fake page; `fake_tool` makes it."""

    name: str
    handler: Handler
    """Gets the arguments as a dict; returns a JSON value, at once or awaited."""
    description: str
    title: str | None = None
    input_schema: str | None = None
    """JSON text, as the page would hand it over."""
    output_schema: str | None = None
    """JSON text."""
    annotations: ToolAnnotations | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One call as it reached a handler of a fake page."""

    tool: str
    """The tool's name."""
    arguments: dict[str, Any]


def fake_tool(
    name: str,
    handler: Handler,
    *,
    description: str | None = None,
    title: str | None = None,
    input_schema: Mapping[str, Any] | str | None = None,
    output_schema: Mapping[str, Any] | str | None = None,
    annotations: ToolAnnotations | None = None,
) -> ScriptedTool:
    """Describes a tool that a fake page registers.

    ::

        def add(arguments):
            return {"sum": arguments["a"] + arguments["b"]}

        fake_tool("add", add, input_schema={"type": "object", "required": ["a", "b"]})

    Args:
        name: 1 to 128 ASCII letters, digits, ``_``, ``-`` or ``.``, as in the standard.
        handler: A function, sync or async, that gets the arguments as a dict and returns a JSON value; raises
            (`ToolFailed` chooses what the page threw); or waits. A wait is canceled with the call: the handler then
            sees `asyncio.CancelledError`, where a page's callback would see its signal abort. `hang` waits for ever.
        description: Default: the handler's docstring, or the name.
        title: For people.
        input_schema: JSON Schema, as a mapping or as the page's own text; None for a tool without one.
        output_schema: The same for results.
        annotations: The page's hints.

    Raises:
        TypeError: the handler does not take one dict.
        ValueError: the standard does not allow that name, or a schema is not JSON.
    """
    if not is_valid_tool_name(name):
        raise ValueError(f"{name!r} is no tool name: 1 to 128 ASCII letters, digits, '_', '-' or '.'")
    _check_handler(name, handler)
    return ScriptedTool(
        name=name,
        handler=handler,
        description=description or (handler.__doc__ or "").strip() or name,
        title=title,
        input_schema=_schema_text(input_schema),
        output_schema=_schema_text(output_schema),
        annotations=annotations,
    )


async def hang(_: dict[str, Any], /) -> NoReturn:
    """Never answers; ends when its call is canceled or its document goes away."""
    await asyncio.Event().wait()
    raise AssertionError("nobody sets this event")


def scripted(tools: Iterable[ScriptedTool], taker: str = "tools=") -> tuple[ScriptedTool, ...]:
    """The tools that somebody gave.

    Args:
        tools: From `fake_tool`, each of them.
        taker: Whom the error names: what they were given to.

    Raises:
        TypeError: they are something else.
    """
    given: Any = tools
    listed = tuple(given) if isinstance(given, Iterable) and not isinstance(given, (Mapping, str)) else None
    strange = [given] if listed is None else [each for each in listed if not isinstance(each, ScriptedTool)]
    if listed is None or strange:
        example = 'fake_tool("add", handler)' if taker.endswith("()") else '[fake_tool("add", handler)]'
        raise TypeError(f"{taker} takes fake_tool(...), as in {example}, not {strange[0]!r:.80}")
    return listed


def _check_handler(name: str, handler: Handler) -> None:
    try:
        signature = inspect.signature(handler)
    except ValueError:  # some builtins have none
        return
    except TypeError:
        raise TypeError(f"the handler of {name!r} is no function: handlers take one dict, the arguments") from None
    try:
        signature.bind({})
    except TypeError:
        raise TypeError(
            f"the handler of {name!r} takes {signature}: handlers take one dict, as in "
            "lambda arguments: arguments['a'] + arguments['b']"
        ) from None


def _schema_text(schema: Mapping[str, Any] | str | None) -> str | None:
    return schema if schema is None or isinstance(schema, str) else deepjson.dumps(dict(schema))

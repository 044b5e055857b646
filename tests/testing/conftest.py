"""The same page twice: scripted in Python, and written in JavaScript on a real engine."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp
from pywebmcp.testing import FakePage, ScriptedTool, ToolFailed, fake_tool, hang

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

URL = "https://example.com/"

SCHEMA = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}

HTML = """<script>
const register = (name, execute, more) =>
  document.modelContext.registerTool({name, description: name + " it", execute, ...more});
register("add", ({a, b}) => ({sum: a + b}), {
  title: "Add",
  inputSchema: {type: "object", properties: {a: {type: "number"}, b: {type: "number"}}, required: ["a", "b"]},
  outputSchema: {type: "object"},
  annotations: {readOnlyHint: true},
});
register("fail", () => { throw new TypeError("no such table"); });
register("cycle", () => { const loop = {}; loop.itself = loop; return loop; });
register("hang", () => new Promise(() => {}));
register("nothing", () => null);
register("text", async () => "plain text");
register("refuse", () => ({content: [{type: "text", text: "no"}], isError: true}));
</script>"""


def scripted() -> list[ScriptedTool]:
    def fail(_: dict[str, Any]) -> None:
        raise ToolFailed("no such table", name="TypeError")

    def cycle(_: dict[str, Any]) -> dict[str, Any]:
        loop: dict[str, Any] = {}
        loop["itself"] = loop
        return loop

    async def text(_: dict[str, Any]) -> str:
        return "plain text"

    return [
        fake_tool(
            "add",
            lambda arguments: {"sum": arguments["a"] + arguments["b"]},
            description="add it",
            title="Add",
            input_schema=SCHEMA,
            output_schema={"type": "object"},
            annotations=pywebmcp.ToolAnnotations(read_only=True),
        ),
        fake_tool("fail", fail, description="fail it"),
        fake_tool("cycle", cycle, description="cycle it"),
        fake_tool("hang", hang, description="hang it"),
        fake_tool("nothing", lambda _: None, description="nothing it"),
        fake_tool("text", text, description="text it"),
        fake_tool(
            "refuse",
            lambda _: {"content": [{"type": "text", "text": "no"}], "isError": True},
            description="refuse it",
        ),
    ]


@pytest.fixture
async def left_over() -> Callable[[], set[Any]]:
    """The tasks that a test has started and that still run; browsers that tests share have tasks of their own."""
    before = asyncio.all_tasks()
    return lambda: asyncio.all_tasks() - before - {asyncio.current_task()}


@pytest.fixture
async def fake(left_over: Callable[[], set[Any]]) -> AsyncIterator[FakePage]:
    """The page, scripted."""
    async with FakePage(scripted(), url=URL) as page:
        yield page
    assert page.closed
    assert not left_over()


@pytest.fixture
async def real() -> AsyncIterator[pywebmcp.Page]:
    """The page, in the embedded engine."""
    async with asyncio.timeout(30), pywebmcp.launch() as browser:
        yield await browser.open(URL, html=HTML)

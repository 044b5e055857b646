"""The page of the first example, on both columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import pywebmcp

if TYPE_CHECKING:
    from conftest import Open

EXAMPLE = """<!doctype html><title>shop</title><script>
(document.modelContext ?? navigator.modelContext).registerTool({
  name: "add", description: "Adds two numbers",
  inputSchema: {type: "object", properties: {a: {type: "number"}, b: {type: "number"}}},
  annotations: {readOnlyHint: true},
  execute: ({a, b}) => ({sum: a + b}),
});
</script>"""


@pytest.mark.requirement("core:example")
async def test_the_example_of_the_readme_lists_and_calls_the_same_on_both_engines(open_page: Open) -> None:
    page = await open_page(EXAMPLE)

    (tool,) = await page.tools()

    assert tool.name == "add"
    assert tool.description == "Adds two numbers"
    assert tool.input_schema == {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}}
    assert tool.annotations is not None
    assert tool.annotations.read_only is True
    assert tool.origin == "https://example.com"
    result = await page.call("add", {"a": 1, "b": 2})
    assert result.value == {"sum": 3}
    assert result.text == '{"sum":3}'
    assert result.json == '{"sum":3}'
    assert not result.is_error
    assert (await page.call(tool, '{"a": 1, "b": 2}')).value == {"sum": 3}


@pytest.mark.requirement("core:invocation")
async def test_a_detached_invocation_tells_its_status_and_its_result_any_number_of_times(open_page: Open) -> None:
    page = await open_page(EXAMPLE)
    await page.wait_for_tool("add")

    invocation = await page.invoke("add", {"a": 20, "b": 22})

    assert invocation.tool == "add"
    assert (await invocation.result()).value == {"sum": 42}
    assert (await invocation.result()).value == {"sum": 42}
    assert invocation.status is pywebmcp.InvocationStatus.COMPLETED
    assert await invocation.cancel() is False

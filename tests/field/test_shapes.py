"""The members of a listed tool: absent where nothing was given, objects where the page gave objects, parents first."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp

if TYPE_CHECKING:
    from .conftest import Html, Open

MC = "const mc = document.modelContext ?? navigator.modelContext;"

SHAPES = f"""<!doctype html><meta charset=utf-8><script>{MC}
const execute = () => 1;
mc.registerTool({{name: "bare", description: "nothing but the required", execute}});
mc.registerTool({{name: "full", title: "Voll ✓", description: "d", execute,
  inputSchema: {{type: "object", properties: {{"ключ": {{type: "string", enum: ["é", "日本"]}}}}, required: []}},
  outputSchema: {{type: "object", properties: {{sum: {{type: "number"}}}}}},
  annotations: {{readOnlyHint: true, untrustedContentHint: false, consequentialHint: true, debugging: false}}}});
mc.registerTool({{name: "empty_schema", description: "d", inputSchema: {{}}, execute}});
mc.registerTool({{name: "hinted", description: "d", annotations: {{readOnlyHint: true}}, execute}});
</script>"""


def tool_page(name: str, *, after: str = "") -> str:
    return (
        f"<script>{MC} mc.registerTool({{name: '{name}', description: 'd', execute: () => '{name}'}});</script>{after}"
    )


@pytest.mark.requirement("field:shapes:absent-is-none")
async def test_what_a_tool_did_not_give_is_none(open_page: Open) -> None:
    page = await open_page(SHAPES)

    bare = await page.tool("bare")

    assert (bare.input_schema, bare.input_schema_json, bare.output_schema, bare.annotations) == (None, None, None, None)
    assert (bare.title, bare.schema_problem, bare.warnings, bare.declarative) == (None, None, (), False)
    assert (await page.call(bare)).value == 1
    assert (await page.call(bare, {"extra": [1]})).value == 1


@pytest.mark.requirement("field:shapes:given-is-an-object")
async def test_schemas_and_hints_that_a_tool_gave_are_objects(open_page: Open) -> None:
    page = await open_page(SHAPES)

    full = await page.tool("full")

    assert full.title == "Voll ✓"
    assert full.input_schema == {
        "type": "object",
        "properties": {"ключ": {"type": "string", "enum": ["é", "日本"]}},
        "required": [],
    }
    assert full.annotations == pywebmcp.ToolAnnotations(
        read_only=True, untrusted_content=False, consequential=True, debugging=False
    )
    assert full.annotations is not None
    assert full.annotations.to_json() == {
        "readOnlyHint": True,
        "untrustedContentHint": False,
        "consequentialHint": True,
        "debugging": False,
    }


@pytest.mark.requirement("field:shapes:output-schema")
async def test_an_output_schema_is_an_object_where_the_engine_has_one(engine: str, open_page: Open) -> None:
    page = await open_page(SHAPES)

    full, bare = await page.tool("full"), await page.tool("bare")

    given = {"type": "object", "properties": {"sum": {"type": "number"}}}
    assert full.output_schema == (given if engine == "lightpanda" else None)  # Chromium 156 drops the member
    assert bare.output_schema is None


@pytest.mark.requirement("field:shapes:one-hint")
async def test_a_single_hint_leaves_the_others_unsaid_or_false(engine: str, open_page: Open) -> None:
    page = await open_page(SHAPES)

    hinted = await page.tool("hinted")

    others = None if engine == "lightpanda" else False
    assert hinted.annotations == pywebmcp.ToolAnnotations(
        read_only=True, untrusted_content=others, consequential=others, debugging=others
    )


@pytest.mark.requirement("field:shapes:empty-schema-is-given")
async def test_an_empty_schema_is_a_schema_and_not_none(open_page: Open) -> None:
    page = await open_page(SHAPES)

    tool = await page.tool("empty_schema")

    assert tool.input_schema == {}
    assert tool.input_schema_json == "{}"
    assert tool.schema_problem is None


@pytest.mark.requirement("field:shapes:json-able")
async def test_every_definition_is_plain_json_and_no_schema_is_text(open_page: Open) -> None:
    page = await open_page(SHAPES)

    tools = await page.tools()

    assert [tool.name for tool in tools] == ["bare", "full", "empty_schema", "hinted"]
    for tool in tools:
        definition: dict[str, Any] = dataclasses.asdict(tool)
        assert json.loads(json.dumps(definition))["name"] == tool.name
        assert tool.input_schema is None or isinstance(tool.input_schema, dict)
        assert tool.output_schema is None or isinstance(tool.output_schema, dict)
        assert tool.input_schema_json is None or json.loads(tool.input_schema_json) == tool.input_schema


@pytest.mark.requirement("field:shapes:snapshots-are-frozen")
async def test_a_snapshot_is_frozen_and_equal_to_the_next_one_of_the_same_registration(open_page: Open) -> None:
    page = await open_page(SHAPES)

    first, second = await page.tools(), await page.tools()

    assert first == second
    with pytest.raises(dataclasses.FrozenInstanceError):
        first[0].name = "other"  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.requirement("field:shapes:frames-after-parents")
@pytest.mark.parametrize("origin", ["https://example.com", "https://other.example"])
async def test_tools_of_a_frame_are_listed_after_those_of_its_parent(open_page: Open, origin: str) -> None:
    def route(request: pywebmcp.Request) -> pywebmcp.Response:
        if request.url.endswith("/inner"):
            return pywebmcp.Response(tool_page("inner"), content_type="text/html")
        frame = f"<iframe allow=tools src='{origin}/inner'></iframe>"
        return pywebmcp.Response(tool_page("frame", after=frame), content_type="text/html")

    page = await open_page(
        f"<iframe allow=tools src='{origin}/frame'></iframe>"
        "<script>onload = () => setTimeout(() => {"
        f"{MC} mc.registerTool({{name: 'late_parent', description: 'd', execute: () => 0}}); }}, 50)</script>"
        f"<iframe allow=tools src='{origin}/frame'></iframe>",
        route=route,
    )
    await page.wait_for_tool("late_parent")
    await page.wait_for_tools(quiet=0.3)

    tools = await page.tools()

    assert [tool.name for tool in tools] == ["late_parent", "frame", "inner", "frame", "inner"]
    top, first, second, third, fourth = page.frames
    assert [frame.parent_id for frame in page.frames] == [None, top.id, first.id, top.id, third.id]
    assert [tool.frame.id for tool in tools] == [top.id, first.id, second.id, third.id, fourth.id]
    assert [tool.origin for tool in tools] == ["https://example.com", origin, origin, origin, origin]


@pytest.mark.requirement("field:shapes:origins-filter")
async def test_a_list_can_be_limited_to_origins(open_page: Open) -> None:
    page = await open_page(
        tool_page("here", after="<iframe allow=tools src='https://other.example/frame'></iframe>"),
        route=lambda _: pywebmcp.Response(tool_page("there"), content_type="text/html"),
    )
    await page.wait_for_tool("there")

    assert [tool.name for tool in await page.tools()] == ["here", "there"]
    assert [tool.name for tool in await page.tools(origins=["https://other.example"])] == ["there"]
    assert [tool.name for tool in await page.tools(origins=["https://example.com"])] == ["here"]
    assert await page.tools(origins=["https://other.example:8443"]) == []


@pytest.mark.requirement("field:shapes:opaque-origin")
async def test_a_sandboxed_frame_has_the_origin_null_where_the_engine_sandboxes(
    engine: str, open_page: Open, field_html: Html
) -> None:
    page = await open_page(
        "<iframe sandbox=allow-scripts allow=tools src='/frame'></iframe>",
        route=lambda _: pywebmcp.Response(field_html("02"), content_type="text/html"),
    )

    tool = await page.wait_for_tool("search_catalog")

    assert tool.origin == ("https://example.com" if engine == "lightpanda" else "null")
    assert (await page.call(tool, {"q": "x"})).value == {"q": "x", "hits": []}

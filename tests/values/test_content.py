from __future__ import annotations

from typing import Any

import pytest

from pywebmcp.types import AudioContent, ImageContent, ResourceContent, TextContent, ToolResult
from pywebmcp.values.content import read_content

RESOURCE = {"uri": "file:///a.txt", "text": "hello"}
BLOB = {"uri": "file:///a.bin", "blob": "AAAA", "mimeType": "application/octet-stream"}
LINK = {"type": "resource_link", "uri": "https://x.example/", "name": "x"}


def test_every_kind_of_block_is_read_in_order() -> None:
    blocks = [
        {"type": "text", "text": "one", "annotations": {"priority": 1}},
        {"type": "image", "data": "AA==", "mimeType": "image/png"},
        {"type": "audio", "data": "BB==", "mimeType": "audio/wav"},
        {"type": "resource", "resource": RESOURCE},
        {"type": "resource", "resource": BLOB},
        LINK,
    ]
    assert read_content({"content": blocks}) == (
        (
            TextContent(text="one"),
            ImageContent(data="AA==", mime_type="image/png"),
            AudioContent(data="BB==", mime_type="audio/wav"),
            ResourceContent(resource=RESOURCE),
            ResourceContent(resource=BLOB),
            ResourceContent(resource=LINK, type="resource_link"),
        ),
        False,
    )


def test_a_resource_shows_in_the_text_of_a_result() -> None:
    read = read_content({"content": [{"type": "resource", "resource": RESOURCE}, LINK]})
    assert read is not None
    result = ToolResult(value=None, json="null", tool="t", duration=0, content=read[0])
    assert result.text == "hello\n[resource https://x.example/]"


@pytest.mark.parametrize(("flag", "is_error"), [(True, True), (False, False)])
def test_the_page_says_whether_it_is_an_error(flag: bool, is_error: bool) -> None:
    given = {"content": [{"type": "text", "text": "no"}], "isError": flag, "_meta": {"a": 1}}
    assert read_content(given) == ((TextContent(text="no"),), is_error)


def test_structured_content_alone_gives_its_json() -> None:
    assert read_content({"structuredContent": {"a": "é"}}) == ((TextContent(text='{"a":"é"}'),), False)
    assert read_content({"structuredContent": {}, "isError": True}) == ((TextContent(text="{}"),), True)


def test_there_is_always_a_block() -> None:
    assert read_content({"content": []}) == ((TextContent(text=""),), False)
    assert read_content({"content": [], "isError": True}) == ((TextContent(text=""),), True)
    assert read_content({"content": [], "structuredContent": {"a": 1}}) == ((TextContent(text='{"a":1}'),), False)
    assert read_content({"content": [], "structuredContent": None}) == ((TextContent(text=""),), False)


def test_a_list_as_structured_content_beside_content_is_shown_as_json() -> None:
    assert read_content({"content": [], "structuredContent": [1, 2]}) == ((TextContent(text="[1,2]"),), False)


def test_blocks_stay_as_they_are_beside_structured_content() -> None:
    given = {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}], "structuredContent": {"n": 1}}
    assert read_content(given) == ((TextContent(text="a"), TextContent(text="b")), False)


@pytest.mark.parametrize(
    "value",
    [
        None,
        7,
        "text",
        [],
        [{"type": "text", "text": "a"}],
        {},
        {"isError": True},
        {"_meta": {}},
        {"content": "an article body", "title": "News"},
        {"content": "an article body"},
        {"content": ["a", "b"]},
        {"content": [1, 2]},
        {"content": None, "structuredContent": {}},
        {"content": [{"type": "text", "text": "a"}], "title": "News"},
        {"content": [{"type": "text", "text": "a"}, {"type": "video"}]},
        {"content": [{"type": "text"}]},
        {"content": [{"type": "text", "text": 1}]},
        {"content": [{"text": "a"}]},
        {"content": [{"type": "image", "data": "AA=="}]},
        {"content": [{"type": "resource", "resource": {"uri": "a"}}]},
        {"content": [{"type": "resource", "resource": "a"}]},
        {"content": [{"type": "resource_link", "uri": "a"}]},
        {"content": [], "isError": "yes"},
        {"content": [], "isError": None},
        {"content": [], "_meta": []},
        {"structuredContent": [1, 2]},
        {"structuredContent": "a"},
        {"structuredContent": None},
    ],
)
def test_what_merely_looks_alike_is_ordinary_data(value: Any) -> None:
    assert read_content(value) is None

"""``webmcp tools``: the listing for programs and for people."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

from pywebmcp.values.deepjson import loads

if TYPE_CHECKING:
    from pathlib import Path


async def test_json_has_the_page_the_engine_the_surface_and_every_tool(
    webmcp: Any, outcomes: Path, on: list[str], engine: str
) -> None:
    ran = await webmcp("tools", outcomes, "--json", *on)
    told = ran.json
    assert (ran.code, ran.err) == (0, "")
    assert told.keys() == {"url", "engine", "surface", "tools"}
    assert told["url"].startswith("http://localhost:")
    assert told["engine"].keys() == {"name", "version"}
    assert (told["engine"]["name"], told["surface"]) == (engine, "native" if engine == "chromium" else "runtime")
    add = told["tools"][0]
    assert add["ref"]
    assert add["frame"]["id"]
    assert add["frame"]["url"] == told["url"]
    assert {name: value for name, value in add.items() if name not in ("ref", "frame")} == {
        "name": "add",
        "title": "Addition",
        "description": "ends by add",
        "inputSchema": {
            "type": "object",
            "properties": {"a": {"type": "number", "description": "The one"}, "b": {"type": "number"}},
            "required": ["a", "b"],
        },
        "annotations": add["annotations"],
        "origin": told["url"].rpartition("/")[0],
        "surface": told["surface"],
        "declarative": False,
    }
    assert add["annotations"]["readOnlyHint"] is True


async def test_members_that_a_tool_did_not_give_are_left_out(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    (nothing,) = [t for t in (await webmcp("tools", outcomes, "--json", *on)).json["tools"] if t["name"] == "nothing"]
    assert nothing.keys() == {"name", "description", "origin", "frame", "surface", "declarative", "ref"}


async def test_a_person_reads_names_hints_descriptions_and_parameters(
    webmcp: Any, outcomes: Path, on: list[str]
) -> None:
    ran = await webmcp("tools", outcomes, *on)
    lines = ran.out.splitlines()
    assert lines[0].startswith("add  Addition  [read-only")
    assert lines[1:4] == ["  ends by add", "    a*  number  The one", "    b*  number"]
    assert "    tags     string[]" in lines
    assert f"tools of {'http://localhost:'}" in ran.err


async def test_tools_of_several_frames_say_where_they_are(webmcp: Any, cli: Path, on: list[str]) -> None:
    ran = await webmcp("tools", cli / "frames.html", *on)
    places = [line for line in ran.out.splitlines() if line.startswith("  in ")]
    assert [place.rpartition(", ")[2] for place in places] == ["top frame", "frame left", "frame right"]


async def test_a_frame_and_an_origin_choose(webmcp: Any, cli: Path, on: list[str]) -> None:
    left = await webmcp("tools", cli / "frames.html", "--frame", "left", "--json", *on)
    assert [tool["description"] for tool in left.json["tools"]] == ["says left"]
    other = await webmcp(
        "tools", cli / "frames.html", "--origin", "https://other.example", "--wait", "0", "--json", *on
    )
    assert (other.code, other.json["tools"]) == (0, [])
    assert '3 tools, none of origin "https://other.example"; there are tools of "http://localhost:' in other.err
    assert "registered no tools" not in other.err
    no_frame = await webmcp("tools", cli / "frames.html", "--frame", "middle", "--wait", "0", *on)
    assert no_frame.code == 3
    assert 'no frame "middle"' in no_frame.err


async def test_it_waits_for_a_first_tool_and_then_for_quiet(webmcp: Any, cli: Path, on: list[str]) -> None:
    ran = await webmcp("tools", cli / "late.html", "--json", *on)
    assert [tool["name"] for tool in ran.json["tools"]] == ["first", "second"]


async def test_wait_0_waits_for_nothing(webmcp: Any, cli: Path, on: list[str]) -> None:
    ran = await webmcp("tools", cli / "late.html", "--wait", "0", "--json", *on)
    assert (ran.code, ran.json["tools"]) == (0, [])


async def test_wait_for_names_the_tool_to_wait_for(webmcp: Any, cli: Path) -> None:
    came = await webmcp("tools", cli / "late.html", "--wait-for", "second", "--json")
    assert [tool["name"] for tool in came.json["tools"]] == ["first", "second"]
    never = await webmcp("tools", cli / "late.html", "--wait-for", "third", "--wait", "0.2", "--json")
    assert (never.code, never.json["error"]["code"]) == (3, "tool_not_found")


async def test_an_empty_list_of_a_document_with_a_model_context_is_done(webmcp: Any, cli: Path, on: list[str]) -> None:
    ran = await webmcp("tools", cli / "elsewhere.html", "--wait", "0.1", *on)
    assert (ran.code, ran.out) == (0, "")
    assert "registered no tools" in ran.err
    assert f"webmcp doctor {cli / 'elsewhere.html'} looks for the reason" in ran.err


async def test_a_document_without_a_model_context_is_not(webmcp: Any, site: Any, on: list[str]) -> None:
    proxy = f"http://127.0.0.1:{site.port}"
    ran = await webmcp("tools", "http://shop.test/", "--proxy", proxy, "--wait", "0", "--json", *on)
    assert (ran.code, ran.json["surface"], ran.json["tools"]) == (3, "none", [])
    assert "insecure context" in ran.err


async def test_what_the_folder_lacks_is_told(webmcp: Any, cli: Path) -> None:
    ran = await webmcp("tools", cli / "faulty.html", "--wait", "0")
    assert "not found in the folder: /missing.js" in ran.err


async def test_a_hostile_page_cannot_write_to_the_terminal(webmcp: Any, cli: Path, on: list[str]) -> None:
    ran = await webmcp("tools", cli / "hostile.html", *on)
    assert all(c.isprintable() or c == "\n" for c in ran.out + ran.err)
    assert ran.out.count("\n") == 3
    assert r"\u001b[2J" in ran.out
    assert r"\u202e" in ran.out
    assert r"\u{e0041}" in ran.out


async def test_json_of_a_hostile_page_is_ascii_and_exact(webmcp: Any, cli: Path, on: list[str]) -> None:
    ran = await webmcp("tools", cli / "hostile.html", "--json", *on)
    assert ran.out.isascii()
    assert "\U000e0041" in ran.json["tools"][0]["description"]


async def test_schemas_that_are_broken_or_deep_are_listed(webmcp: Any, cli: Path, on: list[str]) -> None:
    ran = await webmcp("tools", cli / "broken-schema.html", *on)
    assert (ran.code, "Traceback" in ran.err) == (0, False)
    assert ran.out.count("! its schema cannot be used") == 4
    as_json = await webmcp("tools", cli / "broken-schema.html", "--json", *on)
    assert len(loads(as_json.out)["tools"]) == 4


async def test_a_reader_that_goes_away_is_no_error(start_raw: Any, outcomes: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        process = await start_raw("tools", outcomes, stdout=writing)
        async with asyncio.timeout(50):
            _, err = await process.communicate()
    finally:
        os.close(writing)
    assert process.returncode == 0
    assert b"Traceback" not in err
    assert b"BrokenPipe" not in err


async def test_a_full_disk_is_told(start_raw: Any, outcomes: Path) -> None:
    full = os.open("/dev/full", os.O_WRONLY)
    try:
        process = await start_raw("tools", outcomes, stdout=full)
        async with asyncio.timeout(50):
            _, err = await process.communicate()
    finally:
        os.close(full)
    assert process.returncode == 74
    assert b"cannot write to stdout: No space left on device" in err
    assert b"Traceback" not in err

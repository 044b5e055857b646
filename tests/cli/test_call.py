"""``webmcp call``: what it prints, what it sends, and how it ends."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp.values.deepjson import dumps, loads

if TYPE_CHECKING:
    from pathlib import Path


async def test_the_text_of_the_result_is_all_there_is_on_stdout(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    ran = await webmcp("call", outcomes, "add", '{"a": 1, "b": 2}', *on)
    assert (ran.code, ran.out, ran.err) == (0, '{"sum":3}\n', "")


async def test_json_tells_value_text_content_tool_and_duration(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    ran = await webmcp("call", outcomes, "add", '{"a": 1, "b": 2}', "--json", *on)
    told = ran.json
    assert told.pop("durationMs") > 0
    assert told == {
        "ok": True,
        "value": {"sum": 3},
        "json": '{"sum":3}',
        "content": [{"type": "text", "text": '{"sum":3}'}],
        "isError": False,
        "tool": "add",
    }


async def test_content_blocks_are_told_in_the_shape_of_mcp(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    ran = await webmcp("call", outcomes, "blocks", "--json", *on)
    assert ran.json["content"] == [
        {"type": "text", "text": "a picture"},
        {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        {"type": "resource", "resource": {"uri": "note:1", "text": "inside"}},
        {"type": "resource_link", "uri": "https://example.com/", "name": "a link"},
    ]


async def test_arguments_come_from_a_file_or_from_stdin(webmcp: Any, outcomes: Path, tmp_path: Path) -> None:
    file = tmp_path / "arguments.json"
    file.write_text('{"a": 20, "b": 1}')
    from_file, from_stdin = await asyncio.gather(
        webmcp("call", outcomes, "add", f"@{file}"),
        webmcp("call", outcomes, "add", "-", stdin=b'\xef\xbb\xbf{"a": 2, "b": 1}'),
    )
    assert (from_file.out, from_stdin.out) == ('{"sum":21}\n', '{"sum":3}\n')


async def test_pairs_are_typed_by_the_schema_and_win_over_json(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    pairs = ["-a", "zip=01234", "-a", "count=2", "-a", "price=2", "-a", "yes=true", "-a", "tags=a", "-a", "tags=b"]
    pairs += ["-a", 'more={"x": [1]}', "-a", "nothing=null", "-a", "unknown=[1]", "-a", "loose=a=b"]
    ran = await webmcp("call", outcomes, *pairs[:4], "echo", *pairs[4:], '{"zip": "9", "kept": 1}', "--json", *on)
    assert ran.json["value"] == {
        "kept": 1,
        "zip": "01234",
        "count": 2,
        "price": 2,
        "yes": True,
        "tags": ["a", "b"],
        "more": {"x": [1]},
        "nothing": None,
        "unknown": [1],
        "loose": "a=b",
    }


async def test_a_dialog_is_dismissed_and_reported(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    ran = await webmcp("call", outcomes, "asks", *on)
    assert (ran.code, ran.out) == (0, "false\n")
    assert 'confirm): "Really?": dismissed' in ran.err


async def test_a_dialog_can_be_accepted(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    ran = await webmcp("call", outcomes, "asks", "--dialogs", "accept", *on)
    assert ran.out == "true\n"


async def test_a_result_of_any_depth_is_printed(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    ran = await webmcp("call", outcomes, "deep", "--json", *on)
    assert (ran.code, ran.err) == (0, "")
    told = loads(ran.out)
    assert told["json"] == dumps(told["value"]) == "[" * 1500 + "1" + "]" * 1500


async def test_a_frame_is_chosen_by_its_name(webmcp: Any, cli: Path, on: list[str]) -> None:
    ran = await webmcp("call", cli / "frames.html", "whoami", "--frame", "right", *on)
    assert (ran.code, ran.out) == (0, "right\n")


async def test_it_waits_for_its_tool_and_for_another_one(webmcp: Any, cli: Path) -> None:
    ran = await webmcp("call", cli / "late.html", "first", "--wait-for", "second", "--json")
    assert (ran.code, ran.json["value"]) == (0, "first")


# --- exit codes ------------------------------------------------------------------------------------------------


def error_of(ran: Any, code: int) -> dict[str, Any]:
    assert ran.code == code, ran
    told = ran.json
    assert told["ok"] is False
    assert {"code", "domName", "message", "ran"} <= told["error"].keys()
    assert "Traceback" not in ran.err
    return told["error"]


async def test_1_a_tool_that_throws_failed(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    error = error_of(await webmcp("call", outcomes, "throws", "--json", *on), 1)
    assert (error["code"], error["ran"], error["domName"]) == ("tool_failed", "yes", "OperationError")
    assert error["pageError"]["name"] == "TypeError"
    assert error["pageError"]["message"] == "no \x1b[31mgood"


async def test_1_a_result_that_says_is_error_is_still_a_result(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    ran = await webmcp("call", outcomes, "says_error", "--json", *on)
    assert (ran.code, ran.json["ok"], ran.json["isError"]) == (1, True, True)


async def test_2_arguments_against_the_schema_never_reach_the_page(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    error = error_of(await webmcp("call", outcomes, "add", '{"a": "x"}', "--json", *on), 2)
    assert (error["code"], error["ran"]) == ("invalid_arguments", "no")
    assert {(problem["path"], problem["rule"]) for problem in error["problems"]} == {("", "required"), ("/a", "type")}


async def test_2_each_fault_is_told_once(webmcp: Any, outcomes: Path) -> None:
    several = await webmcp("call", outcomes, "add", '{"a": "x"}')
    assert several.err.splitlines() == [
        'webmcp: the arguments do not fit the input schema of "add"  [invalid_arguments]',
        '  (root): lacks the member "b" [required]',
        '  /a: must be of type "number", not "x" [type]',
    ]
    one = await webmcp("call", outcomes, "add", '{"a": 1}')
    assert (one.err.count("\n"), one.err.count('lacks the member "b"')) == (1, 1)


async def test_2_a_pair_that_does_not_fit_names_its_key_and_type(webmcp: Any, outcomes: Path) -> None:
    ran = await webmcp("call", outcomes, "echo", "-a", "count=many")
    assert (ran.code, ran.out) == (2, "")
    assert "count: expected integer, not many" in ran.err


async def test_2_an_ambiguous_name_lists_its_candidates(webmcp: Any, cli: Path, on: list[str]) -> None:
    error = error_of(await webmcp("call", cli / "frames.html", "whoami", "--json", *on), 2)
    assert error["code"] == "ambiguous_tool"
    assert [candidate["frame"]["name"] for candidate in error["candidates"]] == ["", "left", "right"]


async def test_3_a_missing_tool_lists_what_is_there(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    error = error_of(await webmcp("call", outcomes, "nope", "--wait", "0", "--json", *on), 3)
    assert (error["code"], error["ran"], error["domName"]) == ("tool_not_found", "no", "NotFoundError")
    assert "add" in error["available"]


async def test_3_a_name_that_is_nearly_one_is_told_soon(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    error = error_of(await webmcp("call", outcomes, "adds", "--json", *on), 3)
    assert '(waited 2 s); did you mean "add"?' in error["message"]


async def test_a_page_that_still_adds_tools_is_waited_for(webmcp: Any, cli: Path) -> None:
    ran = await webmcp("call", cli / "growing.html", "third")
    assert (ran.code, ran.out) == (0, "third\n")


async def test_3_an_insecure_document_has_no_model_context(webmcp: Any, site: Any, on: list[str]) -> None:
    site.body = "<p>plain"
    proxy = f"http://127.0.0.1:{site.port}"
    ran = await webmcp("call", "http://shop.test/", "add", "--wait", "0", "--proxy", proxy, "--json", *on)
    assert error_of(ran, 3)["code"] in ("not_exposed", "unsupported")


async def test_4_a_deadline_cancels_the_call(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    error = error_of(await webmcp("call", outcomes, "hangs", "{}", "--timeout", "0.3", "--json", *on), 4)
    assert (error["code"], error["ran"], error["domName"]) == ("call_timeout", "unknown", "AbortError")


async def test_4_a_document_that_leaves_leaves_the_outcome_open(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    error = error_of(await webmcp("call", outcomes, "leaves", "--json", *on), 4)
    assert (error["code"], error["ran"]) == ("document_unloaded", "unknown")


async def test_4_a_form_that_waits_for_a_person_is_told_at_once(webmcp: Any, cli: Path) -> None:
    ran = await webmcp("call", cli / "form.html", "book_table", "-a", "people=2", "--engine", "chromium", "--json")
    assert error_of(ran, 4)["code"] == "awaiting_submission"


@pytest.mark.parametrize(
    ("page", "options", "code"),
    [
        ("http://localhost:1/", [], "navigation"),
        ("about:blank", ["--engine", "/nowhere/lightpanda"], "engine_not_found"),
        ("about:blank", ["--engine", "/nowhere/chromium"], "engine_not_found"),
        ("about:blank", ["--engine", "ws://127.0.0.1:1/"], "endpoint_refused"),
        ("about:blank", ["--engine", "http://127.0.0.1:1"], "endpoint_refused"),
    ],
)
async def test_5_what_cannot_be_opened(webmcp: Any, page: str, options: list[str], code: str) -> None:
    error = error_of(await webmcp("call", page, "add", "--json", *options), 5)
    assert (error["code"], error["ran"]) == (code, "no")


async def test_5_an_http_error_is_no_page(webmcp: Any, site: Any, on: list[str]) -> None:
    site.status = "503 Service Unavailable"
    assert error_of(await webmcp("call", site.url, "add", "--json", *on), 5)["code"] == "navigation"

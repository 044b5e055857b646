from __future__ import annotations

import asyncio
import io
import json
import stat
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp.wire import connect
from pywebmcp.wire._trace import LINE_LIMIT, VARIABLE, Trace

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import FakeBrowser

SECRET = "s3cr3t"


def traced(message: dict[str, Any]) -> str:
    stream = io.StringIO()
    Trace(stream, "engine").received(message)
    return stream.getvalue()


@pytest.mark.parametrize("value", ["", "0", None])
def test_without_the_variable_there_is_no_trace(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if value is None:
        monkeypatch.delenv(VARIABLE, raising=False)
    else:
        monkeypatch.setenv(VARIABLE, value)
    assert Trace.from_environment("engine") is None


@pytest.mark.parametrize("value", ["1", "stderr"])
def test_standard_error_gets_one_line_a_message(
    value: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, value)
    trace = Trace.from_environment("engine")
    assert trace is not None
    trace.sent(1, "Page.enable", None, "S")
    trace.received({"id": 1, "result": {"text": "two\nlines"}})
    trace.close()
    captured = capsys.readouterr()
    assert captured.out == ""
    sent, received = captured.err.splitlines()
    assert sent.endswith('engine --> {"id": 1, "method": "Page.enable", "sessionId": "S", "params": {}}')
    assert " engine <-- " in received


async def test_a_file_gets_the_messages_of_a_connection_and_is_private(
    browser: FakeBrowser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "trace.log"
    monkeypatch.setenv(VARIABLE, str(path))
    connection = await connect(browser.url, name="fake")
    task = asyncio.ensure_future(
        connection.child("S").send("Network.setExtraHTTPHeaders", {"headers": {"Cookie": SECRET, "X-A": "shown"}})
    )
    command = await browser.answer({"cookies": [{"name": "sid", "value": SECRET, "domain": "a.example"}]})
    assert command["params"]["headers"]["Cookie"] == SECRET
    result = await task
    assert result["cookies"][0]["value"] == SECRET
    await connection.close()
    text = path.read_text(encoding="utf-8")
    assert SECRET not in text
    assert "shown" in text
    assert "sid" in text
    assert [line.split()[1:3] for line in text.splitlines()] == [["fake", "-->"], ["fake", "<--"]]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_file_that_cannot_be_written_turns_the_trace_off_with_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "missing" / "trace.log"))
    assert Trace.from_environment("engine") is None
    assert VARIABLE in caplog.text


@pytest.mark.parametrize(
    "message",
    [
        {"method": "E", "params": {"headers": {"cookie": SECRET}}},
        {"method": "E", "params": {"headers": {"Set-Cookie": f"a={SECRET}; Path=/"}}},
        {"method": "E", "params": {"headers": {"AUTHORIZATION": f"Bearer {SECRET}"}}},
        {"method": "E", "params": {"headers": {"proxy-authorization": f"Basic {SECRET}"}}},
        {"method": "E", "params": {"responseHeaders": [{"name": "Set-Cookie", "value": SECRET}]}},
        {"method": "E", "params": {"responseHeaders": [{"value": SECRET, "name": "authorization"}]}},
        {"method": "E", "params": {"headersText": f"HTTP/1.1 200 OK\r\nSet-Cookie: {SECRET}\r\nX: y\r\n"}},
        {"method": "E", "params": {"associatedCookies": [{"cookie": {"name": "a", "value": SECRET}}]}},
        {"method": "E", "params": {"blockedCookies": [{"cookieLine": f"a={SECRET}"}]}},
        {"method": "Network.setCookie", "params": {"name": "a", "value": SECRET, "url": "https://a.example"}},
        {"id": 1, "result": {"cookies": [{"name": "a", "value": SECRET}]}},
        {"method": "Fetch.continueWithAuth", "params": {"authChallengeResponse": {"password": SECRET}}},
        {"method": "E", "params": {"proxyServer": f"http://user:{SECRET}@proxy.example:3128"}},
        {"method": "E", "params": {"payload": json.dumps({"headers": {"Authorization": f"Bearer {SECRET}"}})}},
    ],
)
def test_what_grants_access_is_left_out(message: dict[str, Any]) -> None:
    line = traced(message)
    assert SECRET not in line
    assert "[redacted]" in line


def test_what_is_no_secret_stays() -> None:
    line = traced({"method": "E", "params": {"responseHeaders": [{"name": "Content-Type", "value": "text/html"}]}})
    assert "text/html" in line
    assert "redacted" not in line


def test_lines_are_bounded_in_length_depth_and_members() -> None:
    deep: Any = "end"
    for _ in range(100_000):
        deep = [deep]
    for value in ("x" * 1_000_000, list(range(100_000)), {str(n): n for n in range(100_000)}, deep):
        line = traced({"method": "E", "params": {"value": value}})
        assert len(line) < LINE_LIMIT + 200
        assert line.count("\n") == 1


def test_a_stream_that_is_closed_disturbs_nobody() -> None:
    stream = io.StringIO()
    trace = Trace(stream, "engine")
    stream.close()
    trace.received({"method": "E"})

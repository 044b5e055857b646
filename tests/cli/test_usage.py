"""What can be typed, and what is told of what cannot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp
from pywebmcp import cli as command
from pywebmcp.cli._exits import AwaitingSubmissionError, UsageError, error_json, exit_code
from pywebmcp.cli._parser import EngineChoice, Options, parse
from pywebmcp.cli._typed import typed_as

if TYPE_CHECKING:
    from pathlib import Path


def test_the_version_is_the_package_s(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--version"]) == 0
    assert capsys.readouterr().out == f"webmcp {pywebmcp.__version__}\n"


@pytest.mark.parametrize(
    "arguments", [["--help"], ["tools", "--help"], ["call", "-h"], ["doctor", "-h"], ["demo", "-h"]]
)
def test_help_goes_to_stdout_and_is_done(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(arguments) == 0
    assert "usage: webmcp" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "which command?"),
        (["frobnicate"], "no such command (see webmcp --help)"),
        (["tool"], "no such command; did you mean tools?"),
        (["https://example.com/"], "webmcp tools https://example.com/"),
        (["--engine", "tools"], "options stand after the command"),
        (["tools"], "PAGE"),
        (["call", "page"], "TOOL"),
        (["tools", "p", "--wait", "soon"], "--wait"),
        (["tools", "p", "--wait", "-1"], "--wait"),
        (["call", "p", "t", "--timeout", "0"], "--timeout: 0 must be more than 0"),
        (["call", "p", "t", "--timeout", "-1"], "--timeout: -1 must be more than 0"),
        (["tools", "p", "--mode", "off"], "--mode"),
        (["tools", "p", "--tim", "3"], "--tim 3; did you mean --timeout? (see webmcp tools --help)"),
        (["tools", "p", "--engine", "firefox"], "--engine firefox"),
        (["tools", "p", "--engine", "./something"], "cannot tell"),
        (["tools", "p", "--engine", "lightpanda", "--headed"], "chromium"),
        (["tools", "p", "--engine", "lightpanda", "--mode", "native"], "chromium"),
        (["tools", "p", "--engine", "ws://localhost:1/", "--profile", "x"], "--profile"),
        (["tools", ""], "PAGE is empty"),
        (["call", "p", "t", "{}", "more"], "more"),
        (["tools", "missing.html"], "missing.html: no such file"),
        (["tools", "ftp://example.com/"], "http:// or https://"),
        (["call", "missing.html", "t", "[1]"], "must be a JSON object, not an array"),
        (["call", "missing.html", "t", "{"], "not JSON"),
        (["call", "missing.html", "t", "@nowhere.json"], "nowhere.json"),
        (["call", "missing.html", "t", "@"], "@ needs a file name"),
        (["call", "missing.html", "t", "a=1"], "write -a a=1"),
        (["call", "missing.html", "t", "a=1", "b.c=x y"], "write -a a=1 -a 'b.c=x y'"),
        (["call", "missing.html", "t", "{}", "b=2"], "write -a b=2"),
        (["call", "missing.html", "t", "-a", "novalue"], "-a key=value"),
        (["call", "missing.html", "t", "-a", "=v"], "-a key=value"),
    ],
)
def test_wrong_usage_ends_with_2_and_says_why(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert told in err
    assert "Traceback" not in err
    assert told in err.splitlines()[-1]
    assert err.count("\n") == 1 or not arguments


def test_wrong_usage_is_json_for_a_program(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["tools", "missing.html", "--json"]) == 2
    out = capsys.readouterr().out
    assert out.startswith('{"ok":false,"error":{"code":"usage","domName":null,"message":"missing.html:')


def test_options_may_stand_anywhere_after_the_command() -> None:
    options = parse(["call", "--json", "page", "-a", "x=1", "tool", "--wait", "0", '{"y": 2}', "-a", "z=-3"])
    assert options == Options(
        command="call", json=True, page="page", tool="tool", arguments='{"y": 2}', pairs=("x=1", "z=-3"), wait=0.0
    )


@pytest.mark.parametrize(
    ("given", "choice"),
    [
        ([], EngineChoice()),
        (["--engine", "auto"], EngineChoice(name="auto", asked=True)),
        (
            ["--engine", "/opt/lightpanda-nightly"],
            EngineChoice(name="lightpanda", executable="/opt/lightpanda-nightly", asked=True),
        ),
        (
            ["--engine", "/usr/bin/google-chrome"],
            EngineChoice(name="chromium", executable="/usr/bin/google-chrome", asked=True),
        ),
        (["--engine", "ws://host:9222/x"], EngineChoice(endpoint="ws://host:9222/x", asked=True)),
        (["--engine", "http://host:9222"], EngineChoice(endpoint="http://host:9222", asked=True)),
        (["--headed"], EngineChoice(name="chromium")),
        (["--mode", "native"], EngineChoice(name="chromium")),
    ],
)
def test_the_engine_is_a_name_a_path_or_an_address(given: list[str], choice: EngineChoice) -> None:
    options = parse(["tools", "page", *given])
    assert isinstance(options, Options)
    assert options.engine == choice


_CODES: list[tuple[Exception, int]] = [
    (pywebmcp.ToolFailedError("x"), 1),
    (UsageError("x"), 2),
    (pywebmcp.InvalidArgumentsError("x"), 2),
    (pywebmcp.AmbiguousToolError("x"), 2),
    (pywebmcp.ToolNotFoundError("x"), 3),
    (pywebmcp.UnsupportedError("x"), 3),
    (pywebmcp.NotExposedError("x"), 3),
    (pywebmcp.InvalidDocumentError("x"), 3),
    (pywebmcp.CallTimeoutError("x"), 4),
    (pywebmcp.CallCanceledError("x"), 4),
    (pywebmcp.DocumentUnloadedError("x"), 4),
    (pywebmcp.OutcomeUnknownError("x"), 4),
    (AwaitingSubmissionError("x"), 4),
    (pywebmcp.NavigationError("x"), 5),
    (pywebmcp.EngineNotFoundError("x"), 5),
    (pywebmcp.EngineCrashedError("x"), 5),
    (pywebmcp.PolicyDeniedError("x"), 6),
    (pywebmcp.ApprovalDeniedError("x"), 6),
    (RuntimeError("x"), 70),
]


@pytest.mark.parametrize(("error", "code"), _CODES, ids=lambda value: type(value).__name__)
def test_every_error_has_its_exit_code(error: Exception, code: int) -> None:
    assert exit_code(error) == code


def test_the_help_tells_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    command.main(["--help"])
    table = capsys.readouterr().out.partition("exit codes:")[2]
    for code in {0, 129, 130, 143, *(code for _, code in _CODES)}:
        assert f" {code} " in table.replace("\n", " ")
    for name in ("tools", "call", "doctor", "demo"):
        command.main([name, "--help"])
        assert "exit codes: webmcp --help" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("started", "found", "shown"),
    [
        ("bin/webmcp", "bin", "webmcp"),
        ("bin/webmcp", "other", "bin/webmcp"),
        ("bin/webmcp", "", "bin/webmcp"),
        ("pywebmcp/__main__.py", "bin", "/usr/bin/python3 -m pywebmcp"),
        ("pytest", "", "webmcp"),
    ],
)
def test_hints_begin_with_what_the_shell_finds(
    started: str, found: str, shown: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for folder in ("bin", "other"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "webmcp").write_text(folder)
        (tmp_path / folder / "webmcp").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / found) if found else "")
    monkeypatch.setattr("sys.argv", [started])
    monkeypatch.setattr("sys.orig_argv", ["/usr/bin/python3"])
    assert typed_as("doctor", "a page.html") == f"{shown} doctor 'a page.html'"


def test_a_window_needs_a_display(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert command.main(["tools", "about:blank", "--headed"]) == 2
    assert capsys.readouterr().err == "webmcp: no display: set DISPLAY, or leave --headed out\n"


def test_every_error_class_of_the_library_has_one() -> None:
    classes = [getattr(pywebmcp, name) for name in pywebmcp.__all__ if name.endswith("Error")]
    errors = [kind for kind in classes if isinstance(kind, type) and issubclass(kind, pywebmcp.WebMCPError)]
    without = [kind for kind in errors if kind is not pywebmcp.WebMCPError and exit_code(kind("x")) == 70]
    assert len(errors) > 15
    assert without == []


@pytest.mark.parametrize(
    ("error", "code"),
    [(pywebmcp.PolicyDeniedError("the policy says no"), 6), (pywebmcp.ApprovalDeniedError("Ann said no"), 6)],
)
def test_a_denial_ends_with_6(
    error: pywebmcp.WebMCPError, code: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pywebmcp.cli._call as call

    async def deny(options: Options) -> int:
        raise error

    monkeypatch.setattr(call, "prepare_call", lambda options: deny)  # pyright: ignore[reportUnknownLambdaType]
    assert command.main(["call", "page", "tool", "--json"]) == code
    out, err = capsys.readouterr()
    assert f'"code":"{error.code}"' in out
    assert str(error) in err


def test_a_fault_of_the_program_is_no_outcome_of_the_tool(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import pywebmcp.cli._tools as tools

    async def fail(options: Options) -> int:
        raise RuntimeError("a bug")

    monkeypatch.setattr(tools, "list_tools", fail)
    assert command.main(["tools", "page"]) == 70
    assert "RuntimeError: a bug" in capsys.readouterr().err


def test_the_error_of_json_leaves_out_what_is_not_known() -> None:
    assert error_json(pywebmcp.CallTimeoutError("too late")) == {
        "code": "call_timeout",
        "domName": "AbortError",
        "message": "too late",
        "ran": "unknown",
    }


async def test_python_m_pywebmcp_is_the_same_command(webmcp: Any, outcomes: Path) -> None:
    import asyncio
    import sys

    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "pywebmcp", "--version", stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(30):
        out, _ = await process.communicate()
    assert (process.returncode, out.decode()) == (0, (await webmcp("--version")).out)


async def test_the_command_imports_neither_playwright_nor_a_web_server(outcomes: Path) -> None:
    import asyncio
    import sys

    script = (
        "import sys; from pywebmcp.cli import main; code = main(sys.argv[1:]);"
        "print(code, [n for n in ('http.server', 'playwright', 'mcp') if n in sys.modules])"
    )
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", script, "call", outcomes, "add", '{"a":1,"b":2}', stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(40):
        out, _ = await process.communicate()
    assert out.decode().splitlines() == ['{"sum":3}', "0 []"]

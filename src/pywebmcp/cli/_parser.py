"""The command line: what can be typed, and what it means."""

from __future__ import annotations

import argparse
import math
import os
import re
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NoReturn, cast

from pywebmcp.cli._exits import EXITS, UsageError
from pywebmcp.cli._typed import typed_as

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pywebmcp.types import Mode

__all__ = ["COMMANDS", "EngineChoice", "Options", "parse"]

COMMANDS = ("tools", "call", "doctor", "demo")

_OVERVIEW = """\
usage: webmcp COMMAND …

Finds and calls the tools that web pages publish with WebMCP.

  webmcp tools PAGE                          list the tools of a page
  webmcp call PAGE TOOL [JSON] [-a k=v …]    call one and print what it answers
  webmcp doctor [PAGE]                       which engines there are; why a page has no tools
  webmcp demo                                a tour, in one screen

PAGE is a URL, a local .html file, a folder with an index.html (both are served at http://localhost
while the command runs), or demo, the page of the tour. Every command takes --json and --help.

  webmcp --version
"""

_PAGE = "a URL, an .html file, a folder with an index.html, or demo"
_PAIR = re.compile(r"\w[\w.-]*=")


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """What ``--engine`` means."""

    name: Literal["lightpanda", "chromium", "auto"] = "auto"
    executable: str | None = None
    endpoint: str | None = None
    """The address of a browser that runs already."""
    asked: bool = False
    """False when the command line left it open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """A command line, read and checked."""

    command: str
    json: bool = False
    verbose: bool = False
    page: str | None = None
    tool: str = ""
    arguments: str | None = None
    pairs: tuple[str, ...] = ()
    engine: EngineChoice = EngineChoice()
    mode: Mode = "auto"
    timeout: float | None = None
    wait: float | None = None
    wait_for: str | None = None
    frame: str | None = None
    origin: str | None = None
    profile: str | None = None
    proxy: str | None = None
    dialogs: Literal["accept", "dismiss"] = "dismiss"
    headed: bool = False


class _Parser(argparse.ArgumentParser):
    """Tells faults as `UsageError` instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message} (see {typed_as(self.prog.split()[-1], '--help')})")


def parse(argv: Sequence[str]) -> Options | str:
    """Reads a command line.

    Returns:
        The options, or a text to print on stdout (``--help``, ``--version``).

    Raises:
        UsageError: it cannot be understood.
    """
    first = argv[0] if argv else ""
    if first in ("-h", "--help", "help"):
        return f"{_OVERVIEW}\n{EXITS}".rstrip()
    if first in ("-V", "--version"):
        from pywebmcp import __version__

        return f"webmcp {__version__}"
    if first not in COMMANDS:
        raise UsageError(_unknown(first), usage=None if first else _OVERVIEW.rstrip())
    parser = _parser_of(first)
    rest = list(argv[1:])
    if not {"-h", "--help"}.isdisjoint(rest[: rest.index("--")] if "--" in rest else rest):
        return parser.format_help().rstrip()
    # Options may stand between the positional arguments, also between TOOL and JSON.
    known, left = parser.parse_known_intermixed_args(rest)
    given = vars(known)
    if first == "call":
        _refuse_bare_pairs([given["arguments"] or "", *left])
    if left:
        parser.error(_left_over(left, parser.format_help()))
    del given["help"]
    given["pairs"] = tuple(given.get("pairs") or ())
    if "page" in given and given["page"] == "":
        raise UsageError("PAGE is empty")
    if "engine" in given:
        given["engine"] = _engine(cast("str | None", given["engine"]))
    options = Options(command=first, **given)
    return _consistent(options)


def _unknown(first: str) -> str:
    if not first:
        return "which command?"
    if first.startswith("-"):
        return f"{first}: options stand after the command (see {typed_as('--help')})"
    if "://" in first or os.path.exists(first):
        return f"{first}: which command? For a list: {typed_as('tools', first)}"
    return f"{first}: no such command{_meant(first, COMMANDS)} (see {typed_as('--help')})"


def _meant(word: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    return "".join(f"; did you mean {close}?" for close in get_close_matches(word, known, 1))


def _refuse_bare_pairs(words: list[str]) -> None:
    pairs = [word for word in words if _PAIR.match(word)]
    if pairs:
        right = " ".join(f"-a {shlex.quote(pair)}" for pair in pairs)
        raise UsageError(f"{' '.join(pairs)}: an argument follows -a; write {right}")


def _left_over(words: list[str], help_text: str) -> str:
    option = next((word.partition("=")[0] for word in words if word.startswith("--")), "")
    return f"unrecognized arguments: {' '.join(words)}{_meant(option, re.findall(r'--[a-z-]+', help_text))}"


def _parser_of(command: str) -> argparse.ArgumentParser:
    parser = _Parser(
        prog=f"webmcp {command}",
        description=_DESCRIPTIONS[command],
        epilog="exit codes: webmcp --help",
        allow_abbrev=False,
        add_help=False,
    )
    if command in ("tools", "call"):
        parser.add_argument("page", metavar="PAGE", help=_PAGE)
    if command == "call":
        parser.add_argument("tool", metavar="TOOL", help="its name")
        parser.add_argument(
            "arguments", metavar="JSON", nargs="?", help="a JSON object, @FILE, or - for stdin (default: none)"
        )
        parser.add_argument(
            "-a",
            "--argument",
            dest="pairs",
            metavar="KEY=VALUE",
            action="append",
            help="one argument, typed by the tool's schema; wins over JSON; repeat it for an array's elements",
        )
    if command == "doctor":
        parser.add_argument("page", metavar="PAGE", nargs="?", help="also say why this page has no tools")
    parser.add_argument("--json", action="store_true", help="print JSON on stdout")
    if command != "demo":
        _add_common(parser, command)
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="show the library's log on stderr (PYWEBMCP_TRACE=1: every message to and from the engine)",
    )
    parser.add_argument("-h", "--help", action="store_true", help="show this and exit")
    return parser


_DESCRIPTIONS = {
    "tools": "Lists the tools of a page: all frames, in tree order.",
    "call": "Calls one tool once and prints what it answers.",
    "doctor": "Shows which engines there are and whether they start; with PAGE, why it has no tools.",
    "demo": "Lists the tools of a bundled demo page and calls one, on the embedded engine.",
}


def _add_common(parser: argparse.ArgumentParser, command: str) -> None:
    engine = parser.add_argument_group("engine")
    engine.add_argument(
        "--engine",
        metavar="ENGINE",
        help="lightpanda (default), chromium, auto, the path of an executable, "
        "or the ws:// or http:// address of a browser that runs",
    )
    engine.add_argument(
        "--mode",
        choices=("auto", "native", "runtime"),
        default="auto",
        help="whose model context: the browser's own where it is complete (auto), only that, or only ours",
    )
    engine.add_argument("--profile", metavar="DIR", help="keep cookies (on chromium everything) in this folder")
    engine.add_argument("--proxy", metavar="URL", help="for example http://user:password@127.0.0.1:3128")
    engine.add_argument("--dialogs", choices=("accept", "dismiss"), default="dismiss", help="how alerts are answered")
    engine.add_argument("--headed", action="store_true", help="show the window (chromium)")
    what = {
        "tools": "a first tool (default 3)",
        "call": "the tool (default 10; 2 where the page has others and no more come)",
        "doctor": "a first tool (default 3)",
    }
    limit = "the call may take (default 600)" if command == "call" else "opening the page may take (default 30)"
    limits = parser.add_argument_group("waiting, in seconds")
    limits.add_argument("--timeout", metavar="S", type=_seconds(above_zero=True), help=limit)
    limits.add_argument("--wait", metavar="S", type=_seconds(), help=f"for {what[command]}; 0 waits for nothing")
    limits.add_argument("--wait-for", metavar="TOOL", help="first wait until this tool is registered")
    where = parser.add_argument_group("where")
    where.add_argument("--frame", metavar="FRAME", help="only in this frame: its id, else its name, else its URL")
    where.add_argument("--origin", metavar="ORIGIN", help="only in documents of this origin")


def _seconds(*, above_zero: bool = False) -> Callable[[str], float]:
    def number(text: str) -> float:
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
        if value < 0 or (above_zero and value == 0):
            raise argparse.ArgumentTypeError(f"{text} must be {'more than 0' if above_zero else '0 or more'}")
        return value

    return number


def _engine(given: str | None) -> EngineChoice:
    if given is None:
        return EngineChoice()
    if given in ("lightpanda", "chromium", "auto"):
        return EngineChoice(name=cast("Any", given), asked=True)
    if given.startswith(("ws://", "wss://", "http://", "https://")):
        return EngineChoice(endpoint=given, asked=True)
    if os.sep not in given and not os.path.exists(given):
        raise UsageError(
            f"--engine {given}: lightpanda, chromium, auto, the path of an executable, or a ws:// or http:// address"
        )
    name = os.path.basename(given).lower()
    if "lightpanda" in name:
        return EngineChoice(name="lightpanda", executable=given, asked=True)
    if any(word in name for word in ("chrom", "edge", "brave", "headless_shell", "headless-shell")):
        return EngineChoice(name="chromium", executable=given, asked=True)
    raise UsageError(f"--engine {given}: cannot tell from its name whether it is a lightpanda or a chromium")


def _consistent(options: Options) -> Options:
    engine = options.engine
    if engine.endpoint:
        for name in ("profile", "proxy", "headed"):
            if getattr(options, name):
                raise UsageError(
                    f"--{name} is for an engine that is started, not for one that runs at {engine.endpoint}"
                )
    for name, value in (("headed", options.headed), ("mode native", options.mode == "native")):
        if value and not engine.endpoint and engine.name != "chromium":
            if engine.name == "lightpanda":
                raise UsageError(f"--{name}: lightpanda cannot do that; use --engine chromium")
            from dataclasses import replace

            options = replace(options, engine=replace(engine, name="chromium"))
            engine = options.engine
    return options

"""The ``webmcp`` command.

``webmcp tools PAGE`` lists the tools of a page, ``webmcp call PAGE TOOL`` calls one, ``webmcp doctor [PAGE]`` says
what is there and why a page has no tools, ``webmcp demo`` is a tour. Data goes to stdout, everything else to
stderr; the exit codes stand in ``webmcp --help``.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Sequence

    from pywebmcp.cli._parser import Options

__all__ = ["main"]

_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Runs one command line and returns its exit code.

    Args:
        argv: What follows ``webmcp``; default: the process's own arguments.
    """
    arguments = sys.argv[1:] if argv is None else list(argv)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            # What an old terminal's encoding lacks is shown as an escape, never a crash.
            stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportAttributeAccessIssue]
    try:
        return _main(arguments)
    except KeyboardInterrupt:
        return _INTERRUPTED


def _main(arguments: list[str]) -> int:
    from pywebmcp.cli._exits import BUG, UsageError, exit_code
    from pywebmcp.cli._output import emit, report

    try:
        from pywebmcp.cli._parser import parse

        options = parse(arguments)
        if isinstance(options, str):
            emit(options)
            return 0
        command = _command(options)
    except UsageError as error:
        report(error, as_json="--json" in arguments)
        return exit_code(error)
    if options.verbose:
        import logging

        form = "%(relativeCreated)6d ms %(name)s: %(message)s"
        logging.basicConfig(level=logging.DEBUG, stream=sys.stderr, format=form)
        for name in ("asyncio", "websockets"):
            logging.getLogger(name).setLevel(logging.WARNING)
    try:
        from pywebmcp.cli._run import run

        return run(command, options)
    except Exception:  # noqa: BLE001 - boundary: a fault of ours must not look like an outcome of the tool
        import traceback

        traceback.print_exc()
        return BUG


def _command(options: Options) -> Callable[[Options], Coroutine[Any, Any, int]]:
    match options.command:
        case "tools":
            from pywebmcp.cli._tools import list_tools

            return list_tools
        case "call":
            from pywebmcp.cli._call import prepare_call

            return prepare_call(options)
        case "doctor":
            from pywebmcp.cli._doctor import diagnose

            return diagnose
        case _:
            from pywebmcp.cli._demo import tour

            return tour

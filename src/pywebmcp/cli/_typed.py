"""What a person types to run this command again, for hints that can be copied."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

__all__ = ["typed_as"]

_NAME = "webmcp"


def typed_as(*words: str) -> str:
    """A command line of this program.

    It begins with ``webmcp`` where the shell finds this very script under that name, else with the path (or
    ``python -m pywebmcp``) that it was started with, for example ``.venv/bin/webmcp``.

    Args:
        words: What follows, unquoted; for example ``"doctor", "shop.html"``.
    """
    return " ".join([_program(), *map(shlex.quote, words)])


def _program() -> str:
    script = Path(sys.argv[0])
    if script.parts[-2:] == ("pywebmcp", "__main__.py"):
        return f"{shlex.quote(sys.orig_argv[0])} -m pywebmcp"
    if script.stem != _NAME:  # called from another program
        return _NAME
    found = shutil.which(_NAME)
    # On Windows sys.argv[0] lacks the ".exe" of what is found.
    if found and (Path(found).with_suffix("") == script or _same(found, sys.argv[0])):
        return _NAME
    return shlex.quote(sys.argv[0])


def _same(one: str, other: str) -> bool:
    try:
        return os.path.samefile(one, other)
    except OSError:
        return False

"""The runtime script: the files of `context/runtime/` joined into the one text that every document runs first."""

from __future__ import annotations

import json
import secrets
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["build_script", "random_identifier"]


def random_identifier() -> str:
    """Returns a JavaScript identifier that no page can guess (128 random bits), for one handle or binding."""
    return "w" + secrets.token_hex(16)


def build_script(*, handle: str, binding: str, config: Mapping[str, Any]) -> str:
    """Returns the script to inject into every document before the page's own scripts.

    The text is `const HANDLE = (() => { … return host; })();`. A top-level `const` is a global lexical binding: no
    property of the window, invisible to pages that do not know its name, reachable for `Runtime.callFunctionOn`.

    Args:
        handle: the identifier under which Python reaches the runtime's `host` object.
        binding: the name given to `Runtime.addBinding`; the script takes it off the global object.
        config: `{"mode": "runtime" | "auto" | "off", "dialogs": None | {"confirm": bool, "prompt": str | bool}}`; a
            prompt may also be None, and True answers with the default text that the page gave.
    """
    return _build(handle, binding, json.dumps(dict(config), sort_keys=True))


@cache
def _build(handle: str, binding: str, config: str) -> str:
    return (
        f'const {handle} = (() => {{\n"use strict";\nconst BINDING = {json.dumps(binding)}, CONFIG = {config};\n'
        f"{_body()}return host;\n}})();"
    )


@cache
def _body() -> str:
    folder = files("pywebmcp") / "context" / "runtime"
    sources = sorted((item for item in folder.iterdir() if item.name.endswith(".js")), key=lambda item: item.name)
    return "".join(line + "\n" for item in sources for line in _code_lines(item.read_text(encoding="utf-8")))


def _code_lines(source: str) -> Iterator[str]:
    """Yields the lines of a source without indentation, blank lines, and comments that fill whole lines.

    That is safe for this folder's files, in which no string spans lines (a test looks).
    """
    in_comment = False
    for line in map(str.strip, source.splitlines()):
        if in_comment or line.startswith("/*"):
            in_comment = not line.endswith("*/")
        elif line and not line.startswith("//"):
            yield line

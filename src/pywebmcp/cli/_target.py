"""PAGE: an address, or a file or folder of this machine that is served while the command runs."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from pywebmcp.cli._exits import UsageError

__all__ = ["DEMO", "DEMO_PAGE", "Target", "read_target"]

DEMO = "demo"
"""The word for the demo page, where no file or folder has that name."""
DEMO_PAGE = Path(__file__).parent / "demo"
"""The folder of the demo page: a tea shop that publishes four tools."""

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")
_LOCAL_HOST = re.compile(r"(localhost|127(\.\d+){3}|\[::1\])(:\d+)?(/|$|\?|#)")
_PAGE_SUFFIXES = (".html", ".htm", ".xhtml", ".svg")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """What PAGE means."""

    url: str | None = None
    """The address to open; None for something local."""
    folder: Path | None = None
    """The folder to serve for something local."""
    path: str = "/"
    """The path, query and fragment of the page under the server's address."""


def read_target(page: str) -> Target:
    """Reads PAGE.

    Args:
        page: ``http(s)://…``, ``about:…`` or ``data:…``; ``localhost:8080/…``; ``file://…``; the path of an HTML
            file or of a folder with an ``index.html``, with a query or fragment if you like; ``demo``.

    Raises:
        UsageError: there is no such file, or it is no page.
    """
    if scheme := _SCHEME.match(page):
        if scheme[1].lower() == "file":
            from urllib.parse import unquote

            return _local(unquote(page[len("file://") :].removeprefix("localhost")), page)
        if scheme[1].lower() in ("http", "https"):
            return Target(url=page)
        raise UsageError(f"{page}: an address begins with http:// or https://")
    if page == DEMO and not os.path.lexists(page):
        return Target(folder=DEMO_PAGE)
    if page.startswith(("about:", "data:")):
        return Target(url=page)
    if _LOCAL_HOST.match(page) and not os.path.lexists(page):
        return Target(url=f"http://{page}")
    return _local(page, page)


def _local(given: str, shown: str) -> Target:
    name, rest = given, ""
    if not os.path.exists(given):
        # Only what names no file as a whole is taken apart: "#" and "?" may be parts of names.
        cut = re.search(r"[?#]", given)
        if cut:
            name, rest = given[: cut.start()], given[cut.start() :]
    path = Path(name)
    try:
        if path.is_dir():
            if not (path / "index.html").is_file():
                raise UsageError(f"{shown}: this folder has no index.html")
            return Target(folder=path.resolve(), path="/" + rest)
        if not path.is_file():
            hint = "" if path.suffix.lower() in _PAGE_SUFFIXES else " (an address begins with http:// or https://)"
            raise UsageError(f"{shown}: no such file or folder{hint}")
    except (OSError, ValueError) as error:  # a name too long, a NUL in it
        raise UsageError(f"{shown}: {error}") from None
    if path.suffix.lower() not in _PAGE_SUFFIXES:
        raise UsageError(f"{shown}: not a page; PAGE is a URL, an .html file, or a folder with an index.html")
    if path.name.startswith("."):
        raise UsageError(f"{shown}: hidden files are not served")
    from urllib.parse import quote

    folder = path.parent.resolve()
    return Target(folder=folder, path=f"/{quote(path.name)}{rest}")

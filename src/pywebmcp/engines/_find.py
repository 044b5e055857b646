"""Where engines are on this machine."""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
from pathlib import Path
from typing import Final

from pywebmcp.errors import EngineNotFoundError

__all__ = ["CHROMIUM_NAMES", "find_chromium", "find_lightpanda"]

LIGHTPANDA_VARIABLE: Final = "PYWEBMCP_LIGHTPANDA"
"""Environment variable with the path of a Lightpanda executable."""

CHROMIUM_VARIABLE: Final = "PYWEBMCP_CHROMIUM"
"""Environment variable with the path of a Chromium executable."""

CHROMIUM_NAMES: Final = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "msedge",
    "brave-browser",
)
"""Names looked for on ``PATH``, the first found wins."""

_MAC_APPLICATIONS: Final = (
    "Chromium.app/Contents/MacOS/Chromium",
    "Google Chrome.app/Contents/MacOS/Google Chrome",
    "Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "Brave Browser.app/Contents/MacOS/Brave Browser",
)
_WINDOWS_PROGRAMS: Final = (
    "Google/Chrome/Application/chrome.exe",
    "Chromium/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
    "BraveSoftware/Brave-Browser/Application/brave.exe",
)


def find_lightpanda(executable: str | os.PathLike[str] | None = None) -> str:
    """The path of a Lightpanda: the given one, ``PYWEBMCP_LIGHTPANDA``, the wheel's, or the one on ``PATH``.

    Raises:
        EngineNotFoundError: there is none; the message says how to get one.
    """
    chosen = _chosen(executable, LIGHTPANDA_VARIABLE, "Lightpanda")
    if chosen is not None:
        return chosen
    found = _in_wheel() or shutil.which("lightpanda")
    if found is None:
        raise EngineNotFoundError(
            "no Lightpanda here: its wheels exist for Linux (glibc 2.35 or later) and macOS on arm64 "
            f"(pip install lightpanda); elsewhere set {LIGHTPANDA_VARIABLE} to an executable, "
            'or use an installed Chromium: launch("chromium")'
        )
    return found


def find_chromium(executable: str | os.PathLike[str] | None = None) -> str:
    """The path of a Chromium: the given one, ``PYWEBMCP_CHROMIUM``, or the first of the usual names and places.

    Raises:
        EngineNotFoundError: there is none; the message says how to get one.
    """
    chosen = _chosen(executable, CHROMIUM_VARIABLE, "Chromium")
    if chosen is not None:
        return chosen
    for name in CHROMIUM_NAMES:
        found = shutil.which(name)
        if found is not None:
            return found
    for place in _usual_places():
        if place.is_file():
            return str(place)
    raise EngineNotFoundError(
        f"no Chromium on PATH (looked for {', '.join(CHROMIUM_NAMES)}): install one, for example "
        f"`apt-get install chromium`, pass executable=, or set {CHROMIUM_VARIABLE}"
    )


def _chosen(executable: str | os.PathLike[str] | None, variable: str, engine: str) -> str | None:
    """What was asked for by argument or environment; None when nothing was."""
    if executable is not None:
        wanted, source = os.fspath(executable), "executable="
    else:
        wanted, source = os.environ.get(variable, ""), variable
    if not wanted:
        return None
    found = shutil.which(os.path.expanduser(wanted))
    if found is None:
        state = "is not executable" if Path(wanted).expanduser().is_file() else "does not exist"
        raise EngineNotFoundError(f"no {engine} at {wanted} ({source}): that file {state}")
    return found


def _in_wheel() -> str | None:
    """The binary that the ``lightpanda`` distribution carries, found without importing it."""
    spec = importlib.util.find_spec("lightpanda")
    for folder in (spec.submodule_search_locations or ()) if spec is not None else ():
        binary = Path(folder) / "lightpanda"
        if os.access(binary, os.X_OK) and binary.is_file():
            return str(binary)
    return None


def _usual_places() -> list[Path]:
    if sys.platform == "darwin":
        roots = [Path("/Applications"), Path.home() / "Applications"]
        return [root / name for root in roots for name in _MAC_APPLICATIONS]
    if sys.platform == "win32":
        variables = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
        roots = [Path(os.environ[name]) for name in variables if os.environ.get(name)]
        return [root / name for root in roots for name in _WINDOWS_PROGRAMS]
    return []

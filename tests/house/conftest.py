"""What the tests of the house share: where it stands, which modules are public, programs run in fresh interpreters."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import pywebmcp

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


@pytest.fixture(scope="session")
def root() -> Path:
    """The project's folder."""
    return Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def public_modules() -> list[ModuleType]:
    """Every module whose whole name is without an underscore."""
    names = [module.name for module in pkgutil.walk_packages(pywebmcp.__path__, "pywebmcp.")]
    public = [name for name in names if not any(part.startswith("_") for part in name.split("."))]
    return [pywebmcp, *map(importlib.import_module, public)]


@pytest.fixture(scope="session")
def run_python() -> Callable[[str], str]:
    """Runs a program in a fresh interpreter; returns what it printed."""

    def run_python(text: str) -> str:
        done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run_python

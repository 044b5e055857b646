"""Blocking pages over scripted tools, and blocking browsers; no event loop runs in these tests' threads."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp import sync
from pywebmcp.sync.testing import FakePage
from pywebmcp.testing import fake_tool

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Waiting:
    """A tool that never answers, and says when it began and when it was canceled."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.canceled = threading.Event()

    async def __call__(self, _: dict[str, Any]) -> None:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.canceled.set()
            raise


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


@pytest.fixture
def page(waiting: Waiting) -> Iterator[FakePage]:
    """A page with the tools ``echo`` and ``wait``."""
    tools = [
        fake_tool("echo", lambda arguments: arguments, input_schema={"properties": {"n": {"type": "integer"}}}),
        fake_tool("wait", waiting, description="never answers"),
    ]
    with FakePage(tools) as page:
        yield page


@pytest.fixture(scope="module")
def sync_browser() -> Iterator[sync.Browser]:
    with sync.launch() as browser:
        yield browser


@pytest.fixture
def run_script() -> Callable[[str], str]:
    """Runs a program in an interpreter of its own; returns what it printed."""

    def run_script(text: str) -> str:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", text], capture_output=True, text=True, timeout=40, check=False
        )
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return done.stdout

    return run_script

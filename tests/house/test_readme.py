"""The README's code runs as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import pywebmcp
from pywebmcp.testing import FakePage, fake_tool

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


def test_the_first_example_prints_the_tool_and_its_result() -> None:
    done = subprocess.run(
        [sys.executable, "-c", BLOCKS[0]], capture_output=True, text=True, timeout=30, check=True, encoding="utf-8"
    )
    assert done.stdout.splitlines()[-1] == "{'sum': 3}"
    assert done.stdout.startswith("add {'type': 'object'")


@pytest.mark.parametrize(
    ("handler", "printed"),
    [
        (lambda _: "booked", ""),
        (lambda _: {"content": [{"type": "text", "text": "full"}], "isError": True}, "None"),
        (lambda _: {}["missing"], "PageError"),
    ],
)
async def test_the_error_example_catches_what_it_names(
    handler: Any, printed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    namespace: dict[str, Any] = {"pywebmcp": pywebmcp}
    exec("async def example(page):\n" + textwrap.indent(BLOCKS[1], "    "), namespace)
    async with FakePage(tools=[fake_tool("book_table", handler)]) as page:
        await namespace["example"](page)
    assert capsys.readouterr().out.startswith(printed)


async def test_the_error_example_shows_the_problems_of_arguments(capsys: pytest.CaptureFixture[str]) -> None:
    namespace: dict[str, Any] = {"pywebmcp": pywebmcp}
    exec("async def example(page):\n" + textwrap.indent(BLOCKS[1], "    "), namespace)
    schema = {"type": "object", "properties": {"people": {"type": "string"}}}
    async with FakePage(tools=[fake_tool("book_table", lambda _: 1, input_schema=schema)]) as page:
        await namespace["example"](page)
    assert "/people" in capsys.readouterr().out

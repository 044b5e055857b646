"""Importing costs nothing, loads nothing that is not used, and goes only downwards."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

HEAVY = (
    "argparse",
    "http.client",
    "http.server",
    "jsonschema_rs",
    "lightpanda",
    "mcp",
    "playwright",
    "ssl",
    "websockets",
)
"""What importing the package must not load: MCP, servers, the extras, the dependencies, the command line."""
LIMIT_MS = 25.0
ROUNDS = 7


@pytest.mark.requirement("house:light-import")
@pytest.mark.parametrize("module", ["pywebmcp", "pywebmcp.errors", "pywebmcp.types", "pywebmcp.sync"])
def test_importing_loads_nothing_heavy(module: str, run_python: Callable[[str], str]) -> None:
    printed = run_python(
        "import asyncio, json, sys\n"
        "before = set(sys.modules)\n"
        f"import {module}\n"
        f"print(json.dumps([name for name in {HEAVY!r} if name in set(sys.modules) - before]))"
    )
    assert json.loads(printed) == []


@pytest.mark.requirement("house:light-import")
def test_no_module_of_ours_but_the_package_itself_is_loaded(run_python: Callable[[str], str]) -> None:
    printed = run_python("import sys, pywebmcp; print([n for n in sys.modules if n.startswith('pywebmcp')])")
    assert printed.strip() == "['pywebmcp']"


@pytest.mark.requirement("house:light-import")
def test_importing_everything_public_loads_no_extra(run_python: Callable[[str], str]) -> None:
    printed = run_python(
        "import sys, pywebmcp, pywebmcp.sync, pywebmcp.testing\n"
        "for name in pywebmcp.__all__: getattr(pywebmcp, name)\n"
        "print([name for name in ('playwright', 'mcp', 'http.server', 'websockets') if name in sys.modules])"
    )
    assert printed.strip() == "[]"


@pytest.mark.requirement("house:import-cost")
def test_importing_costs_at_most_25_ms_over_asyncio(run_python: Callable[[str], str]) -> None:
    """Medians of fresh interpreters, each of which times both imports."""
    program = (
        "import time\n"
        "start = time.perf_counter()\n"
        "import asyncio\n"
        "between = time.perf_counter()\n"
        "import pywebmcp\n"
        "print((time.perf_counter() - between) * 1000, (between - start) * 1000)"
    )
    costs = [tuple(map(float, run_python(program).split())) for _ in range(ROUNDS)]
    over, asyncio_itself = (statistics.median(each) for each in zip(*costs, strict=True))
    assert over <= LIMIT_MS, f"{over:.1f} ms over the {asyncio_itself:.1f} ms of asyncio"


@pytest.mark.requirement("house:floors")
def test_floors_import_only_from_floors_below(root: Path) -> None:
    done = subprocess.run(
        [str(Path(sys.executable).with_name("lint-imports")), "--no-cache"],
        capture_output=True, text=True, timeout=50, check=False, cwd=root,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "floors import only from floors below KEPT" in done.stdout


@pytest.mark.requirement("house:floors")
@pytest.mark.parametrize("floor", ["values", "wire", "engines", "context", "browser", "testing", "sync", "cli"])
def test_every_room_stands_on_a_floor(floor: str, root: Path) -> None:
    contract = (root / "pyproject.toml").read_text(encoding="utf-8").partition("[[tool.importlinter.contracts]]")[2]
    assert f"pywebmcp.{floor}" in contract


def test_no_room_is_without_a_floor(root: Path) -> None:
    contract = (root / "pyproject.toml").read_text(encoding="utf-8").partition("[[tool.importlinter.contracts]]")[2]
    rooms = {path.parent.name for path in (root / "src/pywebmcp").glob("*/__init__.py")}
    rooms |= {path.stem for path in (root / "src/pywebmcp").glob("*.py")} - {"__init__", "__main__"}
    assert {room for room in rooms if f"pywebmcp.{room}" not in contract} == set()

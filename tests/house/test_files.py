"""Files: their size, the version that they all tell, and what is in the wheel."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
import zipfile
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp

if TYPE_CHECKING:
    from pathlib import Path

MAX_LINES = 600
LONGER = {
    "src/pywebmcp/sync/_generated.py": 1000,  # written by scripts/generate_sync.py, one text for all twins
}


def sources(root: Path) -> list[Path]:
    return [path for path in (root / "src").rglob("*") if path.suffix in {".py", ".js"}]


@pytest.mark.requirement("house:short-files")
def test_no_source_file_is_longer_than_600_lines(root: Path) -> None:
    long: dict[str, int] = {}
    for path in sources(root):
        name, lines = path.relative_to(root).as_posix(), len(path.read_text(encoding="utf-8").splitlines())
        if lines > LONGER.get(name, MAX_LINES):
            long[name] = lines
    assert not long


def test_every_exception_to_the_limit_still_exists(root: Path) -> None:
    assert [name for name in LONGER if not (root / name).exists()] == []


def test_every_broad_except_says_why(root: Path) -> None:
    silent = [
        f"{path.relative_to(root)}:{number}"
        for path in sources(root)
        if path.suffix == ".py"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if re.match(r"\s*except (Exception|\(.*\bException\b.*\))( as \w+)?:", line) and "boundary: " not in line
    ]
    assert not silent


def test_no_file_names_a_folder_of_the_machine_that_it_was_written_on(root: Path) -> None:
    pattern = re.compile(rb"/(?:home|Users)/\w+|/root/|/work/")
    folders = [root / name for name in (".ci", "bench", "docs", "scripts", "src", "tests")]
    files = [path for folder in folders for path in folder.rglob("*")] + list(root.iterdir())
    naming = [
        path.relative_to(root).as_posix()
        for path in files
        if path.is_file() and path.suffix != ".pyc" and path.name not in {"test_files.py"} and ".git" not in path.name
        if pattern.search(path.read_bytes())
    ]
    assert naming == []


# --- the version --------------------------------------------------------------------------------------------


def project(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.mark.requirement("house:version")
def test_one_version_is_told_everywhere(root: Path) -> None:
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", changelog, re.MULTILINE)
    assert project(root)["version"] == pywebmcp.__version__ == released[0]


def test_the_changelog_keeps_its_form(root: Path) -> None:
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.*)$", changelog, re.MULTILINE)
    assert sections[0] == "[Unreleased]"
    for section in sections[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - (\d{4}-\d{2}-\d{2}|unreleased)", section), section
    kinds = set(re.findall(r"^### (.*)$", changelog, re.MULTILINE))
    assert kinds <= {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


# --- the wheel ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wheel(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What the wheel of this tree contains."""
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        capture_output=True, text=True, timeout=50, check=False, cwd=root,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (path,) = folder.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        return archive.namelist()


@pytest.mark.requirement("house:wheel")
def test_the_wheel_has_everything_that_the_package_reads(wheel: list[str], root: Path) -> None:
    folder = root / "src"
    wanted = {
        path.relative_to(folder).as_posix()
        for path in (folder / "pywebmcp").rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }
    assert wanted - set(wheel) == set()
    for kind in (r"pywebmcp/py\.typed", r"pywebmcp/context/runtime/.*\.js", r"pywebmcp/cli/demo/.*\.html"):
        assert any(re.fullmatch(kind, name) for name in wheel), kind


@pytest.mark.requirement("house:wheel")
def test_the_wheel_has_the_licence_the_command_and_nothing_else(wheel: list[str]) -> None:
    info = f"pywebmcp-{pywebmcp.__version__}.dist-info"
    assert {f"{info}/licenses/LICENSE", f"{info}/entry_points.txt"} <= set(wheel)
    assert not [name for name in wheel if not name.startswith(("pywebmcp/", f"{info}/"))]

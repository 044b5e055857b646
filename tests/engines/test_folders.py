from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

import pytest

from pywebmcp.engines._folders import LOCK_NAME, PREFIX, ThrowawayFolder, sweep

if TYPE_CHECKING:
    from pathlib import Path


def abandoned(temporary: Path, name: str = "left") -> Path:
    """A folder as a killed process leaves it."""
    folder = temporary / f"{PREFIX}{name}"
    (folder / "profile" / "Default").mkdir(parents=True)
    (folder / "profile" / "Default" / "Cookies").write_text("x")
    (folder / "profile" / "SingletonLock").symlink_to("nowhere-1")
    (folder / LOCK_NAME).write_text("")
    return folder


def test_a_folder_is_private_and_goes_with_all_that_is_in_it(temporary: Path) -> None:
    folder = ThrowawayFolder()
    assert folder.path.parent == temporary
    assert folder.path.name.startswith(PREFIX)
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    (folder.path / "deep" / "er").mkdir(parents=True)
    (folder.path / "link").symlink_to(temporary)
    folder.remove()
    assert not folder.path.exists()
    assert temporary.exists()
    folder.remove()


def test_the_sweep_takes_what_was_left_behind(temporary: Path) -> None:
    folders = [abandoned(temporary, "one"), abandoned(temporary, "two")]
    assert sweep() == 2
    assert not any(folder.exists() for folder in folders)
    assert sweep() == 0


def test_the_sweep_spares_the_living(temporary: Path) -> None:
    folder = ThrowawayFolder()
    assert sweep() == 0
    assert folder.path.exists()
    folder.remove()


def test_the_sweep_spares_what_is_not_ours(temporary: Path) -> None:
    backup = temporary / f"{PREFIX}backup"
    backup.mkdir()
    (backup / "thesis.txt").write_text("x")
    plain = temporary / f"{PREFIX}file"
    plain.write_text("x")
    target = abandoned(temporary.parent / temporary.name, "target").rename(temporary / "elsewhere")
    link = temporary / f"{PREFIX}link"
    link.symlink_to(target)
    other = abandoned(temporary, "unrelated").rename(temporary / "other-prefix")
    assert sweep() == 0
    assert all(path.exists() for path in (backup / "thesis.txt", plain, target, link, other))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="needs root to give a folder away")
def test_the_sweep_spares_the_folders_of_other_users(temporary: Path) -> None:
    folder = abandoned(temporary)
    os.chown(folder, 65534, 65534)
    assert sweep() == 0
    assert folder.exists()


def test_a_lock_file_that_is_a_link_is_not_followed(temporary: Path) -> None:
    folder = abandoned(temporary)
    precious = temporary / "precious"
    precious.write_text("x")
    (folder / LOCK_NAME).unlink()
    (folder / LOCK_NAME).symlink_to(precious)
    assert sweep() == 0
    assert precious.exists()
    assert folder.exists()


def test_a_temporary_directory_that_is_gone_is_no_error(monkeypatch: pytest.MonkeyPatch, temporary: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(temporary / "gone"))
    assert sweep() == 0

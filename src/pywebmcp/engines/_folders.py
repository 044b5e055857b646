"""Throwaway folders: profiles and sockets of engines.

A folder is owned by whoever holds the lock (``flock``) on the file inside it. The kernel drops the lock with its
process, however that ends, so a folder whose lock is free was left behind and `sweep` may remove it. Only folders
with our prefix, our user and that lock file are ever looked at twice.
"""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import shutil
import stat
import tempfile
import threading
from pathlib import Path
from typing import Final

try:
    import fcntl
except ImportError:  # Windows: folders are removed at close, and never swept
    fcntl = None

__all__ = ["LOCK_NAME", "PREFIX", "ThrowawayFolder", "sweep"]

logger = logging.getLogger("pywebmcp.engines")

PREFIX: Final = "pywebmcp-"
"""How the names of our folders in the temporary directory begin."""

LOCK_NAME: Final = ".pywebmcp-lock"
"""The file whose lock tells that the owner lives."""

_REMOVE_ATTEMPTS: Final = 3


class ThrowawayFolder:
    """A new folder in the temporary directory, for this user only (mode 0700), removed by `remove`.

    Attributes:
        path: Where it is.
    """

    def __init__(self) -> None:
        self.path: Final = Path(tempfile.mkdtemp(prefix=PREFIX))
        self._owner = os.getpid()
        self._guard = threading.Lock()
        self._lock: int | None = None
        if fcntl is not None:
            # locked before it has its name: whoever sees the file finds it locked
            unnamed = self.path / f"{LOCK_NAME}-new"
            self._lock = os.open(unnamed, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            unnamed.rename(self.path / LOCK_NAME)
        _owned.add(self)

    def remove(self) -> None:
        """Removes the folder with all that is in it; what resists is left to a later `sweep`. Idempotent."""
        _owned.discard(self)
        with self._guard:
            lock, self._lock = self._lock, None
        if os.getpid() == self._owner:
            _remove(self.path)
        if lock is not None:
            os.close(lock)


def sweep() -> int:
    """Removes the folders that processes left behind which ended without a chance to do it themselves.

    Costs one listing of the temporary directory when there is nothing to do. Never raises for what it may not read.

    Returns:
        How many folders it removed.
    """
    if fcntl is None:
        return 0
    removed = 0
    try:
        with os.scandir(tempfile.gettempdir()) as entries:
            names = [entry.path for entry in entries if entry.name.startswith(PREFIX)]
    except OSError:
        return 0
    for name in names:
        with contextlib.suppress(OSError):
            removed += _sweep_one(Path(name))
    return removed


def _sweep_one(folder: Path) -> bool:
    assert fcntl is not None
    status = folder.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
        return False
    lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        _remove(folder)
    finally:
        os.close(lock)
    logger.info("removed %s, which a process had left behind", folder)
    return not folder.exists()


def _remove(folder: Path) -> None:
    """Removes a folder, its lock file last: what is left after a failure can still be recognised."""
    for _ in range(_REMOVE_ATTEMPTS):  # a dying child of the engine may still add a file
        with contextlib.suppress(OSError):
            for entry in list(folder.iterdir()):
                if entry.name == LOCK_NAME:
                    continue
                if entry.is_dir() and not entry.is_symlink():
                    shutil.rmtree(entry, ignore_errors=True)
                else:
                    entry.unlink(missing_ok=True)
            (folder / LOCK_NAME).unlink(missing_ok=True)
            folder.rmdir()
            return


_owned: set[ThrowawayFolder] = set()


def _remove_all() -> None:
    """At the interpreter's exit: what nobody removed goes now (after the engines: handlers run last in, first out)."""
    for folder in tuple(_owned):
        folder.remove()


atexit.register(_remove_all)

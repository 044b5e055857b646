"""What goes wrong at the start, with executables that play engines."""

from __future__ import annotations

import asyncio
import os
import re
import time
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp.engines import (
    ChromiumOptions,
    LightpandaOptions,
    find_chromium,
    find_lightpanda,
    start_chromium,
    start_lightpanda,
)
from pywebmcp.errors import EngineNotFoundError, EngineStartError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pywebmcp.engines import RunningEngine

    from .conftest import Watch

    Executable = Callable[[str], str]
    Folders = Callable[[], list[str]]


def start(engine: str, executable: str, timeout: float = 5.0) -> RunningEngine:
    if engine == "lightpanda":
        return start_lightpanda(LightpandaOptions(executable=executable, start_timeout=timeout))
    return start_chromium(ChromiumOptions(executable=executable, start_timeout=timeout))


both = pytest.mark.parametrize("engine", ["lightpanda", "chromium"])


@both
async def test_an_executable_that_ends_at_once_is_told_with_its_last_words(
    engine: str, executable: Executable, folders: Folders
) -> None:
    running = start(engine, executable("echo 'version `GLIBC_2.35 not\033[31m found' >&2; exit 3"))
    with pytest.raises(EngineStartError) as caught:
        await running.ready()
    assert f"{engine} ended with exit code 3 before it was usable" in str(caught.value)
    assert "GLIBC_2.35 not\N{REPLACEMENT CHARACTER}[31m found" in str(caught.value)
    assert folders() == []


@both
async def test_an_executable_that_never_answers_is_ended_at_the_deadline(
    engine: str, executable: Executable, folders: Folders, watch: Callable[[int], Watch]
) -> None:
    running = start(engine, executable("sleep 600 & sleep 600"), timeout=0.2)
    watched = watch(running.pid)
    async with asyncio.timeout(5):
        with pytest.raises(EngineStartError, match=r"within 0\.2 s; it wrote nothing"):
            await running.ready()
    assert watched.ended(5)
    assert folders() == []


async def test_canceling_the_wait_ends_the_engine(executable: Executable, watch: Callable[[int], Watch]) -> None:
    running = start("lightpanda", executable("sleep 600"))
    watched = watch(running.pid)
    task = asyncio.ensure_future(running.ready())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert watched.ended(5)
    await running.close()


async def test_an_engine_that_writes_without_end_neither_blocks_nor_fills_the_memory(executable: Executable) -> None:
    running = start("chromium", executable("yes 'a long line of noise' | head -c 20000000 >&2; echo done; exit 4"))
    with pytest.raises(EngineStartError) as caught:
        await running.ready()
    assert "exit code 4" in str(caught.value)
    assert "done" in str(caught.value)
    assert len(str(caught.value)) < 10_000
    assert len(running._process.tail()) <= 64 * 1024


async def test_a_graceful_end_is_tried_first_where_something_is_to_be_saved(
    executable: Executable, tmp_path: Path
) -> None:
    mark = tmp_path / "saved"
    fake = executable(f"trap 'touch {mark}; exit 0' TERM; echo started; while :; do sleep 0.01; done")
    running = start_chromium(ChromiumOptions(executable=fake, profile=tmp_path / "profile"))
    async with asyncio.timeout(5):
        await running._process.find_output(re.compile("started"))
        await running.close()
    assert mark.exists()
    assert running.exit_reason() == "chromium ended with exit code 0"


@pytest.mark.slow
async def test_an_engine_that_ignores_the_request_to_end_is_killed_within_five_seconds(
    executable: Executable, tmp_path: Path, watch: Callable[[int], Watch]
) -> None:
    fake = executable("trap '' TERM; echo started; while :; do sleep 1; done")
    running = start_chromium(ChromiumOptions(executable=fake, profile=tmp_path / "profile"))
    async with asyncio.timeout(5):
        await running._process.find_output(re.compile("started"))
    watched = watch(running.pid)
    began = time.monotonic()
    await running.close()
    assert time.monotonic() - began < 5
    assert watched.ended(5)


async def test_a_canceled_close_still_kills(
    executable: Executable, tmp_path: Path, watch: Callable[[int], Watch], folders: Folders
) -> None:
    fake = executable("trap '' TERM; while :; do sleep 1; done")
    running = start_chromium(ChromiumOptions(executable=fake, profile=tmp_path / "profile"))
    watched = watch(running.pid)
    task = asyncio.ensure_future(running.close())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert watched.ended(5)
    await running.close()
    assert folders() == []


@both
def test_a_missing_executable_says_so(engine: str, tmp_path: Path, folders: Folders) -> None:
    with pytest.raises(EngineNotFoundError, match=r"no-such.*executable=.*does not exist"):
        start(engine, str(tmp_path / "no-such"))
    assert folders() == []


@both
def test_a_file_that_is_not_executable_says_so(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "plain"
    path.write_text("")
    with pytest.raises(EngineNotFoundError, match="not executable"):
        start(engine, str(path))


@both
def test_a_file_that_the_system_cannot_run_says_so(engine: str, tmp_path: Path, folders: Folders) -> None:
    path = tmp_path / "garbage"
    path.write_bytes(b"\x7fELF garbage")
    path.chmod(0o755)
    with pytest.raises(EngineStartError, match="garbage"):
        start(engine, str(path))
    assert folders() == []


@both
def test_the_environment_names_an_executable(
    engine: str, executable: Executable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    find: Any = find_lightpanda if engine == "lightpanda" else find_chromium
    variable = f"PYWEBMCP_{engine.upper()}"
    fake = executable("exit 0")
    monkeypatch.setenv(variable, fake)
    assert find() == fake
    assert find("/bin/sh") == "/bin/sh"
    monkeypatch.setenv(variable, str(tmp_path / "gone"))
    with pytest.raises(EngineNotFoundError, match=variable):
        find()


def test_a_bare_name_is_looked_for_on_the_path(
    executable: Executable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake = executable("exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_chromium(os.path.basename(fake)) == fake


def test_the_usual_names_of_chromium_are_found_and_none_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PYWEBMCP_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("pywebmcp.engines._find._usual_places", list)
    with pytest.raises(EngineNotFoundError, match=r"apt-get install chromium.*PYWEBMCP_CHROMIUM"):
        find_chromium()
    for name in ("brave-browser", "google-chrome"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)
    assert find_chromium() == str(tmp_path / "google-chrome")


def test_without_the_wheel_lightpanda_is_looked_for_on_the_path_and_none_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PYWEBMCP_LIGHTPANDA", raising=False)
    assert find_lightpanda().endswith("/lightpanda/lightpanda")
    monkeypatch.setattr("pywebmcp.engines._find._in_wheel", lambda: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineNotFoundError, match=r"pip install lightpanda.*PYWEBMCP_LIGHTPANDA"):
        find_lightpanda()
    (tmp_path / "lightpanda").write_text("#!/bin/sh\n")
    (tmp_path / "lightpanda").chmod(0o755)
    assert find_lightpanda() == str(tmp_path / "lightpanda")

"""Signals: the page hears of the cancel, the exit code says which signal it was, and nothing is left running."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_a_signal_cancels_the_page_s_work_and_leaves_no_process(
    started: Any, outcomes: Path, site: Any, engine: str, number: signal.Signals, code: int
) -> None:
    arguments = ["-a", f"report={site.url}", "--engine", engine, "--json"]
    running = await started("call", outcomes, "hangs", *arguments)
    await site.asked_for("/started")
    family = running.family()
    assert len(family) >= 2
    running.send(number)
    await site.asked_for("/aborted")
    ran = await running.end()
    assert running.ended(family)
    assert ran.code == code
    assert ran.json["error"]["code"] == "call_canceled"
    assert ran.json["error"]["ran"] == "unknown"
    assert "Traceback" not in ran.err


async def test_a_page_that_never_yields_is_ended_all_the_same(
    started: Any, outcomes: Path, site: Any, engine: str
) -> None:
    running = await started("call", outcomes, "loops", "-a", f"report={site.url}/looping", "--engine", engine)
    await site.asked_for("/looping")
    family = running.family()
    running.send(signal.SIGINT)
    ran = await running.end()
    assert running.ended(family)
    assert (ran.code, ran.out) == (130, "")
    assert "Traceback" not in ran.err


async def test_a_second_ctrl_c_forces_the_end(started: Any, outcomes: Path, site: Any, engine: str) -> None:
    running = await started("call", outcomes, "loops", "-a", f"report={site.url}/looping", "--engine", engine)
    await site.asked_for("/looping")
    family = running.family()
    running.send(signal.SIGINT)
    async with asyncio.timeout(20):
        told = await running.process.stderr.readline()
    assert b"once more ends it at once" in told
    running.send(signal.SIGINT)
    ran = await running.end()
    assert running.ended(family)
    assert ran.code == 130
    assert "Traceback" not in ran.err


async def test_ctrl_c_while_it_waits_for_a_tool(started: Any, cli: Path, site: Any, engine: str) -> None:
    site.body = "<p>no tools here"
    running = await started("call", site.url, "never", "--wait", "40", "--engine", engine)
    await site.asked_for("/")
    family = running.family()
    running.send(signal.SIGINT)
    ran = await running.end()
    assert running.ended(family)
    assert (ran.code, ran.out) == (130, "")
    assert "interrupted" in ran.err
    assert "Traceback" not in ran.err


async def test_ctrl_c_while_it_reads_stdin(start_raw: Any, outcomes: Path) -> None:
    reading, writing = os.pipe()
    try:
        process = await start_raw("call", outcomes, "add", "-", stdin=reading)
        os.write(writing, b"{" + b" " * 200_000)  # more than the pipe holds: it is being read
        for _ in range(20):  # a signal just before the system call is noticed with the next one
            process.send_signal(signal.SIGINT)
            try:
                async with asyncio.timeout(1):
                    await process.wait()
                    break
            except TimeoutError:
                continue
        _, err = await process.communicate()
    finally:
        os.close(reading)
        os.close(writing)
    assert process.returncode == 130
    assert b"Traceback" not in err

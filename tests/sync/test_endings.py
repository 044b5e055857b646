"""However a program with blocking calls ends, nothing is left behind."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp
from pywebmcp import sync

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pywebmcp.sync.testing import FakePage


@pytest.fixture
def interrupt() -> Iterator[Callable[[Callable[[], bool]], None]]:
    """Presses Ctrl-C once a condition holds."""
    threads: list[threading.Thread] = []

    def interrupt(when: Callable[[], bool]) -> None:
        def press() -> None:
            end = time.monotonic() + 5
            while not when():
                assert time.monotonic() < end
            os.kill(os.getpid(), signal.SIGINT)

        threads.append(threading.Thread(target=press))
        threads[-1].start()

    yield interrupt
    for thread in threads:
        thread.join(5)


@pytest.mark.requirement("sync:interrupt")
def test_ctrl_c_in_a_call_cancels_the_pages_work_and_goes_on(
    page: FakePage, waiting: Any, interrupt: Callable[[Callable[[], bool]], None]
) -> None:
    interrupt(lambda: waiting.begun.wait(5))
    with page.events() as events:
        with pytest.raises(KeyboardInterrupt):
            page.call("wait")
        assert waiting.canceled.wait(5)
        settled = [events.wait(5) for _ in range(3)]
    assert {type(event) for event in settled} == {
        pywebmcp.ToolActivated,
        pywebmcp.ToolCanceled,
        pywebmcp.InvocationSettled,
    }
    assert page.call("echo", {"n": 1}).value == {"n": 1}


def test_ctrl_c_while_waiting_for_a_result_leaves_the_invocation_alone(
    page: FakePage, waiting: Any, interrupt: Callable[[Callable[[], bool]], None]
) -> None:
    invocation = page.invoke("wait")
    interrupt(lambda: _waits(page, "result"))
    with pytest.raises(KeyboardInterrupt):
        invocation.result()
    assert not waiting.canceled.is_set()
    assert invocation.status is pywebmcp.InvocationStatus.PENDING
    assert invocation.cancel()


def test_ctrl_c_while_waiting_for_an_event_loses_no_event(
    page: FakePage, interrupt: Callable[[Callable[[], bool]], None]
) -> None:
    with page.events() as events:
        interrupt(lambda: _waits(page, "within"))
        with pytest.raises(KeyboardInterrupt):
            events.wait(5)
        page.remove_tool("echo")
        assert isinstance(events.wait(5), pywebmcp.ToolsChanged)


def _waits(page: FakePage, name: str) -> bool:
    """Whether a thread waits for a coroutine function of that name."""
    return page._portal.call(
        lambda: any(getattr(task.get_coro(), "__name__", "") == name for task in asyncio.all_tasks())
    )


# --- processes ----------------------------------------------------------------------------------------------


def _alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def _gone_within(pid: int, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while _alive(pid):
        if time.monotonic() > end:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.requirement("sync:exit")
def test_a_browser_left_open_is_closed_when_the_process_ends(run_script: Callable[[str], str]) -> None:
    printed = run_script(
        "from pywebmcp import sync\n"
        "browser = sync.launch()\n"
        "page = browser.open('https://example.com/', html='<p>')\n"
        "print(browser.process_id)"
    )
    assert not _alive(int(printed))


@pytest.mark.slow
def test_a_browser_left_open_is_closed_while_a_thread_waits_for_a_call(run_script: Callable[[str], str]) -> None:
    printed = run_script(
        "import contextlib, sys, threading, pywebmcp\n"
        "from pywebmcp import sync\n"
        "browser = sync.launch()\n"
        'html = \'<script>document.modelContext.registerTool({name: "w", description: "w",'
        " execute: () => new Promise(() => {})})</script>'\n"
        "page = browser.open('https://example.com/', html=html)\n"
        "def work():\n"
        "    with contextlib.suppress(pywebmcp.OutcomeUnknownError): page.call('w')\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "with page.events() as events: events.wait(5)\n"
        "print(browser.process_id)\n"
        "sys.exit(0)"
    )
    assert not _alive(int(printed))


def test_after_the_end_nothing_is_opened_any_more(run_script: Callable[[str], str]) -> None:
    printed = run_script(
        "import atexit\n"
        "from pywebmcp import sync\n"
        "from pywebmcp.sync.testing import FakePage\n"
        "def late():\n"
        "    for attempt in (sync.launch, page.tools, lambda: page.url):\n"
        "        try: attempt()\n"
        "        except RuntimeError as error: print(error)\n"
        "atexit.register(late)\n"
        "page = FakePage()\n"
    )
    assert printed.splitlines() == ["pywebmcp.sync has ended with its process; it opens nothing any more"] * 3


@pytest.mark.requirement("sync:engine-death")
def test_a_killed_engine_wakes_the_thread_that_waits_for_a_call() -> None:
    html = (
        "<script>document.modelContext.registerTool({name: 'wait', description: 'waits',"
        " execute: () => new Promise(() => {})})</script>"
    )
    with sync.launch() as browser, ThreadPoolExecutor(1) as pool:
        page = browser.open("https://example.com/", html=html)
        with page.events() as events:
            call = pool.submit(page.call, "wait")
            assert isinstance(events.wait(5), pywebmcp.ToolActivated)
        assert browser.process_id
        os.kill(browser.process_id, signal.SIGKILL)
        with pytest.raises(pywebmcp.OutcomeUnknownError):
            call.result(timeout=5)
        with pytest.raises(pywebmcp.EngineCrashedError):
            page.tools()


@pytest.mark.requirement("sync:worker-thread")
def test_a_browser_outlives_the_thread_that_launched_it() -> None:
    browsers: list[sync.Browser] = []
    thread = threading.Thread(target=lambda: browsers.append(sync.launch()))
    thread.start()
    thread.join(20)
    with browsers[0] as browser:
        page = browser.open("https://example.com/", html="<p>still here")
        assert page.evaluate("document.body.textContent") == "still here"


@pytest.mark.requirement("sync:worker-thread")
def test_a_browser_launched_in_a_worker_thread_dies_with_a_killed_parent() -> None:
    script = (
        "import threading, time\n"
        "from pywebmcp import sync\n"
        "def work():\n"
        "    global browser\n"
        "    browser = sync.launch()\n"
        "    print(browser.process_id, flush=True)\n"
        "thread = threading.Thread(target=work); thread.start(); thread.join()\n"
        "threading.Event().wait(60)"
    )
    parent = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    try:
        assert parent.stdout is not None
        engine = int(parent.stdout.readline())
        assert _alive(engine)
    finally:
        parent.kill()
        parent.wait(10)
        if parent.stdout:
            parent.stdout.close()
    assert _gone_within(engine, 5)


def test_a_fork_starts_without_the_browsers_of_its_parent(run_script: Callable[[str], str]) -> None:
    printed = run_script(
        "import os, sys, warnings\n"
        "warnings.simplefilter('ignore', DeprecationWarning)\n"
        "from pywebmcp import sync\n"
        "from pywebmcp.sync.testing import FakePage\n"
        "from pywebmcp.testing import fake_tool\n"
        "page = FakePage([fake_tool('t', lambda _: 'answer')])\n"
        "page.tools()\n"
        "if os.fork() == 0:\n"
        "    try: page.tools()\n"
        "    except RuntimeError as error: print(error, flush=True)\n"
        "    with FakePage([fake_tool('t', lambda _: 'own')]) as own: print(own.call('t').value, flush=True)\n"
        "    sys.exit(0)\n"
        "os.wait()\n"
        "print(page.call('t').value)"
    )
    assert printed.splitlines() == [
        "this process was forked after pywebmcp.sync had begun: launch a browser in it",
        "own",
        "answer",
    ]

"""However a Python ends, its engines end too."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from pywebmcp.engines import start_lightpanda, sweep

if TYPE_CHECKING:
    from collections.abc import Callable

    from .conftest import Script, Watch

    Run = Callable[[str], Script]

WAIT = 10.0

START = """
async def main():
    engine = start_{engine}()
    await engine.ready()
    say("pid", engine.pid)
    {then}
asyncio.run(main())
"""

engines = pytest.mark.parametrize("engine", ["lightpanda", pytest.param("chromium", marks=pytest.mark.chromium)])


@engines
@pytest.mark.requirement("engine:killed-parent")
def test_kill_9_of_the_parent_ends_the_engine_and_the_next_start_sweeps_its_folder(
    engine: str, script: Run, watch: Callable[[int], Watch], folders: Callable[[], list[str]]
) -> None:
    parent = script(START.format(engine=engine, then="await asyncio.Event().wait()"))
    watched = watch(int(parent.said("pid")))
    left = folders()
    assert len(left) == 1
    parent.process.kill()
    assert watched.ended(5)
    assert parent.process.wait(WAIT) == -signal.SIGKILL
    assert folders() == left
    another = start_lightpanda()
    assert len(folders()) == 1
    assert left[0] not in folders()
    another._process.kill()
    another._process.join(WAIT)
    another._folder.remove()


@engines
@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("return", 0),
        ("raise RuntimeError('boo')", 1),
        ("sys.exit(7)", 7),
        ("os._exit(8)", 8),
        ("os.kill(os.getpid(), signal.SIGTERM)", -signal.SIGTERM),
        ("os.abort()", -signal.SIGABRT),
    ],
)
def test_a_parent_that_ends_without_closing_takes_the_engine_along(
    engine: str,
    ending: str,
    code: int,
    script: Run,
    watch: Callable[[int], Watch],
    folders: Callable[[], list[str]],
) -> None:
    parent = script(START.format(engine=engine, then=f"sys.stdin.readline(); {ending}"))
    watched = watch(int(parent.said("pid")))
    parent.go_on()
    assert parent.process.wait(WAIT) == code
    assert watched.ended(5)
    if code >= 0 and code != 8:  # the interpreter had its say
        assert folders() == []
    sweep()
    assert folders() == []


@engines
@pytest.mark.requirement("engine:ctrl-c")
def test_ctrl_c_reaches_python_and_not_the_engine(
    engine: str, script: Run, watch: Callable[[int], Watch], folders: Callable[[], list[str]]
) -> None:
    parent = script(
        f"""
        async def main():
            engine = start_{engine}()
            await engine.ready()
            say("pid", engine.pid)
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                say("alive", engine.exit_reason() is None)
                sys.stdin.readline()
                await engine.close()
                raise
        asyncio.run(main())
        """
    )
    pid = int(parent.said("pid"))
    watched = watch(pid)
    os.killpg(parent.process.pid, signal.SIGINT)
    assert parent.said("alive") == "True"
    assert os.kill(pid, 0) is None
    parent.go_on()
    assert parent.process.wait(WAIT) == -signal.SIGINT
    assert watched.ended(5)
    assert folders() == []


@engines
@pytest.mark.requirement("engine:starting-thread")
def test_the_engine_outlives_the_thread_that_started_it(engine: str, script: Run) -> None:
    parent = script(
        f"""
        engines = []
        def work():
            async def main():
                engines.append(start_{engine}())
                await engines[0].ready()
            asyncio.run(main())
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        for name in os.listdir("/proc/self/task"):
            pass
        say("pid", engines[0].pid)
        sys.stdin.readline()
        async def main():
            from pywebmcp.wire import connect
            endpoint = engines[0].endpoint
            connection = await connect(endpoint.url, unix=endpoint.unix)
            say("product", (await connection.send("Browser.getVersion"))["product"])
            await connection.close()
            await engines[0].close()
        asyncio.run(main())
        say("reason", engines[0].exit_reason())
        """
    )
    pid = int(parent.said("pid"))
    assert os.kill(pid, 0) is None
    parent.go_on()
    assert "Chrome" in parent.said("product")
    assert "SIGKILL" in parent.said("reason")
    assert parent.process.wait(WAIT) == 0


def test_a_forked_child_neither_keeps_the_engine_alive_nor_ends_it(script: Run, watch: Callable[[int], Watch]) -> None:
    parent = script(
        START.format(
            engine="lightpanda",
            then="""
    if os.fork() == 0:
        atexit._run_exitfuncs()
        os._exit(0)
    os.wait()
    from pywebmcp.wire import connect
    connection = await connect(engine.endpoint.url, unix=engine.endpoint.unix)
    say("alive", "product" in await connection.send("Browser.getVersion"))
    if os.fork() == 0:
        say("child", os.getpid())
        time.sleep(60)
        os._exit(0)
    await asyncio.Event().wait()""",
        )
    )
    watched = watch(int(parent.said("pid")))
    assert parent.said("alive") == "True"
    child = int(parent.said("child"))
    parent.process.kill()
    try:
        assert watched.ended(5)
    finally:
        os.kill(child, signal.SIGKILL)


def test_without_a_shell_a_python_watches(script: Run, watch: Callable[[int], Watch]) -> None:
    shell_less = "import pywebmcp.engines._process as process\nprocess._SHELL = '/nowhere/sh'\n"
    parent = script(shell_less + START.format(engine="lightpanda", then="await asyncio.Event().wait()"))
    watched = watch(int(parent.said("pid")))
    assert len(watched.pids) == 2
    parent.process.kill()
    assert watched.ended(5)


@pytest.mark.requirement("engine:no-leaks")
def test_many_starts_and_ends_leave_no_thread_no_descriptor_and_no_child(script: Run) -> None:
    parent = script(
        """
        def count():
            return threading.active_count(), len(os.listdir("/proc/self/fd"))
        async def once():
            engine = start_lightpanda()
            await engine.ready()
            await engine.close()
        async def main():
            await once()
            before = count()
            for _ in range(10):
                await asyncio.gather(once(), once(), once())
            say("same", before == count(), before, count())
            try:
                os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                say("children", "none")
        asyncio.run(main())
        """
    )
    assert parent.said("same").startswith("True")
    assert parent.said("children") == "none"


def test_importing_the_engines_loads_none_of_them() -> None:
    code = "import sys, pywebmcp.engines; print([m for m in sys.modules if m.startswith('pywebmcp.engines.')])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "[]"

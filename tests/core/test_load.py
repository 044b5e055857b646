"""Many calls at once: every answer belongs to its call, nothing leaks, and a killed engine ends them all."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp import CallCanceledError, EngineCrashedError, OutcomeUnknownError, ToolFailedError, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = """<!doctype html><script>
(document.modelContext ?? navigator.modelContext).registerTool({
  name: "echo", description: "Echoes its number, late or not at all",
  inputSchema: {type: "object", properties: {n: {type: "integer"}, kind: {type: "string"}}, required: ["n", "kind"]},
  async execute({n, kind}) {
    if (kind === "slow") await new Promise((resolve) => setTimeout(resolve, 300));
    if (kind === "never") await new Promise(() => {});
    if (kind === "throw") throw new Error("no " + n);
    return {n, page: location.pathname};
  },
});
</script>"""
PAGES, CALLS, AT_ONCE = 8, 2000, 200


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def children() -> set[int]:
    """Ids of all living descendants of this process."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            _, _, rest = stat.read_text(encoding="utf-8").rpartition(") ")
        except OSError:
            continue
        state, parent = rest.split()[:2]
        if state != "Z":
            parents.setdefault(int(parent), []).append(int(stat.parent.name))
    found: set[int] = set()
    todo = [os.getpid()]
    while todo:
        for child in parents.get(todo.pop(), []):
            found.add(child)
            todo.append(child)
    return found


@pytest.mark.timeout(120)
@pytest.mark.requirement("core:load")
async def test_2000_calls_on_8_pages_each_get_their_own_answer_and_leave_nothing(
    engine: str, start: Callable[[str], Any]
) -> None:
    gc.collect()
    before = (len(asyncio.all_tasks()), descriptors(), children())
    kinds = {3: "slow", 7: "throw", 11: "never"}
    ends = {"value": 0, "failed": 0, "canceled": 0}
    async with await start(engine) as browser:
        pages = [await browser.open(f"https://example.com/{number}", html=PAGE) for number in range(PAGES)]
        for page in pages:
            await page.wait_for_tool("echo")
        running = asyncio.Semaphore(AT_ONCE)

        async def one(n: int) -> None:
            page = pages[n % PAGES]
            kind = kinds.get(n % 20, "quick")
            async with running:
                invocation = await page.invoke("echo", {"n": n, "kind": kind})
                if kind == "never":
                    assert await invocation.cancel()
                outcome = (await asyncio.gather(invocation.result(), return_exceptions=True))[0]
            match kind, outcome:
                case "throw", ToolFailedError(page_error=error):
                    assert error is not None
                    assert error.message == f"no {n}"
                    ends["failed"] += 1
                case "never", CallCanceledError(invocation_id=ident):
                    assert ident == invocation.id
                    ends["canceled"] += 1
                case _, ToolResult(value=value):
                    assert value == {"n": n, "page": f"/{n % PAGES}"}
                    ends["value"] += 1
                case _:
                    raise AssertionError(f"a {kind} call ended with {outcome!r}")

        async with asyncio.timeout(90), asyncio.TaskGroup() as group:
            for n in range(CALLS):
                group.create_task(one(n))
        assert ends == {"value": 1800, "failed": 100, "canceled": 100}
        for page in pages:
            assert (await page.call("echo", {"n": -1, "kind": "quick"})).value["n"] == -1
            assert page._calls._running == {}
            assert all(not document.runs for document in page._frames.documents())
    gc.collect()
    assert (len(asyncio.all_tasks()), descriptors()) == before[:2]
    assert children() <= before[2]


@pytest.mark.timeout(60)
@pytest.mark.requirement("core:engine-killed")
async def test_killing_the_engine_ends_every_pending_call_within_2_seconds(
    engine: str, start: Callable[[str], Any]
) -> None:
    async with await start(engine) as browser:
        pages = [await browser.open(f"https://example.com/{number}", html=PAGE) for number in range(PAGES)]
        for page in pages:
            await page.wait_for_tool("echo")
        invocations = [
            await page.invoke("echo", {"n": n, "kind": "never"}, timeout=None) for n in range(25) for page in pages
        ]
        for page in pages:  # answered behind the others: those have reached their page
            await page.call("echo", {"n": 0, "kind": "quick"})
        assert browser.process_id
        os.kill(browser.process_id, signal.SIGKILL)
        async with asyncio.timeout(2):
            outcomes = await asyncio.gather(*(i.result() for i in invocations), return_exceptions=True)
        assert {type(outcome) for outcome in outcomes} == {OutcomeUnknownError}
        for page in pages:
            with pytest.raises(EngineCrashedError):
                await page.call("echo", {"n": 0, "kind": "quick"})

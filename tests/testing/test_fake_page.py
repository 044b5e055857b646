"""What a fake page can be made to do, beyond what every page does."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp
from pywebmcp.testing import FakePage, Received, ToolFailed, fake_tool, hang

if TYPE_CHECKING:
    from collections.abc import Callable


class Waiting:
    """A handler that waits until it is told to answer, and knows how it ended."""

    def __init__(self) -> None:
        self.begun = asyncio.Event()
        self.answer: asyncio.Event = asyncio.Event()
        self.canceled = asyncio.Event()

    async def __call__(self, _: dict[str, Any]) -> str:
        self.begun.set()
        try:
            await self.answer.wait()
        except asyncio.CancelledError:
            self.canceled.set()
            raise
        return "answered"


@pytest.fixture
def waiting() -> Waiting:
    return Waiting()


@pytest.fixture(autouse=True)
async def _bounded() -> Any:
    async with asyncio.timeout(20):
        yield


@pytest.mark.requirement("testing:is-a-page")
def test_a_fake_page_is_made_without_a_loop_and_used_in_any() -> None:
    page = FakePage(tools=[fake_tool("add", lambda arguments: {"sum": arguments["a"] + arguments["b"]})])

    async def add(page: pywebmcp.Page) -> Any:
        async with page:
            return (await page.call("add", {"a": 1, "b": 2})).value

    assert isinstance(page, pywebmcp.Page)
    assert asyncio.run(add(page)) == {"sum": 3}


async def test_it_records_the_calls_that_reached_a_handler() -> None:
    async with FakePage([fake_tool("echo", lambda arguments: arguments, input_schema={"required": ["a"]})]) as page:
        await page.call("echo", {"a": 1})
        with pytest.raises(pywebmcp.InvalidArgumentsError):
            await page.call("echo", {})
        await page.call("echo", {}, validate=False)
        assert page.received == (Received(tool="echo", arguments={"a": 1}), Received(tool="echo", arguments={}))


async def test_a_handler_that_changes_its_arguments_changes_only_its_own() -> None:
    given = {"list": [1]}
    async with FakePage([fake_tool("grow", lambda arguments: arguments["list"].append(2) or arguments)]) as page:
        assert (await page.call("grow", given)).value == {"list": [1, 2]}
    assert given == {"list": [1]}


async def test_a_thousand_calls_at_once_each_get_their_own_answer(left_over: Callable[[], set[Any]]) -> None:
    async def double(arguments: dict[str, Any]) -> int:
        await asyncio.sleep(0)
        return arguments["n"] * 2

    async with FakePage([fake_tool("double", double)]) as page:
        results = await asyncio.gather(*(page.call("double", {"n": n}) for n in range(1000)))
    assert [result.value for result in results] == [n * 2 for n in range(1000)]
    assert left_over() == set()


# --- handlers -----------------------------------------------------------------------------------------------


async def test_any_exception_of_a_handler_was_thrown_by_the_page() -> None:
    def fail(_: dict[str, Any]) -> None:
        raise KeyError("missing")

    async with FakePage([fake_tool("fail", fail)]) as page:
        with pytest.raises(pywebmcp.ToolFailedError) as failed:
            await page.call("fail")
    assert failed.value.page_error == pywebmcp.PageError(name="KeyError", message="'missing'")
    assert failed.value.ran == "yes"


async def test_tool_failed_chooses_what_was_thrown() -> None:
    async def fail(_: dict[str, Any]) -> None:
        raise ToolFailed("too late", name="RangeError", stack="RangeError: too late\n    at book")

    async with FakePage([fake_tool("fail", fail)]) as page:
        with pytest.raises(pywebmcp.ToolFailedError) as failed:
            await page.call("fail")
    assert failed.value.page_error == pywebmcp.PageError(
        name="RangeError", message="too late", stack="RangeError: too late\n    at book"
    )


async def test_a_result_that_is_not_json_fails() -> None:
    async with FakePage([fake_tool("odd", lambda _: {1, 2})]) as page:
        with pytest.raises(pywebmcp.ToolFailedError, match="cannot be written as JSON"):
            await page.call("odd")


@pytest.mark.requirement("testing:ownership")
async def test_a_handler_is_canceled_with_its_call(waiting: Waiting) -> None:
    async with FakePage([fake_tool("wait", waiting)]) as page:
        with pytest.raises(pywebmcp.CallTimeoutError):
            await page.call("wait", timeout=0.01)
        await waiting.canceled.wait()


@pytest.mark.requirement("testing:ownership")
async def test_a_handler_is_canceled_with_the_task_that_calls(waiting: Waiting) -> None:
    async with FakePage([fake_tool("wait", waiting)]) as page:
        task = asyncio.create_task(page.call("wait"))
        await waiting.begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await waiting.canceled.wait()


@pytest.mark.requirement("testing:ownership")
async def test_closing_the_page_ends_its_handlers_and_tasks(
    left_over: Callable[[], set[Any]], waiting: Waiting
) -> None:
    page = FakePage([fake_tool("wait", waiting)])
    call = asyncio.create_task(page.call("wait"))
    await waiting.begun.wait()
    await page.close()
    await page.close()
    assert waiting.canceled.is_set()
    with pytest.raises(pywebmcp.OutcomeUnknownError, match="the page was closed"):
        await call
    assert left_over() == set()


async def test_a_handler_that_ignores_its_cancel_holds_up_nobody(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("pywebmcp.testing._engine.FINISH_TIMEOUT", 0.05)
    begun, end = asyncio.Event(), asyncio.Event()

    async def stubborn(_: dict[str, Any]) -> None:
        begun.set()
        while not end.is_set():
            try:
                await end.wait()
            except asyncio.CancelledError:
                continue

    page = FakePage([fake_tool("stubborn", stubborn)])
    invocation = await page.invoke("stubborn")
    await begun.wait()
    assert await invocation.cancel()
    with caplog.at_level(logging.WARNING, "pywebmcp.testing"):
        await page.close()
    assert "do not end when they are canceled" in caplog.text
    end.set()


async def test_an_answer_after_the_deadline_is_dropped(waiting: Waiting) -> None:
    async with FakePage([fake_tool("wait", waiting), fake_tool("quick", lambda _: 1)]) as page:
        settled: list[str] = []
        page.on_invocation_settled(lambda event: settled.append(event.status))
        with pytest.raises(pywebmcp.CallTimeoutError):
            await page.call("wait", timeout=0.01)
        waiting.answer.set()
        await page.call("quick")
    assert settled == ["timed_out", "completed"]


# --- tools that come and go ---------------------------------------------------------------------------------


@pytest.mark.requirement("testing:run-time-changes")
async def test_adding_and_removing_tools_is_told() -> None:
    async with FakePage() as page, page.events() as events:
        tool = page.add_tool(fake_tool("late", lambda _: 1))
        assert await page.tools() == [tool]
        page.remove_tool("late")
        assert await page.tools() == []
        told = [await anext(events), await anext(events)]
    added = pywebmcp.ToolsChanged(origin="https://fake.example", frame_id=tool.frame.id, added=("late",))
    assert told == [added, replace(added, added=(), removed=("late",))]


async def test_waiting_for_a_tool_is_woken_by_its_registration() -> None:
    async with FakePage() as page:
        waiting = asyncio.create_task(page.wait_for_tool("late", 10))
        await asyncio.sleep(0)
        added = page.add_tool(fake_tool("late", hang))
        assert await waiting == added


async def test_a_replaced_tool_is_stale() -> None:
    async with FakePage([fake_tool("one", lambda _: "old")]) as page:
        old = await page.tool("one")
        page.remove_tool("one")
        page.add_tool(fake_tool("one", lambda _: "new"))
        with pytest.raises(pywebmcp.ToolNotFoundError, match="was replaced under its name"):
            await page.call(old)
        assert (await page.call("one")).value == "new"
        assert [each.tool for each in page.received] == ["one"]


async def test_a_tool_that_is_removed_while_it_runs_still_answers(waiting: Waiting) -> None:
    async with FakePage([fake_tool("wait", waiting)]) as page:
        invocation = await page.invoke("wait")
        await waiting.begun.wait()
        page.remove_tool("wait")
        waiting.answer.set()
        assert (await invocation.result()).value == "answered"


async def test_mistakes_of_a_script_are_errors_of_python() -> None:
    async with FakePage([fake_tool("one", hang)]) as page:
        with pytest.raises(ValueError, match="has a tool 'one'"):
            page.add_tool(fake_tool("one", hang))
        with pytest.raises(LookupError, match="no tool 'two'"):
            page.remove_tool("two")
        with pytest.raises(LookupError, match="no frame"):
            page.add_tool(fake_tool("two", hang), frame="nowhere")
        page.navigate("http://insecure.example/")
        with pytest.raises(ValueError, match="no secure context"):
            page.add_tool(fake_tool("two", hang))


@pytest.mark.parametrize("name", ["", "with space", "ü", "x" * 129])
def test_a_name_that_the_standard_forbids_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is no tool name"):
        fake_tool(name, hang)


@pytest.mark.parametrize("given", [{"add": hang}, [hang], fake_tool("add", hang), ["add"], lambda _: {"add": hang}])
def test_tools_that_fake_tool_did_not_make_are_refused(given: Any) -> None:
    with pytest.raises(
        TypeError, match=r'^tools= takes fake_tool\(\.\.\.\), as in \[fake_tool\("add", handler\)\], not '
    ):
        FakePage(tools=given)


async def test_a_page_that_refuses_a_tool_is_as_it_was() -> None:
    strange: Any = hang
    async with FakePage([fake_tool("one", hang)]) as page:
        with pytest.raises(TypeError, match=r"^add_tool\(\) takes fake_tool\(\.\.\.\)"):
            page.add_tool(strange)
        with pytest.raises(TypeError, match=r"^tools= takes fake_tool\(\.\.\.\)"):
            page.add_frame("https://frame.example/", tools=[strange])
        assert len(page.frames) == 1
        assert [tool.name for tool in await page.tools()] == ["one"]


@pytest.mark.parametrize("handler", [lambda a, b: a + b, lambda: 1, lambda **arguments: arguments, {"sum": 3}])
def test_a_handler_that_does_not_take_one_dict_is_refused(handler: Any) -> None:
    with pytest.raises(TypeError, match=r"^the handler of 'add' .*: handlers take one dict"):
        fake_tool("add", handler)


@pytest.mark.parametrize("handler", [hang, dict, Waiting(), lambda arguments, more=1: more, lambda *given: given])
def test_whatever_can_be_called_with_one_dict_is_a_handler(handler: Any) -> None:
    assert fake_tool("add", handler).handler is handler


async def test_a_description_is_the_handlers_docstring_or_the_name() -> None:
    def documented(_: dict[str, Any]) -> None:
        """Adds numbers."""

    assert fake_tool("add", documented).description == "Adds numbers."
    assert fake_tool("add", lambda _: None).description == "add"
    assert fake_tool("add", documented, description="sums").description == "sums"


async def test_a_broken_schema_is_handed_over_as_a_page_would() -> None:
    async with FakePage([fake_tool("odd", lambda _: 1, input_schema="{not json")]) as page:
        tool = await page.tool("odd")
        assert tool.input_schema_json == "{not json"
        assert tool.warnings
        assert (await page.call(tool, {"anything": 1})).value == 1


# --- documents and frames -----------------------------------------------------------------------------------


async def test_tools_can_depend_on_the_address() -> None:
    def site(url: str) -> list[Any]:
        if "down" in url:
            raise pywebmcp.NavigationError(f"cannot open {url}", url=url)
        return [fake_tool("checkout", hang)] if url.endswith("/cart") else [fake_tool("search", hang)]

    async with FakePage(site, url="https://shop.example/") as page:
        assert [tool.name for tool in await page.tools()] == ["search"]
        await page.goto("https://shop.example/cart")
        assert [tool.name for tool in await page.tools()] == ["checkout"]
        assert page.url == "https://shop.example/cart"
        with pytest.raises(pywebmcp.NavigationError):
            await page.goto("https://down.example/")
        assert page.url == "https://shop.example/cart"


async def test_a_fragment_moves_within_the_document() -> None:
    async with FakePage([fake_tool("one", lambda _: 1)], url="https://shop.example/") as page:
        tool = await page.tool("one")
        await page.goto("https://shop.example/#section")
        assert page.url == "https://shop.example/#section"
        assert (await page.call(tool)).value == 1


async def test_a_page_that_leaves_by_itself_ends_its_calls(waiting: Waiting) -> None:
    async with FakePage([fake_tool("wait", waiting)]) as page:
        invocation = await page.invoke("wait")
        await waiting.begun.wait()
        page.navigate("https://elsewhere.example/")
        with pytest.raises(pywebmcp.DocumentUnloadedError):
            await invocation.result()
        await waiting.canceled.wait()
        assert page.origin == "https://elsewhere.example"


async def test_a_handler_can_make_its_own_page_leave() -> None:
    page = FakePage()
    page.add_tool(fake_tool("leave", lambda _: page.navigate("https://elsewhere.example/")))
    async with page:
        with pytest.raises(pywebmcp.DocumentUnloadedError):
            await page.call("leave")


@pytest.mark.requirement("testing:frames")
async def test_frames_have_tools_and_origins_of_their_own() -> None:
    async with FakePage([fake_tool("pay", lambda _: "top")], url="https://shop.example/") as page:
        frame = page.add_frame("https://bank.example/form", tools=[fake_tool("pay", lambda _: "frame")], name="bank")
        inner = page.add_frame("https://bank.example/inner", parent=frame.id)
        page.add_tool(fake_tool("deep", lambda _: "deep"), frame=inner.id)
        assert [(tool.name, tool.origin) for tool in await page.tools()] == [
            ("pay", "https://shop.example"),
            ("pay", "https://bank.example"),
            ("deep", "https://bank.example"),
        ]
        with pytest.raises(pywebmcp.AmbiguousToolError) as ambiguous:
            await page.call("pay")
        assert [candidate.frame.name for candidate in ambiguous.value.candidates] == ["", "bank"]
        assert (await page.call("pay", frame="bank")).value == "frame"
        assert (await page.call("pay", origin="https://shop.example")).value == "top"
        page.navigate("https://bank.example/done", frame=frame.id)
        assert [(f.name, f.url) for f in page.frames] == [
            ("", "https://shop.example/"),
            ("bank", "https://bank.example/done"),
        ]
        assert (await page.call("pay")).value == "top"


async def test_removing_a_frame_ends_its_calls(waiting: Waiting) -> None:
    async with FakePage() as page:
        frame = page.add_frame("https://bank.example/", tools=[fake_tool("wait", waiting)])
        invocation = await page.invoke("wait")
        await waiting.begun.wait()
        page.remove_frame(frame.id)
        with pytest.raises(pywebmcp.DocumentUnloadedError):
            await invocation.result()
        assert len(page.frames) == 1
        with pytest.raises(LookupError):
            page.remove_frame(frame.id)


async def test_a_crash_wakes_everyone(left_over: Callable[[], set[Any]], waiting: Waiting) -> None:
    async with FakePage([fake_tool("wait", waiting)]) as page:
        events = page.events()
        call = asyncio.create_task(page.call("wait"))
        invocation = await page.invoke("wait")
        await waiting.begun.wait()
        page.crash()
        for outcome in (call, invocation.result()):
            with pytest.raises(pywebmcp.OutcomeUnknownError):
                await outcome
        with pytest.raises(pywebmcp.EngineCrashedError):
            await page.tools()
        assert page.closed
        async for _ in events:
            pass
    assert left_over() == set()


# --- the rest of a page -------------------------------------------------------------------------------------


def answer_prompts(dialog: pywebmcp.Dialog) -> str | bool:
    return "Eve" if dialog.type == "prompt" else False


@pytest.mark.parametrize(
    ("policy", "seen"),
    [
        ("dismiss", {"confirm": False, "prompt": None, "alert": None}),
        ("accept", {"confirm": True, "prompt": "Bob", "alert": None}),
        (answer_prompts, {"confirm": False, "prompt": "Eve", "alert": None}),
    ],
    ids=["dismiss", "accept", "hook"],
)
async def test_dialogs_are_answered_by_the_pages_policy_and_reported(policy: Any, seen: dict[str, Any]) -> None:
    async def ask(_: dict[str, Any]) -> dict[str, Any]:
        return {
            "confirm": await page.open_dialog("confirm", "Sure?"),
            "prompt": await page.open_dialog("prompt", "Name?", "Bob"),
            "alert": await page.open_dialog("alert", "Done"),
        }

    async with FakePage([fake_tool("ask", ask)], dialogs=policy) as page:
        result = await page.call("ask")
    assert result.value == seen
    assert [(dialog.type, dialog.message) for dialog in result.dialogs] == [
        ("confirm", "Sure?"),
        ("prompt", "Name?"),
        ("alert", "Done"),
    ]


async def test_hooks_run_around_its_calls() -> None:
    log: list[Any] = []
    hooks = pywebmcp.CallHooks(
        before=[lambda name, arguments: log.append((name, arguments))],
        after=[lambda name, outcome: log.append((name, type(outcome).__name__))],
    )
    async with FakePage([fake_tool("one", lambda _: 1)], hooks=hooks) as page:
        await page.call("one", {"a": 1})
    assert log == [("one", {"a": 1}), ("one", "ToolResult")]


async def test_evaluate_is_answered_by_the_script() -> None:
    async def evaluate(expression: str) -> Any:
        if expression == "boom":
            raise ToolFailed("boom")
        return {"expression": expression}

    async with FakePage(evaluate=evaluate) as page:
        assert await page.evaluate("1 + 1") == {"expression": "1 + 1"}
        with pytest.raises(pywebmcp.ScriptFailedError, match="boom"):
            await page.evaluate("boom")


async def test_a_crash_wakes_whoever_waits_for_an_evaluation(left_over: Callable[[], set[Any]]) -> None:
    page = FakePage(evaluate=lambda _: asyncio.Event().wait())
    evaluation = asyncio.create_task(page.evaluate("forever"))
    await asyncio.sleep(0)
    page.crash()
    with pytest.raises(pywebmcp.EngineCrashedError):
        await evaluation
    await page.close()
    assert left_over() == set()


async def test_what_only_a_browser_can_is_refused() -> None:
    async with FakePage() as page:
        with pytest.raises(pywebmcp.UnsupportedError, match="runs no JavaScript"):
            await page.evaluate("1")
        with pytest.raises(pywebmcp.UnsupportedError, match="runs no documents"):
            await page.goto("https://fake.example/", html="<p>")
        with pytest.raises(pywebmcp.UnsupportedError):
            await page.screenshot()


async def test_its_default_timeout_is_the_one_given() -> None:
    async with FakePage([fake_tool("hang", hang)], call_timeout=0.01) as page:
        with pytest.raises(pywebmcp.CallTimeoutError) as late:
            await page.call("hang")
    assert late.value.timeout == 0.01

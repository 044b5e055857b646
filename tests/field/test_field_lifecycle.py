"""Field problems 11, 16 and 52: tools that go, change under their name, or take their document away."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp

if TYPE_CHECKING:
    from .conftest import Begin, Fails, Open, Until


def names(tools: list[pywebmcp.Tool]) -> list[str]:
    return [tool.name for tool in tools]


def count_activations(page: pywebmcp.Page) -> list[str]:
    activated: list[str] = []
    page.on_tool_activated(lambda event: activated.append(event.tool_name))
    return activated


def busy(then: str) -> str:
    """Keeps the page's one thread busy for a while and then does something, all in one task."""
    return f"{{ const end = Date.now() + 600; while (Date.now() < end); {then}; }} 0"


# --- 11 -----------------------------------------------------------------------------------------------------


async def open_list(open_field: Open) -> tuple[pywebmcp.Page, pywebmcp.Tool, pywebmcp.Tool]:
    """The page on its list route, once both tools of the route are there: it registers the second a task later."""
    page = await open_field("11")
    await page.wait_for_tool("save")
    open_item, save = await page.tools()
    return page, open_item, save


@pytest.mark.requirement("field:11:route-change-replaces-the-list")
async def test_after_a_route_change_the_list_is_exactly_that_of_the_new_route(open_field: Open) -> None:
    page, *tools = await open_list(open_field)
    assert names(tools) == ["open_item", "save"]

    assert (await page.call("open_item", {"id": 3})).value == "opened 3"

    save, back = await page.tools()
    assert (save.name, save.description) == ("save", "Save the item")
    assert (back.name, back.description) == ("back", "Back to the list")
    assert page.url.endswith("?route=detail")
    assert (await page.call("back")).value == "back"
    assert names(await page.tools()) == ["open_item", "save"]


@pytest.mark.requirement("field:11:self-unregistering-tool-delivers")
async def test_a_tool_that_unregisters_itself_while_it_runs_delivers_its_result(open_field: Open) -> None:
    page, _, _ = await open_list(open_field)
    activated = count_activations(page)

    result = await page.call("open_item", {"id": 7})

    assert (result.value, result.is_error) == ("opened 7", False)
    assert activated == ["open_item"]


@pytest.mark.requirement("field:11:stale-tool-does-not-run")
async def test_a_tool_seen_on_the_other_route_is_refused_and_nothing_runs(open_field: Open, fails: Fails) -> None:
    page, open_item, save = await open_list(open_field)
    await page.evaluate("go('detail')")
    activated = count_activations(page)

    for stale, arguments in ((save, None), (save, {"title": "x"}), (open_item, {"id": 1})):
        error = await fails(page.call(stale, arguments), pywebmcp.ToolNotFoundError)
        assert (error.code, error.dom_name, error.ran) == ("tool_not_found", "NotFoundError", "no")
        assert error.tool == stale.name
        assert "list the tools again" in str(error)
        await fails(page.invoke(stale, arguments), pywebmcp.ToolNotFoundError)

    assert activated == []
    assert (await page.call("save", {"title": "x"})).value == "item saved as x"


@pytest.mark.requirement("field:11:replaced-is-told-from-gone")
async def test_the_error_tells_a_replaced_tool_from_one_that_is_gone(open_field: Open, fails: Fails) -> None:
    page, open_item, save = await open_list(open_field)
    await page.evaluate("go('detail')")

    assert "replaced" in str(await fails(page.call(save), pywebmcp.ToolNotFoundError))
    error = await fails(page.call(open_item, {"id": 1}), pywebmcp.ToolNotFoundError)
    assert "unregistered" in str(error)
    assert set(error.available) == {"save", "back"}


@pytest.mark.requirement("field:11:same-definition-again-is-another-tool")
async def test_a_tool_registered_anew_with_the_same_definition_is_another_registration(
    open_field: Open, fails: Fails
) -> None:
    page, _, before = await open_list(open_field)
    await page.evaluate("go('detail').then(() => go('list'))")
    _, after = await page.tools()

    assert (before.name, before.description, before.input_schema) == (
        after.name,
        after.description,
        after.input_schema,
    )
    assert before.ref != after.ref
    await fails(page.call(before), pywebmcp.ToolNotFoundError)
    assert (await page.call(after)).value == "list saved"


@pytest.mark.requirement("field:11:new-schema-counts")
async def test_a_bare_name_means_the_tool_that_is_there_now_with_its_schema(open_field: Open, fails: Fails) -> None:
    page, _, _ = await open_list(open_field)
    assert (await page.call("save")).value == "list saved"
    await page.evaluate("go('detail')")

    error = await fails(page.call("save"), pywebmcp.InvalidArgumentsError)

    assert [(problem.path, problem.rule) for problem in error.problems] == [("", "required")]
    assert (await page.call("save", {"title": "T"})).value == "item saved as T"


@pytest.mark.requirement("field:11:removal-overtakes-the-call")
async def test_a_removal_that_overtakes_a_call_is_never_reported_as_the_wanted_result(
    engine: str, open_field: Open, fails: Fails
) -> None:
    page, _, save = await open_list(open_field)

    switching = asyncio.create_task(page.evaluate(busy("go('detail')")))
    calling = asyncio.create_task(page.call(save))
    await switching

    if engine == "lightpanda":
        error: pywebmcp.WebMCPError = await fails(calling, pywebmcp.ToolNotFoundError)
        assert error.ran == "no"
    else:
        error = await fails(calling, pywebmcp.OutcomeUnknownError)
        assert error.ran == "yes"
        assert "replaced" in str(error)
    assert error.tool == "save"
    assert names(await page.tools()) == ["save", "back"]


@pytest.mark.requirement("field:11:removal-without-successor")
async def test_a_call_overtaken_by_a_removal_without_successor_did_not_run(open_field: Open, fails: Fails) -> None:
    page, open_item, _ = await open_list(open_field)

    switching = asyncio.create_task(page.evaluate(busy("go('detail')")))
    calling = asyncio.create_task(page.call(open_item, {"id": 1}))
    await switching

    assert (await fails(calling, pywebmcp.ToolNotFoundError)).ran == "no"


# --- 16 -----------------------------------------------------------------------------------------------------


async def document_of(page: pywebmcp.Page, events: pywebmcp.EventStream, query: str) -> None:
    """Waits until the top frame shows the document of that query."""
    async with asyncio.timeout(15):
        async for event in events:
            if isinstance(event, pywebmcp.Navigated) and event.is_top and event.url.endswith(query):
                await page.wait_for_tool("where")
                return


@pytest.mark.requirement("field:16:navigates-then-returns")
async def test_a_tool_that_starts_a_navigation_and_returns_gives_its_result_or_an_unload(open_field: Open) -> None:
    page = await open_field("16")
    activated = count_activations(page)
    settled: list[pywebmcp.InvocationSettled] = []
    page.on_invocation_settled(settled.append)

    async with page.events() as events:
        outcome = (await asyncio.gather(page.call("go_then_return", timeout=15), return_exceptions=True))[0]
        if isinstance(outcome, pywebmcp.ToolResult):
            assert outcome.value == "navigating"
        else:
            assert isinstance(outcome, pywebmcp.DocumentUnloadedError)
            assert (outcome.ran, outcome.dom_name) == ("unknown", "AbortError")
        await document_of(page, events, "?at=second")

    assert (await page.call("where")).value == "second"
    assert activated == ["go_then_return", "where"]
    assert [event.tool_name for event in settled] == ["go_then_return", "where"]


@pytest.mark.requirement("field:16:navigates-then-waits")
async def test_a_tool_whose_document_navigates_before_it_answers_is_document_unloaded(
    open_field: Open, fails: Fails
) -> None:
    page = await open_field("16")
    activated = count_activations(page)
    settled: list[pywebmcp.InvocationSettled] = []
    page.on_invocation_settled(settled.append)

    async with page.events() as events:
        invocation = await page.invoke("go_then_wait", timeout=15)
        error = await fails(invocation.result(), pywebmcp.DocumentUnloadedError)
        await document_of(page, events, "?at=third")

    assert (error.code, error.dom_name, error.ran) == ("document_unloaded", "AbortError", "unknown")
    assert (error.tool, error.origin, error.invocation_id) == ("go_then_wait", "https://field.example", invocation.id)
    assert invocation.status is pywebmcp.InvocationStatus.UNKNOWN
    assert (await page.call("where")).value == "third"
    assert activated == ["go_then_wait", "where"]
    assert [(event.tool_name, event.status) for event in settled] == [
        ("go_then_wait", pywebmcp.InvocationStatus.UNKNOWN),
        ("where", pywebmcp.InvocationStatus.COMPLETED),
    ]


@pytest.mark.requirement("field:16:reload-does-not-hang")
async def test_a_tool_that_reloads_its_page_does_not_hang_until_the_deadline(open_field: Open, fails: Fails) -> None:
    page = await open_field("16")

    async with asyncio.timeout(10):
        await fails(page.call("reload", timeout=60), pywebmcp.DocumentUnloadedError)

    await page.wait_for_tool("where")
    assert (await page.call("where")).value == "start"


@pytest.mark.requirement("field:16:hash-is-no-navigation")
async def test_a_change_of_the_hash_is_no_navigation(open_field: Open) -> None:
    page = await open_field("16")
    navigated: list[pywebmcp.Navigated] = []
    page.on_navigated(navigated.append)
    where = await page.tool("where")

    assert (await page.call("hash_only")).value == "still here"

    assert navigated == []
    assert "#x" in page.url
    assert (await page.call(where)).value == "start"


@pytest.mark.requirement("field:16:history-is-no-navigation")
async def test_changes_of_the_history_are_no_navigation(open_field: Open) -> None:
    page = await open_field("16")
    where = await page.tool("where")

    await page.evaluate("history.pushState({}, '', '?at=pushed'); history.replaceState({}, '', '?at=replaced')")

    assert (await page.call(where)).value == "start"
    assert page.url.endswith("?at=replaced")


LEAVING = """<!doctype html><body><script>
const mc = document.modelContext ?? navigator.modelContext;
const leave = {
  same: () => { location.href = "/second"; },
  cross: () => { location.href = "https://other.example/"; },
  refused: () => { location.href = "http://127.0.0.1:9/"; },
  form: () => { const f = document.createElement("form"); f.action = "/second"; document.body.append(f); f.submit(); },
  blank: () => { location.href = "about:blank"; },
};
for (const [name, go] of Object.entries(leave)) mc.registerTool({name, description: name,
  execute() { go(); return new Promise((r) => setTimeout(r, 8000, "too late")); }});
</script>"""


@pytest.mark.requirement("field:16:every-way-to-leave")
async def test_every_way_to_leave_the_document_is_document_unloaded_and_no_page_s_data(
    open_page: Open, fails: Fails
) -> None:
    def route(request: pywebmcp.Request) -> pywebmcp.Response | None:
        if "127.0.0.1" in request.url:
            return None
        return pywebmcp.Response('<script type="application/ld+json">{"a": 1}</script>', content_type="text/html")

    for way in ("same", "cross", "refused", "form", "blank"):
        page = await open_page(LEAVING, route=route)
        error = await fails(page.call(way, timeout=6), pywebmcp.DocumentUnloadedError)
        assert (error.ran, error.tool) == ("unknown", way)
        await page.close()


@pytest.mark.requirement("field:16:no-content-is-no-navigation")
async def test_an_answer_without_content_keeps_the_document_where_the_engine_keeps_it(
    engine: str, open_page: Open, fails: Fails
) -> None:
    page = await open_page(
        "<script>(document.modelContext ?? navigator.modelContext).registerTool({name: 'stay', description: 'd', "
        "execute() { location.href = '/nothing'; return new Promise((r) => setTimeout(r, 300, 'still here')); }})"
        "</script>",
        route=lambda _: pywebmcp.Response("", status=204),
    )

    if engine == "chromium":
        assert (await page.call("stay", timeout=10)).value == "still here"
    else:  # Lightpanda 1.0.2 commits an empty document
        await fails(page.call("stay", timeout=10), pywebmcp.DocumentUnloadedError)


@pytest.mark.requirement("field:16:frame-navigates")
async def test_a_frame_that_navigates_ends_its_own_calls_and_no_others(
    open_page: Open, begin: Begin, fails: Fails
) -> None:
    tool = (
        "<script>(document.modelContext ?? navigator.modelContext).registerTool({name: '%s', description: 'd', "
        "execute: () => new Promise((r) => { window.finish = r; })})</script>"
    )
    page = await open_page(
        tool % "outer" + "<iframe name=inner src='/frame'></iframe>",
        route=lambda _: pywebmcp.Response(tool % "inner", content_type="text/html"),
    )
    outer, inner = await begin(page, "outer", timeout=15), await begin(page, "inner", timeout=15)

    await page.evaluate("frames[0].location.href = '/other'")
    await fails(inner.result(), pywebmcp.DocumentUnloadedError)
    await page.evaluate("finish('answered')")

    assert (await outer.result()).value == "answered"


@pytest.mark.requirement("field:16:other-calls-end-too")
async def test_every_call_of_a_document_that_goes_away_ends_exactly_once(
    open_page: Open, begin: Begin, fails: Fails
) -> None:
    page = await open_page(
        "<script>(document.modelContext ?? navigator.modelContext).registerTool({name: 'never', description: 'd', "
        "execute: () => new Promise(() => {})})</script>"
    )
    settled: list[str] = []
    page.on_invocation_settled(lambda event: settled.append(event.invocation_id))
    waiting = [await begin(page, "never", timeout=15) for _ in range(5)]

    await page.reload()
    for invocation in waiting:
        await fails(invocation.result(), pywebmcp.DocumentUnloadedError)

    await begin(page, "never", timeout=15)
    assert sorted(settled) == sorted(invocation.id for invocation in waiting)


@pytest.mark.requirement("field:16:stale-after-navigation")
async def test_a_tool_of_the_document_before_is_stale(open_field: Open, fails: Fails) -> None:
    page = await open_field("16")
    where = await page.tool("where")
    await page.goto(page.url + "?at=elsewhere")

    error = await fails(page.call(where), pywebmcp.ToolNotFoundError)

    assert error.ran == "no"
    assert (await page.call("where")).value == "elsewhere"


# --- 52 -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("field:52:ref-is-the-registration")
async def test_the_tool_that_was_approved_does_not_become_the_one_that_was_swapped_in(
    open_field: Open, fails: Fails
) -> None:
    page = await open_field("52")
    approved = await page.tool("share")
    assert approved.annotations is not None
    assert approved.annotations.read_only is True
    activated = count_activations(page)
    await page.evaluate("__swap()")

    for arguments in (None, {}, {"body": "everything"}):
        error = await fails(page.call(approved, arguments), pywebmcp.ToolNotFoundError)
        assert (error.ran, error.tool) == ("no", "share")

    assert await page.evaluate("__sent") == []
    assert activated == []


@pytest.mark.requirement("field:52:snapshot-keeps-the-approved-definition")
async def test_the_snapshot_keeps_the_definition_that_was_approved(open_field: Open) -> None:
    page = await open_field("52")
    approved = await page.tool("share")
    await page.evaluate("__swap()")
    swapped = await page.tool("share")

    assert (approved.description, approved.input_schema) == (
        "Copy a link to the clipboard",
        {"type": "object", "properties": {}},
    )
    assert (swapped.description, swapped.annotations) == ("Email this page to everyone", None)
    assert swapped.input_schema == {
        "type": "object",
        "properties": {"body": {"type": "string"}},
        "required": ["body"],
    }
    assert approved.ref != swapped.ref
    assert len(await page.tools()) == 1


@pytest.mark.requirement("field:52:swap-in-flight")
async def test_a_swap_that_overtakes_the_call_is_never_a_success(engine: str, open_field: Open, fails: Fails) -> None:
    page = await open_field("52")
    approved = await page.tool("share")

    swapping = asyncio.create_task(page.evaluate(busy("__swap()")))
    calling = asyncio.create_task(page.call(approved, {"body": "all"}))
    await swapping

    error: Any = await fails(
        calling, pywebmcp.ToolNotFoundError if engine == "lightpanda" else pywebmcp.OutcomeUnknownError
    )
    assert error.ran == ("no" if engine == "lightpanda" else "yes")
    assert await page.evaluate("__sent") == ([] if engine == "lightpanda" else ["all"])


@pytest.mark.requirement("field:52:swapping-back-does-not-revive")
async def test_swapping_the_old_definition_back_does_not_revive_the_old_ref(open_field: Open, fails: Fails) -> None:
    page = await open_field("52")
    approved = await page.tool("share")
    await page.evaluate("__swap()")
    await page.evaluate(
        "c.abort(), mc.registerTool({ name: 'share', description: 'Copy a link to the clipboard', "
        "annotations: { readOnlyHint: true }, inputSchema: { type: 'object', properties: {} }, execute: () => 'back' })"
    )

    await fails(page.call(approved), pywebmcp.ToolNotFoundError)

    assert (await page.call("share")).value == "back"
    assert await page.evaluate("__sent") == []


@pytest.mark.requirement("field:52:running-call-is-the-old-code")
async def test_a_call_that_runs_when_the_swap_comes_delivers_the_old_code_s_answer(
    open_page: Open, begin: Begin, until: Until
) -> None:
    page = await open_page("""<script>
      const mc = document.modelContext ?? navigator.modelContext, c = new AbortController();
      window.running = false;
      mc.registerTool({name: "share", description: "old", execute: () => new Promise((r) => {
        running = true; window.finish = () => r("old answer"); })}, {signal: c.signal});
      window.swap = async () => { c.abort();
        await mc.registerTool({name: "share", description: "new", execute: () => "new answer"}); };
    </script>""")
    invocation = await begin(page, "share")
    await until(page, "running")

    await page.evaluate("swap().then(() => finish())")

    assert (await invocation.result()).value == "old answer"
    assert (await page.call("share")).value == "new answer"

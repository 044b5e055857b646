"""Field problem 28: dialogs are noticed at once, settled by a stated policy, and told with the result."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp
from pywebmcp import Dialog

if TYPE_CHECKING:
    from .conftest import Fails, Html, Launch, Open

URL = "https://example.com/"
CONFIRM = Dialog(type="confirm", message="Delete everything?")
ALERT = Dialog(type="alert", message="hello")
PROMPT = Dialog(type="prompt", message="Your name?", default="nobody")

HANGS_AFTER = """<script>
(document.modelContext ?? navigator.modelContext).registerTool({name: "hangs_after", description: "d",
  execute() { confirm("sure?"); return new Promise(() => {}); }});
(document.modelContext ?? navigator.modelContext).registerTool({name: "quick", description: "d", execute: () => 1});
</script>"""


def accepted(dialog: Dialog, answer: str | None = None) -> Dialog:
    return Dialog(type=dialog.type, message=dialog.message, default=dialog.default, accepted=True, answer=answer)


# --- the declared answers, on both columns ------------------------------------------------------------------


@pytest.mark.requirement("field:28:dismissed-by-default")
async def test_dialogs_are_dismissed_by_default_and_told_with_the_result(open_field: Open) -> None:
    page = await open_field("28")

    deleted, greeted, named = [await page.call(name, timeout=10) for name in ("delete_all", "greet", "ask_name")]

    assert (deleted.value, deleted.dialogs) == ("kept", (CONFIRM,))
    assert (greeted.value, greeted.dialogs) == ("greeted", (ALERT,))
    assert (named.value, named.dialogs) == ({"name": None}, (PROMPT,))
    quick = await page.call("quick")
    assert (quick.value, quick.dialogs) == ("quick", ())


@pytest.mark.requirement("field:28:accept-is-declared")
async def test_with_consent_declared_dialogs_are_accepted_and_a_prompt_gets_its_default(open_field: Open) -> None:
    page = await open_field("28", dialogs="accept")

    deleted, greeted, named = [await page.call(name, timeout=10) for name in ("delete_all", "greet", "ask_name")]

    assert (deleted.value, deleted.dialogs) == ("deleted", (accepted(CONFIRM),))
    assert (greeted.value, greeted.dialogs) == ("greeted", (accepted(ALERT),))
    assert (named.value, named.dialogs) == ({"name": "nobody"}, (accepted(PROMPT, "nobody"),))
    assert (await page.call("quick")).value == "quick"


@pytest.mark.requirement("field:28:policy-of-the-browser")
async def test_a_browser_has_a_policy_and_each_page_may_have_another(launch: Launch, field_html: Html) -> None:
    browser = await launch(dialogs="accept")
    accepting = await browser.open(URL, html=field_html("28"))
    dismissing = await browser.open(URL, html=field_html("28"), dialogs="dismiss")

    assert (await accepting.call("delete_all", timeout=10)).value == "deleted"
    assert (await dismissing.call("delete_all", timeout=10)).value == "kept"


@pytest.mark.requirement("field:28:prompt-without-default")
async def test_an_accepted_prompt_without_a_default_is_an_empty_text(open_page: Open) -> None:
    page = await open_page(
        "<script>(document.modelContext ?? navigator.modelContext).registerTool({name: 'ask', description: 'd', "
        "execute: () => ({name: prompt('Who?')})})</script>",
        dialogs="accept",
    )

    result = await page.call("ask", timeout=10)

    assert result.value == {"name": ""}
    (dialog,) = result.dialogs
    assert (dialog.type, dialog.message, dialog.accepted, dialog.answer) == ("prompt", "Who?", True, "")


@pytest.mark.requirement("field:28:several-dialogs")
async def test_several_dialogs_of_one_call_are_told_in_their_order(open_page: Open) -> None:
    page = await open_page(
        "<script>(document.modelContext ?? navigator.modelContext).registerTool({name: 'ask', description: 'd', "
        "execute: () => { alert('one'); return [confirm('two'), prompt('three'), confirm('four')]; }})</script>"
    )

    result = await page.call("ask", timeout=10)

    assert result.value == [False, None, False]
    assert [dialog.message for dialog in result.dialogs] == ["one", "two", "three", "four"]
    assert not any(dialog.accepted for dialog in result.dialogs)


@pytest.mark.requirement("field:28:dialog-while-loading")
async def test_a_dialog_while_the_page_loads_does_not_keep_it_from_opening(open_page: Open) -> None:
    page = await open_page(
        "<script>window.said = [alert('welcome'), confirm('cookies?')].join();"
        "(document.modelContext ?? navigator.modelContext).registerTool({name: 'quick', description: 'd', "
        "execute: () => said})</script>",
        timeout=10,
    )

    result = await page.call("quick")

    assert (result.value, result.dialogs) == (",false", ())


@pytest.mark.requirement("field:28:dialog-in-a-frame")
async def test_a_dialog_of_a_frame_is_settled_and_told_too(open_page: Open, field_html: Html) -> None:
    page = await open_page(
        "<iframe name=inner src='/frame'></iframe>",
        route=lambda _: pywebmcp.Response(field_html("28"), content_type="text/html"),
    )

    result = await page.call("delete_all", timeout=10, frame="inner")

    assert (result.value, result.dialogs) == ("kept", (CONFIRM,))


@pytest.mark.requirement("field:28:deadline-holds")
async def test_the_deadline_holds_for_a_tool_that_opened_a_dialog(open_page: Open, fails: Fails) -> None:
    page = await open_page(HANGS_AFTER)

    started = perf_counter()
    error = await fails(page.call("hangs_after", timeout=0.5), pywebmcp.CallTimeoutError)

    assert 0.5 <= perf_counter() - started < 1.5
    assert error.timeout == 0.5
    assert (await page.call("quick")).value == 1


@pytest.mark.requirement("field:28:unknown-policy")
async def test_a_policy_that_is_none_is_refused_before_the_page_opens(browser: pywebmcp.Browser) -> None:
    policy: Any = "perhaps"
    with pytest.raises(ValueError, match="dialogs='perhaps'"):
        await browser.open(URL, html="", dialogs=policy)
    assert browser.pages == ()
    assert (await (await browser.open(URL, html="<p>fine")).evaluate("1 + 1")) == 2


# --- asking hooks -------------------------------------------------------------------------------------------


@pytest.mark.requirement("field:28:hook-needs-chromium")
async def test_lightpanda_refuses_an_asking_hook_and_says_what_to_do() -> None:
    async with pywebmcp.launch("lightpanda") as browser:
        with pytest.raises(pywebmcp.UnsupportedError, match="chromium") as caught:
            await browser.open(URL, html="<p>", dialogs=lambda _: True)
        assert caught.value.ran == "no"
        assert browser.pages == ()
        page = await browser.open(URL, html="<p>fine")
        assert await page.evaluate("1 + 1") == 2


@pytest.mark.requirement("field:28:sync-hook")
async def test_a_sync_hook_decides_from_the_dialog(chromium: Launch, field_html: Html) -> None:
    asked: list[Dialog] = []

    def hook(dialog: Dialog) -> bool | str:
        asked.append(dialog)
        return "Ada" if dialog.type == "prompt" else "everything" in dialog.message

    browser = await chromium(mode="native", dialogs=hook)
    page = await browser.open(URL, html=field_html("28"))

    deleted, greeted, named = [await page.call(name, timeout=10) for name in ("delete_all", "greet", "ask_name")]

    assert asked == [CONFIRM, ALERT, PROMPT]
    assert (deleted.value, deleted.dialogs) == ("deleted", (accepted(CONFIRM),))
    assert (greeted.value, greeted.dialogs) == ("greeted", (ALERT,))
    assert (named.value, named.dialogs) == ({"name": "Ada"}, (accepted(PROMPT, "Ada"),))


@pytest.mark.requirement("field:28:async-hook")
@pytest.mark.parametrize("mode", ["native", "runtime"])
async def test_an_async_hook_is_waited_for_while_the_call_goes_on(
    chromium: Launch, field_html: Html, mode: str
) -> None:
    browser = await chromium(mode=mode)
    for answer, value in ((True, "deleted"), (False, "kept"), (None, "kept")):
        asked, consent = asyncio.Event(), asyncio.Event()

        async def hook(
            _: Dialog, asked: asyncio.Event = asked, consent: asyncio.Event = consent, answer: bool | None = answer
        ) -> bool | None:
            asked.set()
            await consent.wait()
            return answer

        page = await browser.open(URL, html=field_html("28"), dialogs=hook)
        invocation = await page.invoke("delete_all", timeout=10)
        async with asyncio.timeout(10):
            await asked.wait()
            assert invocation.status is pywebmcp.InvocationStatus.PENDING
            consent.set()
            result = await invocation.result()

        assert result.value == value
        assert result.dialogs == ((accepted(CONFIRM) if answer else CONFIRM),)
        assert (await page.call("quick")).value == "quick"


@pytest.mark.requirement("field:28:asking-does-not-count")
async def test_the_time_of_asking_does_not_count_in_the_deadline(chromium: Launch, field_html: Html) -> None:
    async def hook(_: Dialog) -> bool:
        await asyncio.wait({asyncio.get_running_loop().create_future()}, timeout=0.8)
        return True

    browser = await chromium(mode="native", dialogs=hook)
    page = await browser.open(URL, html=field_html("28"))

    result = await page.call("delete_all", timeout=0.5)

    assert result.value == "deleted"
    assert result.duration >= 0.8


@pytest.mark.requirement("field:28:silent-hook-is-dismissed")
async def test_a_hook_that_never_answers_is_dismissed_after_its_time(
    chromium: Launch, field_html: Html, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pywebmcp.browser._dialogs.ASK_TIMEOUT", 0.4)
    browser = await chromium(mode="native", dialogs=lambda _: asyncio.get_running_loop().create_future())
    page = await browser.open(URL, html=field_html("28"))

    started = perf_counter()
    result = await page.call("delete_all", timeout=5)

    assert 0.4 <= perf_counter() - started < 2
    assert (result.value, result.dialogs) == ("kept", (CONFIRM,))
    assert (await page.call("quick")).value == "quick"


@pytest.mark.requirement("field:28:silent-hook-does-not-stop-the-deadline")
async def test_a_hook_that_never_answers_does_not_stop_the_deadline_for_ever(
    chromium: Launch, fails: Fails, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pywebmcp.browser._dialogs.ASK_TIMEOUT", 0.4)
    browser = await chromium(mode="native", dialogs=lambda _: asyncio.get_running_loop().create_future())
    page = await browser.open(URL, html=HANGS_AFTER)

    started = perf_counter()
    await fails(page.call("hangs_after", timeout=0.5), pywebmcp.CallTimeoutError)

    assert 0.9 <= perf_counter() - started < 2.5
    assert (await page.call("quick")).value == 1


@pytest.mark.requirement("field:28:failing-hook-is-no")
async def test_a_hook_that_fails_is_no_consent(
    chromium: Launch, field_html: Html, caplog: pytest.LogCaptureFixture
) -> None:
    def hook(_: Dialog) -> bool:
        raise RuntimeError("nobody at the desk")

    browser = await chromium(mode="native", dialogs=hook)
    page = await browser.open(URL, html=field_html("28"))

    result = await page.call("delete_all", timeout=10)

    assert (result.value, result.dialogs) == ("kept", (CONFIRM,))
    assert [r.getMessage() for r in caplog.records if r.name == "pywebmcp.browser"] == [
        "the dialog hook failed; the dialog is dismissed"
    ]


@pytest.mark.requirement("field:28:cancel-while-asking")
@pytest.mark.parametrize("mode", ["native", "runtime"])
async def test_canceling_a_call_while_its_dialog_is_asked_returns_at_once_and_frees_the_page(
    chromium: Launch, field_html: Html, fails: Fails, mode: str
) -> None:
    asked = asyncio.Event()

    async def hook(_: Dialog) -> bool:
        asked.set()
        await asyncio.get_running_loop().create_future()
        return True

    browser = await chromium(mode=mode, dialogs=hook)
    page = await browser.open(URL, html=field_html("28"))
    other = await browser.open(URL, html=field_html("28"))
    invocation = await page.invoke("delete_all", timeout=30)
    async with asyncio.timeout(10):
        await asked.wait()

    started = perf_counter()
    assert await invocation.cancel() is True
    await fails(invocation.result(), pywebmcp.CallCanceledError)

    assert perf_counter() - started < 0.5
    assert (await page.call("quick", timeout=10)).value == "quick"
    assert (await other.call("quick", timeout=10)).value == "quick"


@pytest.mark.requirement("field:28:task-cancel-while-asking")
async def test_cancelling_the_task_while_its_dialog_is_asked_frees_the_page(chromium: Launch, field_html: Html) -> None:
    asked = asyncio.Event()

    async def hook(_: Dialog) -> bool:
        asked.set()
        await asyncio.get_running_loop().create_future()
        return True

    browser = await chromium(mode="native", dialogs=hook)
    page = await browser.open(URL, html=field_html("28"))
    calling = asyncio.create_task(page.call("delete_all", timeout=30))
    async with asyncio.timeout(10):
        await asked.wait()

    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert (await page.call("quick", timeout=10)).value == "quick"


@pytest.mark.requirement("field:28:close-while-asking")
async def test_closing_a_page_while_its_dialog_is_asked_ends_the_call_and_the_page(
    chromium: Launch, field_html: Html, fails: Fails
) -> None:
    asked = asyncio.Event()

    async def hook(_: Dialog) -> bool:
        asked.set()
        await asyncio.get_running_loop().create_future()
        return True

    browser = await chromium(mode="native", dialogs=hook)
    page = await browser.open(URL, html=field_html("28"))
    invocation = await page.invoke("delete_all", timeout=30)
    async with asyncio.timeout(10):
        await asked.wait()
        await page.close()

    error = await fails(invocation.result(), pywebmcp.OutcomeUnknownError)
    assert error.ran == "unknown"
    assert browser.pages == ()
    assert (await (await browser.open(URL, html=field_html("28"))).call("quick", timeout=10)).value == "quick"

"""Field problem 35: under a strict content security policy the model context is there at parse time, unweakened."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from playwright.async_api import async_playwright

import pywebmcp
from pywebmcp.engines import find_chromium

if TYPE_CHECKING:
    from .conftest import Fails, Html, Launch, Open

URL = "https://example.com/"

COLUMNS = [("lightpanda", "auto"), ("chromium", "native"), ("chromium", "auto"), ("chromium", "runtime")]

POLICY = "default-src 'none'; script-src 'nonce-r4nd'; require-trusted-types-for 'script'; trusted-types 'none'"
WATCHED = (
    f"""<!doctype html><meta charset=utf-8><meta http-equiv="Content-Security-Policy" content="{POLICY}">
"""
    """
<script nonce="r4nd">
window.violations = [];
document.addEventListener("securitypolicyviolation", (e) => violations.push(e.effectiveDirective));
const mc = document.modelContext ?? navigator.modelContext;
window.__seen = typeof mc;
mc.registerTool({name: "locked_down", description: "d", execute: () => "ok"});
mc.registerTool({name: "try_to_break_out", description: "d", execute: () => new Promise((done) => setTimeout(() => {
  const outcome = {};
  try { outcome.eval = String((0, eval)("1 + 1")); } catch (e) { outcome.eval = e.name; }
  try { outcome.function = String(new Function("return 1")()); } catch (e) { outcome.function = e.name; }
  try { document.createElement("script").textContent = "1"; outcome.text = "set"; } catch (e) { outcome.text = e.name; }
  done(outcome);
}, 0))});
</script>"""
)


@pytest.fixture(params=COLUMNS, ids=lambda column: "-".join(column))
async def strict(request: pytest.FixtureRequest) -> Any:
    """A browser of each column and, for this problem, of Chromium with its own WebMCP off."""
    engine, mode = request.param
    async with pywebmcp.launch(engine, mode=mode) as browser:
        yield browser


@pytest.mark.requirement("field:35:found-and-called")
async def test_a_tool_under_a_strict_policy_is_found_and_called(open_field: Open) -> None:
    page = await open_field("35")

    (tool,) = await page.tools()

    assert (tool.name, tool.origin) == ("locked_down", "https://field.example")
    assert (await page.call(tool)).value == "ok"


@pytest.mark.requirement("field:35:there-at-parse-time")
async def test_the_model_context_is_there_at_parse_time_in_the_top_page(
    strict: pywebmcp.Browser, field_html: Html
) -> None:
    page = await strict.open(URL, html=field_html("35"))

    assert await page.evaluate("__seen") == "object"
    assert (await page.call("locked_down")).value == "ok"
    native = strict.engine.name == "chromium" and strict.mode != "runtime"
    assert page.surface.kind == ("native" if native else "runtime")


@pytest.mark.requirement("field:35:there-in-frames")
async def test_the_model_context_is_there_at_parse_time_in_frames(strict: pywebmcp.Browser, field_html: Html) -> None:
    for origin in ("https://example.com", "https://other.example"):
        page = await strict.open(
            URL,
            html=f"<iframe name=inner allow=tools src='{origin}/frame'></iframe>",
            route=lambda _: pywebmcp.Response(field_html("35"), content_type="text/html"),
        )
        tool = await page.wait_for_tool("locked_down")
        assert await page.evaluate("__seen", frame="inner") == "object"
        assert (tool.frame.name, tool.origin) == ("inner", origin)
        assert (await page.call(tool)).value == "ok"


@pytest.mark.requirement("field:35:there-in-nested-frames")
async def test_the_model_context_is_there_at_parse_time_in_frames_of_frames(
    strict: pywebmcp.Browser, field_html: Html
) -> None:
    def route(request: pywebmcp.Request) -> pywebmcp.Response:
        inner = request.url.endswith("/inner")
        text = field_html("35") if inner else "<iframe allow=tools src='https://third.example/inner'></iframe>"
        return pywebmcp.Response(text, content_type="text/html")

    page = await strict.open(URL, html="<iframe allow=tools src='https://other.example/outer'></iframe>", route=route)

    tool = await page.wait_for_tool("locked_down")

    assert await page.evaluate("__seen", frame=tool.frame.id) == "object"
    assert (tool.origin, (await page.call(tool)).value) == ("https://third.example", "ok")


@pytest.mark.requirement("field:35:no-violation-reports")
@pytest.mark.requirement("field:35:policy-is-not-weakened")
async def test_nothing_of_the_library_violates_the_policy_and_nothing_weakens_it(strict: pywebmcp.Browser) -> None:
    page = await strict.open(URL, html=WATCHED)
    await page.tools()
    await page.supported()
    assert (await page.call("locked_down")).value == "ok"
    settled = "new Promise((r) => setTimeout(() => r(violations), 50))"

    assert await page.evaluate("__seen") == "object"
    assert await page.evaluate(settled) == []

    outcome = (await page.call("try_to_break_out")).value
    if strict.engine.name == "chromium":  # Lightpanda 1.0.2 enforces no content security policy
        assert outcome == {"eval": "EvalError", "function": "EvalError", "text": "TypeError"}
        assert set(await page.evaluate(settled)) <= {"script-src", "require-trusted-types-for"}
    else:
        assert outcome == {"eval": "2", "function": "1", "text": "set"}


@pytest.mark.requirement("field:35:leaves-no-trace")
async def test_the_page_finds_no_random_name_of_the_library_among_its_globals(
    strict: pywebmcp.Browser,
) -> None:
    page = await strict.open(
        URL,
        html="<iframe srcdoc='<p>'></iframe><script>window.names = () => "
        "[...Object.getOwnPropertyNames(window), ...Object.getOwnPropertyNames(frames[0])]</script>",
    )

    assert [name for name in await page.evaluate("names()") if re.fullmatch("w[0-9a-f]{32}", name)] == []


@pytest.mark.requirement("field:35:says-why-it-cannot")
async def test_a_browser_without_any_model_context_says_so_and_what_to_do(chromium: Launch, fails: Fails) -> None:
    browser = await chromium(mode="native", args=["--disable-features=WebMCP,WebMCPTesting,DevToolsWebMCPSupport"])
    page = await browser.open(URL, html="<p>nothing")

    assert await page.tools() == []
    assert await page.supported() is False
    assert page.surface.kind == "none"
    error = await fails(page.call("locked_down"), pywebmcp.UnsupportedError)
    assert (error.code, error.ran) == ("unsupported", "no")
    assert "mode='auto'" in str(error)


@pytest.mark.requirement("field:35:too-late-to-inject")
async def test_a_page_that_was_open_before_the_runtime_says_that_it_needs_a_reload(
    field_html: Html, fails: Fails
) -> None:
    async with async_playwright() as driver:
        started = await driver.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])
        try:
            theirs = await started.new_page()

            async def serve(route: Any) -> None:
                await route.fulfill(body=field_html("35"), content_type="text/html")

            await theirs.route("**/*", serve)
            await theirs.goto(URL)
            page = await pywebmcp.attach(theirs, mode="runtime")

            assert await page.tools() == []
            assert page.surface.kind == "none"
            error = await fails(page.call("locked_down"), pywebmcp.UnsupportedError)
            assert "reload" in str(error)

            await theirs.reload()
            tool = await page.wait_for_tool("locked_down")
            assert (await page.call(tool)).value == "ok"
            assert page.surface.kind == "runtime"
            await page.close()
        finally:
            await started.close()

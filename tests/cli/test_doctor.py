"""``webmcp doctor``: which engines there are, and why a page has no tools."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp

if TYPE_CHECKING:
    from pathlib import Path


def codes(told: Any) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for finding in told["page"]["findings"]:
        found.setdefault(finding["code"], []).append(finding["message"])
    return found


async def test_both_engines_are_found_and_started(webmcp: Any) -> None:
    ran = await webmcp("doctor", "--json")
    told = ran.json
    assert (ran.code, told["usable"]) == (0, True)
    lightpanda, chromium = told["engines"]
    assert (lightpanda["name"], lightpanda["chosen"], lightpanda["surface"]) == ("lightpanda", True, "runtime")
    assert (chromium["name"], chromium["chosen"], chromium["surface"]) == ("chromium", False, "native")
    assert chromium["features"]["methods"] == ["registerTool", "getTools", "executeTool"]
    assert "WebMCP" in chromium["flags"]
    for engine in told["engines"]:
        assert os.access(engine["executable"], os.X_OK)
        assert engine["version"]
        assert engine["startMs"] > 0
    assert told["pywebmcp"] == pywebmcp.__version__
    assert told["platform"]
    assert told["packages"]["lightpanda"]
    assert told["packages"]["playwright"]


async def test_a_person_is_told_the_same(webmcp: Any) -> None:
    ran = await webmcp("doctor")
    assert ran.code == 0
    assert f"pywebmcp {pywebmcp.__version__}, Python 3." in ran.out
    assert "✓ lightpanda" in ran.out
    assert "its own model context: registerTool, getTools, executeTool" in ran.out


async def test_an_engine_that_is_not_there_ends_with_5(webmcp: Any) -> None:
    ran = await webmcp("doctor", "--engine", "/nowhere/lightpanda", "--json")
    assert (ran.code, ran.json["usable"]) == (5, False)
    assert ran.json["engines"][0]["chosen"] is True
    assert "/nowhere/lightpanda" in ran.json["engines"][0]["problem"]


async def test_only_the_engine_that_is_asked_for_is_started(webmcp: Any, engine: str) -> None:
    told = (await webmcp("doctor", "--engine", engine, "--json")).json
    assert [(report["name"], report["chosen"]) for report in told["engines"]] == [(engine, True)]


async def test_a_page_with_tools_is_well(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    ran = await webmcp("doctor", outcomes, "--json", *on)
    assert ran.code == 0
    assert "add" in ran.json["page"]["tools"]
    assert not [finding for finding in ran.json["page"]["findings"] if finding["level"] == "problem"]


@pytest.mark.slow
async def test_every_fault_of_a_page_is_found(webmcp: Any, cli: Path, on: list[str]) -> None:
    ran = await webmcp("doctor", cli / "faulty.html", "--wait", "0.2", "--json", *on)
    found = codes(ran.json)
    assert ran.code == 3
    assert any("tooldescription" in text for text in found["forms"])
    assert any(
        'allow="webmcp", an older spelling' in text and "other.example" in text for text in found["allow_webmcp"]
    )
    assert any('lacks allow="tools"' in text and "third.example" in text for text in found["policy"])
    assert any("allow-scripts" in text for text in found["sandbox"])
    assert any('"/missing.js"' in text for text in found["missing_file"])
    assert any("boom" in text for text in found["script_error"])
    assert any("could not be mounted" in text for text in found["console"])


@pytest.mark.slow
async def test_a_script_s_fault_is_placed_in_the_page_and_not_in_our_runtime(
    webmcp: Any, cli: Path, engine: str
) -> None:
    for mode in ["auto"] if engine == "lightpanda" else ["native", "runtime"]:
        ran = await webmcp(
            "doctor", cli / "refused.html", "--engine", engine, "--mode", mode, "--wait", "0.2", "--json"
        )
        (text,) = codes(ran.json)["script_error"]
        place = "line 2 of an inline script" if engine == "lightpanda" else "line 3"
        assert text.endswith(f'/refused.html", {place}')


async def test_tools_that_the_options_hide_are_told(webmcp: Any, outcomes: Path, on: list[str]) -> None:
    ran = await webmcp("doctor", outcomes, "--origin", "https://other.example", "--wait", "0", "--json", *on)
    assert (ran.code, codes(ran.json).keys() & {"none_chosen", "nothing_registered"}) == (3, {"none_chosen"})


async def test_nothing_registered_is_a_reason_of_its_own(webmcp: Any, cli: Path, on: list[str]) -> None:
    ran = await webmcp("doctor", cli / "elsewhere.html", "--wait", "0.2", "--json", *on)
    assert (ran.code, next(iter(codes(ran.json)))) == (3, "nothing_registered")


async def test_schemas_that_are_of_no_use_are_told(webmcp: Any, cli: Path) -> None:
    ran = await webmcp("doctor", cli / "broken-schema.html", "--json")
    assert (ran.code, len(codes(ran.json)["schema"])) == (0, 4)


async def test_an_insecure_context_is_the_reason(webmcp: Any, site: Any, on: list[str]) -> None:
    proxy = f"http://127.0.0.1:{site.port}"
    ran = await webmcp("doctor", "http://shop.test/", "--proxy", proxy, "--wait", "0.2", "--json", *on)
    assert ran.code == 3
    assert "insecure_context" in codes(ran.json)


async def test_a_policy_that_forbids_tools_is_the_reason(webmcp: Any, site: Any) -> None:
    site.headers = "Permissions-Policy: tools=()\r\n"
    site.body = "<script>document.modelContext.registerTool({name: 't', description: 'd', execute() {}})</script>"
    ran = await webmcp("doctor", site.url, "--engine", "chromium", "--wait", "0.2", "--json")
    assert ran.code == 3
    assert "policy" in codes(ran.json)
    assert any("disallowed by permissions policy" in text for text in codes(ran.json)["script_error"])


@pytest.mark.slow
async def test_a_browser_without_the_feature_is_the_reason(webmcp: Any, site: Any) -> None:
    """A Chromium that was started by somebody else, without the flags."""
    async with pywebmcp.launch("chromium", mode="runtime", args=["--remote-debugging-port=0"]) as browser:
        endpoint = browser._engine.endpoint.url  # pyright: ignore[reportOptionalMemberAccess]
        ran = await webmcp("doctor", site.url, "--engine", endpoint, "--mode", "native", "--wait", "0.2", "--json")
        listed = await webmcp("tools", site.url, "--engine", endpoint, "--mode", "native", "--wait", "0", "--json")
    assert ran.code == 3
    assert any("--enable-features=WebMCP" in text for text in codes(ran.json)["no_feature"])
    assert (listed.code, listed.json["surface"]) == (3, "none")


async def test_a_page_that_cannot_be_opened_ends_with_5(webmcp: Any) -> None:
    ran = await webmcp("doctor", "http://localhost:1/", "--json")
    assert (ran.code, ran.json["page"]["error"]["code"]) == (5, "navigation")


@pytest.mark.parametrize(
    ("allow", "registered"),
    [("", False), ("webmcp", False), ("tools", True), ("webmcp; tools", True)],
)
async def test_what_chromium_makes_of_the_spellings_of_allow(allow: str, registered: bool) -> None:
    """Measured on Chromium 156: ``allow="webmcp"`` is no feature, the frame stays without tools."""
    tool = "{name: 't', description: 'd', execute() {}}"
    child = f"<script>document.modelContext.registerTool({tool}).catch(() => {{}})</script>"

    def route(request: pywebmcp.Request) -> pywebmcp.Response:
        return pywebmcp.Response(child, content_type="text/html")

    async with pywebmcp.launch("chromium", mode="native") as browser:
        html = f'<iframe allow="{allow}" src="https://other.example/"></iframe>'
        page = await browser.open("https://example.com/", html=html, route=route)
        assert bool(await page.wait_for_tools(3.0 if registered else 0.3)) is registered

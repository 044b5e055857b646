"""A fake page tells what a real one tells: the same scenario on both, everything compared that a caller can see."""

from __future__ import annotations

import asyncio
import re
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest

import pywebmcp
from pywebmcp.testing import FakePage

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    Scenario = Callable[[pywebmcp.Page], Awaitable[Any]]


async def listing(page: pywebmcp.Page) -> Any:
    return await page.tools()


async def sum_of_two(page: pywebmcp.Page) -> Any:
    return await page.call("add", {"a": 1, "b": 2})


async def text_arguments(page: pywebmcp.Page) -> Any:
    return await page.call("add", '{"a": 1, "b": 2.5}')


async def null_result(page: pywebmcp.Page) -> Any:
    return await page.call("nothing")


async def text_result(page: pywebmcp.Page) -> Any:
    return await page.call("text")


async def refused_by_the_page(page: pywebmcp.Page) -> Any:
    result = await page.call("refuse")
    with pytest.raises(pywebmcp.ToolFailedError):
        result.raise_for_error()
    return result


async def absent(page: pywebmcp.Page) -> Any:
    await page.call("absent")


async def invalid(page: pywebmcp.Page) -> Any:
    await page.call("add", {"a": "one"})


async def not_json(page: pywebmcp.Page) -> Any:
    await page.call("add", {"a": float("nan"), "b": 2**60})


async def thrown(page: pywebmcp.Page) -> Any:
    await page.call("fail")


async def cyclic(page: pywebmcp.Page) -> Any:
    await page.call("cycle")


async def late(page: pywebmcp.Page) -> Any:
    await page.call("hang", timeout=0.05)


async def canceled(page: pywebmcp.Page) -> Any:
    invocation = await _begun(page)
    assert await invocation.cancel()
    assert invocation.status is pywebmcp.InvocationStatus.CANCELED
    await invocation.result()


async def unloaded(page: pywebmcp.Page) -> Any:
    invocation = await _begun(page)
    await page.reload()
    await invocation.result()


async def stale(page: pywebmcp.Page) -> Any:
    tool = await page.tool("add")
    await page.reload()
    await page.call(tool, {"a": 1, "b": 2})


async def waited_in_vain(page: pywebmcp.Page) -> Any:
    await page.wait_for_tool("absent", 0.05)


async def waited(page: pywebmcp.Page) -> Any:
    return [tool.name for tool in await page.wait_for_tools(1, quiet=0.01)]


async def surface(page: pywebmcp.Page) -> Any:
    return [await page.supported(), page.surface, page.url, page.origin]


async def other_origin(page: pywebmcp.Page) -> Any:
    return await page.tools(origins=["https://other.example"])


async def life_of_a_call(page: pywebmcp.Page) -> Any:
    async with page.events() as events:
        await page.call("nothing")
        with pytest.raises(pywebmcp.CallTimeoutError):
            await page.call("hang", timeout=0.05)
        seen = [await anext(events) for _ in range(5)]
    # The answer and the news of the cancel cross each other.
    return seen[:3], {type(event) for event in seen[3:]}


async def life_of_a_document(page: pywebmcp.Page) -> Any:
    async with page.events() as events:
        await page.goto("https://example.com/")
        seen = [await anext(events) for _ in range(15)]
    return seen


async def closed(page: pywebmcp.Page) -> Any:
    await page.close()
    await page.tools()


async def foreign_tool(page: pywebmcp.Page) -> Any:
    await page.call(replace(await page.tool("add"), ref="p9999.d1.r1"))


async def insecure(page: pywebmcp.Page) -> Any:
    await page.goto("http://example.org/", html=None if isinstance(page, FakePage) else "<p>insecure")
    seen = [await page.supported(), await page.tools(), page.surface]
    with pytest.raises(pywebmcp.NotExposedError) as refused:
        await page.call("add")
    return [*seen, refused.value]


async def _begun(page: pywebmcp.Page) -> pywebmcp.Invocation:
    """A call that has reached its tool and hangs there."""
    started = asyncio.Event()
    page.on_tool_activated(lambda _: started.set())
    invocation = await page.invoke("hang")
    async with asyncio.timeout(5):
        await started.wait()
    return invocation


SCENARIOS: list[Scenario] = [
    listing, sum_of_two, text_arguments, null_result, text_result, refused_by_the_page, absent, invalid, not_json,
    thrown, cyclic, late, canceled, unloaded, stale, waited_in_vain, waited, surface, other_origin, life_of_a_call,
    life_of_a_document, closed, foreign_tool, insecure,
]  # fmt: skip


async def told(page: pywebmcp.Page, scenario: Scenario) -> Any:
    """What a scenario returned or raised, without what differs by nature: ids, durations, stacks, engine's words."""
    async with asyncio.timeout(20):
        try:
            return comparable(await scenario(page))
        except pywebmcp.WebMCPError as error:
            return comparable(error)


def comparable(value: Any) -> Any:
    match value:
        case pywebmcp.WebMCPError():
            members = {name: comparable(member) for name, member in vars(value).items()}
            if "cannot be written as JSON" in value.message:
                members = {"ran": value.ran, "tool": value.tool}  # the engine's words for a cycle
            return type(value), members
        case _ if is_dataclass(value) and not isinstance(value, type):
            return type(value), {
                field.name: comparable(getattr(value, field.name))
                for field in fields(value)
                if field.name not in {"duration", "stack", "frame_id", "id"}
            }
        case list() | tuple():
            return [comparable(each) for each in value]  # pyright: ignore[reportUnknownVariableType]
        case str():
            # Whether the news of a navigation or the answer to the call comes first is the engine's affair.
            value = value.replace('the document at "https://example.com/" went away', "the document went away")
            return re.sub(r"\b(?:p|fake)\d+\.", "page.", value)
        case _:
            return value


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.__name__)
@pytest.mark.requirement("testing:parity")
async def test_a_fake_page_tells_what_a_real_page_tells(
    scenario: Scenario, fake: FakePage, real: pywebmcp.Page
) -> None:
    on_fake, on_real = await told(fake, scenario), await told(real, scenario)
    assert on_fake == on_real
    assert on_fake is not None

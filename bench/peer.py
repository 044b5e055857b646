"""The peer: Playwright's `page.webmcp` on a Chromium. Prints one JSON object of milliseconds.

`python bench/peer.py CHROMIUM URL [CALLS]`; with CALLS 0 it stops after the first result (a cold run).
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--no-first-run",
    "--enable-features=WebMCP,WebMCPTesting",
]


async def main(chromium: str, url: str, calls: int) -> dict[str, float]:
    from playwright.async_api import async_playwright

    out: dict[str, float] = {}
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        page = await browser.new_page()
        await page.goto(url)
        await page.webmcp.tools()
        await page.webmcp.call_tool("add", {"a": 1, "b": 2})
        print("first result", file=sys.stderr, flush=True)
        if calls:
            out["call"] = await timed(calls, lambda: page.webmcp.call_tool("add", {"a": 1, "b": 2}))
            out["list"] = await timed(calls, lambda: page.webmcp.tools())

            async def navigate_and_list() -> None:
                await page.goto(url)
                await page.webmcp.tools()

            out["goto_list"] = await timed(30, navigate_and_list)
        await browser.close()
    return out


async def timed(times: int, work: Callable[[], Awaitable[object]]) -> float:
    seen: list[float] = []
    for _ in range(times):
        start = perf_counter()
        await work()
        seen.append((perf_counter() - start) * 1e3)
    return statistics.median(seen)


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 300))))

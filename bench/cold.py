"""From nothing to the first tool result on the embedded engine: `python bench/cold.py URL`."""

from __future__ import annotations

import asyncio
import sys

import pywebmcp


async def main(url: str) -> None:
    async with pywebmcp.launch() as browser:
        page = await browser.open(url)
        await page.tools()
        await page.call("add", {"a": 1, "b": 2})
        print("first result", file=sys.stderr, flush=True)


asyncio.run(main(sys.argv[1]))

"""Doubles for the tests of code that uses pywebmcp: a page without a browser, whose tools are Python functions.

::

    from pywebmcp.testing import FakePage, fake_tool

    async def test_adds():
        page = FakePage(tools=[fake_tool("add", lambda arguments: {"sum": arguments["a"] + arguments["b"]})])
        result = await page.call("add", {"a": 1, "b": 2})
        assert result.value == {"sum": 3}

That is an async test: pytest runs it with a plugin such as pytest-asyncio (``asyncio_mode = "auto"``, or a
``@pytest.mark.asyncio`` above it). Code that uses `pywebmcp.sync` is tested without one::

    from pywebmcp.sync.testing import FakePage, fake_tool

    def test_adds():
        page = FakePage(tools=[fake_tool("add", lambda arguments: {"sum": arguments["a"] + arguments["b"]})])
        result = page.call("add", {"a": 1, "b": 2})
        assert result.value == {"sum": 3}

The fake page is a real `Page` over a scripted engine: what it lists, refuses, cancels and raises is what a page in a
browser would. Handlers may be async, raise `ToolFailed`, or never answer (`hang`); tools and frames come and go with
`FakePage.add_tool`, `FakePage.remove_tool`, `FakePage.add_frame` and `FakePage.remove_frame`, and the page can leave
(`FakePage.navigate`) or die (`FakePage.crash`) in the middle of a call.
"""

from pywebmcp.testing._page import FakePage
from pywebmcp.testing._tools import Received, ScriptedTool, ToolFailed, fake_tool, hang

__all__ = ["FakePage", "Received", "ScriptedTool", "ToolFailed", "fake_tool", "hang"]

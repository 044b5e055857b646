"""The blocking twin: the same objects for code without an event loop.

::

    from pywebmcp import sync

    with sync.launch() as browser:
        page = browser.open("https://shop.example/")
        for tool in page.tools():
            print(tool.name, tool.description)
        print(page.call("add", {"a": 1, "b": 2}).value)

Arguments, results, errors and deadlines are those of the async API; only the waiting differs.

- *Threads.* All browsers live in one daemon thread with an event loop, started at the first use. Calls may come from
  any thread, several at a time. A thread that runs an event loop gets `RuntimeError` from calls that wait: use the
  async API there.
- *Ctrl-C* in a call cancels the page's work, then goes on. In `Invocation.result` it ends only the wait.
- *Callbacks* (``on_…``, ``route=``, ``dialogs=``, `CallHooks`) run in the loop's thread, where they hold up every
  page until they return. They may be async. Properties can be read in them; calls that wait are refused there.
- *The end.* Browsers left open are closed when the process ends. A fork starts with none.
- ``attach`` has no twin: a page of Playwright's blocking API lives in an event loop of Playwright's own, which only
  runs inside Playwright's calls. Use ``pywebmcp.attach`` with Playwright's async API.

Twins of the same page are equal, though not identical: ``page in browser.pages``.
"""

from pywebmcp.sync._generated import Browser, EventStream, Invocation, Page, connect, launch

__all__ = ["Browser", "EventStream", "Invocation", "Page", "connect", "launch"]

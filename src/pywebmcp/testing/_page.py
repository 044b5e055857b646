"""The fake page: a real `Page` over a scripted engine."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Literal, Self

from pywebmcp.browser._calls import CallHooks
from pywebmcp.browser._page import CALL_TIMEOUT, NAVIGATION_TIMEOUT, Page, PageSetup
from pywebmcp.browser._target import TargetSetup
from pywebmcp.context import Capabilities, random_identifier
from pywebmcp.errors import UnsupportedError
from pywebmcp.testing._engine import ScriptedEngine
from pywebmcp.testing._tools import scripted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pywebmcp.browser._dialogs import DialogPolicy
    from pywebmcp.browser._navigation import WaitUntil
    from pywebmcp.browser._routing import Route
    from pywebmcp.testing._tools import Received, ScriptedTool
    from pywebmcp.types import Frame, Tool

__all__ = ["FakePage"]

CAPABILITIES = Capabilities(native_complete=False, frame_targets=False, crash_events=False)

_numbers = itertools.count(1)


class FakePage(Page):
    """A `pywebmcp.Page` whose tools are Python functions: no browser, no network, no waiting.

    It is a real page over a scripted engine, so listing, validation, deadlines, cancellation, events and errors are
    those of a real page, and whatever takes a `Page` takes it::

        async def test_books_the_cheapest_table():
            page = FakePage(tools=[fake_tool("book_table", lambda arguments: {"booked": arguments["people"]})])
            async with page:
                await book(page, people=2)                       # your code
            assert page.received == (Received(tool="book_table", arguments={"people": 2}),)

    An async test needs a runner, such as pytest-asyncio. `pywebmcp.sync.testing.FakePage` is the same page for plain
    test functions and for blocking code.

    Args:
        tools: The tools that its top document registers, after every `goto` and `reload` anew; or a function that
            gives those of a URL (it may raise `NavigationError` for a URL that cannot be opened).
        url: Where it starts. As in browsers, a document outside a secure context (``http`` elsewhere than on this
            machine) has no tools.
        dialogs: As for `pywebmcp.launch`.
        call_timeout: As for `pywebmcp.launch`.
        hooks: As for `pywebmcp.launch`.
        evaluate: Answers `Page.evaluate`: is given the expression, sync or async; what it raises was thrown.

    Raises:
        TypeError: a tool that `fake_tool` did not make.
    """

    def __init__(
        self,
        tools: Iterable[ScriptedTool] | Callable[[str], Iterable[ScriptedTool]] = (),
        *,
        url: str = "https://fake.example/",
        dialogs: DialogPolicy = "dismiss",
        call_timeout: float | None = CALL_TIMEOUT,
        hooks: CallHooks | None = None,
        evaluate: Callable[[str], Any] | None = None,
    ) -> None:
        binding, number = random_identifier(), next(_numbers)
        self._engine = ScriptedEngine(
            binding=binding,
            top=f"frame-{number}",
            site=tools if callable(tools) else _everywhere(scripted(tools)),
            evaluate=evaluate,
        )
        super().__init__(
            self._engine,
            PageSetup(
                id=f"fake{number}",
                target_id=f"frame-{number}",
                mode="auto",
                handle=random_identifier(),
                late_script="",
                target=TargetSetup(capabilities=CAPABILITIES, script=None, binding=binding),
                hooks=hooks or CallHooks(),
                dialogs=dialogs,
                call_timeout=call_timeout,
                on_close=lambda _: None,
                close_target=self._engine.close,
            ),
        )
        for follower in (self._frames, self._runtime, self._dialogs):
            follower.listen(self._engine)
        self._engine.commit(self._setup.target_id, url)

    # --- what the page does by itself ------------------------------------------------------------------------

    @property
    def received(self) -> tuple[Received, ...]:
        """The calls that reached a handler, in order; those that were refused before are not among them."""
        return tuple(self._engine.received)

    def add_tool(self, tool: ScriptedTool, *, frame: str | None = None) -> Tool:
        """Registers a tool in the document that is there now; listeners see `ToolsChanged`.

        Args:
            tool: From `fake_tool`.
            frame: Id of the frame; default the top one.

        Returns:
            The registration, as `tools` lists it.

        Raises:
            TypeError: `fake_tool` did not make it.
            ValueError: the document has a tool of that name, or is no secure context.
            LookupError: there is no such frame.
        """
        scripted((tool,), "add_tool()")
        document = self._engine.document(frame)
        self._engine.register(document, tool)
        for registration in self._registry.named(tool.name):
            if registration.document.frame_id == document.frame_id:
                return self._lookup.snapshot(registration)
        raise ValueError(f"{document.url!r} is no secure context: it registers no tools")

    def remove_tool(self, name: str, *, frame: str | None = None) -> None:
        """Unregisters a tool; calls of it that run go on, later ones end with `ToolNotFoundError`.

        Raises:
            LookupError: there is no such tool or frame.
        """
        self._engine.unregister(self._engine.document(frame), name)

    def add_frame(
        self, url: str, *, tools: Iterable[ScriptedTool] = (), name: str = "", parent: str | None = None
    ) -> Frame:
        """Adds a frame with a document of its own.

        Args:
            url: Its address, which gives the origin of its tools.
            tools: What it registers.
            name: The ``name`` attribute of the frame element.
            parent: Id of the frame that holds it; default the top one.

        Raises:
            TypeError: a tool that `fake_tool` did not make.
            LookupError: there is no such frame.
        """
        frame_id = self._engine.attach(parent or self._setup.target_id, url, tools, name)
        return next(frame for frame in self.frames if frame.id == frame_id)

    def remove_frame(self, frame: str) -> None:
        """Removes a frame by its id: its tools vanish, calls of them end with `DocumentUnloadedError`.

        Raises:
            LookupError: there is no such frame.
        """
        self._engine.detach(frame)

    def navigate(self, url: str, *, frame: str | None = None) -> None:
        """Goes elsewhere by itself, as by a link: calls that run end with `DocumentUnloadedError`.

        Args:
            url: The new address; the top document then registers its tools anew, a frame registers none.
            frame: Id of the frame that goes; default the top one.
        """
        top = self._setup.target_id
        self._engine.commit(frame or top, url, None if frame in (None, top) else ())

    async def open_dialog(
        self,
        type: Literal["alert", "confirm", "prompt"],  # noqa: A002 - as in `Dialog`
        message: str,
        default: str | None = None,
    ) -> bool | str | None:
        """Opens a JavaScript dialog, for use in a handler, and waits for the answer of the page's ``dialogs``.

        Returns:
            What a script would see: None for an alert, True or False for a confirm, the text or None for a prompt.
        """
        answer = await self._engine.dialog(type, message, default)
        match type:
            case "alert":
                return None
            case "confirm":
                return answer is not None
            case "prompt":
                return answer if isinstance(answer, str) or answer is None else default or ""

    def crash(self) -> None:
        """The engine dies: calls that run end with `OutcomeUnknownError`, later ones with `EngineCrashedError`."""
        self._engine.abort()

    # --- what differs from a page in a browser ---------------------------------------------------------------

    async def goto(
        self,
        url: str,
        *,
        html: str | bytes | None = None,
        route: Route | None = None,
        wait: WaitUntil = "load",
        timeout: float = NAVIGATION_TIMEOUT,
    ) -> Self:
        """Opens an address: a new document with the tools that the fake page has there.

        Args:
            url: Where to go.
            html: Refused: a fake page runs no documents.
            route: Refused likewise.
            wait: As in `Page.goto`; nothing has to load.
            timeout: Seconds.

        Raises:
            UnsupportedError: with ``html=`` or ``route=``.
            NavigationError: the function given as ``tools`` raised it.
        """
        if html is not None or route is not None:
            raise UnsupportedError("a fake page runs no documents: give FakePage the tools of its addresses instead")
        return await super().goto(url, wait=wait, timeout=timeout)

    async def close(self) -> None:
        """Closes the page and ends the handlers that run. Closing twice is fine."""
        await super().close()
        await self._engine.close()


def _everywhere(tools: tuple[ScriptedTool, ...]) -> Callable[[str], Iterable[ScriptedTool]]:
    return lambda _: tools

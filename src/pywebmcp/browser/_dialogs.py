"""JavaScript dialogs: noticed at once, answered by a stated policy, reported with the calls they came up in.

The default dismisses: nothing is accepted without consent. Where an engine answers dialogs by itself, a declared
answer is given inside the page and the engine's notice is what reports it.
"""

from __future__ import annotations

import asyncio
import inspect
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pywebmcp.errors import UnsupportedError
from pywebmcp.types import Dialog

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pywebmcp.wire import Session

    Answer = bool | str | None
    DialogPolicy = Literal["dismiss", "accept"] | Callable[[Dialog], Answer | Awaitable[Answer]]

__all__ = ["ASK_TIMEOUT", "Dialogs", "declared"]

log = logging.getLogger("pywebmcp.browser")

ASK_TIMEOUT = 300.0
"""Seconds that an asking hook may take; it does not count in the deadlines of the calls that wait."""


class Dialogs:
    """Answers the dialogs of one page.

    Args:
        policy: ``"dismiss"``, ``"accept"`` (a prompt gets its default text), or a callable that is given the
            `Dialog` and returns True, False, or the text for a prompt; it may be async.
        wait: False for an engine whose dialogs answer themselves.
        report: Takes each dialog once it is answered.
        asking: Called with True while an asking hook runs and with False after it.
    """

    def __init__(
        self,
        policy: DialogPolicy,
        *,
        wait: bool,
        report: Callable[[Dialog], None],
        asking: Callable[[bool], None],
    ) -> None:
        if callable(policy):
            if not wait:
                raise UnsupportedError(
                    "this engine's dialogs answer themselves, so no hook can be asked: pass dialogs='accept' or "
                    "'dismiss', or use engine='chromium'"
                )
        elif policy not in ("dismiss", "accept"):
            raise ValueError(f"dialogs={policy!r}: 'dismiss', 'accept' or a callable")
        self._policy: DialogPolicy = policy
        self._wait = wait
        self._report = report
        self._asking = asking
        self._tasks: set[asyncio.Task[None]] = set()
        self._default: str | None = None

    def listen(self, session: Session) -> None:
        """Takes the dialogs of one session."""
        session.on("Page.javascriptDialogOpening", lambda params: self._opened(session, params))

    def told_default(self, text: str) -> None:
        """The injected script tells the default of the prompt that the engine reports next."""
        self._default = text

    async def close(self) -> None:
        """Stops asking."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def dismiss_open(self) -> None:
        """Ends what a hook is being asked, with No: its call ran out of time."""
        for task in self._tasks:
            task.cancel()

    def _opened(self, session: Session, params: dict[str, Any]) -> None:
        kind = params.get("type")
        dialog = Dialog(
            type=kind if kind in ("alert", "confirm", "prompt", "beforeunload") else "alert",
            message=str(params.get("message", "")),
            default=(self._default or params.get("defaultPrompt")) if kind == "prompt" else None,
        )
        self._default = None
        if dialog.type == "beforeunload":
            self._answer(session, dialog, True)
        elif callable(self._policy):
            task = asyncio.get_running_loop().create_task(self._ask(session, dialog, self._policy))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        else:
            self._answer(session, dialog, self._policy == "accept")

    async def _ask(self, session: Session, dialog: Dialog, hook: Callable[[Dialog], Any]) -> None:
        answer: Answer = None
        self._asking(True)
        try:
            async with asyncio.timeout(ASK_TIMEOUT):
                given = hook(dialog)
                answer = await given if inspect.isawaitable(given) else given
        except TimeoutError:
            log.warning("nobody answered a dialog within %g s; it is dismissed", ASK_TIMEOUT)
        except Exception:  # boundary: the hook is the user's; without its consent the answer is No
            log.exception("the dialog hook failed; the dialog is dismissed")
        finally:
            self._asking(False)
            self._answer(session, dialog, answer)

    def _answer(self, session: Session, dialog: Dialog, answer: Answer) -> None:
        accepted = answer is not None and answer is not False
        text = answer if isinstance(answer, str) else dialog.default if accepted else None
        if dialog.type != "prompt":
            text = None
        if self._wait:
            params: dict[str, Any] = {"accept": accepted}
            if text is not None:
                params["promptText"] = text
            session.post("Page.handleJavaScriptDialog", params)
        self._report(replace(dialog, accepted=accepted, answer=text))


def declared(policy: DialogPolicy) -> dict[str, Any]:
    """What the injected script answers on engines whose dialogs answer themselves; True is a prompt's default."""
    accept = policy == "accept"
    return {"confirm": accept, "prompt": True if accept else None}

"""Working on a page that Playwright drives: its CDP session is another implementation of our session protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pywebmcp.browser._calls import CallHooks
from pywebmcp.browser._page import CALL_TIMEOUT, Page, PageSetup
from pywebmcp.browser._target import TargetSetup
from pywebmcp.context import build_script, capabilities_of, random_identifier
from pywebmcp.errors import UnsupportedError

if TYPE_CHECKING:
    from pywebmcp.browser._dialogs import DialogPolicy
    from pywebmcp.types import Mode

__all__ = ["attach"]


async def attach(
    page: Any,
    *,
    mode: Mode | Literal["polyfill"] = "auto",
    dialogs: DialogPolicy = "dismiss",
    call_timeout: float | None = CALL_TIMEOUT,
    hooks: CallHooks | None = None,
) -> Page:
    """Gives a Playwright page (async API, Chromium) the tools view of a `Page`.

    The page stays Playwright's: closing ours leaves it open. The model context of the browser works at once; where
    ours is needed it is there from the next navigation or reload on.

    Args:
        page: A ``playwright.async_api.Page``.
        mode: As for `launch`.
        dialogs: As for `launch`; Playwright's own dialog handlers, where there are any, answer first.
        call_timeout: As for `launch`.
        hooks: As for `launch`.

    Raises:
        UnsupportedError: it is no Playwright page of a Chromium.
    """
    from pywebmcp.wire import PlaywrightSession

    context = getattr(page, "context", None)
    if context is None or not hasattr(context, "new_cdp_session"):
        raise UnsupportedError("attach() takes a page of Playwright's async API (playwright.async_api.Page)")
    try:
        cdp = await context.new_cdp_session(page)
    except Exception as error:  # boundary: Playwright raises its own Error class, which we do not import
        raise UnsupportedError(
            f"Playwright gives no CDP session for this page; it takes a Chromium: {error}"
        ) from error
    session = PlaywrightSession(cdp)
    target = await session.send("Target.getTargetInfo")
    chosen: Mode = "runtime" if mode == "polyfill" else mode
    handle, binding = random_identifier(), random_identifier()
    injects = chosen != "native"
    config: dict[str, Any] = {"mode": chosen if injects else "auto", "dialogs": None}
    script = build_script(handle=handle, binding=binding, config=config)

    async def detach() -> None:
        await cdp.detach()

    attached = Page(
        session,
        PageSetup(
            id=f"a{random_identifier()[:9]}",
            target_id=target["targetInfo"]["targetId"],
            mode=chosen,
            handle=handle,
            late_script=script,
            target=TargetSetup(
                capabilities=capabilities_of("chromium"),
                script=script if injects else None,
                binding=binding,
                adopt=True,
                auto_attach=False,
            ),
            hooks=hooks or CallHooks(),
            dialogs=dialogs,
            call_timeout=call_timeout,
            on_close=lambda _: None,
            close_target=detach,
        ),
    )
    await attached._prepare(None)
    return attached

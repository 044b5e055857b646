"""A page's own model context: its polyfill, or a stub that a host app put there.

What the page sees as ``document.modelContext`` is asked through the injected script (`host.foreign`). How arguments
are handed over is decided there from what the object shows (``executeTool.length``, the type of the schemas), before
the call and once: a refused shape is `UnsupportedError`, never a second try.
"""

from __future__ import annotations

import logging
from typing import Any, Literal

from pywebmcp.context._documents import Document, Registration, Run
from pywebmcp.context.surfaces._answers import cancel_by_function, start_by_function
from pywebmcp.context.surfaces._base import annotations_from, text_or_none
from pywebmcp.errors import WebMCPError
from pywebmcp.values import deepjson
from pywebmcp.values.quoting import quote
from pywebmcp.values.schemas import read_schema

__all__ = ["PageSurface"]

log = logging.getLogger("pywebmcp.context")


class PageSurface:
    """The page's own objects in every document of one page.

    Args:
        handle: The lexical name under which the injected script keeps its host object.
    """

    kind: Literal["page"] = "page"

    def __init__(self, *, handle: str) -> None:
        self._list = f"()=>{handle}.foreign()"
        self._call = f"(m,n,a)=>{handle}.callForeign(m,n,a)"
        self._cancel = f"(n)=>{handle}.cancel(n)"
        self._count = 0

    async def refresh(self, document: Document, timeout: float) -> str | None:
        """Lists the page's own object anew.

        Returns:
            Why its tools cannot be listed, where it has an object that cannot; otherwise None.
        """
        try:
            reply = await document.session.send(
                "Runtime.callFunctionOn",
                {
                    "functionDeclaration": self._list,
                    "executionContextId": document.context_id,
                    "awaitPromise": True,
                    "returnByValue": True,
                },
                timeout=timeout,
            )
            seen = deepjson.loads(reply["result"]["value"])
            present = bool(seen["present"])
        except (WebMCPError, KeyError, ValueError, TypeError) as error:
            # Busy, navigating, or its object throws: what was listed before stays.
            log.debug("the model context of %s cannot be listed: %s", quote(document.url), error)
            return None
        document.foreign = present
        listed: list[dict[str, Any]] = seen.get("tools") or [] if present else []
        self._merge(document, listed)
        if present and not seen.get("list"):
            return "the page put its own document.modelContext there, and it cannot list its tools (registerTool only)"
        if present and seen.get("error"):
            return f"the page's own document.modelContext failed to list its tools: {quote(seen['error'])}"
        return None

    def _merge(self, document: Document, listed: list[dict[str, Any]]) -> None:
        """Mirrors the listing: unchanged tools keep their registration, changed ones are a new one.

        Two tools are the same when all that is listed of them is, their callback included where they carry one.
        """
        known = {r.name: r for r in document.registrations.values() if r.surface is self}
        for tool in listed:
            name = tool.get("name")
            if not isinstance(name, str) or not name:
                continue
            previous = known.pop(name, None)
            if any(r.document is document and r.surface is not self for r in document.registry.named(name)):
                # It passed the registration on to the engine's context or ours, where it is already listed.
                if previous:
                    document.remove(previous)
                continue
            schema, output = text_or_none(tool.get("schema")), text_or_none(tool.get("output"))
            description, title = str(tool.get("description") or ""), text_or_none(tool.get("title"))
            annotations = annotations_from(tool.get("annotations"))
            source = (description, title, annotations, schema, output, tool.get("callback"))
            if previous and previous.source == source:
                continue
            if previous:
                document.remove(previous)
            self._count += 1
            registration = Registration(
                document,
                self._count,
                self,
                name=name,
                description=description,
                title=title,
                input=read_schema(schema),
                output=read_schema(output),
                annotations=annotations,
            )
            registration.source = source
            document.add(registration)
        for gone in known.values():
            document.remove(gone)

    def start(self, run: Run) -> None:
        """Calls the page's ``executeTool`` (or the stub's own ``execute``) once."""
        start_by_function(run, self._call, run.registration.name)

    async def cancel(self, run: Run, timeout: float) -> bool:
        """Aborts the signal that was handed to the page's object."""
        return await cancel_by_function(run, self._cancel, timeout)

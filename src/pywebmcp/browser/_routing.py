"""Pages without a network: ``html=`` serves a text as the document of its URL, ``route=`` answers any request."""

from __future__ import annotations

import asyncio
import base64
import inspect
import logging
import mimetypes
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urlsplit

from pywebmcp.errors import ProtocolError, UnsupportedError, WebMCPError
from pywebmcp.types import Request, Response
from pywebmcp.values.quoting import quote

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from pywebmcp.wire import Session

    Route = Callable[[Request], Response | Awaitable[Response | None] | None]

__all__ = ["Router"]

log = logging.getLogger("pywebmcp.browser")

ROUTE_TIMEOUT = 30.0
"""Seconds that a ``route=`` callback may take for one request."""


class Router:
    """Answers the paused requests of one page.

    Args:
        url: The address whose document is `html`.
        html: That document's text; None serves it from `route` or the network.
        route: Called for every other request, frames and scripts included; None as its answer goes to the network.
    """

    def __init__(self, url: str, html: str | bytes | None, route: Route | None) -> None:
        self.tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self.top_frame_id: str | None = None
        """Set by the page whose requests it answers."""
        self.update(url, html, route)

    def update(self, url: str, html: str | bytes | None, route: Route | None) -> None:
        """Changes what is served, for the next navigation of the same page."""
        self._url = _address(url)
        self._expected = True
        self._html = html
        self._route = route

    def _is_ours(self, request: Request) -> bool:
        """Whether the request is for the document that `html` stands in for.

        Engines write an address as the URL parser does (punycode, percent signs, no default port), so the one that
        the first request of the page's own frame has is taken for it.
        """
        if request.resource_type != "Document":
            return False
        if self._expected and request.frame == self.top_frame_id:
            self._expected = False
            self._url = _address(request.url)
        return _address(request.url) == self._url

    def listen(self, session: Session) -> None:
        """Takes the paused requests of one session; ``Fetch.enable`` is the caller's."""

        def paused(params: dict[str, Any]) -> None:
            task = asyncio.get_running_loop().create_task(self._answer(session, params))
            self.tasks.add(task)
            task.add_done_callback(self.tasks.discard)

        session.on("Fetch.requestPaused", paused)

    async def close(self) -> None:
        """Stops answering."""
        self._closed = True
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _answer(self, session: Session, params: dict[str, Any]) -> None:
        request_id = params["requestId"]
        request = _request(params)
        try:
            response = await self._find(request)
            answer = None if response is None else _fulfilled(request_id, request, response)
        except (Exception, asyncio.CancelledError) as error:  # boundary: the callback is the user's
            if self._closed:
                raise
            # Its page gets an error, and the log the reason.
            log.error("the route callback failed for %s", quote(request.url), exc_info=error)
            answer = _fulfilled(request_id, request, Response("the route callback failed; see the log", status=500))
        try:
            if answer is None:
                await session.send("Fetch.continueRequest", {"requestId": request_id})
            else:
                await session.send("Fetch.fulfillRequest", answer)
        except (ProtocolError, UnsupportedError) as error:
            # The frame may have gone away meanwhile; otherwise the engine takes no such response.
            log.warning("the answer for %s was not taken: %s", quote(request.url), error)
            session.post("Fetch.failRequest", {"requestId": request_id, "errorReason": "Failed"})
        except WebMCPError as error:
            log.debug("the answer for %s was not taken: %s", quote(request.url), error)

    async def _find(self, request: Request) -> Response | None:
        if self._html is not None and self._is_ours(request):
            return Response(self._html, content_type="text/html; charset=utf-8")
        if self._route is None:
            return None
        given: object = self._route(request)
        answer: object = given
        if inspect.isawaitable(given):
            async with asyncio.timeout(ROUTE_TIMEOUT):
                answer = await given
        if answer is not None and not isinstance(answer, Response):
            raise TypeError(f"a route callback returns a Response or None, not {type(answer).__name__}")
        return answer


def _address(url: str) -> str:
    """The URL without its fragment; a bare host gets the slash that browsers add."""
    url = urldefrag(url).url
    parts = urlsplit(url)
    return url if parts.path else parts._replace(path="/").geturl()


def _request(params: dict[str, Any]) -> Request:
    asked = params["request"]
    body = asked.get("postData")
    return Request(
        url=asked["url"],
        method=asked.get("method", "GET"),
        headers=asked.get("headers") or {},
        body=body.encode("utf-8", "surrogatepass") if isinstance(body, str) else None,
        resource_type=params.get("resourceType") or "Other",
        frame=params.get("frameId"),
    )


def _fulfilled(request_id: str, request: Request, response: Response) -> dict[str, Any]:
    body = _bytes(response.body)
    status: object = response.status
    if type(status) is not int or not 200 <= status <= 599:
        raise ValueError(f"Response(status={status!r}): a number from 200 to 599")
    headers = {_header(name).lower(): _header(value) for name, value in (response.headers or {}).items()}
    if response.content_type:
        headers["content-type"] = _header(response.content_type)
    elif "content-type" not in headers:
        guessed, _ = mimetypes.guess_type(urlsplit(request.url).path)
        headers["content-type"] = (
            "text/html; charset=utf-8"
            if request.resource_type == "Document"
            else guessed or "text/plain; charset=utf-8"
        )
    return {
        "requestId": request_id,
        "responseCode": response.status,
        "responseHeaders": [{"name": name, "value": value} for name, value in headers.items()],
        "body": base64.b64encode(body).decode("ascii"),
    }


def _bytes(body: object) -> bytes:
    if isinstance(body, str):
        return body.encode("utf-8", "replace")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise TypeError(f"Response(body): text or bytes, not {type(body).__name__}")


def _header(text: object) -> str:
    if not isinstance(text, str) or any(character in text for character in "\r\n\0"):
        raise ValueError(f"a header is text without line breaks, not {text!r}")
    return text

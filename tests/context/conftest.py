"""A small raw-CDP fixture: both engines once a session, a page a test, the runtime injected as Python does it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lightpanda
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from pywebmcp.context._script import build_script, random_identifier

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping

WAIT = 10.0
URL = "https://example.com/"


def _wait_for(condition: Callable[[], Any], process: subprocess.Popen[bytes]) -> Any:
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError):
            if value := condition():
                return value
        assert process.poll() is None, "the engine ended while it started"
        time.sleep(0.01)
    raise AssertionError("the engine did not start within 20 s")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait(10)


@pytest.fixture(scope="session")
def lightpanda_endpoint() -> Iterator[str]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    executable = Path(lightpanda.__file__).parent / "lightpanda"
    command = [str(executable), "serve", "--host", "127.0.0.1", "--port", str(port), "--load-resources", "iframe"]
    command += ["--cdp-max-connections", "64", "--cdp-max-message-size", "268435456"]
    environment = {**os.environ, "LIGHTPANDA_DISABLE_TELEMETRY": "true"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def listening() -> bool:
        socket.create_connection(("127.0.0.1", port)).close()
        return True

    try:
        _wait_for(listening, process)
        yield f"ws://127.0.0.1:{port}/"
    finally:
        _stop(process)


def _chromium(features: str) -> Iterator[str]:
    profile = Path(tempfile.mkdtemp(prefix="pywebmcp-test-"))
    command = ["/usr/bin/chromium", "--headless", "--remote-debugging-port=0", f"--user-data-dir={profile}"]
    command += ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "about:blank"]
    if features:
        command.insert(1, f"--enable-features={features}")
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        port, path = _wait_for(lambda: (profile / "DevToolsActivePort").read_text().split(), process)
        yield f"ws://127.0.0.1:{port}{path}"
    finally:
        _stop(process)
        shutil.rmtree(profile, ignore_errors=True)


@pytest.fixture(scope="session")
def chromium_endpoint() -> Iterator[str]:
    """Chromium without any WebMCP of its own."""
    yield from _chromium("")


@pytest.fixture(scope="session")
def native_endpoint() -> Iterator[str]:
    """Chromium with its own, native WebMCP."""
    yield from _chromium("WebMCP,WebMCPTesting,DevToolsWebMCPSupport")


class Connection:
    """One WebSocket to an engine: commands with a deadline, and all events in order."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = itertools.count(1)
        self._replies: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._news = asyncio.Event()
        self.events: list[dict[str, Any]] = []
        self.handler: Callable[[dict[str, Any]], None] = lambda event: None

    async def read(self) -> None:
        with contextlib.suppress(ConnectionClosed):
            async for text in self._socket:
                message: dict[str, Any] = json.loads(text)
                if (reply := self._replies.pop(message.get("id", 0), None)) is not None:
                    reply.set_result(message)
                elif "method" in message:
                    self.events.append(message)
                    self.handler(message)
                    self._news.set()

    async def post(self, method: str, params: Mapping[str, Any], session: str | None) -> asyncio.Future[dict[str, Any]]:
        number = next(self._ids)
        reply: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._replies[number] = reply
        command: dict[str, Any] = {"id": number, "method": method, "params": params}
        if session is not None:
            command["sessionId"] = session
        await self._socket.send(json.dumps(command))
        return reply

    async def send(self, method: str, params: Mapping[str, Any] = {}, session: str | None = None) -> dict[str, Any]:
        reply = await asyncio.wait_for(await self.post(method, params, session), WAIT)
        if "error" in reply:
            raise AssertionError(f"{method}: {reply['error']}")
        return reply["result"]

    async def until(self, condition: Callable[[], Any], wait: float = WAIT) -> Any:
        """Waits until `condition()` is true after some event, and returns it."""
        async with asyncio.timeout(wait):
            while not (value := condition()):
                self._news.clear()
                await self._news.wait()
            return value


class PageError(Exception):
    """A script that the test evaluated threw."""


class Page:
    """One page with the runtime in it."""

    def __init__(self, connection: Connection, session: str, handle: str, binding: str) -> None:
        self.connection = connection
        self.session = session
        self.handle = handle
        self.binding = binding
        self.script = ""
        self.responses: dict[str, dict[str, Any]] = {}
        self._pending: set[asyncio.Task[Any]] = set()
        connection.handler = self._on_event

    def _on_event(self, event: dict[str, Any]) -> None:
        if event["method"] == "Fetch.requestPaused":
            task = asyncio.create_task(self._respond(event["params"]))
            self._pending.add(task)
            task.add_done_callback(self._pending.discard)

    async def _respond(self, request: dict[str, Any]) -> None:
        response = self.responses.get(request["request"]["url"], {"status": 404, "body": "<!doctype html>"})
        headers = {"content-type": "text/html; charset=utf-8", **response.get("headers", {})}
        parameters = {
            "requestId": request["requestId"],
            "responseCode": response.get("status", 200),
            "responseHeaders": [{"name": name, "value": value} for name, value in headers.items()],
            "body": base64.b64encode(response["body"].encode()).decode(),
        }
        await self.command("Fetch.fulfillRequest", parameters)

    async def command(self, method: str, params: Mapping[str, Any] = {}) -> dict[str, Any]:
        return await self.connection.send(method, params, self.session)

    async def goto(self, url: str, html: str, headers: Mapping[str, str] = {}, **others: str) -> None:
        """Opens `url`, serving `html` there and `others` (path -> html) beside it; returns when it has loaded."""
        self.responses[url] = {"body": html, "headers": headers}
        for path, body in others.items():
            self.responses[URL + path] = {"body": body}
        seen = len(self.connection.events)
        await self.command("Page.navigate", {"url": url})
        await self.until_event("Page.loadEventFired", seen)

    async def until_event(self, method: str, since: int = 0) -> dict[str, Any]:
        def find() -> dict[str, Any] | None:
            return next((e["params"] for e in self.connection.events[since:] if e["method"] == method), None)

        return await self.connection.until(find)

    async def evaluate(self, expression: str, context: int | None = None) -> Any:
        """Evaluates, awaits a promise, returns the JSON value; raises PageError."""
        parameters: dict[str, Any] = {"expression": expression, "awaitPromise": True, "returnByValue": True}
        if context is not None:
            parameters["contextId"] = context
        return self._value(await self.command("Runtime.evaluate", parameters))

    async def run(self, body: str) -> Any:
        """Runs statements as an async function in the page, with `mc` as the model context and the helpers below."""
        return await self.evaluate(f"(async () => {{ {HELPERS}\n{body}\n }})()")

    async def host(self, method: str, *arguments: Any, context: int | None = None) -> Any:
        """Calls a member of the runtime's host object, as Python's side does."""
        return await (await self.host_later(method, *arguments, context=context))

    async def host_later(self, method: str, *arguments: Any, context: int | None = None) -> Awaitable[Any]:
        """Sends such a call; what is returned awaits its answer. A call of a tool wants to be told that it started."""
        if method == "call" and len(arguments) == 3:
            arguments = (*arguments, True)
        context = self.context if context is None else context
        names = ",".join(f"a{n}" for n in range(len(arguments)))
        parameters = {
            "functionDeclaration": f'function({names}) {{ "use strict"; return {self.handle}.{method}({names}); }}',
            "arguments": [{"value": argument} for argument in arguments],
            "executionContextId": context,
            "awaitPromise": True,
            "returnByValue": True,
        }
        reply = await self.connection.post("Runtime.callFunctionOn", parameters, self.session)

        async def answer() -> Any:
            message = await asyncio.wait_for(reply, WAIT)
            assert "error" not in message, message
            return self._value(message["result"])

        task = asyncio.create_task(answer())
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)
        return task

    async def call(self, name: str, arguments: Any = None, invocation: str = "i") -> Any:
        """Calls a tool by its name through the host."""
        return await self.host("call", self.id_of(name), invocation, json.dumps(arguments or {}))

    def id_of(self, name: str) -> int:
        """The id of the newest registration of that name."""
        return [m["id"] for m in self.messages() if m["t"] == "add" and m["name"] == name][-1]

    @staticmethod
    def _value(result: dict[str, Any]) -> Any:
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise PageError(details.get("exception", {}).get("description") or details["text"])
        return result["result"].get("value")

    @property
    def contexts(self) -> list[dict[str, Any]]:
        """Every execution context that was created, in order."""
        created = (e for e in self.connection.events if e["method"] == "Runtime.executionContextCreated")
        return [e["params"]["context"] for e in created]

    @property
    def context(self) -> int:
        """The default context of the newest document of the main frame (that has no parent, so it said hello first)."""
        return self._main_hello()["executionContextId"]

    def _main_hello(self) -> dict[str, Any]:
        frame = next(
            e["params"]["frame"]["id"]
            for e in reversed(self.connection.events)
            if e["method"] == "Page.frameNavigated" and "parentId" not in e["params"]["frame"]
        )
        ids = [c["id"] for c in self.contexts if c["auxData"].get("frameId") == frame and c["auxData"].get("isDefault")]
        return {"executionContextId": ids[-1]}

    def all_messages(self, since: int = 0) -> list[tuple[int, dict[str, Any]]]:
        """All messages of the runtime as (context, message)."""
        return [
            (e["params"]["executionContextId"], json.loads(e["params"]["payload"]))
            for e in self.connection.events[since:]
            if e["method"] == "Runtime.bindingCalled" and e["params"]["name"] == self.binding
        ]

    def messages(self, context: int | None = None) -> list[dict[str, Any]]:
        """The messages of one context, by default of the main document."""
        context = self.context if context is None else context
        return [message for sender, message in self.all_messages() if sender == context]

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.messages() if message["t"] == kind]

    async def until_message(self, kind: str, count: int = 1) -> dict[str, Any]:
        """Waits for the `count`th message of a type from the main document."""
        return await self.connection.until(lambda: (self.of_type(kind)[count - 1 : count] or [None])[0])


HELPERS = """
const mc = document.modelContext;
const named = (e) => e instanceof DOMException || e instanceof Error ? e.name : "value " + String(e);
const caught = async (make) => {
  let p;
  try { p = make(); } catch (e) { return "thrown " + named(e); }
  if (!(p instanceof Promise)) return "no promise: " + typeof p;
  try { const v = await p; return v === undefined ? "ok" : v; } catch (e) { return named(e); }
};
const tick = () => new Promise((r) => setTimeout(r, 20));
const tool = (name, rest = {}) => ({ name, description: "d", execute: () => "r:" + name, ...rest });
const add = (name, rest = {}, options = {}) => caught(() => mc.registerTool(tool(name, rest), options));
const handle = async (name) => (await mc.getTools()).find((t) => t.name === name);
const event = (type) => new Promise((r) => mc.addEventListener(type, r, { once: true }));
"""


@pytest.fixture(params=["lightpanda", "chromium"])
def runtime_engine(request: pytest.FixtureRequest) -> str:
    """Each test that opens a document runs on both engines."""
    return request.param


async def _open(
    stack: contextlib.AsyncExitStack,
    engine: str,
    endpoint: str,
    html: str,
    url: str,
    config: Mapping[str, Any],
    wrap: Callable[[str], str],
    headers: Mapping[str, str],
    others: Mapping[str, str],
) -> Page:
    socket = await stack.enter_async_context(
        connect(endpoint, max_size=None, compression=None, ping_interval=None, close_timeout=1)
    )
    connection = Connection(socket)
    reader = asyncio.create_task(connection.read())

    async def stop_reader() -> None:
        reader.cancel()
        await asyncio.gather(reader, return_exceptions=True)

    stack.push_async_callback(stop_reader)
    target = (await connection.send("Target.createTarget", {"url": "about:blank"}))["targetId"]
    attached = await connection.send("Target.attachToTarget", {"targetId": target, "flatten": True})
    page = Page(connection, attached["sessionId"], random_identifier(), random_identifier())
    if engine != "lightpanda":
        stack.push_async_callback(connection.send, "Target.closeTarget", {"targetId": target})
    for domain in ("Page", "Runtime"):
        await page.command(f"{domain}.enable")
    await page.command("Runtime.addBinding", {"name": page.binding})
    page.script = wrap(build_script(handle=page.handle, binding=page.binding, config=config))
    await page.command("Page.addScriptToEvaluateOnNewDocument", {"source": page.script})
    await page.command("Fetch.enable", {"patterns": [{"urlPattern": "*"}]})
    await page.goto(url, html, headers, **others)
    return page


@pytest.fixture
async def opener(request: pytest.FixtureRequest) -> AsyncIterator[Callable[..., Awaitable[Page]]]:
    async with contextlib.AsyncExitStack() as stack:

        async def open_one(
            engine: str,
            html: str = "<!doctype html>",
            *,
            url: str = URL,
            mode: str = "runtime",
            dialogs: Any = None,
            wrap: Callable[[str], str] = lambda script: script,
            headers: Mapping[str, str] = {},
            **others: str,
        ) -> Page:
            endpoint: str = request.getfixturevalue(f"{engine}_endpoint")
            config = {"mode": mode, "dialogs": dialogs}
            return await _open(stack, engine, endpoint, html, url, config, wrap, headers, others)

        yield open_one


@pytest.fixture
def open_document(runtime_engine: str, opener: Callable[..., Awaitable[Page]]) -> Callable[..., Awaitable[Page]]:
    """`await open_document(html, url=…, mode="runtime", dialogs=None, wrap=…, headers=…, **others)` gives a `Page`."""

    async def open_document(html: str = "<!doctype html>", **options: Any) -> Page:
        return await opener(runtime_engine, html, **options)

    return open_document


@pytest.fixture
def open_native(opener: Callable[..., Awaitable[Page]]) -> Callable[..., Awaitable[Page]]:
    """The same in a Chromium that has WebMCP itself."""

    async def open_native(html: str = "<!doctype html>", **options: Any) -> Page:
        return await opener("native", html, **options)

    return open_native


@pytest.fixture
def open_lightpanda(opener: Callable[..., Awaitable[Page]]) -> Callable[..., Awaitable[Page]]:
    """The same in Lightpanda alone."""

    async def open_lightpanda(html: str = "<!doctype html>", **options: Any) -> Page:
        return await opener("lightpanda", html, **options)

    return open_lightpanda


@pytest.fixture
def open_chromium(opener: Callable[..., Awaitable[Page]]) -> Callable[..., Awaitable[Page]]:
    """The same in Chromium alone."""

    async def open_chromium(html: str = "<!doctype html>", **options: Any) -> Page:
        return await opener("chromium", html, **options)

    return open_chromium

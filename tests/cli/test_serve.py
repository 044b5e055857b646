"""PAGE as a file or a folder: what is served, and that nothing else is."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest

from pywebmcp.cli._exits import UsageError
from pywebmcp.cli._serve import FolderServer, content_type_of, serve
from pywebmcp.cli._target import Target, read_target

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("secret")
    folder = tmp_path / "site"
    (folder / "sub").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text("secret")
    (folder / ".well-known").mkdir()
    (folder / ".well-known" / "x.json").write_text("{}")
    (folder / "index.html").write_text("<p>index")
    (folder / "a b&ü.js").write_text("1")
    (folder / "empty.css").write_text("")
    (folder / "sub" / "index.html").write_text("<p>sub")
    (folder / "escape.txt").symlink_to(tmp_path / "secret.txt")
    (folder / "up").symlink_to(tmp_path)
    (folder / "inside.html").symlink_to(folder / "index.html")
    (folder / "disguise.txt").symlink_to(folder / ".git" / "config")
    (folder / "noindex").mkdir()
    os.mkfifo(folder / "pipe.txt")
    return folder


@pytest.fixture
async def server(folder: Path) -> AsyncIterator[FolderServer]:
    async with serve(folder) as running:
        yield running


async def ask(server: FolderServer, request: str) -> tuple[int, dict[str, str], bytes]:
    """Sends one raw request (``{host}`` is filled in) and reads the answer until the end of the connection."""
    port = int(server.origin.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(request.replace("{host}", f"localhost:{port}").encode("latin-1"))
        async with asyncio.timeout(10):
            answer = await reader.read()
    finally:
        writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().split("\r\n")
    headers = dict(line.split(": ", 1) for line in lines[1:])
    return int(lines[0].split()[1]), headers, body


async def get(server: FolderServer, path: str, method: str = "GET") -> tuple[int, dict[str, str], bytes]:
    return await ask(server, f"{method} {path} HTTP/1.1\r\nHost: {{host}}\r\nConnection: close\r\n\r\n")


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        ("/", "text/html; charset=utf-8", b"<p>index"),
        ("/index.html?x=1", "text/html; charset=utf-8", b"<p>index"),
        ("/a%20b%26%C3%BC.js", "text/javascript; charset=utf-8", b"1"),
        ("/empty.css", "text/css; charset=utf-8", b""),
        ("/sub/", "text/html; charset=utf-8", b"<p>sub"),
        ("/inside.html", "text/html; charset=utf-8", b"<p>index"),
        ("/.well-known/x.json", "application/json; charset=utf-8", b"{}"),
    ],
)
async def test_files_are_served_with_their_type(server: FolderServer, path: str, kind: str, body: bytes) -> None:
    status, headers, found = await get(server, path)
    assert (status, headers["Content-Type"], found) == (200, kind, body)
    assert headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/sub/../../secret.txt",
        "/..\\secret.txt",
        "/sub/..%5c..%5csecret.txt",
        "//etc/passwd",
        "/%2fetc/passwd",
        "/escape.txt",
        "/up/secret.txt",
        "/disguise.txt",
        "/.git/config",
        "/%2egit/config",
        "/secret.txt%00.html",
        "/noindex/",
        "/noindex",
        "/pipe.txt",
        "/index.html/",
        "/missing.js",
        "secret.txt",
        "file:///etc/passwd",
        "*",
    ],
)
async def test_nothing_else_can_be_reached(server: FolderServer, path: str) -> None:
    status, _, body = await get(server, path)
    assert (status, body) == (404, b"404 Not Found")


async def test_a_folder_without_its_slash_is_redirected_to_it(server: FolderServer) -> None:
    status, headers, _ = await get(server, "/sub?x=1")
    assert (status, headers["Location"]) == (301, "/sub/?x=1")


async def test_another_site_s_name_for_this_machine_is_refused(server: FolderServer) -> None:
    status, _, body = await ask(server, "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n")
    assert (status, b"index" in body) == (421, False)


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
async def test_it_is_read_only(server: FolderServer, method: str) -> None:
    assert (await get(server, "/", method))[0] == 405


async def test_head_has_the_length_and_no_body(server: FolderServer) -> None:
    status, headers, body = await get(server, "/", "HEAD")
    assert (status, headers["Content-Length"], body) == (200, "8", b"")


async def test_one_connection_carries_several_requests(server: FolderServer) -> None:
    one = "GET /empty.css HTTP/1.1\r\nHost: {host}\r\n\r\n"
    last = "GET /sub/ HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"
    _, _, rest = await ask(server, one + last)
    assert rest.endswith(b"<p>sub")


@pytest.mark.parametrize("junk", ["\r\n\r\n", "GET\r\n\r\n", "x" * 70_000, "GET / HTTP/1.1\r\nHost\r\n\r\n"])
async def test_junk_is_refused_and_the_server_lives_on(server: FolderServer, junk: str) -> None:
    port = int(server.origin.rpartition(":")[2])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(junk.encode())
    writer.write_eof()
    async with asyncio.timeout(10):
        try:
            answer = await reader.read()
        except ConnectionResetError:
            answer = b""
    writer.close()
    assert b"200 OK" not in answer
    assert (await get(server, "/"))[0] == 200


async def test_a_file_larger_than_any_buffer_arrives_whole(server: FolderServer, folder: Path) -> None:
    data = os.urandom(3_000_000)
    (folder / "big.wasm").write_bytes(data)
    status, headers, body = await get(server, "/big.wasm")
    assert (status, headers["Content-Type"], body == data) == (200, "application/wasm", True)


async def test_what_is_missing_is_remembered_but_not_the_favicon(server: FolderServer) -> None:
    await get(server, "/nope.js")
    await get(server, "/favicon.ico")
    assert server.missing == ["/nope.js"]


async def test_it_listens_on_loopback_alone_and_on_both_families(server: FolderServer) -> None:
    hosts = {socket.getsockname()[0] for running in server._servers for socket in running.sockets}
    assert hosts <= {"127.0.0.1", "::1"}
    assert "127.0.0.1" in hosts


async def test_closing_cuts_connections_that_say_nothing(folder: Path) -> None:
    before = asyncio.all_tasks()
    async with asyncio.timeout(5):
        async with serve(folder) as server:
            reader, writer = await asyncio.open_connection("127.0.0.1", int(server.origin.rpartition(":")[2]))
            await get(server, "/")
        assert await reader.read() == b""
        writer.close()
    assert not asyncio.all_tasks() - before


def test_a_page_that_names_its_encoding_keeps_it() -> None:
    assert content_type_of("x.html", b'<meta charset="iso-8859-1">') == "text/html"
    assert content_type_of("x.HTML") == "text/html; charset=utf-8"
    assert content_type_of("x.unknown") == content_type_of("x") == "application/octet-stream"
    assert content_type_of("x.mjs") == "text/javascript; charset=utf-8"
    assert content_type_of("x.wasm") == "application/wasm"


# --- what PAGE means ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["https://example.com/x?y#z", "HTTP://example.com", "about:blank", "data:text/html,x"])
def test_an_address_is_taken_as_it_is(url: str) -> None:
    assert read_target(url) == Target(url=url)


def test_localhost_needs_no_scheme() -> None:
    assert read_target("localhost:8080/x").url == "http://localhost:8080/x"
    assert read_target("127.0.0.1:8080").url == "http://127.0.0.1:8080"


def test_a_file_is_served_with_its_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_target(str(folder / "index.html")) == Target(folder=folder, path="/index.html")
    monkeypatch.chdir(folder)
    assert read_target("index.html?x=1#/route") == Target(folder=folder, path="/index.html?x=1#/route")
    assert read_target("sub/index.html").folder == folder / "sub"


def test_a_folder_is_served_at_the_root(folder: Path) -> None:
    assert read_target(str(folder)) == Target(folder=folder, path="/")
    assert read_target(f"{folder}?view=x") == Target(folder=folder, path="/?view=x")
    assert read_target(folder.as_uri()) == Target(folder=folder, path="/")


def test_a_name_with_signs_of_urls_in_it_is_still_a_name(folder: Path) -> None:
    (folder / "what? 100%#1.html").write_text("<p>x")
    assert read_target(str(folder / "what? 100%#1.html")).path == "/what%3F%20100%25%231.html"


@pytest.mark.parametrize(
    "name", ["nope.html", "noindex", "secret.txt", "a b&ü.js", "pipe.txt", "x" * 5000, "a\0b", "ftp://x/"]
)
def test_what_is_no_page_is_a_clear_error(folder: Path, name: str) -> None:
    with pytest.raises(UsageError):
        read_target(name if "://" in name else str(folder / name))


async def test_a_folder_is_a_page_on_both_engines(webmcp: Any, folder: Path, on: list[str]) -> None:
    (folder / "index.html").write_text("<script type=module src=tools.mjs></script>")
    execute = "async () => (await fetch('escape.txt')).status"
    (folder / "tools.mjs").write_text(
        f"document.modelContext.registerTool({{name: 't', description: 'd', execute: {execute}}})"
    )
    ran = await webmcp("call", folder, "t", *on)
    assert (ran.code, ran.out) == (0, "404\n")

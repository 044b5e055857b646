"""Lightpanda, the embedded engine.

Every flag below is one of ``lightpanda serve --help`` of 1.0.2. Limits that make sense for a crawler and not for
a library with deadlines of its own are raised: a tool may take minutes, its page may hold a request open that long,
and one process carries many pages, each with a connection of its own.
"""

from __future__ import annotations

import asyncio
import os
import socket
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal

from pywebmcp.engines._find import find_lightpanda
from pywebmcp.engines._folders import ThrowawayFolder, sweep
from pywebmcp.engines._process import EngineProcess
from pywebmcp.engines._running import Endpoint, RunningEngine

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LightpandaEngine", "LightpandaOptions", "Resource", "start_lightpanda"]

Resource = Literal["image", "stylesheet", "worker"]
"""What Lightpanda loads only on request; frames are always loaded."""

POLL_INTERVAL: Final = 0.002
"""Seconds between two looks for the socket; it is there some 16 ms after the start."""

_UNIX_PATH_LIMIT: Final = 100
_MAX_CONNECTIONS: Final = 1024
_MAX_MESSAGE_BYTES: Final = 268_435_456
_MAX_WEBSOCKETS: Final = 255
_REQUEST_TIMEOUT_MS: Final = 600_000
_JAR_GRACE: Final = 2.5


@dataclass(frozen=True, slots=True, kw_only=True)
class LightpandaOptions:
    """How to start Lightpanda."""

    executable: str | os.PathLike[str] | None = None
    """The executable; otherwise as `find_lightpanda` says."""
    resources: tuple[Resource, ...] = ()
    """Sub-resources to load besides frames and scripts."""
    block_private_networks: bool = False
    """Refuse requests whose name resolves to a private or local address."""
    proxy: str | None = None
    """``http://[user:password@]host:port`` for all requests. Part of the command line, which local users can read."""
    obey_robots: bool = False
    """Fetch and obey each site's ``robots.txt``; it then rules every request, not only documents."""
    ignore_tls_errors: bool = False
    """Accept any certificate."""
    user_agent_suffix: str | None = None
    """Appended to ``Lightpanda/X.Y``."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """Added to every request, redirects included. Part of the command line: not for secrets."""
    cookie_file: str | os.PathLike[str] | None = None
    """Cookies that each connection starts with: JSON in CDP's form, or Netscape's ``cookies.txt``; may be missing."""
    cookie_jar: str | os.PathLike[str] | None = None
    """Where to save the cookies of a connection, as JSON, each time that one closes: the last to close wins, since each
    has its own. May be the same file as `cookie_file`."""
    args: tuple[str, ...] = ()
    """Further arguments."""
    start_timeout: float = 10.0
    """Seconds in which it must answer."""


class LightpandaEngine(RunningEngine):
    """A running Lightpanda. Each connection has one page and cookies of its own (measured on 1.0.2)."""

    name = "lightpanda"
    _planned: Endpoint

    async def _reach(self) -> Endpoint | None:
        while self._process.exit_code is None:
            if _answers(self._planned):
                return self._planned
            await asyncio.sleep(POLL_INTERVAL)
        return None


def start_lightpanda(options: LightpandaOptions | None = None) -> LightpandaEngine:
    """Starts a Lightpanda and returns at once.

    It listens on a Unix socket in a folder of its own, or, where that path would be too long or there are no Unix
    sockets, on a free port of 127.0.0.1 (which every user of the machine can reach).

    Raises:
        EngineNotFoundError: there is none.
        EngineStartError: the system cannot run it.
    """
    options = options or LightpandaOptions()
    executable = find_lightpanda(options.executable)
    folder = ThrowawayFolder()
    try:
        endpoint = _plan_endpoint(folder)
        process = EngineProcess(
            [executable, "serve", *_where(endpoint), *_flags(options)],
            name="lightpanda",
            environment={**os.environ, "LIGHTPANDA_DISABLE_TELEMETRY": "true"},
        )
    except BaseException:  # boundary: cleans up, then raises it again
        folder.remove()
        raise
    engine = LightpandaEngine(
        executable=executable,
        process=process,
        folder=folder,
        grace=_JAR_GRACE if options.cookie_jar is not None else 0.0,
        start_timeout=options.start_timeout,
    )
    engine._planned = endpoint
    sweep()
    return engine


def _plan_endpoint(folder: ThrowawayFolder) -> Endpoint:
    path = str(folder.path.absolute() / "cdp")
    if hasattr(socket, "AF_UNIX") and len(os.fsencode(path)) <= _UNIX_PATH_LIMIT:
        return Endpoint(url="ws://localhost/", unix=path)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return Endpoint(url=f"ws://127.0.0.1:{probe.getsockname()[1]}/")


def _where(endpoint: Endpoint) -> list[str]:
    if endpoint.unix is not None:
        return ["--unix-socket", endpoint.unix]
    port = endpoint.url.rstrip("/").rpartition(":")[2]
    return ["--host", "127.0.0.1", "--port", port]


def _flags(options: LightpandaOptions) -> list[str]:
    flags = [
        *("--cdp-max-connections", str(_MAX_CONNECTIONS)),
        *("--cdp-max-pending-connections", str(_MAX_CONNECTIONS)),
        *("--cdp-max-message-size", str(_MAX_MESSAGE_BYTES)),
        *("--http-timeout", str(_REQUEST_TIMEOUT_MS)),
        *("--ws-max-concurrent", str(_MAX_WEBSOCKETS)),
        *("--watchdog-ms", "0"),
        "--disable-metrics",
    ]
    for resource in ("iframe", *options.resources):
        flags += ["--load-resources", resource]
    if options.block_private_networks:
        flags.append("--block-private-networks")
    if options.proxy is not None:
        flags += ["--http-proxy", options.proxy]
    if options.obey_robots:
        flags.append("--obey-robots")
    if options.ignore_tls_errors:
        flags.append("--insecure-disable-tls-host-verification")
    if options.user_agent_suffix is not None:
        flags += ["--user-agent-suffix", options.user_agent_suffix]
    for name, value in options.headers.items():
        flags += ["--http-header", f"{name}: {value}"]
    if options.cookie_file is not None:
        flags += ["--cookie", os.fspath(options.cookie_file)]
    if options.cookie_jar is not None:
        flags += ["--cookie-jar", os.fspath(options.cookie_jar)]
    return [*flags, *options.args]


def _answers(endpoint: Endpoint) -> bool:
    """Whether somebody listens there; local, so the connect is immediate."""
    if endpoint.unix is not None:
        family, address = socket.AF_UNIX, endpoint.unix
    else:
        family, address = socket.AF_INET, ("127.0.0.1", int(endpoint.url.rstrip("/").rpartition(":")[2]))
    with socket.socket(family) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(address)
        except OSError:
            return False
        return True

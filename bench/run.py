"""`make bench`: medians and ratios from one run on one machine, beside the peer and beside bare loops.

Ratios are what counts: seconds differ from machine to machine. Exits 1 when a target is missed.
"""

from __future__ import annotations

import asyncio
import functools
import http.server
import json
import os
import shutil
import statistics
import subprocess
import sys
import threading
from pathlib import Path
from time import perf_counter

from loops import embedded, native

HERE = Path(__file__).parent
PAGE = HERE / "page.html"
COLD_RUNS = 7


def serve() -> tuple[http.server.ThreadingHTTPServer, str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, format: str, *args: object) -> None: ...  # noqa: A002 - the base class's name

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=HERE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://localhost:{server.server_address[1]}/{PAGE.name}"


def whole(*command: str) -> tuple[float, float]:
    """Milliseconds from the start of a process to its first result, and to its end."""
    start = perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr
    first = 0.0
    for line in process.stderr:
        if "first result" in line:
            first = (perf_counter() - start) * 1e3
    code = process.wait(timeout=60)
    if code != 0:
        raise SystemExit(f"{command} ended with {code}")
    return first, (perf_counter() - start) * 1e3


def imports() -> tuple[float, float]:
    """Milliseconds of `import asyncio` and of `import asyncio, pywebmcp` in fresh interpreters."""
    both: list[list[float]] = [[], []]
    for _ in range(15):
        for seen, statement in zip(both, ("import asyncio", "import asyncio, pywebmcp"), strict=True):
            start = perf_counter()
            subprocess.run([sys.executable, "-c", statement], check=True)
            seen.append((perf_counter() - start) * 1e3)
    return statistics.median(both[0]), statistics.median(both[1])


def main() -> int:
    chromium = os.environ.get("PYWEBMCP_CHROMIUM") or next(
        (found for name in ("chromium", "google-chrome", "chromium-browser") if (found := shutil.which(name))), None
    )
    if chromium is None:
        raise SystemExit("the peer needs a Chromium: set PYWEBMCP_CHROMIUM")
    server, url = serve()
    python, webmcp = sys.executable, str(Path(sys.executable).with_name("webmcp"))
    ours_first: list[float] = []
    peer_first: list[float] = []
    peer_whole: list[float] = []
    shell: list[float] = []
    for _ in range(COLD_RUNS):
        ours_first.append(whole(python, str(HERE / "cold.py"), url)[0])
        first, total = whole(python, str(HERE / "peer.py"), chromium, url, "0")
        peer_first.append(first)
        peer_whole.append(total)
        shell.append(whole(webmcp, "call", str(PAGE), "add", '{"a": 1, "b": 2}')[1])
    peer = json.loads(
        subprocess.run(
            [python, str(HERE / "peer.py"), chromium, url, "300"], check=True, capture_output=True, text=True
        ).stdout
    )
    on_lightpanda = asyncio.run(embedded(url, 1500))
    on_chromium = asyncio.run(native(url, 500))
    asyncio_alone, with_us = imports()
    server.shutdown()
    median = statistics.median

    rows = [
        # what, ours, beside what, its figure, ratio, target, at least or at most
        ("embedded: process start to first result", median(ours_first), "peer", median(peer_first), ">=", 4.0),
        ("embedded: call", on_lightpanda["call"], "peer", peer["call"], ">=", 10.0),
        ("embedded: call", on_lightpanda["call"], "bare loop", on_lightpanda["bare"], "<=", 1.5),
        ("embedded: navigate and list", on_lightpanda["goto_list"], "peer", peer["goto_list"], ">=", 5.0),
        ("native: call", on_chromium["call"], "peer", peer["call"], ">=", 1.7),
        ("native: call", on_chromium["call"], "bare invokeTool", on_chromium["bare"], "<=", 1.3),
        ("shell: webmcp call, whole process", median(shell), "peer's script", median(peer_whole), ">=", 2.0),
        ("embedded: list", on_lightpanda["list"], "peer", peer["list"], "", 0.0),
        ("native: list", on_chromium["list"], "peer", peer["list"], "", 0.0),
    ]
    print(f"{'what':42} {'ours ms':>9}  {'beside':16} {'its ms':>9} {'ratio':>7}  target")
    missed = 0
    for what, ours, beside, other, sense, target in rows:
        ratio = ours / other if sense == "<=" else other / ours
        met = not sense or (ratio <= target if sense == "<=" else ratio >= target)
        missed += not met
        wanted = f"{sense} {target:g}x {'met' if met else 'MISSED'}" if sense else ""
        print(f"{what:42} {ours:9.3f}  {beside:16} {other:9.3f} {ratio:6.2f}x  {wanted}")
    cost = with_us - asyncio_alone
    missed += cost > 25
    verdict = "met" if cost <= 25 else "MISSED"
    print(f"{'import pywebmcp over import asyncio':42} {cost:9.3f}  {'':16} {'':9} {'':7}  <= 25 ms {verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())

from __future__ import annotations

import subprocess
import sys


def test_importing_the_wire_loads_no_socket_library() -> None:
    code = (
        "import sys, pywebmcp.wire as wire; wire.Session; "
        "print([name for name in ('websockets', 'playwright') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout.strip() == "[]"

"""``python -m pywebmcp`` is the ``webmcp`` command."""

from __future__ import annotations

import sys

from pywebmcp.cli import main

if __name__ == "__main__":
    sys.exit(main())

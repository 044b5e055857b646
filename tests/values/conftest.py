from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis.configuration import set_hypothesis_home_dir

set_hypothesis_home_dir(Path(tempfile.gettempdir()) / "pywebmcp-hypothesis")  # and not into the working tree
settings.register_profile("values", deadline=None, database=None, derandomize=True, max_examples=100)
settings.load_profile("values")

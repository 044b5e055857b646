from __future__ import annotations

from hypothesis import settings

settings.register_profile("values", deadline=None, database=None, derandomize=True, max_examples=100)
settings.load_profile("values")

"""The rule for tool names (WebMCP, registerTool step 4)."""

from __future__ import annotations

import re

__all__ = ["is_valid_tool_name"]

_NAME = re.compile(r"[A-Za-z0-9_.-]{1,128}")


def is_valid_tool_name(name: str) -> bool:
    """Whether the standard allows `name`: 1 to 128 ASCII letters, digits, ``_``, ``-`` or ``.``."""
    return _NAME.fullmatch(name) is not None

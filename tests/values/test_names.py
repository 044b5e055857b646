from __future__ import annotations

import pytest

from pywebmcp.values.names import is_valid_tool_name


@pytest.mark.parametrize("name", ["a", "notion.search", "a-b_c.9", "...", "x" * 128])
def test_names_of_the_standards_alphabet_are_valid(name: str) -> None:
    assert is_valid_tool_name(name)


@pytest.mark.parametrize("name", ["", "x" * 129, "a b", "é", "a\n", "\na", "a/b", "١", "ａ"])
def test_other_names_are_not_valid(name: str) -> None:
    assert not is_valid_tool_name(name)

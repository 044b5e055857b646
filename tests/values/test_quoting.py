from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pywebmcp.values.quoting import quote, visible

FAMILY = "\U0001f468\u200d\U0001f469\u200d\U0001f467"
PERSIAN = "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645"
ANY_TEXT = st.text(
    st.characters(exclude_categories=()) | st.sampled_from("\u200d\u200c\ufe0f\U0001f468\u0645\ud83d\ude00a")
)


def tags(text: str) -> str:
    return "".join(chr(0xE0000 + ord(char)) for char in text)


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("add_to_cart", '"add_to_cart"'),
        ("", '""'),
        ('say "hi"', r'"say \"hi\""'),
        ("back\\slash", r'"back\\slash"'),
        ("one\ntwo\r\tthree", r'"one\ntwo\r\tthree"'),
        ("\x00\x1b[2J\x7f\x9b", r'"\u0000\u001b[2J\u007f\u009b"'),
        ("a\u2028b\u2029c\u0085d", r'"a\u2028b\u2029c\u0085d"'),
        ("\u200b\u202eevil\u202c\u2066\u2069\ufeff\u00ad", r'"\u200b\u202eevil\u202c\u2066\u2069\ufeff\u00ad"'),
        (tags("Ab"), r'"\u{e0041}\u{e0062}"'),
        ("\ud800x\udfff", r'"\ud800x\udfff"'),
        ("\ufdd0\uffff", r'"\ufdd0\uffff"'),
        ("\u3164\uffa0\u115f\u034f", r'"\u3164\uffa0\u115f\u034f"'),
        ("naïve 日本語 שלום ½ a\u00a0b\u3000c", '"naïve 日本語 שלום ½ a\u00a0b\u3000c"'),
        (None, '"None"'),
        (12, '"12"'),
    ],
)
def test_text_is_quoted_with_everything_hidden_shown(text: object, literal: str) -> None:
    assert quote(text) == literal


@pytest.mark.parametrize(
    "text",
    [
        FAMILY,
        PERSIAN,
        "\u2764\ufe0f\u200d\U0001f525",  # heart on fire: joiner after a variation selector
        "\U0001f642\u200d\u2194\ufe0f",  # head shaking horizontally: a mathematical symbol joined
        "\U0001f469\U0001f3fd\u200d\U0001f680",  # a skin tone before the joiner
        "\u0915\u094d\u200d\u0937",  # Devanagari
        "1\ufe0f\u20e3",  # keycap
        "\u845b\U000e0100",  # a variant of an ideograph
        "\u1820\u180b",  # a variant of a Mongolian letter
        "\u0600\u0661",  # an Arabic number sign
        "\U0001fadf",  # newer than the tables of some Pythons
    ],
)
def test_emoji_and_scripts_that_need_invisible_characters_stay(text: str) -> None:
    assert quote(text) == f'"{text}"'


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("de\u200dle\u200cte", r'"de\u200dle\u200cte"'),
        ("\u200dа", r'"\u200dа"'),
        ("а\u200d", r'"а\u200d"'),
        ("а\u200d\u200dа", r'"а\u200d\u200dа"'),
        ("a\ufe0f", r'"a\ufe0f"'),
        ("\ufe0f", r'"\ufe0f"'),
        ("é\ufe0f\ufe0f", '"é\ufe0f\\ufe0f"'),
        ("x\U000e0101", r'"x\u{e0101}"'),
        ("a\u180b", r'"a\u180b"'),
    ],
)
def test_joiners_and_selectors_that_join_nothing_are_shown(text: str, literal: str) -> None:
    assert quote(text) == literal


def test_a_long_text_is_cut_and_marked_outside_of_the_quotes() -> None:
    assert quote("a" * 200) == f'"{"a" * 200}"'
    assert quote("a" * 201) == f'"{"a" * 200}"…'
    assert quote("abcdef", 3) == '"abc"…'
    assert quote("abc…", 4) == '"abc…"'
    assert quote("abc", 0) == '""…'


def test_a_cut_never_splits_an_escape_a_surrogate_pair_or_a_joined_emoji() -> None:
    assert quote("ab\n", 3) == '"ab"…'
    assert quote("a\u202eb", 5) == '"a"…'
    assert quote("a\ud83d\ude00", 10) == '"a"…'
    assert quote("a\ud83d\ude00", 13) == r'"a\ud83d\ude00"'
    assert quote(FAMILY, 2) == '"\U0001f468"…'


def test_a_huge_text_costs_no_more_than_what_is_shown_of_it() -> None:
    assert quote("\u202e" * 50_000_000, 12) == r'"\u202e\u202e"…'


def test_visible_text_keeps_its_quotes() -> None:
    assert visible('{"a":"\u202eb"}\n') == r'{"a":"\u202eb"}\n'
    assert visible("abc", 2) == "ab…"


@given(ANY_TEXT, st.integers(0, 40))
def test_a_literal_is_bounded_on_one_line_and_cannot_be_closed(text: str, limit: int) -> None:
    literal = quote(text, limit)
    body = literal.removesuffix("…")
    assert body[0] == body[-1] == '"'
    inside = body[1:-1]
    assert len(inside) <= limit
    assert inside.replace("\\\\", "").replace('\\"', "").count('"') == 0
    assert len(literal.splitlines()) == 1
    literal.encode()  # no surrogate is left


@given(ANY_TEXT)
def test_no_control_bidi_or_tag_character_is_left(text: str) -> None:
    allowed = {
        "\u200c",
        "\u200d",
        *"\u0600\u0601\u0602\u0603\u0604\u0605\u06dd\u070f\u0890\u0891\u08e2\U000110bd\u180e",
    }
    for char in quote(text):
        assert unicodedata.category(char) not in {"Cc", "Cs", "Co", "Zl", "Zp"}
        assert unicodedata.category(char) != "Cf" or char in allowed
        assert not 0xE0000 <= ord(char) <= 0xE00FF


@given(st.text(), st.text())
def test_different_texts_have_different_literals(one: str, other: str) -> None:
    assert (quote(one, 10_000) == quote(other, 10_000)) == (one == other)

"""Text from anywhere is made safe to print."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lessons.results.clean_text import clean


@pytest.mark.parametrize(
    ("given_text", "cleaned"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("Ω é 漢 🙂", "Ω é 漢 🙂"),
        ("one\r\ntwo", "one\ntwo"),
        ("one\rtwo", "one\ufffdtwo"),
        ("\x1b[31mred\x1b[0m", "\ufffd[31mred\ufffd[0m"),
        ("\x9b31m", "\ufffd31m"),
        ("a\x00b\x07c\x08d\x7f", "a\ufffdb\ufffdc\ufffdd\ufffd"),
        ("\u202eright to left\u202c", "\ufffdright to left\ufffd"),
        ("[bold]marks[/bold]", "[bold]marks[/bold]"),
    ],
)
def test_clean(given_text: str, cleaned: str) -> None:
    assert clean(given_text) == cleaned


@given(st.text())
def test_no_character_that_moves_a_cursor_remains(given_text: str) -> None:
    cleaned = clean(given_text)
    assert all(character.isprintable() or character in "\n\t" for character in cleaned)
    assert clean(given_text, keep="").isprintable()
    assert clean(given_text, keep="", escape=True).isprintable()
    assert clean(cleaned) == cleaned


def test_text_of_one_line_keeps_no_line_end() -> None:
    assert clean("one\r\n\ttwo", keep="") == "one\ufffd\ufffd\ufffdtwo"


def test_escapes_name_the_replaced_characters() -> None:
    assert clean("a\r\n\tb\x1b\x9b\u202e\U000e0041\ud800", keep="", escape=True) == (
        r"a\r\n\tb\x1b\x9b\u202e\U000e0041\ud800"
    )
    assert clean("one\n\x1b", escape=True) == "one\n\\x1b"

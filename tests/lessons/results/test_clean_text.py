"""Text from anywhere is made safe to print."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.lessons.results.clean_text import clean, clean_code, clean_json, is_harmless


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
        ("next\u2028line\u2029and\x85more", "next\ufffdline\ufffdand\ufffdmore"),
        ("in\u200bvis\u00adible\ufeff", "in\ufffdvis\ufffdible\ufffd"),
        ("a name that is no text: \udc9b", "a name that is no text: \ufffd"),
        ("[bold]marks[/bold]", "[bold]marks[/bold]"),
    ],
)
def test_clean(given_text: str, cleaned: str) -> None:
    assert clean(given_text) == cleaned


@given(st.text())
def test_no_character_that_moves_a_cursor_remains(given_text: str) -> None:
    cleaned = clean(given_text)
    assert all(is_harmless(character) or character in "\n\t" for character in cleaned)
    assert all(map(is_harmless, clean(given_text, keep="")))
    assert all(map(is_harmless, clean(given_text, keep="", escape=True)))
    assert clean(cleaned) == cleaned


@given(st.text(), st.text())
def test_a_document_means_the_same(key: str, value: str) -> None:
    document = json.dumps({key: [value]}, indent=1, ensure_ascii=False)
    cleaned = clean_json(document)
    assert all(is_harmless(character) or character == "\n" for character in cleaned)
    assert json.loads(cleaned) == {key: [value]}


def test_spaces_of_all_languages_stay() -> None:
    french_and_japanese = "Que\u00a0: 1\u202f000\u3000\u2009"
    assert clean(french_and_japanese) == clean(french_and_japanese, keep="") == french_and_japanese


def test_text_of_one_line_keeps_no_line_end() -> None:
    assert clean("one\r\n\ttwo", keep="") == "one\ufffd\ufffd\ufffdtwo"


def test_escapes_name_the_replaced_characters() -> None:
    assert clean("a\r\n\tb\x1b\x9b\u202e\U000e0041\ud800", keep="", escape=True) == (
        r"a\r\n\tb\x1b\x9b\u202e\U000e0041\ud800"
    )
    assert clean("one\n\x1b", escape=True) == "one\n\\x1b"


@pytest.mark.parametrize(
    ("code", "cleaned"),
    [
        ("x = 'a\x1b[2Jb'  # \u202e\r\n", "x = 'a\\x1b[2Jb'  # \\u202e\r\n"),
        ("x = 1\ry = 2", "x = 1\ny = 2"),
        ("x = 1\n\x0c\ny = 2\n  \x0cz = 3\n", "x = 1\n\ny = 2\nz = 3\n"),
        ("if x:\n\ty = '\x9b'\n", "if x:\n\ty = '\\x9b'\n"),
        ("x = 'a\x0cb'; y = 1\x0c+ 2 # \x0cnote\n", "x = 'a\\x0cb'; y = 1 + 2 #  note\n"),
    ],
)
def test_code_means_the_same(code: str, cleaned: str) -> None:
    assert clean_code(code) == cleaned
    names: list[dict[str, object]] = [{"x": 1}, {"x": 1}]
    for text, found in zip((code, cleaned), names, strict=True):
        exec(text, found)
    assert {name: value for name, value in names[0].items() if name != "__builtins__"} == {
        name: value for name, value in names[1].items() if name != "__builtins__"
    }

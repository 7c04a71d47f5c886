"""The markup of prose."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from attn_tutor.lessons.render.prose_markup import paragraphs, spans
from attn_tutor.tui.render.prose import STYLES, plain_lines, rich_text


def styled(text: Text) -> list[tuple[str, str]]:
    names = {style: name for name, style in STYLES.items()}
    return [(text.plain[start:end], names[style]) for start, end, style in text.spans if not isinstance(style, str)]


def test_paragraphs_are_lines() -> None:
    prose = "One\n  and the same.\n\n\nAnother.\n"
    assert paragraphs(prose) == ["One and the same.", "Another."]
    assert rich_text(prose).plain == "One and the same.\n\nAnother."
    assert paragraphs(" \n\n ") == []
    assert rich_text("").plain == ""


def test_markup() -> None:
    text = rich_text("A `query` meets *every* **key** of it.")
    assert text.plain == "A query meets every key of it."
    assert styled(text) == [("query", "code"), ("every", "emphasis"), ("key", "strong")]


def test_a_single_letter_may_be_emphasized() -> None:
    text = rich_text("The cosine of row *i* and row *j*, of **a** and **b**.")
    assert text.plain == "The cosine of row i and row j, of a and b."
    assert styled(text) == [("i", "emphasis"), ("j", "emphasis"), ("a", "strong"), ("b", "strong")]


def test_emphasis_spans_line_breaks() -> None:
    text = rich_text("It is *a dot\nproduct*, and `x @\ny` is **code\nor so**.")
    assert text.plain == "It is a dot product, and x @ y is code or so."
    assert styled(text) == [("a dot product", "emphasis"), ("x @ y", "code"), ("code or so", "strong")]


def test_stars_and_backquotes_that_are_not_markup() -> None:
    """A product is not emphasis, and nothing in code is markup."""
    for prose in ("2 * 3 * 4", "a * b", "* a *", "one ` alone"):
        assert rich_text(prose).plain == prose
        assert styled(rich_text(prose)) == []
    assert styled(rich_text("`a * b * c` and `**kwargs`")) == [("a * b * c", "code"), ("**kwargs", "code")]
    assert styled(rich_text("[red]not[/red] Rich's markup")) == []


def test_emphasis_does_not_leave_its_paragraph() -> None:
    assert styled(rich_text("an *open\n\nend* here")) == []


def test_plain_lines() -> None:
    prose = "The *scores* are a `dot product`\nof **two** vectors.\n\nNext."
    assert list(plain_lines(prose, 24)) == ["The scores are a `dot", "product` of two vectors.", "", "Next."]
    assert list(plain_lines("", 24)) == []


@pytest.mark.parametrize("value", ["3", "-0.5", "1e-05", "(6, 3)", "(3,)", "[0.1, 0.2]", "True", "False", "inf", "nan"])
def test_plain_values_have_no_backquotes(value: str) -> None:
    assert list(plain_lines(f"It is `{value}` here.", 40)) == [f"It is {value} here."]


@pytest.mark.parametrize("code", ["x", "W_query", ".T", ".reshape", "Trues", "None", "infinite", "-x", "(x, 3)", "[x]"])
def test_plain_code_has_backquotes(code: str) -> None:
    assert list(plain_lines(f"It is `{code}` here.", 40)) == [f"It is `{code}` here."]


@given(st.text("ab *`\n", max_size=60))
def test_no_letter_is_lost(prose: str) -> None:
    letters = [letter for letter in prose if letter in "ab"]
    assert [letter for letter in rich_text(prose).plain if letter in "ab"] == letters
    assert [letter for letter in "".join(plain_lines(prose, 30)) if letter in "ab"] == letters
    for paragraph in paragraphs(prose):
        assert all(piece for piece, _ in spans(paragraph))

"""Templates: what braces may contain, and the errors for anything else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.template import Field, Key, TemplateError


def test_text_without_braces_is_one_piece() -> None:
    assert template.parse("nothing to fill") == ["nothing to fill"]
    assert template.parse("") == []


def test_pieces_come_in_order() -> None:
    assert template.parse("a {x} b {y:.2f}") == ["a ", Field("x", "", ""), " b ", Field("y", "", ".2f")]


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("{x}", Field("x", "", "")),
        ("{ x }", Field("x", "", "")),
        ("{weights[1,1]:.4f}", Field("weights[1,1]", "", ".4f")),
        ("{weights[0, 1:].sum():.4f}", Field("weights[0, 1:].sum()", "", ".4f")),
        ("{row_tops[:, -1].max():.4f}", Field("row_tops[:, -1].max()", "", ".4f")),
        ("{tuple(a.shape)}", Field("tuple(a.shape)", "", "")),
        ("{100 * parts[2] / total:.0f}", Field("100 * parts[2] / total", "", ".0f")),
        ("{3 * 768:,}", Field("3 * 768", "", ",")),
        ("{kind!r}", Field("kind", "r", "")),
        ("{kind!s:>8}", Field("kind", "s", ">8")),
        ('{", ".join(names)}', Field('", ".join(names)', "", "")),
    ],
)
def test_field_is_parsed(text: str, field: Field) -> None:
    assert template.fields(text) == [field]


@pytest.mark.parametrize(
    ("field", "key"),
    [
        (Field("x", "", ""), "x"),
        (Field("x", "r", ""), "x!r"),
        (Field("x", "", ".2f"), "x:.2f"),
        (Field("x", "s", ">8"), "x!s:>8"),
    ],
)
def test_key_is_the_text_between_the_braces(field: Field, key: str) -> None:
    assert field.key == key
    assert template.fields("{" + key + "}") == [field]


@pytest.mark.parametrize(
    ("field", "value", "text"),
    [
        (Field("x", "", ""), 6, "6"),
        (Field("x", "", ".4f"), 0.13854, "0.1385"),
        (Field("x", "", ","), 2360064, "2,360,064"),
        (Field("x", "", ""), "it's", "it's"),
        (Field("x", "r", ""), "it's", '"it\'s"'),
        (Field("x", "s", ">5"), 3, "    3"),
        (Field("x", "s", ""), (2, 6), "(2, 6)"),
    ],
)
def test_field_formats_a_value(field: Field, value: object, text: str) -> None:
    assert field.format(value) == text


class FakeTensor:
    """An object with the method by which a template recognizes a tensor."""

    def __init__(self, values: object) -> None:
        self.values = values

    def tolist(self) -> object:
        return self.values


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (6, "6"),
        (0.1, "0.1"),
        (True, "true"),
        ((2, 6), "[2, 6]"),
        (FakeTensor([[1.0, float("inf")]]), "[[1.0, Infinity]]"),
        ([FakeTensor(3), (FakeTensor(float("nan")),)], "[3, [NaN]]"),
        ("text", '"text"'),
    ],
)
def test_a_fact_is_json(value: object, text: str) -> None:
    fact = template.fact(" x ")
    assert (fact.key, fact.format(value)) == ("x!j", text)


@pytest.mark.parametrize("value", [object(), {1}, FakeTensor(object()), 1j])
def test_value_that_is_no_fact_is_refused(value: object) -> None:
    with pytest.raises(TypeError, match="it is a"):
        template.fact("x").format(value)


def test_format_that_does_not_fit_the_value_raises() -> None:
    with pytest.raises(ValueError, match="code 'f'"):
        Field("x", "", ".2f").format("text")


def test_doubled_braces_are_literal() -> None:
    assert template.fill("{{x}} and {x}", {"x": "6"}) == "{x} and 6"
    assert template.fields("{{x}}") == []


def test_fill_takes_values_by_key() -> None:
    text = "{x:.1f} of {x} are {name!r}"
    assert template.fill(text, {"x:.1f": "1.0", "x": "1", "name!r": "'a'"}) == "1.0 of 1 are 'a'"


def test_fill_marks_what_is_missing() -> None:
    assert template.fill("{x} of {y}", {"y": "6"}) == "… of 6"
    assert template.fill("{x}", {}, missing="?") == "?"


def test_value_with_braces_is_not_filled_again() -> None:
    assert template.fill("{x}", {"x": "{y}", "y": "no"}) == "{y}"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "Single '{'"),
        ("}", "Single '}'"),
        ("{x", "expected '}'"),
        ("{}", "'{}' is not a Python expression"),
        ("{x y}", "'{x y}' is not a Python expression"),
        ("{x = 1}", "'{x = 1}' is not a Python expression"),
        ("{import os}", "not a Python expression"),
        ("{x != y}", "conversion"),
        ("{x!q}", "'!q' is not a conversion"),
        ("{x!j}", "'!j' is not a conversion"),
        ("{" + "(" * 500 + "}", "not a Python expression"),
        ("{" + "-" * 100_000 + "1}", "not a Python expression"),
        ("{x\0}", "not a Python expression"),
    ],
)
def test_error_says_what_is_wrong_and_how_to_write_a_brace(text: str, complaint: str) -> None:
    with pytest.raises(TemplateError) as caught:
        template.parse(text)
    assert complaint in str(caught.value)
    assert "write {{ for a literal brace" in str(caught.value)


@given(st.text())
def test_escaped_text_is_filled_unchanged(text: str) -> None:
    assert template.fill(text.replace("{", "{{").replace("}", "}}"), {}) == text


@given(st.text(alphabet="ab {}[]():!.0\n"))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        pieces = template.parse(text)
    except TemplateError:
        return
    assert template.fields(text) == [piece for piece in pieces if isinstance(piece, Field)]
    template.fill(text, {})


# Keys ----------------------------------------------------------------------------------------------------------------


def test_key_is_written_as_the_screen_has_it_and_takes_no_value_of_the_run() -> None:
    text = "Press {key:explain weights[1, 2]} on {n}, or {key:change}; walk with {key:move}."
    assert template.keys_of(text) == [Key("explain", "weights[1, 2]"), Key("change"), Key("move")]
    assert template.fields(text) == [Field("n", "", "")]
    assert template.fill(text, {"n": "it"}) == "Press Enter on it, or `w`; walk with the arrow keys."


def test_variable_called_key_is_a_variable() -> None:
    assert template.parse("{key}{key:.2f}{key:d}{key.T:explain}") == [
        *(Field("key", "", ""), Field("key", "", ".2f"), Field("key", "", "d"), Field("key.T", "", "explain")),
    ]


def test_key_that_does_not_exist_is_named_with_those_that_do() -> None:
    with pytest.raises(TemplateError, match=r"'\{key:explode\}' names no key; those of texts are: move, explain, "):
        template.parse("Press {key:explode}.")


@pytest.mark.parametrize("action", template.KEY_OF_ACTION)
def test_every_key_has_a_name_for_people(action: str) -> None:
    name = template.written_key(action)
    assert name
    assert "bracket" not in name

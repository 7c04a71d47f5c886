"""Numbers and labels become text of a known width."""

from __future__ import annotations

import struct
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from attn_tutor.lessons.render.numbers import exact, fewer_digits, number_format, short, truncated, visible


@pytest.mark.parametrize(
    ("dtype", "kind", "low", "high", "values", "texts"),
    [
        ("float32", "score", 0.2707, 1.8524, (0.2707, 1.8524), ["0.2707", "1.8524"]),
        ("float32", "score", 0.2707, 1.8524, (-inf, 0.2707, nan, inf), ["  -inf", "0.2707", "   nan", "   inf"]),
        ("float32", "vector", -0.5, 0.9, (-0.5, 0.9), ["-0.5000", " 0.9000"]),
        ("float32", "vector", -0.5, 0.9, (-1e-9, -0.0), [" 0.0000", " 0.0000"]),
        ("float32", "vector", 0.0, 12.5, (3.14159,), [" 3.1416"]),
        ("float32", "vector", 0.0, 123.456, (123.456, 1), ["123.456", "  1.000"]),
        ("float32", "vector", 0.0, 12345.67, (12345.67,), ["12345.7"]),
        ("float32", "weight", 0.0, 0.0098, (0.00977,), ["0.00977"]),
        ("float32", "weight", 0.0, 0.00098, (0.000977,), ["0.000977"]),
        ("float32", "vector", -3.2e-7, 1e-9, (-3.2e-7, 1e-9), ["-3.20e-07", " 1.00e-09"]),
        ("float32", "vector", 1.0, 2.5e8, (2.5e8, 1.0), ["2.50e+08", "1.00e+00"]),
        ("float32", "score", None, None, (-inf, nan), ["  -inf", "   nan"]),
        ("float32", "mask", 0.0, 1.0, (0.0, 1.0), ["0", "1"]),
        ("float32", "mask", 0.0, 0.0, (0.0, -inf), ["   0", "-inf"]),
        ("float32", "mask", 0.0, 1.0, (0.0, 0.5), ["0.0000", "0.5000"]),
        ("float32", "mask", 0.0, 1.0, None, []),
        ("bool", "mask", 0.0, 1.0, (True, False), ["1", "0"]),
        ("int64", "vector", -3, 128, (-3, 128, 5.0), [" -3", "128", "  5"]),
        ("int64", "vector", 0, 10**15, (10**15,), ["1.00e+15"]),
    ],
)
def test_numbers_of_a_tensor_have_one_width(
    dtype: str, kind: str, low: float | None, high: float | None, values: tuple[float, ...] | None, texts: list[str]
) -> None:
    form = number_format(dtype, kind, low, high, values)
    assert [form.text(value) for value in values or ()] == texts
    assert {len(text) for text in texts} <= {form.width}


def test_a_mask_whose_values_are_not_loaded_may_hold_fractions() -> None:
    assert number_format("float32", "mask", 0.0, 1.0, None).text(0.5) == "0.5000"


@given(
    st.lists(st.floats(width=32, allow_nan=True), min_size=1), st.sampled_from(["score", "weight", "mask", "vector"])
)
def test_any_numbers_fit_their_width(values: list[float], kind: str) -> None:
    finite = [value for value in values if abs(value) < inf]
    form = number_format("float32", kind, min(finite, default=None), max(finite, default=None), values)
    assert all(len(form.text(value)) == form.width and "#" not in form.text(value) for value in values)


def test_a_number_outside_the_bounds_is_not_cut() -> None:
    assert number_format("float32", "score", 0.0, 1.0).text(123456.0) == "######"


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (1.8524080514907837, "float32", "1.852408"),
        (0.10000000149011612, "float32", "0.1"),
        (0.1, "float64", "0.1"),
        (0.0999755859375, "float16", "0.1"),
        (0.10009765625, "bfloat16", "0.1001"),
        (1.0, "float32", "1.0"),
        (-0.0, "float32", "-0.0"),
        (16777216.0, "float32", "16777216.0"),
        (1e6, "float32", "1000000.0"),
        (2.9999999242136255e-05, "float32", "0.00003"),
        (1.401298464324817e-45, "float32", "1e-45"),
        (3.4028234663852886e38, "float32", "3.4028235e+38"),
        (3.0, "int64", "3"),
        (1.0, "bool", "True"),
        (-inf, "float32", "-inf"),
        (nan, "float32", "nan"),
    ],
)
def test_exact(value: float, dtype: str, text: str) -> None:
    assert exact(value, dtype) == text


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_exact_gives_the_same_float32_again(value: float) -> None:
    (again,) = struct.unpack("f", struct.pack("f", float(exact(value, "float32"))))
    assert again == value


def test_short() -> None:
    assert [short(value) for value in (0.27068, 1.85241, 0.0, 1.0, 12345.6, -inf)] == [
        "0.271", "1.85", "0", "1", "1.23e+04", "-inf",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("journey", "journey"),
        ("внимание", "внимание"),
        ("注意", "注意"),
        ("[/b]", "[/b]"),
        (" the", "␣the"),
        ("a b ", "a b␣"),
        ("  ", "␣␣"),
        ("", ""),
        ("a\nb\t", "a\\nb\\t"),
        ("\x1b[31m", "\\x1b[31m"),
        ("\u202eabc", "\\u202eabc"),
        ("a\u200bb\ufeff", "a\\u200bb\\ufeff"),
        ("\ud800", "\\ud800"),
        ("\u0301a", "◌\u0301a"),
        ("e\u0301", "e\u0301"),
        ("\u2764\ufe0f", "\u2764"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_visible(text: str, label: str) -> None:
    assert visible(text) == label


def test_visible_in_ascii() -> None:
    assert visible(" the", "_") == "_the"


@given(st.text(), st.integers(0, 12))
def test_the_width_of_a_label_is_the_sum_of_its_characters(text: str, width: int) -> None:
    label = visible(text)
    assert cell_len(label) == sum(map(cell_len, label))
    assert cell_len(truncated(label, width)) <= width


@pytest.mark.parametrize(
    ("text", "width", "cut"),
    [
        ("journey", 7, "journey"),
        ("journey", 6, "journ…"),
        ("journey", 1, "…"),
        ("journey", 0, ""),
        ("注意力", 4, "注…"),
    ],
)
def test_truncated(text: str, width: int, cut: str) -> None:
    assert truncated(text, width) == cut


def test_truncated_in_ascii() -> None:
    assert truncated("journey", 4, "~") == "jou~"


@pytest.mark.parametrize(
    ("low", "high", "values", "two", "tight"),
    [
        (0.0, 1.0, (0.1666, 1.0, 0.0, 0.996), ["0.17", "1.00", "0.00", "1.00"], [".17", "1.0", ".00", "1.0"]),
        (-0.5, 1.25, (-0.5, 1.25, -0.004), ["-0.50", " 1.25", " 0.00"], ["-.50", "1.25", " .00"]),
        (-31.4, 5.0, (-31.4, 0.333), ["-31.40", "  0.33"], ["-31", ".33"]),
    ],
)
def test_numbers_with_fewer_digits(
    low: float, high: float, values: tuple[float, ...], two: list[str], tight: list[str]
) -> None:
    forms = fewer_digits(number_format("float32", "score", low, high, values), low, high)
    assert [form.text(value).strip() for form in forms for value in values] == [text.strip() for text in (*two, *tight)]
    assert all(len(form.text(value)) == form.width for form in forms for value in values)


def test_minus_infinity_is_never_cut() -> None:
    low, high = 0.0078, 0.4656
    form = number_format("float32", "score", low, high)
    for fewer in fewer_digits(form, low, high, infinite=True):
        assert fewer.text(-inf).strip() == "-inf"


@given(st.integers(-(10**8), 10**8), st.integers(-(10**8), 10**8), st.sampled_from((1e4, 1e6, 1e8)))
def test_fewer_digits_are_rounded_and_never_cut(one: int, other: int, unit: float) -> None:
    low, high = min(one, other) / unit, max(one, other) / unit
    full = number_format("float32", "score", low, high, (low, high))
    for form in fewer_digits(full, low, high):
        for value in (low, high, (low + high) / 2):
            shown = form.text(value).strip()
            decimals = len(shown.partition(".")[2].partition("e")[0])
            assert form.width <= full.width
            assert "e" in shown or abs(float(shown) - value) <= 0.5000001 * 10.0**-decimals

"""Explanations in words and digits: what is written is true, and it fits."""

from __future__ import annotations

import math
import re
from decimal import Decimal, localcontext
from math import inf, nan

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from attn_tutor.lessons.render import explanation_text, formula_digits
from attn_tutor.lessons.render.explanation_text import OperandGroup
from attn_tutor.lessons.render.formula_digits import Digits
from attn_tutor.lessons.render.numbers import readable
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.explanation import Explanation
from tests.tui.explanations import VARIED, dot, explanation, leaf, long, operand, single

MORE = re.compile(r"\((\d+) more: ([^)]*)\)")
WRITTEN = re.compile(r"\d+(?:\.\d+)?(?:e[+-]\d+)?")


def arithmetic(text: str) -> Decimal:
    """Evaluate a line of sums and products exactly as it is written."""
    text = MORE.sub(r"(\2)", text).replace("·", "*")
    with localcontext(prec=2000):
        found: Decimal = eval(WRITTEN.sub(r"Decimal('\g<0>')", text), {"Decimal": Decimal})
    return found


def all_texts(e: Explanation, unicode: bool) -> str:
    """Return all texts that are ever shown for an explanation."""
    lines = [explanation_text.one_line(e, width, unicode=unicode) for width in (20, 80, 200)]
    return "\n".join(
        [*lines, *explanation_text.report(e, unicode), explanation_text.crumbs([e] * 9, "x[:]", unicode, 30)]
    )


tidy = st.integers(-9999, 9999).map(lambda number: single(number / 10_000))
small = st.floats(-1, 1, width=32)
wild = st.floats(width=32, allow_nan=False, allow_infinity=False)
anything = st.one_of(tidy, small, wild)


def sums(numbers: st.SearchStrategy[float], most: int = 8) -> st.SearchStrategy[Explanation]:
    """Generate dot products of up to `most` terms."""
    pairs = st.lists(st.tuples(numbers, numbers), min_size=1, max_size=most)
    return pairs.map(lambda found: dot("scores", (1, 2), *zip(*found, strict=True)))


dots = sums(anything, 40)

IDS = [e.name for e in VARIED]


# Digits -------------------------------------------------------------------------------------------------------------


def test_a_dot_product() -> None:
    e = dot("scores", (1, 2), [0.55, 0.87, 0.66], [0.57, 0.85, 0.64])
    assert formula_digits.digits(e) == Digits("0.55·0.57 + 0.87·0.85 + 0.66·0.64", "=", "1.4754")
    assert formula_digits.digits(e, unicode=False) == Digits("0.55 * 0.57 + 0.87 * 0.85 + 0.66 * 0.64", "=", "1.4754")
    # An exact result has an equal sign.
    assert formula_digits.digits(dot("x", (), [0.5, -2], [0.5, 3])).sign == "="
    assert formula_digits.digits(dot("x", (), [0.5, -2], [0.5, 3])).text == "0.5·0.5 + (-2·3)"


@given(dots, st.integers(1, 8))
def test_an_equal_sign_means_exactly_equal(e: Explanation, most: int) -> None:
    found = formula_digits.digits(e, most)
    assume(found.result.lstrip("-") != "inf")
    exactly = arithmetic(found.text) == Decimal(found.result) and " more: " not in found.text
    assert found.sign == ("=" if exactly else "≈")


@given(sums(st.one_of(tidy, small), 40), st.integers(1, 8))
def test_written_digits_evaluate_to_the_written_result(e: Explanation, most: int) -> None:
    """The written arithmetic, rounded to the digits of the written result, gives that result."""
    assert e.value is not None
    assume(e.value == 0 or abs(e.value) >= 0.001)
    # If the exact number lies halfway between two roundings, no number of digits decides.
    assume(abs(abs(e.value * 10_000) % 1 - 0.5) > 0.05)
    found = formula_digits.digits(e, most)
    assert abs(arithmetic(found.text) - Decimal(found.result)) <= Decimal("0.00005")


@given(dots, st.integers(1, 8))
def test_of_a_long_sum_the_largest_terms_are_kept(e: Explanation, most: int) -> None:
    products = sorted((abs(a * b) for a, b in zip(e.values[::2], e.values[1::2], strict=True)), reverse=True)
    found = formula_digits.digits(e, most)
    left_out = max(0, len(products) - most)
    more = MORE.search(found.text)
    assert (int(more[1]) if more else 0) == left_out
    assert found.text.count("·") == len(products) - left_out
    if left_out:
        short = f.shorten(e.formula, e.values, most)
        terms = [abs(f.evaluate(part, e.values)) for part in (short.formula.parts if most > 1 else [short.formula])]  # type: ignore[union-attr]
        assert sorted(terms, reverse=True) == products[:most]


def test_a_dot_product_of_gpt2() -> None:
    e = long()
    found = formula_digits.digits(e)
    more = MORE.search(found.text)
    assert more is not None
    assert int(more[1]) == 760
    assert found.sign == "≈"
    assert arithmetic(found.text).quantize(Decimal("0.0001")) == Decimal(found.result)
    assert explanation_text.symbols(e) == "queries[0,:]·keys[1,:]"
    assert [len(group.positions) for group in explanation_text.groups(e)] == [768, 768]


def test_operands_get_digits_until_the_sum_is_right() -> None:
    """With four decimals, the factors would give 0.0001·1000 = 0.1, not 0.149."""
    e = dot("x", (), [0.000149], [1000.0])
    assert formula_digits.digits(e) == Digits("0.000149·1000", "=", "0.149")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ([inf, 1.0], [2.0, 1.0], Digits("inf·2 + 1·1", "=", "inf")),
        ([inf, 1.0], [-2.0, 1.0], Digits("inf·(-2) + 1·1", "=", "-inf")),
        ([nan], [2.0], Digits("nan·2", "=", "nan")),
        ([inf, inf], [1.0, -1.0], Digits("inf·1 + inf·(-1)", "=", "nan")),
        ([1e30], [1e30], Digits("1e+30·1e+30", "≈", "inf")),
        ([1e-30], [1e-10], Digits("1e-30·1e-10", "=", "1e-40")),
        ([0.0, -0.0], [1.0, 1.0], Digits("0·1 + 0·1", "=", "0")),
    ],
)
def test_odd_numbers(left: list[float], right: list[float], expected: Digits) -> None:
    assert formula_digits.digits(dot("x", (), left, right)) == expected


@pytest.mark.parametrize(
    ("value", "dtype", "decimals", "expected"),
    [
        (1.0, "bool", 4, "1"),
        (0.0, "bool", 4, "0"),
        (7.0, "int64", 4, "7"),
        (-3.0, "int64", 9, "-3"),
        (0.5, "float32", 4, "0.5"),
        (2.0, "float32", 4, "2"),
        (-0.0, "float32", 4, "0"),
        (single(1 / 3), "float32", 4, "0.3333"),
        (single(1 / 3), "float32", 9, "0.33333334"),
        (1 / 3, "float64", 9, "0.333333333"),
        (single(1.23456789e-5), "float32", 4, "1.235e-05"),
        (single(1.23456789e7), "float32", 4, "12345679"),
        (1.234567891234e7, "float64", 4, "1.235e+07"),
        (1 / 3, "float16", 4, "0.3333"),
        (nan, "float32", 4, "nan"),
        (-inf, "float64", 9, "-inf"),
    ],
)
def test_readable_numbers(value: float, dtype: str, decimals: int, expected: str) -> None:
    assert readable(value, dtype, decimals) == expected


@given(st.one_of(small, wild), st.integers(4, 9))
def test_a_number_is_rounded_and_never_cut(value: float, decimals: int) -> None:
    text = readable(value, "float32", decimals)
    assert len(text) <= 17
    assert float(text) == pytest.approx(value, rel=1e-3, abs=0.00005)
    assert "0" <= text.lstrip("-")[0] <= "9"
    assert text != "-0"


# Symbols ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("e", "expected"),
    list(
        zip(
            VARIED,
            [
                "queries[0,:]·keys[1,:]",
                "softmax(scores[1,:])",
                "scores[1,0]",
                "float('-inf') if mask[0,1] else scores[0,1]",
                "scores[0,0] / d_out^0.5",
                "(x[0] + x[1] + x[2]) / 3",
                "sqrt(x[0]·x[0] + x[1]·x[1])",
                "cumprod(x[0])",
                "written in the code",
                "drawn at random",
            ],
            strict=True,
        )
    ),
    ids=IDS,
)
def test_symbols(e: Explanation, expected: str) -> None:
    assert explanation_text.symbols(e) == expected


def test_a_dot_product_and_a_bias() -> None:
    e = dot("y", (0,), [0.5, 0.25], [1.0, 2.0])
    assert isinstance(e.formula, f.Op)
    with_bias = explanation(
        "y", (0,), 1.5, f.add(*e.formula.parts, f.OperandRef(4)), [*e.operands, operand("bias", (0,), 0.5)], op="linear"
    )
    assert explanation_text.symbols(with_bias) == "queries[0,:]·keys[1,:] + bias[0]"
    assert [group.pattern for group in explanation_text.groups(with_bias)] == ["queries[0,:]", "keys[1,:]", "bias[0]"]
    assert formula_digits.digits(with_bias) == Digits("0.5·1 + 0.25·2 + 0.5", "=", "1.5")


def test_long_sums() -> None:
    cells = [operand("x", (index,), index / 4) for index in range(1, 6)]
    total = f.add(*map(f.OperandRef, range(5)))
    squares = f.add(*(f.Op("**", (f.OperandRef(at), f.Number(2.0))) for at in range(5)))

    def text_of(formula: f.Formula, unicode: bool = True) -> list[str]:
        e = explanation("t", (), f.evaluate(formula, [cell.value for cell in cells]), formula, cells, op="sum")
        found = formula_digits.digits(e, 2, unicode)
        return [explanation_text.symbols(e, unicode), f"{found.text} {found.sign} {found.result}"]

    assert text_of(total) == ["sum(x[:])", "1 + 1.25 + (3 more: 1.5) ≈ 3.75"]
    assert text_of(f.Op("/", (total, f.Number(5.0)))) == ["sum(x[:]) / 5", "(1 + 1.25 + (3 more: 1.5)) / 5 ≈ 0.75"]
    assert text_of(f.call("max", *map(f.OperandRef, range(5)))) == ["max(x[:])", "max(1, 1.25, (3 more: 0.75)) ≈ 1.25"]
    assert text_of(squares) == ["x[1]^2 + x[2]^2 + x[3]^2 + … (5 terms)", "1^2 + 1.25^2 + (3 more: 0.875) ≈ 3.4375"]
    assert text_of(f.call("sqrt", squares), unicode=False) == [
        "sqrt(x[1]**2 + x[2]**2 + x[3]**2 + ... (5 terms))",
        "sqrt(1**2 + 1.25**2 + (3 more: 0.875)) ~ 1.8540",
    ]


def test_different_products_are_not_one_row() -> None:
    """A row of `a` with a row of `b` is written as such only if the factors are those rows."""
    cells = [operand(name, (0,), 0.5) for name in ("a.real", "b.imag", "a.imag", "b.real")]
    turned = f.add(*(f.multiply(f.OperandRef(at), f.OperandRef(at + 1)) for at in (0, 2)))
    e = explanation("t", (), 0.5, turned, cells, op="add")
    assert explanation_text.symbols(e) == "a.real[0]·b.imag[0] + a.imag[0]·b.real[0]"
    diagonal = [operand(name, (at, at), 0.5) for at in (0, 1) for name in ("a", "b")]
    e = explanation("t", (), 0.5, turned, diagonal, op="sum")
    assert explanation_text.symbols(e) == "a[0,0]·b[0,0] + a[1,1]·b[1,1]"


def test_digits_that_decide() -> None:
    """Where a last digit decides, as many are written as a reader needs, on paper and with a calculator."""
    least = explanation(
        "r", (0,), single(-0.4), f.call("fmod", f.OperandRef(0), f.Number(single(0.4))), [operand("a", (), -2.0)]
    )
    assert formula_digits.digits(least) == Digits("fmod(-2, 0.40000001)", "≈", "-0.4")
    quotient = f.Op("/", (f.OperandRef(0), f.OperandRef(1)))
    tenths = [operand("a", (), single(0.7)), operand("b", (), single(0.1))]
    cut = explanation("r", (), 7.0, f.call("trunc", f.call("float32", quotient)), tenths)
    assert formula_digits.digits(cut) == Digits("trunc(float32(0.7 / 0.1))", "=", "7")
    floor = explanation(
        "r", (), 9.0, f.Op("//", (f.OperandRef(0), f.OperandRef(1))), [operand("a", (), 1.0), tenths[1]]
    )
    assert formula_digits.digits(floor) == Digits("1 // 0.100000001", "=", "9")


def test_a_number_of_the_code_that_was_rounded_to_the_type_of_a_tensor_is_written_as_the_code_writes_it() -> None:
    below = f.Op("<", (f.OperandRef(0), f.Number(single(0.8))))
    e = explanation("r", (0,), 1.0, below, [operand("a", (), single(0.7))])
    assert formula_digits.digits(e) == Digits("0.7 < 0.8", "=", "1")


def test_a_sum_that_was_rounded_on_the_way() -> None:
    """What the written digits come to is told, since it is not the result."""
    e = explanation("r", (), 1e8, f.add(f.OperandRef(0), f.Number(1.0)), [operand("a", (), 1e8)])
    remark = "Without rounding, these numbers would give 100000001. (float32 keeps about 7 digits.)"
    assert formula_digits.digits(e) == Digits("100000000 + 1", "≈", "100000000", remark)
    assert f"  {remark}" in explanation_text.report(e)


def test_what_cancels_is_mostly_rounding() -> None:
    """The logarithm of a sum near 1: the digits come out on paper, and a program that computes on hears of the rest."""
    parts = f.call("log", f.add(f.Number(1.0), f.OperandRef(0)))
    remarks = []
    for added in (0.00026556, 0.25):
        rounded = single(math.log(single(1 + added) + 2.0**-23))
        remarks.append(formula_digits.rounding_remark(explanation("r", (), rounded, parts, [operand("a", (), added)])))
    unrounded = f"{math.log(1.00026556):.9f}"
    assert remarks == [f"Without rounding, these numbers would give {unrounded}. (float32 keeps about 7 digits.)", ""]


# Operands in rows ---------------------------------------------------------------------------------------------------


@given(dots)
def test_every_operand_is_in_a_row(e: Explanation) -> None:
    for varied in (e, *VARIED):
        indices = [index for group in explanation_text.groups(varied) for index in group.positions]
        assert sorted(set(indices)) == list(range(len(varied.operands)))


def test_rows_of_a_dot_product() -> None:
    e = dot("x", (), [1.0, 2.0], [3.0, 4.0])
    assert explanation_text.groups(e) == (
        OperandGroup("queries", "queries[0,:]", (0, 2)),
        OperandGroup("keys", "keys[1,:]", (1, 3)),
    )
    # A row multiplied with itself, and iterations of a loop.
    square = explanation("x", (), 1.0, f.multiply(f.OperandRef(0), f.OperandRef(0)), [operand("y", (0,), 1.0)])
    assert [group.positions for group in explanation_text.groups(square)] == [(0,), (0,)]
    rounds = explanation(
        "x", (), 3.0, f.add(f.OperandRef(0), f.OperandRef(1)), [operand("r#1", (), 1.0), operand("r#2", (), 2.0)]
    )
    assert explanation_text.groups(rounds) == (OperandGroup("r", "r", (0, 1)),)


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ([(1, 0), (1, 1)], "w[1,:]"),
        ([(0, 2), (1, 2)], "w[:,2]"),
        ([(0, 0), (1, 1)], "w[:,:]"),
        ([(3, 4)], "w[3,4]"),
        ([()], "w"),
        ([(0,), (0, 1)], "w"),
    ],
)
def test_patterns(indices: list[tuple[int, ...]], expected: str) -> None:
    assert explanation_text.pattern([operand("w", index, 0.0) for index in indices]) == expected


def test_a_pattern_says_which_value_of_a_name_it_is() -> None:
    first, other = operand("r#1", (0,), 1.0), operand("r#1", (1,), 2.0)
    assert explanation_text.pattern([first, other]) == "r#1[:]"
    assert explanation_text.pattern([first, operand("r#2", (0,), 2.0)]) == "r[0]"


# Lines --------------------------------------------------------------------------------------------------------------


def test_one_line_contains_as_much_as_fits() -> None:
    e = VARIED[0]
    texts = {explanation_text.one_line(e, width, "product") for width in range(20, 201)}
    symbols, digits, line = "queries[0,:]·keys[1,:]", "0.5512·0.57 + 0.87·(-0.85)", "   line 4"
    assert texts == {
        f"scores[1,2] = {symbols} = {digits} ≈ -0.4253{line}",
        f"scores[1,2] = {symbols} = {digits} ≈ -0.4253",
        f"scores[1,2] = {digits} ≈ -0.4253{line}",
        f"scores[1,2] = {digits} ≈ -0.4253",
        f"scores[1,2] = {symbols} ≈ -0.4253",
    }


@given(dots, st.integers(20, 200))
def test_one_line_fits_or_is_the_shortest(e: Explanation, width: int) -> None:
    for each in (e, *VARIED):
        line = explanation_text.one_line(each, width, "product")
        assert "\n" not in line
        assert len(line) <= width or line == explanation_text.one_line(each, 20, "product")


def test_one_line_of_numbers_without_operands() -> None:
    inputs, drawn = VARIED[-2:]
    assert explanation_text.one_line(inputs, 80, "inputs") == "inputs[1,0] = 0.55   written in the code   line 3"
    assert explanation_text.one_line(inputs, 30, "inputs") == "inputs[1,0] = 0.55   line 3"
    assert explanation_text.one_line(inputs, 20, "inputs") == "inputs[1,0] = 0.55"
    assert explanation_text.one_line(drawn, 80) == "W_query[0,0] = 0.2961   The first draw after the seed 123."
    assert explanation_text.one_line(drawn, 40) == "W_query[0,0] = 0.2961   drawn at random"


def test_nothing_is_repeated() -> None:
    by_name = {e.name: explanation_text.one_line(e, 200) for e in VARIED}
    assert by_name["flat"] == "flat[3] = scores[1,0] = 0.5"
    assert by_name["masked"] == "masked[0,1] = float('-inf') if mask[0,1] else scores[0,1] = -inf"
    assert by_name["untold"] == "untold = cumprod(x[0]) = 0.5"


@pytest.mark.parametrize(
    ("file", "line", "expected"),
    [
        ("product", 4, "line 4"),
        ("", 4, "line 4"),
        ("setup", 3, "line 3 of the setup"),
        ("inputs", 1, "line 1 of step 2"),
        ("inputs: rows", 1, "line 1 of step 2"),
        # An id would tell learners nothing: they see titles and numbers of steps.
        ("unknown", 1, ""),
        ("input 2", 1, "line 1 of an earlier input"),
        ("your code", 1, "line 1 of your code"),
        ("attention/causal.py", 95, "attention/causal.py, line 95"),
        ("product", None, ""),
    ],
)
def test_where(file: str, line: int | None, expected: str) -> None:
    explained = leaf("x", (), 1.0, file=file, line=line)
    assert explanation_text.where(explained, "product", {"inputs": "step 2"}) == expected


@pytest.mark.parametrize("e", VARIED, ids=IDS)
def test_ascii(e: Explanation) -> None:
    assert all_texts(e, unicode=False).isascii()
    assert e.name in all_texts(e, unicode=True)


@given(dots)
def test_ascii_of_any_sum(e: Explanation) -> None:
    assert all_texts(e, unicode=False).isascii()


def test_report() -> None:
    assert explanation_text.report(VARIED[0]) == [
        "scores[1,2] = -0.4253   queries @ keys.T",
        "  = queries[0,:]·keys[1,:]",
        "  = 0.5512·0.57 + 0.87·(-0.85) ≈ -0.4253",
    ]
    assert explanation_text.report(VARIED[1]) == [
        "weights[1,1] = 0.5815",
        "  = softmax(scores[1,:])",
        "  = 1 / 1.7197 ≈ 0.5815",
        "  exp: 0.6213  1  0.0984",
        "  sum of exp: 1.7197",
    ]
    assert explanation_text.report(VARIED[-1]) == ["W_query[0,0] = 0.2961", "  The first draw after the seed 123."]


def test_rows_of_numbers() -> None:
    assert explanation_text.numbers([0.5, nan, -inf, 1e-7]) == "0.5  nan  -inf  1e-7"
    assert explanation_text.numbers([1.0] * 13) == "  ".join("1" * 12) + "  (and 1 more)"


# The way ------------------------------------------------------------------------------------------------------------

WAY = [
    leaf("context", (1, 0), 1.0),
    leaf("weights", (1, 2), 1.0),
    leaf("scores", (1, 2), 1.0),
    leaf("queries", (1, 0), 1.0),
]


def test_crumbs() -> None:
    text = "context[1,0] ← weights[1,2] ← scores[1,2] ← queries[1,0] ← W_query[:,0]"
    assert explanation_text.crumbs(WAY, "W_query[:,0]") == text
    assert explanation_text.crumbs(WAY, "W_query[:,0]", width=71) == text
    assert explanation_text.crumbs(WAY, "W_query[:,0]", width=70) == (
        "context[1,0] ← … ← scores[1,2] ← queries[1,0] ← W_query[:,0]"
    )
    shortened = explanation_text.crumbs(WAY, "W_query[:,0]", False, 53)
    assert shortened == "context[1,0] <- ... <- queries[1,0] <- W_query[:,0]"
    assert explanation_text.crumbs(WAY[:1]) == "context[1,0]"


@given(st.integers(1, 30), st.integers(1, 120))
def test_crumbs_keep_both_ends(count: int, width: int) -> None:
    way = [leaf("x", (index,), 1.0) for index in range(count)]
    text = explanation_text.crumbs(way, width=width)
    assert text.startswith("x[0]")
    assert text.endswith(f"x[{count - 1}]")
    assert len(text) <= max(width, len(f"x[0] ← … ← x[{count - 1}]"))


def test_whole_numbers_beyond_those_of_a_float_keep_their_digits() -> None:
    assert readable(2**60 + 7, "int64") == "1152921504606846983"
    told = explanation(
        "c",
        (),
        2**61 + 14,
        f.multiply(f.OperandRef(0), f.Number(2.0)),
        [operand("a", (), 2**60 + 7, "int64")],
        op="multiply",
        dtype="int64",
    )
    assert explanation_text.report(told)[-1] == "  = 1152921504606846983·2 = 2305843009213693966"


@pytest.mark.parametrize(("dtype", "value"), [("float16", 5.30078125), ("bfloat16", 0.69921875)])
def test_a_number_that_is_rounded_to_its_type_has_no_remark(dtype: str, value: float) -> None:
    """The formula says that it is rounded."""
    before = single(round(value, 1))
    e = explanation("h", (0,), value, f.Op(dtype, (f.OperandRef(0),)), [operand("a", (0,), before)], dtype=dtype)
    assert formula_digits.digits(e) == Digits(f"{dtype}({round(value, 1)})", "≈", f"{value:.4f}")


@pytest.mark.parametrize(("dtype", "value"), [("float16", 32768.0), ("float16", -65504.0), ("bfloat16", 12352.0)])
def test_whole_numbers_of_few_digits_are_written_in_full(dtype: str, value: float) -> None:
    """A reader takes every digit for one that counts; nothing is said of a rounding that did not happen."""
    e = explanation(
        "c", (), value, f.multiply(f.OperandRef(0), f.Number(8.0)), [operand("b", (), value / 8, dtype)], dtype=dtype
    )
    assert explanation_text.report(e)[0] == f"c = {value:.0f}"
    found = formula_digits.digits(e)
    assert (found.sign, found.result, found.remark) == ("=", f"{value:.0f}", "")
    assert formula_digits.rounding_remark(e) == ""


def test_a_remark_tells_numbers_apart() -> None:
    """It has as many digits as it takes, where the number that it names is near the value."""
    formula = f.add(f.OperandRef(0), f.Number(1e-7))
    e = explanation("c", (), 4096.0, formula, [operand("b", (), 4096.0, "float16")], dtype="float16")
    remark = formula_digits.digits(e).remark
    assert remark == "" or "4096.0000001" in remark


def test_a_truth_value_is_computed_with_as_a_number() -> None:
    """However exactly a formula has to be written."""
    formula = f.Op("+", (f.OperandRef(0), f.OperandRef(1)))
    e = explanation(
        "c", (), 0.5, formula, [operand("b", (), 1.0, "bool"), operand("a", (), 0.1, "float16")], dtype="float16"
    )
    assert formula_digits.digits(e).text.startswith("1 + 0.1")

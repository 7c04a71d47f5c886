"""Formulas: their written form has the value to which they evaluate."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attn_tutor.lessons.results import exact_formula
from attn_tutor.lessons.results import formula as f

VALUES = (2.0, -3.0, 0.5, 0.0)
NAMES = ("a", "b[0,1]", "(x @ y)[2]", "-1")

numbers = st.floats(-50, 50, allow_nan=False).map(lambda value: f.Number(round(value, 2)))
leaves = st.integers(0, len(VALUES) - 1).map(f.OperandRef) | numbers


def operations(inner: st.SearchStrategy[f.Formula]) -> st.SearchStrategy[f.Formula]:
    """Return a strategy for operations on parts."""
    two = st.tuples(inner, inner)
    many = st.lists(inner, min_size=2, max_size=4).map(tuple)
    return st.one_of(
        st.builds(f.Op, st.sampled_from(["+", "*", "max", "min", "and", "or"]), many),
        st.builds(f.Op, st.sampled_from(["-", "/", "//", "%", "<", "<=", ">", ">=", "==", "!="]), two),
        st.builds(f.Op, st.sampled_from(["neg", "not", "exp", "abs", "tanh", "sqrt", "floor"]), st.tuples(inner)),
        st.builds(f.Op, st.just("**"), st.tuples(inner, st.sampled_from([f.Number(2.0), f.Number(3.0)]))),
        st.builds(f.Op, st.just("if"), st.tuples(inner, inner, inner)),
    )


formulas = st.recursive(leaves, operations, max_leaves=12)


def python_value(text: str) -> float:
    """Evaluate a formula in Python's notation, with the functions of formulas."""
    names: dict[str, Any] = {**f.FUNCTIONS, "inf": math.inf, "nan": math.nan, "sum": sum}
    return float(eval(text, {"__builtins__": {}}, names))


@settings(max_examples=400, deadline=None)
@given(formulas)
def test_python_notation_means_the_same(formula: f.Formula) -> None:
    """Python's precedence of operators gives the value of the formula."""
    operands = [repr(value) for value in VALUES]
    try:
        meant = python_value(f.text(formula, operands, repr))
    except (ZeroDivisionError, OverflowError, ValueError):
        return  # Python raises where IEEE 754 has infinities
    got = f.evaluate(formula, VALUES)
    if math.isfinite(meant) and math.isfinite(got):
        assert got == pytest.approx(meant, rel=1e-6, abs=1e-6) or _steps(formula)


def _steps(formula: f.Formula) -> bool:
    """Return whether a formula has a step function, which rounding may push either way."""
    if not isinstance(formula, f.Op):
        return False
    return formula.op in ("floor", "//", "%", "<", "<=", ">", ">=", "==", "!=") or any(map(_steps, formula.parts))


@given(formulas)
def test_notation_for_people_has_the_same_brackets(formula: f.Formula) -> None:
    """The two notations differ in the signs of operations only."""
    people = f.text(formula, NAMES, repr, "people")
    assert people.replace("·", "*").replace("^", "**").replace(" ", "") == f.text(formula, NAMES, repr).replace(" ", "")


@given(formulas)
def test_json_round_trip(formula: f.Formula) -> None:
    """A formula that is written to JSON and read again is the same."""
    assert f.from_json(json.loads(json.dumps(f.to_json(formula)))) == formula


@pytest.mark.parametrize("tree", [None, [], [1, 2], {}, True, "a", 1.5])
def test_malformed_json_is_refused(tree: object) -> None:
    """Any JSON other than a tree of operations raises `ValueError`."""
    with pytest.raises(ValueError):  # noqa: PT011
        f.from_json(tree)


@pytest.mark.parametrize(
    ("op", "parts", "value"),
    [
        ("/", (1, 0), math.inf),
        ("/", (-1, 0), -math.inf),
        ("/", (0, 0), math.nan),
        ("/", (math.inf, math.inf), math.nan),
        ("exp", (1000,), math.inf),
        ("exp", (-math.inf,), 0.0),
        ("log", (0,), -math.inf),
        ("log", (-1,), math.nan),
        ("sqrt", (-1,), math.nan),
        ("*", (math.inf, 0), math.nan),
        ("-", (math.inf, math.inf), math.nan),
        ("+", (math.inf, -math.inf), math.nan),
        ("+", (math.inf, 1), math.inf),
        ("max", (1, math.nan), math.nan),
        ("argmax", (1, math.nan, 3), 1.0),
        ("median_low", (4, 1, 3, 2), 2.0),
        ("median_low", (1, math.nan), math.nan),
        ("bitand", (-2, 3), 2.0),
        ("bitxor", (math.inf, 3), math.nan),
        ("argmin", (2, 1, 1), 1.0),
        ("**", (0, -1), math.inf),
        ("**", (-8, 1 / 3), math.nan),
        ("**", (1e300, 2), math.inf),
        ("%", (1, 0), math.nan),
        ("//", (1, 0), math.inf),
        ("//", (math.inf, 2), math.nan),
    ],
)
def test_arithmetic_of_ieee_754(op: str, parts: tuple[float, ...], value: float) -> None:
    """No function raises, and undefined results are NaN."""
    got = f.evaluate(f.Op(op, tuple(map(f.OperandRef, range(len(parts))))), [float(part) for part in parts])
    assert got == value or (math.isnan(got) and math.isnan(value))


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40), st.integers(1, 10))
def test_shortening_keeps_the_largest_terms(terms: list[float], most: int) -> None:
    """The remaining terms and the rest add up to the whole sum."""
    formula = f.add(*map(f.OperandRef, range(len(terms))))
    short = f.shorten(formula, terms, most)
    kept = f.operand_positions(short.formula)
    assert len(kept) == min(most, len(terms)) == len(terms) - short.left_out
    assert f.evaluate(short.formula, terms) + short.rest == pytest.approx(math.fsum(terms), abs=1e-6)
    left = [abs(term) for place, term in enumerate(terms) if place not in kept]
    assert not left or max(left) <= min(abs(terms[place]) for place in kept)


@pytest.mark.parametrize("op", ["max", "min"])
def test_the_greatest_of_one_number_is_that_number(op: str) -> None:
    formula = f.Op(op, (f.Number(2.5),))
    assert f.evaluate(formula, ()) == 2.5
    assert exact_formula.evaluate(formula, ()) == 2.5

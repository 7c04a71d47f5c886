"""Formulas in exact arithmetic: where a root, an exponential or an infinity has an exact value, it counts."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from attn_tutor.lessons.results import exact_formula
from attn_tutor.lessons.results import formula as f


@pytest.mark.parametrize(
    ("name", "given", "exactly"),
    [
        ("sqrt", (4,), 2),
        ("sqrt", (Fraction(9, 4),), Fraction(3, 2)),
        ("sqrt", (2,), None),
        ("sqrt", (-4,), None),
        ("**", (4, Fraction(3, 2)), 8),
        ("**", (8, Fraction(1, 3)), 2),
        ("**", (2, Fraction(1, 2)), None),
        ("exp", (0,), 1),
        ("exp", (1,), None),
        ("exp", (-math.inf,), 0),
        ("log", (1,), 0),
        ("tanh", (math.inf,), 1),
        ("atan2", (0, 3), 0),
        ("atan2", (0, -3), None),
        ("median_low", (4, 1, 3, 2), 2),
        ("max", (-math.inf, Fraction(1, 3)), Fraction(1, 3)),
        ("+", (1, math.inf), math.inf),
        ("/", (1, math.inf), 0),
        ("-", (math.inf, math.inf), None),
        ("*", (0, math.inf), None),
        ("abs", (math.nan,), None),
        ("isnan", (math.nan,), 1),
        ("isinf", (-math.inf,), 1),
        ("isnan", (Fraction(1, 3),), 0),
    ],
)
def test_a_value_is_exact_or_there_is_none(
    name: str, given: tuple[float | Fraction, ...], exactly: float | None
) -> None:
    formula = f.Op(name, tuple(map(f.OperandRef, range(len(given)))))
    assert exact_formula.evaluate(formula, given) == exactly

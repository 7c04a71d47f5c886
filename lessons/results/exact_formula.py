"""The value of a formula in exact arithmetic, as somebody would compute it on paper from the written digits."""

from __future__ import annotations

import math
import operator
import statistics
from collections.abc import Callable, Sequence
from fractions import Fraction

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.floats import rounded

STEPS = frozenset({"floor", "ceil", "round", "trunc", "//", "%", "fmod", "float16", "float32", "bfloat16"})
"""Functions that jump: a last digit more or less in their arguments may change their result by far more."""

MOST_BITS = 1 << 17
"""Bits of a numerator or a denominator beyond which nobody computes on paper, and neither does this module."""

TESTS = frozenset({"<", "<=", ">", ">=", "==", "!=", "argmax", "argmin"})
"""Comparisons, which jump as well."""


def _fmod(a: Fraction, b: Fraction) -> Fraction:
    return a - b * math.trunc(a / b)


def _rounded_to(dtype: str) -> Callable[[Fraction], Fraction]:
    return lambda x: Fraction(rounded(float(x), dtype))


def _power(a: Fraction, b: Fraction) -> Fraction:
    """Return a power that is rational, as 4 to the power 0.5 is. Raises `ValueError` for any other."""
    if abs(b) > f.MOST_EXPONENT:
        raise ValueError(b)
    return _root(a, b.denominator) ** b.numerator


def _root(a: Fraction, degree: int) -> Fraction:
    """Return a root that is rational. Raises `ValueError` for any other."""
    if degree == 1:
        return a
    root = Fraction(*(round(part ** (1 / degree)) for part in (a.numerator, a.denominator))) if a >= 0 else a
    if a < 0 or root**degree != a:
        raise ValueError(a)
    return root


def _only_at(point: int, value: int) -> Callable[[Fraction], int]:
    """Return a function that has a rational value at one rational number only. Elsewhere it raises `ValueError`."""

    def function(a: Fraction) -> int:
        if a != point:
            raise ValueError(a)
        return value

    return function


def _angle(y: Fraction, x: Fraction) -> int:
    """Return the angle of a point on the positive half of the axis. Raises `ValueError` for any other."""
    if y != 0 or x <= 0:
        raise ValueError(y)
    return 0


def _bits(function: Callable[[int, int], int]) -> Callable[[Fraction, Fraction], int]:
    return lambda a, b: function(int(a), int(b))


_FUNCTIONS: dict[str, Callable[..., Fraction | int | bool]] = {
    "-": operator.sub,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    **f.COMPARISONS,
    "**": _power,
    "sqrt": lambda x: _root(x, 2),
    **{name: _only_at(0, 0) for name in ("sin", "tanh", "erf")},
    **{name: _only_at(0, 1) for name in ("exp", "cos")},
    "log": _only_at(1, 0),
    "atan2": _angle,
    "bitand": _bits(operator.and_),
    "bitor": _bits(operator.or_),
    "bitxor": _bits(operator.xor),
    "neg": operator.neg,
    "abs": abs,
    "max": lambda *parts: max(parts),
    "min": lambda *parts: min(parts),
    "median_low": lambda *parts: statistics.median_low(parts),
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "trunc": math.trunc,
    "fmod": _fmod,
    "not": operator.not_,
    **{dtype: _rounded_to(dtype) for dtype in ("float16", "float32", "bfloat16")},
}


Exact = Fraction | float
"""A rational number, or as a float an infinity."""

_OF_INFINITY = frozenset({"+", "-", "*", "/", "neg", "abs", "exp", "log", "sqrt", "tanh", "erf"})
"""Functions that give an infinity, or one exact number, where an argument is infinite."""


def evaluate(formula: f.Formula, values: Sequence[float | Fraction]) -> Exact | None:
    """Return the exact value of a formula; None if a part has none: most exponentials and roots, NaN."""
    try:
        return _evaluate(formula, values)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def _evaluate(formula: f.Formula, values: Sequence[float | Fraction]) -> Exact | None:
    if isinstance(formula, f.OperandRef):
        return _number(values[formula.position])
    if isinstance(formula, f.Number):
        return _number(formula.value)
    if formula.op == "if":
        test, yes, no = formula.parts
        decided = _evaluate(test, values)
        return None if decided is None else _evaluate(yes if decided else no, values)
    if formula.op in ("isnan", "isinf"):
        return Fraction(f.evaluate(formula, [float(value) for value in values]))
    parts: list[Exact] = []
    for part in formula.parts:
        found = _evaluate(part, values)
        if found is None:
            return None
        parts.append(found)
    if formula.op in ("and", "or"):
        return next((part for part in parts if bool(part) == (formula.op == "or")), parts[-1])
    if formula.op in _OF_INFINITY and any(isinstance(part, float) for part in parts):
        return _number(f.evaluate(f.Op(formula.op, tuple(f.Number(float(part)) for part in parts)), ()))
    if formula.op in ("+", "*"):
        result = parts[0]
        for value in parts[1:]:
            result = _number(result + value if formula.op == "+" else result * value)
        return result
    function = _FUNCTIONS.get(formula.op)
    return None if function is None else _number(function(*parts))


def _number(value: Exact) -> Exact:
    """Return a number as it is kept here. Raises `ValueError` for NaN, and for one that has too many digits."""
    if isinstance(value, float) and math.isinf(value):
        return value
    number = Fraction(value)
    if max(number.numerator.bit_length(), number.denominator.bit_length()) > MOST_BITS:
        raise ValueError("too many digits")
    return number


def jumps(formula: f.Formula) -> bool:
    """Return whether a formula contains a function that jumps."""
    if not isinstance(formula, f.Op):
        return False
    return formula.op in STEPS or formula.op in TESTS or any(map(jumps, formula.parts))


def needs_exact_operands(formula: f.Formula, short: Sequence[float], values: Sequence[float], dtype: str) -> bool:
    """Return whether a formula comes out differently with shorter operands than with the exact ones.

    It has to come out in exact arithmetic and in double precision alike: on paper -2 / 0.4 is -5, and in double
    precision it is not.

    Args:
        formula: the formula.
        short: the operands in as few digits as identify them in their types.
        values: the operands themselves.
        dtype: the type of the result, which decides how well it has to come out.
    """
    true, precision = f.evaluate(formula, values), 1e-15 if dtype == "float64" else 1e-6
    found = [f.evaluate(formula, short)]
    if jumps(formula):
        on_paper = evaluate(formula, [Fraction(repr(value)) if math.isfinite(value) else value for value in short])
        found += [] if on_paper is None else [float(on_paper)]
    return not all(one == true or math.isclose(one, true, rel_tol=precision) or math.isnan(one) for one in found)

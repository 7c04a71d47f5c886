"""The value of a formula in exact arithmetic, as somebody would compute it on paper from the written digits."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from fractions import Fraction

from lessons.results import formula as f
from lessons.results.floats import rounded

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
    """Return a power with a whole exponent. Raises `ValueError` for any other, which may be irrational."""
    if b.denominator != 1 or abs(b) > f.MOST_EXPONENT:
        raise ValueError(b)
    return a ** int(b)


def _bits(function: Callable[[int, int], int]) -> Callable[[Fraction, Fraction], int]:
    return lambda a, b: function(int(a), int(b))


_FUNCTIONS: dict[str, Callable[..., Fraction | int | bool]] = {
    "-": operator.sub,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
    **f.COMPARISONS,
    "**": _power,
    "bitand": _bits(operator.and_),
    "bitor": _bits(operator.or_),
    "bitxor": _bits(operator.xor),
    "neg": operator.neg,
    "abs": abs,
    "max": lambda *parts: max(parts),
    "min": lambda *parts: min(parts),
    "floor": math.floor,
    "ceil": math.ceil,
    "round": round,
    "trunc": math.trunc,
    "fmod": _fmod,
    "isnan": lambda x: False,
    "isinf": lambda x: False,
    "not": operator.not_,
    **{dtype: _rounded_to(dtype) for dtype in ("float16", "float32", "bfloat16")},
}


def evaluate(formula: f.Formula, values: Sequence[float | Fraction]) -> Fraction | None:
    """Return the exact value of a formula; None if a part is not rational: an exponential, a root, an infinity."""
    try:
        return _evaluate(formula, values)
    except (ValueError, OverflowError, ZeroDivisionError):
        return None


def _evaluate(formula: f.Formula, values: Sequence[float | Fraction]) -> Fraction | None:
    if isinstance(formula, f.OperandRef):
        return Fraction(values[formula.position])
    if isinstance(formula, f.Number):
        return Fraction(formula.value)
    if formula.op == "if":
        test, yes, no = formula.parts
        decided = _evaluate(test, values)
        return None if decided is None else _evaluate(yes if decided else no, values)
    parts: list[Fraction] = []
    for part in formula.parts:
        found = _evaluate(part, values)
        if found is None:
            return None
        parts.append(found)
    if formula.op in ("+", "*"):
        result = parts[0]
        for value in parts[1:]:
            result = _bounded(result + value if formula.op == "+" else result * value)
        return result
    if formula.op in ("and", "or"):
        return next((part for part in parts if bool(part) == (formula.op == "or")), parts[-1])
    function = _FUNCTIONS.get(formula.op)
    return None if function is None else _bounded(Fraction(function(*parts)))


def _bounded(number: Fraction) -> Fraction:
    """Return a number that has not too many digits. Raises `ValueError` for any other."""
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

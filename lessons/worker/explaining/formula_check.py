"""A check that a formula accounts for a value: evaluated over its operands, it may differ by rounding only."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import torch

from attn_tutor.lessons.results import exact_formula
from attn_tutor.lessons.results import formula as f

LONG = 64
"""Terms of a sum beyond which rounding errors are assumed to average out, as in the blocked sums of the kernels."""

_EXACT = {"<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "argmax", "argmin", "isnan", "isinf"}
_FLAT = {"tanh", "erf", "sin", "cos"}
"""Functions whose slope never exceeds 1.2."""


def agrees(
    formula: f.Formula,
    values: Sequence[float],
    value: float,
    dtype: torch.dtype,
    wider: Collection[int] = (),
) -> bool:
    """Return whether a formula, computed in the precision of `dtype`, can have given this value.

    `wider` are the positions of operands in a higher precision, which the kernel did not have.
    """
    # Integers may have been computed from floating-point numbers.
    info = torch.finfo(dtype if dtype.is_floating_point else torch.float32)
    got = f.evaluate(formula, values)
    if close(got, value, info.eps * abs(value)):
        return True
    bound = error(formula, values, info.eps, wider)[1] + 2.0**-52 * abs(value)
    if not dtype.is_floating_point:
        return close(got, value, bound)
    if math.isinf(value) and math.isfinite(got):
        return abs(got) + bound >= info.max and (got > 0) == (value > 0)
    return close(got, value, bound + info.eps * abs(value) + 4 * info.tiny)


def close(got: float, value: float, bound: float) -> bool:
    """Return whether two numbers are equal up to a bound; NaN equals NaN."""
    if math.isnan(got) or math.isnan(value):
        return math.isnan(got) and math.isnan(value)
    return got == value or (math.isfinite(got) and abs(got - value) <= 2 * bound)


def error(formula: f.Formula, values: Sequence[float], eps: float, wider: Collection[int] = ()) -> tuple[float, float]:
    """Return the value of a formula and a bound of its error if each operation rounds to a relative `eps`.

    Errors are propagated to first order: Higham, Accuracy and Stability of Numerical Algorithms, chapters 2 to 4.
    """
    if isinstance(formula, f.OperandRef):
        number = values[formula.position]
        return number, eps * abs(number) if formula.position in wider else 0.0
    if isinstance(formula, f.Number):
        return formula.value, eps * abs(formula.value)
    op = formula.op
    if op == "if":
        test, yes, no = formula.parts
        return error(yes if f.evaluate(test, values) else no, values, eps, wider)
    parts = [error(part, values, eps, wider) for part in formula.parts]
    numbers, errors = [part[0] for part in parts], [part[1] for part in parts]
    refs = tuple(f.OperandRef(position) for position in range(len(parts)))
    result = f.evaluate(f.Op(op, refs), numbers)
    if not math.isfinite(result):
        return result, 0.0
    slack = eps * abs(result)
    if op == "+":
        return result, sum(errors) + eps * min(len(parts), LONG) * sum(map(abs, numbers))
    if op == "-":
        return result, sum(errors) + slack
    if op == "*":
        bound, product = 0.0, 1.0
        for number, wrong in parts:
            bound = bound * (abs(number) + wrong) + abs(product) * wrong + eps * abs(product * number)
            product *= number
        return result, bound
    if op == "/":
        left = abs(numbers[1]) - errors[1]
        return result, (errors[0] + abs(result) * errors[1]) / left + slack if left > 0 else math.inf
    if op == "**":
        spread = abs(numbers[1] * result / numbers[0]) * errors[0] if numbers[0] else errors[0]
        return result, spread + abs(result) * abs(math.log(abs(numbers[0]) or 1)) * errors[1] + 4 * slack
    if op == "exp":
        return result, result * math.expm1(min(errors[0], 700.0)) + 4 * slack
    if op == "log":
        return result, errors[0] / abs(numbers[0]) + 4 * slack + eps * errors[0]
    if op == "sqrt":
        return result, (errors[0] / result if result else math.sqrt(errors[0])) + slack
    if op in _FLAT:
        return result, 1.2 * errors[0] + 4 * eps
    if op in _EXACT or op in exact_formula.STEPS:
        # A function that jumps has to be told with arguments at which it gives what the kernel gave.
        return result, 0.0 if op in _EXACT else slack
    return result, max(errors, default=0.0)

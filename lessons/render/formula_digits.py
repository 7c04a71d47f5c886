"""The digits of a formula: its numbers, written so that a reader who computes with them gets the written result.

Digits are honest: operands have as many as make the result come out visibly; `=` appears only where the shown digits
give exactly the shown result, and `≈` everywhere else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction

from attn_tutor.lessons.render.numbers import exact, nonfinite, readable
from attn_tutor.lessons.results import exact_formula
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.floats import DECIMALS, exact_number, rounded
from attn_tutor.lessons.texts.wording import Wording

say = Wording("explanation/digits")

MOST_DECIMALS = 9
MOST_TOLD = 20
"""Decimals that tell a number from another one that is near."""


@dataclass(frozen=True, slots=True)
class Digits:
    """A formula in digits (`0.55·0.57 + 0.87·0.85`), the sign that joins it to its result, and the result.

    `remark` is a sentence if the written digits do not come to the result because PyTorch rounded on the way.
    """

    text: str
    sign: str
    result: str
    remark: str = ""


@dataclass(frozen=True, slots=True)
class _Written:
    """A formula with its numbers as texts.

    Attributes:
        digits: what is shown.
        value: what the written digits come to in double precision.
        exactly: what they come to in exact arithmetic; None if that is neither a rational number nor an infinity.
        is_whole: whether the result is a whole number that double precision does not hold.
    """

    digits: Digits
    value: float
    exactly: exact_formula.Exact | None
    is_whole: bool

    def comes_out(self, formula: f.Formula) -> bool:
        """Return whether a reader who computes with the written digits gets the written result."""
        if self.is_whole:
            return self.exactly == Fraction(self.digits.result)
        same = _same_text(readable(self.value, "float64", _decimals(self.digits.result)), self.digits.result)
        if not same or self.exactly is None or not exact_formula.jumps(formula):
            return same
        on_paper = readable(float(self.exactly), "float64", _decimals(self.digits.result))
        return _same_text(on_paper, self.digits.result)


def digits(explanation: Explanation, most: int = 8, unicode: bool = True) -> Digits:
    """Write the formula with numbers: of a sum the `most` largest terms at most, and the total of the rest.

    Operands get as few decimals as make the result come out to its last shown digit.
    """
    e = explanation
    if e.value is None:
        return Digits("", "=", readable(e.value))
    short = _shortened(f.taken(_short_softmax(e), e.values), e.values, most)
    # A result that lies between two roundings may need more decimals too.
    for decimals in range(DECIMALS, DECIMALS + 3):
        result = readable(e.value, e.dtype, decimals)
        for at, write in enumerate(_precisions()):
            written = _write(short, e, write, result, unicode, as_single=at == 0)
            if written.comes_out(short) or _is_rounded(short, written.value, e.dtype, result):
                return written.digits
    written = _write(short, e, _bare, readable(e.value, e.dtype), unicode)
    if written.digits.result in ("nan", "inf", "-inf"):
        # The notes say what is beyond the largest number of the type.
        return written.digits
    unrounded = written.value if written.exactly is None else float(written.exactly)
    return replace(written.digits, remark=_rounding_remark(unrounded, e.value, e.dtype, DECIMALS))


def _is_rounded(formula: f.Formula, value: float, dtype: str, result: str) -> bool:
    """Return whether a formula rounds to the type of its result: 5.3 stands for the number of float16 next to it."""
    rounds = isinstance(formula, f.Op) and formula.op == dtype
    return rounds and _same_text(readable(value, dtype, _decimals(result)), result)


def rounding_remark(explanation: Explanation) -> str:
    """Say what the formula gives if nothing is rounded on the way; "" if that differs from the value by little.

    Where large numbers cancel, as in the logarithm of a sum near 1, the roundings of a kernel are most of what is left.
    """
    e = explanation
    if e.value is None:
        return ""
    got = f.evaluate(e.formula, e.values) if e.operands else e.value
    near = MANY_ROUNDINGS * EPSILON.get(e.dtype, 0.0) * abs(e.value)
    if e.dtype not in EPSILON or not (math.isfinite(got) and math.isfinite(e.value)) or abs(got - e.value) <= near:
        return ""
    return _rounding_remark(got, e.value, e.dtype, MOST_DECIMALS)


def _rounding_remark(unrounded: float, value: float, dtype: str, decimals: int) -> str:
    """Say what the formula gives, with at least so many decimals and enough of them to tell it from the value."""
    if unrounded == value:
        return ""
    texts = (readable(unrounded, "float64", count) for count in range(decimals, MOST_TOLD))
    rounded_text = exact(value, "float64")
    number = next((text for text in texts if not _same_text(text, rounded_text)), exact(unrounded, "float64"))
    remark = say("unrounded", "Without rounding, these numbers would give {number}.", number=number)
    return f"{remark} ({_precision(dtype)})"


Write = Callable[[float, str], str]
"""Writes a number of a dtype."""


def _precisions() -> Iterator[Write]:
    """Yield ways to write a number, from short to exact."""
    for decimals in range(DECIMALS, MOST_DECIMALS + 1):
        yield lambda value, dtype, decimals=decimals: readable(value, dtype, decimals)  # type: ignore[misc]
    yield _exact
    # What is 0.1 in single precision is a little more than that.
    yield lambda value, dtype: readable(value, "float64" if dtype in PRECISION else dtype, MOST_DECIMALS)
    yield _bare


def _bare(value: float, dtype: str) -> str:
    """Write a number as it is in double precision, which holds any other exactly."""
    return _exact(value, "float64" if dtype in PRECISION else dtype)


def _exact(value: float, dtype: str) -> str:
    """Write a number so that it can be told from all others of its dtype, and computed with: `True` is 1."""
    return exact(value, "int64" if dtype == "bool" else dtype).removesuffix(".0")


EPSILON = {"bfloat16": 2.0**-7, "float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}
"""The distance from 1 to the next number of a dtype."""

MANY_ROUNDINGS = 64
"""Roundings that an ordinary formula may add up to, and about which nothing is said."""

PRECISION = {"bfloat16": (2, 3), "float16": (3,), "float32": (7,), "float64": (16,)}
"""How many decimal digits a dtype keeps, or from how many to how many."""


def _precision(dtype: str) -> str:
    match PRECISION.get(dtype):
        case (low, high):
            return say("keeps-range", "{dtype} keeps about {low} to {high} digits.", dtype=dtype, low=low, high=high)
        case (kept,):
            return say.count(
                "keeps", kept, "{dtype} keeps about {count} digit.", "{dtype} keeps about {count} digits.", dtype=dtype
            )
    return say("each-rounded", "PyTorch rounds each result.")


def _decimals(text: str) -> int:
    """Return with how many decimals to write what is compared with a written number."""
    mantissa, e, _ = text.partition("e")
    return max(DECIMALS, len(mantissa.partition(".")[2]) + len(e))


def _write(
    formula: f.Formula, e: Explanation, write: Write, result: str, unicode: bool, as_single: bool = False
) -> _Written:
    """Write the formula with its numbers as `write` writes them; `as_single`: constants of single precision as such."""
    cells = set(f.operand_positions(formula))
    numbers = [write(cell.value, cell.dtype) if position in cells else "" for position, cell in enumerate(e.operands)]
    shown = list(numbers)

    def with_texts(item: f.Formula) -> f.Formula:
        """Make operands of the constants too."""
        if isinstance(item, f.Op):
            return f.Op(item.op, tuple(map(with_texts, item.parts)))
        if isinstance(item, f.Number):
            # Kernels for whole numbers take whole numbers.
            whole = e.dtype.startswith(("int", "uint")) and type(item.value) is float and item.value.is_integer()
            # A kernel that compares with 0.8 has rounded it to the type of the tensor.
            dtype = "float32" if as_single and rounded(item.value, "float32") == item.value else "float64"
            numbers.append(str(int(item.value)) if whole else write(item.value, dtype))
            shown.append(f"({_rest(item.count, numbers[-1])})" if isinstance(item, _Rest) else numbers[-1])
            return f.OperandRef(len(numbers) - 1)
        return item

    formula = with_texts(formula)
    got = f.evaluate(formula, [_double(text) for text in numbers])
    exactly = exact_formula.evaluate(formula, [_number(text) for text in numbers])
    if exactly is None:
        equal = not math.isfinite(got) and result == nonfinite(got)
    else:
        # Nobody sees the terms that were left out.
        equal = shown == numbers and _number(result) == exactly
    sign = "=" if equal else "≈" if unicode else "~"
    text = f.text(formula, shown, repr, "people" if unicode else "python")
    value: object = e.value
    return _Written(Digits(text, sign, result), got, exactly, isinstance(value, int) and exactly is not None)


def _rest(count: int, number: str) -> str:
    return say.count("rest", count, "{count} more: {number}", "{count} more: {number}", number=number)


def _number(text: str) -> Fraction | float:
    """Return what a written number is, exactly if it is finite."""
    return Fraction(text) if text.lstrip("-")[:1].isdigit() else float(text or "nan")


def _double(text: str) -> float:
    """Return what a written number is in double precision, and a whole number beyond that exactly."""
    return exact_number(int(text)) if text.removeprefix("-").isdecimal() else float(text or "nan")


@dataclass(frozen=True, slots=True)
class _Rest(f.Number):
    """The total of the omitted terms of a sum, or the maximum of the omitted numbers."""

    count: int = 0


def _shortened(formula: f.Formula, values: Sequence[float], most: int) -> f.Formula:
    """Keep only the `most` largest terms of each sum, and the `most` largest arguments of each maximum."""
    if not isinstance(formula, f.Op):
        return formula
    if formula.op == "max" and len(formula.parts) > most:
        numbers = [f.evaluate(part, values) for part in formula.parts]
        positions = sorted(range(len(numbers)), key=lambda position: (-numbers[position], position))
        rest = _Rest(numbers[positions[most]], count=len(numbers) - most)
        return f.Op("max", (*(formula.parts[position] for position in sorted(positions[:most])), rest))
    short = f.shorten(formula, values, most)
    if short.left_out:
        return f.add(*f.terms(short.formula), _Rest(short.rest, count=short.left_out))
    return f.Op(formula.op, tuple(_shortened(part, values, most) for part in formula.parts))


def _same_text(one: str, other: str) -> bool:
    try:
        return one == other or Decimal(one) == Decimal(other)
    except InvalidOperation:
        return False


def _short_softmax(e: Explanation) -> f.Formula:
    """Reduce a softmax to one exponential divided by the sum of all; the details list the exponentials."""
    parts = e.formula.parts if isinstance(e.formula, f.Op) else ()
    if e.op == "softmax" and len(e.details) >= 2 and e.details[1][1] and len(parts) == 2:
        numerator, total = f.evaluate(parts[0], e.values), e.details[1][1][0]
        return f.Op("/", (f.Number(numerator), f.Number(total)))
    return e.formula

"""Rules for complex numbers, of which each part is an element of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation, broadcast
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.linear_maps import factors_of, index_pairs
from attn_tutor.lessons.worker.explaining.rules.reductions import reduced
from attn_tutor.lessons.worker.explaining.rules.registry import (
    MOST_TERMS,
    ZERO,
    given_by_python,
    make,
    may_count,
    named_only,
    region,
)
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.operation_info import DATA
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/complex-numbers")

Pair = tuple[f.Formula, f.Formula]
"""The real and the imaginary part of a number."""

Explained = tuple[str, f.Formula, f.Formula]
"""What an operation is called, and the formulas of both parts; those of a real result are equal."""

ComplexRule = Callable[[Derivation, Index], Explained | None]
"""Explains a cell; None if there are too many numbers to list."""

_RULES: dict[str, ComplexRule] = {}


def complex_rule(*ops: str) -> Callable[[ComplexRule], ComplexRule]:
    """Register a rule for these operations, and their in-place forms, on complex numbers."""

    def register(function: ComplexRule) -> ComplexRule:
        for op in ops:
            _RULES[op] = _RULES[op + "_"] = function
        return function

    return register


def concerns(event: Event) -> bool:
    """Return whether an event took or gave complex numbers."""
    return any(region.dtype.is_complex for region in itertools.chain(event.outs, event.operands()))


def explain(derivation: Derivation, index: Index, part: int) -> RuleResult:
    """Explain a part of a complex number, 0 for the real and 1 for the imaginary one, or a real number of such."""
    event = derivation.event
    rule = _RULES.get(event.op)
    if rule is None and (event.op == DATA or not any(event.operands())):
        return _given(event)
    if rule is None:
        return _unknown(derivation, index)
    explained = rule(derivation, index)
    if explained is None:
        return _unknown(derivation, index)
    op, *parts = explained
    made = make(op, parts[part])
    if not derivation.elements:
        made.notes.append(given_by_python())
    return made


def _given(event: Event) -> RuleResult:
    """Explain a number that was made from no other."""
    if event.info.random:
        return make("draw", None, say("drawn", "A part of a complex number that was drawn at random here."))
    if event.op == DATA:
        return make("given", None, say("given", "A part of a complex number that Python gave to PyTorch here."))
    return make("constant", None, say("made", "A part of a complex number that was made here."))


def _unknown(derivation: Derivation, index: Index) -> RuleResult:
    """Explain an operation that has no rule by its name and both parts of its operands."""
    for operand, at in may_count(derivation, index):
        _cell(derivation, operand, at)
    return named_only(derivation)


def _cell(derivation: Derivation, region: Region, index: Index) -> Pair:
    """Return both parts of a cell of an operand; the imaginary part of a real number is 0."""
    if not region.dtype.is_complex:
        return derivation.cell(region, index), ZERO
    real, imaginary = derivation.cell(region.parts, (*index, 0)), derivation.cell(region.parts, (*index, 1))
    return real, f.Op("neg", (imaginary,)) if region.conj else imaginary


def _operand(derivation: Derivation, name: str, index: Index) -> Pair:
    """Return both parts of what an argument contributes to a cell."""
    argument = derivation.event.arg(name)
    if isinstance(argument, Region):
        return _cell(derivation, argument, broadcast(argument.shape, index))
    if isinstance(argument, complex):
        return f.Number(argument.real), f.Number(argument.imag)
    return derivation.number(argument), ZERO


def _product(one: f.Formula, other: f.Formula) -> f.Formula | None:
    """Return a product; None if a factor is the number 0."""
    return None if ZERO in (one, other) else f.multiply(one, other)


def _sum(one: f.Formula | None, other: f.Formula | None, sign: str = "+") -> f.Formula:
    """Return a sum or a difference without parts that are 0."""
    if other is None or other == ZERO:
        return one or ZERO
    if one is None or one == ZERO:
        return other if sign == "+" else f.Op("neg", (other,))
    return f.Op(sign, (one, other))


@complex_rule("add", "sub")
def _add(derivation: Derivation, index: Index) -> Explained:
    one, other = _operand(derivation, "self", index), _operand(derivation, "other", index)
    sign, name = ("+", "add") if derivation.event.op.startswith("add") else ("-", "subtract")
    alpha = derivation.event.arg("alpha")
    if alpha not in (None, 1):
        factor = f.Number(float(alpha))
        other = _product(factor, other[0]) or ZERO, _product(factor, other[1]) or ZERO
    return name, _sum(one[0], other[0], sign), _sum(one[1], other[1], sign)


@complex_rule("mul")
def _mul(derivation: Derivation, index: Index) -> Explained:
    (a, b), (c, d) = _operand(derivation, "self", index), _operand(derivation, "other", index)
    return "multiply", _sum(_product(a, c), _product(b, d), "-"), _sum(_product(a, d), _product(b, c))


def _square(one: f.Formula, other: f.Formula) -> f.Formula:
    """Return the square of the absolute value."""
    return _sum(_product(one, one), _product(other, other))


def _divide(above: Pair, below: Pair) -> Pair:
    """Return a quotient: both are multiplied by the conjugate of what is below, which makes that real."""
    (a, b), (c, d) = above, below
    if d == ZERO:
        return f.Op("/", (a, c)), f.Op("/", (b, c))
    real = _sum(_product(a, c), _product(b, d))
    imaginary = _sum(_product(b, c), _product(a, d), "-")
    return f.Op("/", (real, _square(c, d))), f.Op("/", (imaginary, _square(c, d)))


@complex_rule("div")
def _div(derivation: Derivation, index: Index) -> Explained:
    return "divide", *_divide(_operand(derivation, "self", index), _operand(derivation, "other", index))


@complex_rule("reciprocal")
def _reciprocal(derivation: Derivation, index: Index) -> Explained:
    return "reciprocal", *_divide((f.Number(1.0), ZERO), _operand(derivation, "self", index))


@complex_rule("mm", "bmm", "mv", "dot", "vdot")
def _matmul(derivation: Derivation, index: Index) -> Explained | None:
    """Explain a dot product: the sums of the real and of the imaginary parts of all products."""
    left, right = factors_of(derivation)
    if left.shape[-1] > MOST_TERMS:
        return None
    sign = -1 if derivation.event.op == "vdot" else 1
    real: list[f.Formula] = []
    imaginary: list[f.Formula] = []
    for at, other in index_pairs(left.shape, right.shape, index):
        (a, b), (c, d) = _cell(derivation, left, at), _cell(derivation, right, other)
        b = f.Op("neg", (b,)) if sign < 0 and b != ZERO else b
        real.append(_sum(_product(a, c), _product(b, d), "-"))
        imaginary.append(_sum(_product(a, d), _product(b, c)))
    return "matmul", _total(real), _total(imaginary)


def _total(terms: Sequence[f.Formula]) -> f.Formula:
    return f.add(*terms) if terms else ZERO


@complex_rule("sum", "mean")
def _reduce(derivation: Derivation, index: Index) -> Explained | None:
    tensor = region(derivation)
    indices = reduced(derivation, tensor, index)
    if len(indices) > MOST_TERMS:
        return None
    real, imaginary = (_total(parts) for parts in zip(*(_cell(derivation, tensor, at) for at in indices), strict=True))
    if derivation.event.op == "sum":
        return "sum", real, imaginary
    count = f.Number(float(len(indices)))
    return "mean", f.Op("/", (real, count)), f.Op("/", (imaginary, count))


@complex_rule("exp")
def _exp(derivation: Derivation, index: Index) -> Explained:
    real, imaginary = _operand(derivation, "self", index)
    size = f.call("exp", real)
    return "exp", f.multiply(size, f.call("cos", imaginary)), f.multiply(size, f.call("sin", imaginary))


@complex_rule("log")
def _log(derivation: Derivation, index: Index) -> Explained:
    real, imaginary = _operand(derivation, "self", index)
    return "log", f.call("log", f.call("sqrt", _square(real, imaginary))), f.call("atan2", imaginary, real)


@complex_rule("sqrt")
def _sqrt(derivation: Derivation, index: Index) -> Explained:
    """Explain the root with half the angle."""
    real, imaginary = _operand(derivation, "self", index)
    size, half = f.call("sqrt", _square(real, imaginary)), f.Number(2.0)
    low = f.call("sqrt", f.Op("/", (f.Op("-", (size, real)), half)))
    below = f.choose(f.Op("<", (imaginary, ZERO)), f.Op("neg", (low,)), low)
    return "sqrt", f.call("sqrt", f.Op("/", (f.add(size, real), half))), below


@complex_rule("pow")
def _pow(derivation: Derivation, index: Index) -> Explained | None:
    """Explain a power: a square by its product, any other by the size and the angle."""
    real, imaginary = _operand(derivation, "self", index)
    exponent = derivation.event.arg("exponent")
    if isinstance(exponent, bool) or not isinstance(exponent, int | float):
        return None
    if exponent == 1:
        return "power", real, imaginary
    if exponent == 2:
        crossed = f.multiply(f.Number(2.0), real, imaginary)
        return "power", _sum(_product(real, real), _product(imaginary, imaginary), "-"), crossed
    power = f.Number(float(exponent))
    size = f.Op("**", (f.call("sqrt", _square(real, imaginary)), power))
    angle = f.multiply(power, f.call("atan2", imaginary, real))
    return "power", f.multiply(size, f.call("cos", angle)), f.multiply(size, f.call("sin", angle))


@complex_rule("sgn")
def _sgn(derivation: Derivation, index: Index) -> Explained:
    """Explain the number of size 1 with the same angle."""
    real, imaginary = _operand(derivation, "self", index)
    size = f.call("sqrt", _square(real, imaginary))

    def scaled(part: f.Formula) -> f.Formula:
        return f.choose(f.Op("==", (size, ZERO)), ZERO, f.Op("/", (part, size)))

    return "sgn", scaled(real), scaled(imaginary)


@complex_rule("where")
def _where(derivation: Derivation, index: Index) -> Explained:
    test = derivation.operand("condition", index)
    one, other = _operand(derivation, "self", index), _operand(derivation, "other", index)
    real, imaginary = (f.choose(test, *parts) for parts in zip(one, other, strict=True))
    return "where", real, imaginary


@complex_rule("masked_fill")
def _masked_fill(derivation: Derivation, index: Index) -> Explained:
    kept, fill = _operand(derivation, "self", index), _operand(derivation, "value", index)
    test = derivation.operand("mask", index)
    real, imaginary = (f.choose(test, *parts) for parts in zip(fill, kept, strict=True))
    return "masked_fill", real, imaginary


@complex_rule("eq", "ne")
def _equal(derivation: Derivation, index: Index) -> Explained:
    one, other = _operand(derivation, "self", index), _operand(derivation, "other", index)
    same = f.Op("and", tuple(f.Op("==", parts) for parts in zip(one, other, strict=True)))
    test = same if derivation.event.op == "eq" else f.Op("not", (same,))
    return "compare", test, test


@complex_rule("abs")
def _abs(derivation: Derivation, index: Index) -> Explained:
    real, imaginary = _operand(derivation, "self", index)
    size = f.call("sqrt", _square(real, imaginary))
    return "abs", size, size


@complex_rule("angle")
def _angle(derivation: Derivation, index: Index) -> Explained:
    real, imaginary = _operand(derivation, "self", index)
    angle = f.call("atan2", imaginary, real)
    return "angle", angle, angle


@complex_rule("neg")
def _neg(derivation: Derivation, index: Index) -> Explained:
    real, imaginary = _operand(derivation, "self", index)
    return "neg", f.Op("neg", (real,)), f.Op("neg", (imaginary,))


@complex_rule("_conj_physical", "conj_physical", "_conj")
def _conj(derivation: Derivation, index: Index) -> Explained:
    real, imaginary = _operand(derivation, "self", index)
    if derivation.event.outs[derivation.output].conj:
        # Only a mark is set: the memory holds the number as it was.
        return "conj", real, imaginary
    return "conj", real, f.Op("neg", (imaginary,))


@complex_rule("complex")
def _complex(derivation: Derivation, index: Index) -> Explained:
    return "complex", derivation.operand("real", index), derivation.operand("imag", index)


@complex_rule("polar")
def _polar(derivation: Derivation, index: Index) -> Explained:
    size, angle = derivation.operand("abs", index), derivation.operand("angle", index)
    return "polar", f.multiply(size, f.call("cos", angle)), f.multiply(size, f.call("sin", angle))


@complex_rule("_to_copy", "copy", "clone")
def _convert(derivation: Derivation, index: Index) -> Explained:
    """Explain a real number that became complex, whose imaginary part is 0, or a number with its sign changed."""
    name = "src" if derivation.event.op.startswith("copy") else "self"
    return "convert", *_operand(derivation, name, index)

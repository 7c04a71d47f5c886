"""Rules for complex numbers, of which each part is an element of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation, broadcast
from lessons.worker.explaining.recorded_run import Index, RuleResult
from lessons.worker.explaining.rules.registry import MOST_UNKNOWN, ZERO, make, named_only
from lessons.worker.recording.record import Event
from lessons.worker.recording.regions import Region

Pair = tuple[f.Formula, f.Formula]
"""The real and the imaginary part of a number."""

ComplexRule = Callable[[Derivation, Index], tuple[str, f.Formula, f.Formula]]
"""Returns what the operation is called, and the formulas of both parts; those of a real result are equal."""

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
    rule = _RULES.get(derivation.event.op)
    if rule is None:
        return _unknown(derivation, index)
    op, *parts = rule(derivation, index)
    return make(op, parts[part])


def _unknown(derivation: Derivation, index: Index) -> RuleResult:
    """Explain an operation that has no rule by its name and both parts of its operands."""
    remaining = MOST_UNKNOWN
    for operand in derivation.event.operands():
        same_shape = operand.shape == derivation.event.outs[derivation.output].shape
        for cell_index in [index] if same_shape else itertools.islice(operand.indices(), remaining):
            _cell(derivation, operand, cell_index)
            remaining -= 1
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
def _add(derivation: Derivation, index: Index) -> tuple[str, f.Formula, f.Formula]:
    one, other = _operand(derivation, "self", index), _operand(derivation, "other", index)
    sign, name = ("+", "add") if derivation.event.op.startswith("add") else ("-", "subtract")
    alpha = derivation.event.arg("alpha")
    if alpha not in (None, 1):
        factor = f.Number(float(alpha))
        other = _product(factor, other[0]) or ZERO, _product(factor, other[1]) or ZERO
    return name, _sum(one[0], other[0], sign), _sum(one[1], other[1], sign)


@complex_rule("mul")
def _mul(derivation: Derivation, index: Index) -> tuple[str, f.Formula, f.Formula]:
    (a, b), (c, d) = _operand(derivation, "self", index), _operand(derivation, "other", index)
    return "multiply", _sum(_product(a, c), _product(b, d), "-"), _sum(_product(a, d), _product(b, c))


@complex_rule("abs")
def _abs(derivation: Derivation, index: Index) -> tuple[str, f.Formula, f.Formula]:
    real, imaginary = _operand(derivation, "self", index)
    size = f.call("sqrt", _sum(_product(real, real), _product(imaginary, imaginary)))
    return "abs", size, size


@complex_rule("angle")
def _angle(derivation: Derivation, index: Index) -> tuple[str, f.Formula, f.Formula]:
    real, imaginary = _operand(derivation, "self", index)
    angle = f.call("atan2", imaginary, real)
    return "angle", angle, angle


@complex_rule("neg")
def _neg(derivation: Derivation, index: Index) -> tuple[str, f.Formula, f.Formula]:
    real, imaginary = _operand(derivation, "self", index)
    return "neg", f.Op("neg", (real,)), f.Op("neg", (imaginary,))


@complex_rule("_conj_physical", "conj_physical", "_conj")
def _conj(derivation: Derivation, index: Index) -> tuple[str, f.Formula, f.Formula]:
    real, imaginary = _operand(derivation, "self", index)
    return "conj", real, f.Op("neg", (imaginary,))


@complex_rule("complex")
def _complex(derivation: Derivation, index: Index) -> tuple[str, f.Formula, f.Formula]:
    return "complex", derivation.operand("real", index), derivation.operand("imag", index)


@complex_rule("polar")
def _polar(derivation: Derivation, index: Index) -> tuple[str, f.Formula, f.Formula]:
    size, angle = derivation.operand("abs", index), derivation.operand("angle", index)
    return "polar", f.multiply(size, f.call("cos", angle)), f.multiply(size, f.call("sin", angle))


@complex_rule("_to_copy", "copy", "clone")
def _convert(derivation: Derivation, index: Index) -> tuple[str, f.Formula, f.Formula]:
    """Explain a real number that became complex, whose imaginary part is 0, or a number with its sign changed."""
    name = "src" if derivation.event.op.startswith("copy") else "self"
    return "convert", *_operand(derivation, name, index)

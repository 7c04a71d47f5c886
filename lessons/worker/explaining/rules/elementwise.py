"""Arithmetic element by element."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import torch

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation, Index, RuleResult, broadcast
from lessons.worker.explaining.rules.random_draws import dropout, dropped
from lessons.worker.explaining.rules.registry import ONE, ZERO, Rule, make, region, rule
from lessons.worker.recording.element_history import Element
from lessons.worker.recording.recorder import Event, Region

CHAIN = 5000
"""Rounds of a loop that are added up in one formula."""


@rule("add", "sub", "rsub")
def _add(work: Derivation, index: Index, value: float) -> RuleResult:
    event = work.event
    op = event.op.strip("_")
    terms = _accumulated(work, index) if op == "add" else None
    if terms is not None:
        return make("sum", f.add(*terms), f"Added up by a loop, {len(terms) - 1} times.")
    first, second = work.operand("self", index), work.operand("other", index)
    alpha = event.arg("alpha")
    if alpha is not None and alpha != 1:
        second = f.multiply(f.Number(float(alpha)), second)
    if event.outs[0].dtype == torch.bool:
        return make("or", f.Op("or", (first, second)))
    if op == "rsub":
        first, second = second, first
    return make("add", f.add(first, second)) if op == "add" else make("subtract", f.Op("-", (first, second)))


def _accumulated(work: Derivation, index: Index) -> list[f.Formula] | None:
    """The terms of `total += term` in a loop, the start first; None if this is no loop.

    Followed back as long as what was added to was itself written by the same piece of code.
    """
    explainer = work.explainer
    rounds: list[Event] = []
    step: Event = work.event
    for _ in range(CHAIN):
        base = step.arg("self")
        if not isinstance(base, Region) or step.arg("alpha") not in (None, 1) or len(base.shape) > len(index):
            return None
        rounds.append(step)
        start = work.element(base, broadcast(base.shape, index), step.time)
        earlier = explainer.history.writer(start)
        if earlier is None or earlier.hand or not step.sites or (earlier.sites, earlier.op) != (step.sites, step.op):
            break
        if earlier.outs[0].storage != start.storage or earlier.outs[0].find(start.offset) != index:
            return None
        step = earlier
    if len(rounds) < 2:
        return None
    terms = [_inlined(work, one, one.arg("other"), index) for one in reversed(rounds)]
    return [work.of(explainer.through(start)), *terms]


def _inlined(work: Derivation, step: Event, given: Any, index: Index) -> f.Formula:
    """An operand of a step of a loop; an unnamed product or quotient is written out."""
    if not isinstance(given, Region):
        return work.number(given)
    return term(work, work.element(given, broadcast(given.shape, index), step.time))


def term(work: Derivation, element: Element) -> f.Formula:
    """A term of a sum; an unnamed product or quotient is written out."""
    explainer = work.explainer
    element = explainer.through(element)
    writer = explainer.history.writer(element)
    if writer is None or writer.op not in ("mul", "div") or writer.arg("rounding_mode"):
        return work.of(element)
    if dropout(explainer, writer) is not None or explainer.names.of(element, work.words) is not None:
        return work.of(element)
    inner = replace(work, event=writer)
    found = writer.index_of(element.storage, element.offset)
    assert found is not None
    index = found[1]
    parts = inner.operand("self", index), inner.operand("other", index)
    return f.Op("*" if writer.op == "mul" else "/", parts)


@rule("mul")
def _mul(work: Derivation, index: Index, value: float) -> RuleResult:
    keep = dropout(work.explainer, work.event)
    if keep is not None:
        return dropped(work, index, keep)
    return make("multiply", f.multiply(work.operand("self", index), work.operand("other", index)))


@rule("div", "true_divide", "floor_divide")
def _div(work: Derivation, index: Index, value: float) -> RuleResult:
    parts = work.rounded("self", index), work.rounded("other", index)
    mode = work.event.arg("rounding_mode")
    if mode == "floor" or work.event.op.startswith("floor"):
        return make("divide", f.Op("//", parts))
    quotient = f.Op("/", parts)
    return make("divide", f.call("trunc", quotient) if mode == "trunc" else quotient)


_BINARY = {
    "remainder": ("%", "remainder"),
    "eq": ("==", "compare"),
    "ne": ("!=", "compare"),
    "lt": ("<", "compare"),
    "le": ("<=", "compare"),
    "gt": (">", "compare"),
    "ge": (">=", "compare"),
    "atan2": ("atan2", "atan2"),
    "maximum": ("max", "maximum"),
    "minimum": ("min", "minimum"),
}


def _binary(op: str, name: str) -> Rule:
    def function(work: Derivation, index: Index, value: float) -> RuleResult:
        parts = work.rounded("self", index), work.rounded("other", index)
        return make(name, f.call(op, *parts))

    return function


for _op, (_sign, _name) in _BINARY.items():
    rule(_op)(_binary(_sign, _name))


@rule("fmod")
def _fmod(work: Derivation, index: Index, value: float) -> RuleResult:
    first, second = work.operand("self", index), work.operand("other", index)
    whole = f.call("trunc", f.Op("/", (first, second)))
    return make("remainder", f.Op("-", (first, f.multiply(second, whole))))


@rule("logical_and", "logical_or", "logical_xor")
def _logical(work: Derivation, index: Index, value: float) -> RuleResult:
    sign = {"logical_and": "and", "logical_or": "or", "logical_xor": "!="}[work.event.op.strip("_")]
    tests = tuple(f.Op("!=", (work.operand(name, index), ZERO)) for name in ("self", "other"))
    return make(sign, f.Op(sign, tests))


@rule("bitwise_and", "bitwise_or", "bitwise_xor")
def _bitwise(work: Derivation, index: Index, value: float) -> RuleResult:
    op = work.event.op.strip("_")
    parts = work.operand("self", index), work.operand("other", index)
    if work.event.outs[0].dtype != torch.bool:
        return make(op, f.call(op.replace("wise_", ""), *parts), "Bit by bit, negative numbers in two's complement.")
    sign = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "!="}[op]
    return make(sign, f.Op(sign, parts))


@rule("__lshift__", "__rshift__", "__ilshift__", "__irshift__", "bitwise_left_shift", "bitwise_right_shift")
def _shift(work: Derivation, index: Index, value: float) -> RuleResult:
    left = "left" in work.event.op or "lshift" in work.event.op
    power = f.Op("**", (f.Number(2.0), work.operand("other", index)))
    return make("shift", f.Op("*" if left else "//", (work.operand("self", index), power)))


def _unary(build: Callable[[f.Formula], f.Formula], name: str) -> Rule:
    def function(work: Derivation, index: Index, value: float) -> RuleResult:
        return make(name, build(work.operand("self", index)))

    return function


_HALF = f.Number(0.5)
for _op in ("exp", "log", "sqrt", "abs", "tanh", "erf", "sin", "cos", "floor", "ceil", "trunc", "isnan"):
    rule(_op)(_unary(lambda x, name=_op: f.call(name, x), _op))  # type: ignore[misc]
for _op, _build in {
    "neg": lambda x: f.Op("neg", (x,)),
    "logical_not": lambda x: f.Op("not", (x,)),
    "rsqrt": lambda x: f.Op("/", (ONE, f.call("sqrt", x))),
    "reciprocal": lambda x: f.Op("/", (ONE, x)),
    "square": lambda x: f.multiply(x, x),
    "relu": lambda x: f.call("max", x, ZERO),
    "sigmoid": lambda x: f.Op("/", (ONE, f.add(ONE, f.call("exp", f.Op("neg", (x,)))))),
    "silu": lambda x: f.Op("/", (x, f.add(ONE, f.call("exp", f.Op("neg", (x,)))))),
    "log2": lambda x: f.Op("/", (f.call("log", x), f.call("log", f.Number(2.0)))),
    "log10": lambda x: f.Op("/", (f.call("log", x), f.call("log", f.Number(10.0)))),
    "exp2": lambda x: f.Op("**", (f.Number(2.0), x)),
    "frac": lambda x: f.Op("-", (x, f.call("trunc", x))),
    "log1p": lambda x: f.call("log", f.add(ONE, x)),
    "expm1": lambda x: f.Op("-", (f.call("exp", x), ONE)),
    "isinf": lambda x: f.call("isinf", x),
    "isfinite": lambda x: f.Op("not", (f.Op("or", (f.call("isinf", x), f.call("isnan", x))),)),
    "sign": lambda x: f.Op("-", (f.Op(">", (x, ZERO)), f.Op("<", (x, ZERO)))),
    "sgn": lambda x: f.Op("-", (f.Op(">", (x, ZERO)), f.Op("<", (x, ZERO)))),
}.items():
    rule(_op)(_unary(_build, _op))


@rule("round")
def _round(work: Derivation, index: Index, value: float) -> RuleResult:
    """With decimals it is `round(x * 10**decimals) / 10**decimals`; `torch.round` takes halves to even numbers."""
    cell, decimals = work.operand("self", index), work.event.arg("decimals")
    if not decimals:
        return make("round", f.call("round", cell))
    power = f.Number(10.0 ** abs(decimals))
    up, down = ("*", "/") if decimals > 0 else ("/", "*")
    whole = f.call("round", f.Op(up, (cell, power)))
    scaled = f.evaluate(f.Op(up, (cell, power)), (work.value(region(work), index),))
    if math.isfinite(value) and round(scaled) != round(f.evaluate(f.Op(up, (f.Number(value), power)), ())):
        # The kernel multiplies in the precision of the tensor, which made it a half.
        note = f"Rounded to {decimals} decimals, between which it is halfway in the precision of this tensor."
        return make("round", None, note)
    return make("round", f.Op(down, (whole, power)), f"Rounded to {decimals} decimals.")


@rule("nan_to_num")
def _nan_to_num(work: Derivation, index: Index, value: float) -> RuleResult:
    """NaN becomes 0, infinities the largest and least numbers there are, if nothing else is given."""
    cell, dtype = work.operand("self", index), work.event.outs[0].dtype
    if not dtype.is_floating_point:
        return make("nan_to_num", cell)
    info = torch.finfo(dtype)
    defaults = {"nan": 0.0, "posinf": info.max, "neginf": info.min}
    nan, high, low = (
        f.Number(default) if work.event.arg(name) is None else work.number(work.event.arg(name))
        for name, default in defaults.items()
    )
    infinite = f.choose(f.Op(">", (cell, ZERO)), high, low)
    return make("nan_to_num", f.choose(f.call("isnan", cell), nan, f.choose(f.call("isinf", cell), infinite, cell)))


@rule("softplus")
def _softplus(work: Derivation, index: Index, value: float) -> RuleResult:
    """`log(1 + exp(beta * x)) / beta`, and `x` where `beta * x > threshold`: `nn.Softplus`."""
    cell = work.operand("self", index)
    beta, threshold = (work.number(work.event.arg(name)) for name in ("beta", "threshold"))
    scaled = cell if beta.value == 1 else f.multiply(beta, cell)
    soft = f.call("log", f.add(ONE, f.call("exp", scaled)))
    soft = soft if beta.value == 1 else f.Op("/", (soft, beta))
    return make("softplus", f.choose(f.Op(">", (scaled, threshold)), cell, soft))


@rule("log_sigmoid_forward")
def _log_sigmoid(work: Derivation, index: Index, value: float) -> RuleResult:
    """`log(1 / (1 + exp(-x)))`, written so that no exp overflows; the second result is kept for the backward pass."""
    cell = work.operand("self", index)
    shrunk = f.call("exp", f.Op("neg", (f.call("abs", cell),)))
    if work.output == 1:
        return make("exp", shrunk)
    return make("logsigmoid", f.Op("-", (f.call("min", cell, ZERO), f.call("log", f.add(ONE, shrunk)))))


@rule("hardtanh")
def _hardtanh(work: Derivation, index: Index, value: float) -> RuleResult:
    least, most = (work.number(work.event.arg(name)) for name in ("min_val", "max_val"))
    return make("clamp", f.call("min", f.call("max", work.operand("self", index), least), most))


@rule("leaky_relu")
def _leaky_relu(work: Derivation, index: Index, value: float) -> RuleResult:
    """`x`, and `negative_slope * x` where it is not above 0: `nn.LeakyReLU`."""
    cell, slope = work.operand("self", index), work.number(work.event.arg("negative_slope"))
    return make("leaky_relu", f.choose(f.Op(">", (cell, ZERO)), cell, f.multiply(slope, cell)))


@rule("bitwise_not")
def _bitwise_not(work: Derivation, index: Index, value: float) -> RuleResult:
    given = region(work)
    cell = work.operand("self", index)
    if given.dtype == torch.bool:
        return make("not", f.Op("not", (cell,)))
    return make("not", f.Op("-", (f.Op("neg", (cell,)), ONE)))


@rule("gelu")
def _gelu(work: Derivation, index: Index, value: float) -> RuleResult:
    x = work.operand("self", index)
    if work.event.arg("approximate") == "tanh":
        inner = f.add(x, f.multiply(f.Number(0.044715), f.Op("**", (x, f.Number(3.0)))))
        bent = f.call("tanh", f.multiply(f.Number(math.sqrt(2 / math.pi), "sqrt(2/pi)"), inner))
    else:
        bent = f.call("erf", f.Op("/", (x, f.Number(math.sqrt(2), "sqrt(2)"))))
    return make("gelu", f.multiply(_HALF, x, f.add(ONE, bent)))


@rule("pow")
def _pow(work: Derivation, index: Index, value: float) -> RuleResult:
    return make("power", f.Op("**", (work.operand("self", index), work.operand("exponent", index))))


@rule("clamp", "clamp_min", "clamp_max")
def _clamp(work: Derivation, index: Index, value: float) -> RuleResult:
    formula = work.operand("self", index)
    if work.event.arg("min") is not None:
        formula = f.call("max", formula, work.operand("min", index))
    if work.event.arg("max") is not None:
        formula = f.call("min", formula, work.operand("max", index))
    return make("clamp", formula)


@rule("lerp")
def _lerp(work: Derivation, index: Index, value: float) -> RuleResult:
    start, end, weight = (work.operand(name, index) for name in ("self", "end", "weight"))
    return make("lerp", f.add(start, f.multiply(weight, f.Op("-", (end, start)))))


@rule("addcmul", "addcdiv")
def _addc(work: Derivation, index: Index, value: float) -> RuleResult:
    first, second = work.operand("tensor1", index), work.operand("tensor2", index)
    joined = f.multiply(first, second) if "mul" in work.event.op else f.Op("/", (first, second))
    factor = work.event.arg("value")
    if factor not in (None, 1):
        joined = f.multiply(f.Number(float(factor)), joined)
    return make("add", f.add(work.operand("self", index), joined))

"""Rules for arithmetic element by element."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation, broadcast
from attn_tutor.lessons.worker.explaining.narrow_types import is_coarser
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.random_draws import dropout, dropped
from attn_tutor.lessons.worker.explaining.rules.registry import ONE, ZERO, Rule, make, region, rule, stored
from attn_tutor.lessons.worker.recording.element_history import Element
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/elementwise")

MOST_ROUNDS = 5000
"""Rounds of a loop that are added up in one formula."""


@rule("add", "sub", "rsub")
def _add(derivation: Derivation, index: Index, value: float) -> RuleResult:
    event = derivation.event
    op = event.op.strip("_")
    terms = _accumulated(derivation, index) if op == "add" else None
    if terms is not None:
        if event.node:
            return make("sum", f.add(*terms))
        rounds = len(terms) - 1
        note = say.count("steps", rounds, "Added up in {count} step.", "Added up in {count} steps.")
        return make("sum", f.add(*terms), note)
    first, second = derivation.operand("self", index), derivation.operand("other", index)
    alpha = event.arg("alpha")
    if op == "rsub":
        first, second = second, first
    if alpha is not None and alpha != 1:
        second = f.multiply(f.Number(float(alpha)), second)
    if event.outs[0].dtype == torch.bool:
        return make("or", f.Op("or", (first, second)))
    return make("add", f.add(first, second)) if op == "add" else make("subtract", f.Op("-", (first, second)))


def _accumulated(derivation: Derivation, index: Index) -> list[f.Formula] | None:
    """Return the terms of `total += term` in a loop, the start value first; None if this is not a loop.

    The rounds are followed back as long as the same code wrote the number that was added to.
    """
    run = derivation.run
    rounds: list[Event] = []
    step: Event = derivation.event
    for _ in range(MOST_ROUNDS):
        base = step.arg("self")
        if not isinstance(base, Region) or step.arg("alpha") not in (None, 1) or len(base.shape) > len(index):
            return None
        rounds.append(step)
        start = derivation.element(base, broadcast(base.shape, index), step.time)
        earlier = run.history.writer(start)
        if earlier is None or earlier.hand or not step.sites or (earlier.sites, earlier.op) != (step.sites, step.op):
            break
        if earlier.outs[0].storage != start.storage or earlier.outs[0].find(start.offset) != index:
            return None
        step = earlier
    if len(rounds) < 2:
        return None
    terms = [_round_term(derivation, one, one.arg("other"), index) for one in reversed(rounds)]
    return [derivation.operand_for(run.through(start)), *terms]


def _round_term(derivation: Derivation, step: Event, added: Any, index: Index) -> f.Formula:
    """Return what one round of a loop added; an unnamed product or quotient is written out."""
    if not isinstance(added, Region):
        return derivation.number(added)
    return term(derivation, derivation.element(added, broadcast(added.shape, index), step.time))


def term(derivation: Derivation, element: Element) -> f.Formula:
    """Return a term of a sum; an unnamed product or quotient is written out."""
    run = derivation.run
    element = run.through(element)
    writer = run.history.writer(element)
    if writer is None or writer.op not in ("mul", "div") or writer.arg("rounding_mode"):
        return derivation.operand_for(element)
    if dropout(run, writer) is not None or run.names.find(element, derivation.code_names) is not None:
        return derivation.operand_for(element)
    if is_coarser(element.region.dtype, derivation.event.outs[derivation.output].dtype):
        # It was rounded before it was added.
        return derivation.operand_for(element)
    inner = replace(derivation, event=writer)
    found = writer.index_of(element.storage, element.offset, element.size)
    assert found is not None
    index = found[1]
    parts = inner.operand("self", index), inner.operand("other", index)
    return f.Op("*" if writer.op == "mul" else "/", parts)


@rule("mul")
def _mul(derivation: Derivation, index: Index, value: float) -> RuleResult:
    found = dropout(derivation.run, derivation.event)
    if found is not None:
        return dropped(derivation, index, found)
    return make("multiply", f.multiply(derivation.operand("self", index), derivation.operand("other", index)))


@rule("div", "true_divide", "floor_divide")
def _div(derivation: Derivation, index: Index, value: float) -> RuleResult:
    mode = "floor" if derivation.event.op.startswith("floor") else derivation.event.arg("rounding_mode")
    pairs = derivation.rounded_operands("self", "other", index=index)
    return make("divide", derivation.first_that_gives(value, _quotients(derivation, mode, pairs)))


def _quotients(derivation: Derivation, mode: str | None, pairs: Iterable[tuple[f.Formula, ...]]) -> Iterator[f.Formula]:
    """Yield what a division may have computed; one that cuts off does so after the quotient was rounded."""
    dtype = str(derivation.event.outs[0].dtype).removeprefix("torch.")
    for pair in pairs:
        quotient = f.Op("/", pair)
        if mode == "floor":
            yield f.Op("//", pair)
        elif mode == "trunc":
            yield f.call("trunc", quotient)
            if dtype in f.FUNCTIONS:
                yield f.call("trunc", f.call(dtype, quotient))
        else:
            yield quotient


_BINARY = {
    "remainder": ("%", "remainder"),
    "fmod": ("fmod", "remainder"),
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
    def function(derivation: Derivation, index: Index, value: float) -> RuleResult:
        pairs = derivation.rounded_operands("self", "other", index=index)
        return make(name, derivation.first_that_gives(value, (f.call(op, *pair) for pair in pairs)))

    return function


for _op, (_sign, _name) in _BINARY.items():
    rule(_op)(_binary(_sign, _name))


@rule("heaviside")
def _heaviside(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `torch.heaviside`: 0 below 0, 1 above 0, and the second number at 0."""
    cell, at_zero = derivation.operand("self", index), derivation.operand("values", index)
    step = f.choose(f.Op("==", (cell, ZERO)), at_zero, f.Op(">", (cell, ZERO)))
    return make("heaviside", f.choose(f.call("isnan", cell), cell, step))


@rule("logical_and", "logical_or", "logical_xor")
def _logical(derivation: Derivation, index: Index, value: float) -> RuleResult:
    sign = {"logical_and": "and", "logical_or": "or", "logical_xor": "!="}[derivation.event.op.strip("_")]
    tests = tuple(f.Op("!=", (derivation.operand(name, index), ZERO)) for name in ("self", "other"))
    return make(sign, f.Op(sign, tests))


@rule("bitwise_and", "bitwise_or", "bitwise_xor")
def _bitwise(derivation: Derivation, index: Index, value: float) -> RuleResult:
    op = derivation.event.op.strip("_")
    parts = derivation.operand("self", index), derivation.operand("other", index)
    if derivation.event.outs[0].dtype != torch.bool:
        note = say("bits", "Bit by bit, negative numbers in two's complement.")
        return make(op, f.call(op.replace("wise_", ""), *parts), note)
    sign = {"bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "!="}[op]
    return make(sign, f.Op(sign, parts))


@rule("__lshift__", "__rshift__", "__ilshift__", "__irshift__", "bitwise_left_shift", "bitwise_right_shift")
def _shift(derivation: Derivation, index: Index, value: float) -> RuleResult:
    left = "left" in derivation.event.op or "lshift" in derivation.event.op
    power = f.Op("**", (f.Number(2.0), derivation.operand("other", index)))
    return make("shift", f.Op("*" if left else "//", (derivation.operand("self", index), power)))


def _unary(build: Callable[[f.Formula], f.Formula], name: str) -> Rule:
    def function(derivation: Derivation, index: Index, value: float) -> RuleResult:
        return make(name, build(derivation.operand("self", index)))

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
def _round(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `torch.round`, which takes halves to even; with decimals `round(x * 10**decimals) / 10**decimals`."""
    cell, decimals = derivation.operand("self", index), derivation.event.arg("decimals")
    if not decimals:
        return make("round", f.call("round", cell))
    power = f.Number(10.0 ** abs(decimals))
    up, down = ("*", "/") if decimals > 0 else ("/", "*")
    scaled = f.Op(up, (cell, power))
    # The kernel may have met a half that only its own precision makes.
    ways = (scaled, *(f.call(dtype, scaled) for dtype in ("float32", "float16", "bfloat16")))
    rounded = [f.Op(down, (f.call("round", way), power)) for way in ways]
    note = say.count("decimals", decimals, "Rounded to {count} decimal.", "Rounded to {count} decimals.")
    return make("round", derivation.first_that_gives(value, rounded), note)


@rule("nan_to_num")
def _nan_to_num(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `torch.nan_to_num`: by default NaN becomes 0, an infinity the largest or least finite number."""
    cell, dtype = derivation.operand("self", index), derivation.event.outs[0].dtype
    if not dtype.is_floating_point:
        return make("nan_to_num", cell)
    info = torch.finfo(dtype)
    defaults = {"nan": 0.0, "posinf": info.max, "neginf": info.min}
    nan, high, low = (
        f.Number(default) if derivation.event.arg(name) is None else derivation.number(derivation.event.arg(name))
        for name, default in defaults.items()
    )
    infinite = f.choose(f.Op(">", (cell, ZERO)), high, low)
    return make("nan_to_num", f.choose(f.call("isnan", cell), nan, f.choose(f.call("isinf", cell), infinite, cell)))


@rule("softplus")
def _softplus(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `nn.Softplus`: `log(1 + exp(beta * x)) / beta`, but `x` where `beta * x > threshold`."""
    cell = derivation.operand("self", index)
    beta, threshold = (derivation.number(derivation.event.arg(name)) for name in ("beta", "threshold"))
    scaled = cell if beta.value == 1 else f.multiply(beta, cell)
    soft = f.call("log", f.add(ONE, f.call("exp", scaled)))
    soft = soft if beta.value == 1 else f.Op("/", (soft, beta))
    return make("softplus", f.choose(f.Op(">", (scaled, threshold)), cell, soft))


@rule("log_sigmoid_forward")
def _log_sigmoid(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `log(1 / (1 + exp(-x)))`, written so that no exp overflows.

    The second result is saved for the backward pass.
    """
    cell = derivation.operand("self", index)
    shrunk = f.call("exp", f.Op("neg", (f.call("abs", cell),)))
    if derivation.output == 1:
        return make("exp", shrunk)
    return make("logsigmoid", f.Op("-", (f.call("min", cell, ZERO), f.call("log", f.add(ONE, shrunk)))))


@rule("hardtanh")
def _hardtanh(derivation: Derivation, index: Index, value: float) -> RuleResult:
    least, most = (derivation.number(derivation.event.arg(name)) for name in ("min_val", "max_val"))
    return make("clamp", f.call("min", f.call("max", derivation.operand("self", index), least), most))


@rule("leaky_relu")
def _leaky_relu(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `nn.LeakyReLU`: `x`, but `negative_slope * x` where `x` is not above 0."""
    cell, slope = derivation.operand("self", index), derivation.number(derivation.event.arg("negative_slope"))
    return make("leaky_relu", f.choose(f.Op(">", (cell, ZERO)), cell, f.multiply(slope, cell)))


@rule("bitwise_not")
def _bitwise_not(derivation: Derivation, index: Index, value: float) -> RuleResult:
    given = region(derivation)
    cell = derivation.operand("self", index)
    if given.dtype == torch.bool:
        return make("not", f.Op("not", (cell,)))
    return make("not", f.Op("-", (f.Op("neg", (cell,)), ONE)))


@rule("gelu")
def _gelu(derivation: Derivation, index: Index, value: float) -> RuleResult:
    x = derivation.operand("self", index)
    if derivation.event.arg("approximate") == "tanh":
        inner = f.add(x, f.multiply(f.Number(0.044715), f.Op("**", (x, f.Number(3.0)))))
        bent = f.call("tanh", f.multiply(f.Number(math.sqrt(2 / math.pi), "sqrt(2/pi)"), inner))
    else:
        bent = f.call("erf", f.Op("/", (x, f.Number(math.sqrt(2), "sqrt(2)"))))
    return make("gelu", f.multiply(_HALF, x, f.add(ONE, bent)))


@rule("pow")
def _pow(derivation: Derivation, index: Index, value: float) -> RuleResult:
    base, exponent = derivation.operand("self", index), derivation.operand("exponent", index)
    if derivation.event.node is not None and exponent == ONE:
        # The derivative of a square, which nobody wrote as a power.
        return make("power", base)
    return make("power", f.Op("**", (base, exponent)))


@rule("clamp", "clamp_min", "clamp_max")
def _clamp(derivation: Derivation, index: Index, value: float) -> RuleResult:
    formula = derivation.operand("self", index)
    if derivation.event.arg("min") is not None:
        formula = f.call("max", formula, derivation.operand("min", index))
    if derivation.event.arg("max") is not None:
        formula = f.call("min", formula, derivation.operand("max", index))
    return make("clamp", formula)


@rule("lerp")
def _lerp(derivation: Derivation, index: Index, value: float) -> RuleResult:
    start, end, weight = (derivation.operand(name, index) for name in ("self", "end", "weight"))
    return make("lerp", f.add(start, f.multiply(weight, f.Op("-", (end, start)))))


@rule("addcmul", "addcdiv")
def _addc(derivation: Derivation, index: Index, value: float) -> RuleResult:
    first, second = derivation.operand("tensor1", index), derivation.operand("tensor2", index)
    joined = f.multiply(first, second) if "mul" in derivation.event.op else f.Op("/", (first, second))
    factor = derivation.event.arg("value")
    if factor not in (None, 1):
        joined = f.multiply(stored(f.Number(float(factor)), derivation.event.outs[0].dtype), joined)
    return make("add", f.add(derivation.operand("self", index), joined))

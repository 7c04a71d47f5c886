"""Rules for activation functions that bend a number, and for their derivatives.

The formulas are those of the documentation of `torch.nn`; the derivatives follow from them.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation, broadcast
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.registry import ONE, ZERO, Rule, make, region, rule, unknown

say = Wording("explaining/activations")

_THREE, _SIX, _HALF = f.Number(3.0), f.Number(6.0), f.Number(0.5)

Slope = Callable[[Derivation, f.Formula], f.Formula]
"""Returns a function of a cell, or its derivative there; further arguments come from the event."""


def _exp(x: f.Formula) -> f.Formula:
    return f.call("exp", x)


def _sigmoid(x: f.Formula) -> f.Formula:
    return f.divide(ONE, f.add(ONE, _exp(f.negate(x))))


def _above(x: f.Formula, limit: f.Formula) -> f.Formula:
    return f.Op(">", (x, limit))


def _times(factor: f.Number, x: f.Formula) -> f.Formula:
    return x if factor.value == 1 else f.multiply(factor, x)


def _given(derivation: Derivation, name: str) -> f.Number:
    return derivation.number(derivation.event.arg(name))


def _elu(derivation: Derivation, x: f.Formula) -> f.Formula:
    """Return `scale * x`, but `scale * alpha * (exp(input_scale * x) - 1)` where `x` is not above 0."""
    alpha, scale, inner = (_given(derivation, name) for name in ("alpha", "scale", "input_scale"))
    bent = _times(alpha, f.subtract(_exp(_times(inner, x)), ONE))
    return f.choose(_above(x, ZERO), _times(scale, x), _times(scale, bent))


def _elu_slope(derivation: Derivation, x: f.Formula) -> f.Formula:
    alpha, scale, inner = (_given(derivation, name) for name in ("alpha", "scale", "input_scale"))
    if derivation.event.arg("is_result"):
        # x is the result: what was bent is scale * alpha * (exp - 1).
        bent = f.add(x, _times(scale, alpha)) if scale.value != 1 else f.add(x, alpha)
        return f.choose(_above(x, ZERO), scale, _times(inner, bent))
    bent = _times(inner, _times(scale, _times(alpha, _exp(_times(inner, x)))))
    return f.choose(_above(x, ZERO), scale, bent)


def _celu(derivation: Derivation, x: f.Formula) -> f.Formula:
    alpha = _given(derivation, "alpha")
    inner = x if alpha.value == 1 else f.divide(x, alpha)
    return f.choose(_above(x, ZERO), x, _times(alpha, f.subtract(_exp(inner), ONE)))


def _softplus(x: f.Formula) -> f.Formula:
    return f.call("log", f.add(ONE, _exp(x)))


def _mish_slope(derivation: Derivation, x: f.Formula) -> f.Formula:
    bent = f.call("tanh", _softplus(x))
    return f.add(bent, f.multiply(x, f.subtract(ONE, f.multiply(bent, bent)), _sigmoid(x)))


def _hard_sigmoid(x: f.Formula) -> f.Formula:
    return f.divide(f.call("min", f.call("max", f.add(x, _THREE), ZERO), _SIX), _SIX)


def _within(x: f.Formula, least: f.Formula, most: f.Formula) -> f.Formula:
    return f.Op("and", (_above(x, least), f.Op("<", (x, most))))


def _hardswish_slope(derivation: Derivation, x: f.Formula) -> f.Formula:
    middle = f.add(f.divide(x, _THREE), _HALF)
    least = f.Number(-3.0)
    return f.choose(f.Op("<", (x, least)), ZERO, f.choose(f.Op("<=", (x, _THREE)), middle, ONE))


def _inside_band(derivation: Derivation, x: f.Formula) -> f.Formula:
    """Return whether `-lambd <= x <= lambd`."""
    limit = _given(derivation, "lambd")
    return f.Op("<=", (f.call("abs", x), limit))


def _softshrink(derivation: Derivation, x: f.Formula) -> f.Formula:
    limit = _given(derivation, "lambd")
    outer = f.choose(_above(x, ZERO), f.subtract(x, limit), f.add(x, limit))
    return f.choose(_inside_band(derivation, x), ZERO, outer)


def _threshold(derivation: Derivation, x: f.Formula) -> f.Formula:
    return f.choose(_above(x, _given(derivation, "threshold")), x, _given(derivation, "value"))


_FUNCTIONS: dict[str, Slope] = {
    "elu": _elu,
    "celu": _celu,
    "mish": lambda _, x: f.multiply(x, f.call("tanh", _softplus(x))),
    "hardswish": lambda _, x: f.multiply(x, _hard_sigmoid(x)),
    "hardsigmoid": lambda _, x: _hard_sigmoid(x),
    "hardshrink": lambda derivation, x: f.choose(_inside_band(derivation, x), ZERO, x),
    "softshrink": _softshrink,
    "threshold": _threshold,
}
_SLOPES: dict[str, Slope] = {
    "elu": _elu_slope,
    "mish": _mish_slope,
    "hardswish": _hardswish_slope,
    "hardsigmoid": lambda _, x: f.choose(_within(x, f.Number(-3.0), _THREE), f.divide(ONE, _SIX), ZERO),
    "hardshrink": lambda derivation, x: f.choose(_inside_band(derivation, x), ZERO, ONE),
    "softshrink": lambda derivation, x: f.choose(_inside_band(derivation, x), ZERO, ONE),
    "hardtanh": lambda derivation, x: f.choose(
        _within(x, _given(derivation, "min_val"), _given(derivation, "max_val")), ONE, ZERO
    ),
    "log_sigmoid": lambda _, x: f.divide(ONE, f.add(ONE, _exp(x))),
}


def _bending(name: str, function: Slope) -> Rule:
    def bent(derivation: Derivation, index: Index, value: float) -> RuleResult:
        return make(name, function(derivation, derivation.operand("self", index)))

    return bent


def _times_derivative(name: str) -> str:
    return say("times-derivative", "The gradient times the derivative of {function}.", function=name)


def _sloping(name: str, slope: Slope) -> Rule:
    def sloped(derivation: Derivation, index: Index, value: float) -> RuleResult:
        names = derivation.event.info.names
        cell = derivation.operand("self_or_result" if "self_or_result" in names else "self", index)
        gradient = derivation.operand("grad_out" if "grad_out" in names else "grad_output", index)
        formula = f.multiply(gradient, slope(derivation, cell))
        return make(f"{name}_backward", formula, _times_derivative(name))

    return sloped


for _name, _function in _FUNCTIONS.items():
    rule(_name)(_bending(_name, _function))
for _name, _function in _SLOPES.items():
    rule(f"{_name}_backward")(_sloping(_name.replace("_", ""), _function))


@rule("_prelu_kernel")
def _prelu(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `nn.PReLU`: `x`, but `weight * x` where `x` is not above 0."""
    cell, weight = derivation.operand("self", index), derivation.operand("weight", index)
    return make("prelu", f.choose(_above(cell, ZERO), cell, f.multiply(weight, cell)))


@rule("_prelu_kernel_backward")
def _prelu_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    cell, gradient = derivation.operand("self", index), derivation.operand("grad_output", index)
    if derivation.output == 1:
        formula = f.choose(_above(cell, ZERO), ZERO, f.multiply(cell, gradient))
        note = say("prelu-weight", "What the weight of this number gets: the gradient times the number.")
        return make("prelu_backward", formula, note)
    slope = f.choose(_above(cell, ZERO), ONE, derivation.operand("weight", index))
    return make("prelu_backward", f.multiply(gradient, slope), _times_derivative("prelu"))


@rule("rrelu_with_noise")
def _rrelu(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `nn.RReLU` outside training, where its slope is the middle of its range."""
    if derivation.event.arg("training"):
        return unknown(derivation, index, value)
    lower, upper = _given(derivation, "lower"), _given(derivation, "upper")
    cell = derivation.operand("self", index)
    slope = f.divide(f.add(lower, upper), f.Number(2.0))
    return make("rrelu", f.choose(_above(cell, ZERO), cell, f.multiply(slope, cell)))


def _halves(derivation: Derivation, index: Index) -> tuple[f.Formula, f.Formula, int, int]:
    """Return the two cells that `glu` joins for an index of one half, the axis, and the length of a half."""
    inputs = region(derivation)
    axis = int(derivation.event.arg("dim")) % len(inputs.shape)
    half = inputs.shape[axis] // 2
    position = index[axis] % half
    first, second = (
        derivation.cell(inputs, (*index[:axis], position + start, *index[axis + 1 :])) for start in (0, half)
    )
    return first, second, axis, half


@rule("glu")
def _glu(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `nn.GLU`: the first half of an axis times the sigmoid of the second."""
    first, second, *_ = _halves(derivation, index)
    note = say("glu", "The second half of the axis opens and closes the first.")
    return make("glu", f.multiply(first, _sigmoid(second)), note)


@rule("glu_backward")
def _glu_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    first, second, axis, half = _halves(derivation, index)
    at = (*index[:axis], index[axis] % half, *index[axis + 1 :])
    gradient = derivation.cell(
        region(derivation, "grad_output"), broadcast(region(derivation, "grad_output").shape, at)
    )
    gate = _sigmoid(second)
    if index[axis] < half:
        return make("glu_backward", f.multiply(gradient, gate), say("times-gate", "The gradient times the gate."))
    formula = f.multiply(gradient, first, gate, f.subtract(ONE, gate))
    note = say("gate-slope", "The gradient times what the gate lets through, times the slope of the gate.")
    return make("glu_backward", formula, note)


# Functions of two numbers -------------------------------------------------------------------------------------------


def _largest_first(x: f.Formula, y: f.Formula, power: Callable[[f.Formula], f.Formula]) -> f.Formula:
    """Return 1 plus the power of minus the distance: the smaller of two powers as a part of the larger."""
    return f.add(ONE, power(f.negate(f.call("abs", f.subtract(x, y)))))


_LOG_TWO = f.call("log", f.Number(2.0))
_PAIRS: dict[str, Callable[[f.Formula, f.Formula], f.Formula]] = {
    "logaddexp": lambda x, y: f.add(f.call("max", x, y), f.call("log", _largest_first(x, y, _exp))),
    "logaddexp2": lambda x, y: f.add(
        f.call("max", x, y),
        f.divide(f.call("log", _largest_first(x, y, lambda z: f.Op("**", (f.Number(2.0), z)))), _LOG_TWO),
    ),
    "xlogy": lambda x, y: f.choose(f.Op("==", (x, ZERO)), ZERO, f.multiply(x, f.call("log", y))),
    "special_xlog1py": lambda x, y: f.choose(f.Op("==", (x, ZERO)), ZERO, f.multiply(x, f.call("log", f.add(ONE, y)))),
    "hypot": lambda x, y: f.call("sqrt", f.add(f.multiply(x, x), f.multiply(y, y))),
    "ldexp": lambda x, y: f.multiply(x, f.Op("**", (f.Number(2.0), y))),
    "heaviside": lambda x, y: f.choose(f.Op("==", (x, ZERO)), y, _above(x, ZERO)),
    "fmax": lambda x, y: f.choose(f.call("isnan", x), y, f.choose(f.call("isnan", y), x, f.call("max", x, y))),
    "fmin": lambda x, y: f.choose(f.call("isnan", x), y, f.choose(f.call("isnan", y), x, f.call("min", x, y))),
}


def _pair(name: str, function: Callable[[f.Formula, f.Formula], f.Formula]) -> Rule:
    def paired(derivation: Derivation, index: Index, value: float) -> RuleResult:
        second = "values" if name == "heaviside" else "other"
        return make(name.removeprefix("special_"), function(*(derivation.operand(n, index) for n in ("self", second))))

    return paired


for _name, _join in _PAIRS.items():
    rule(_name)(_pair(_name, _join))


# Functions of one number --------------------------------------------------------------------------------------------


def _root(x: f.Formula) -> f.Formula:
    """Return `sqrt(1 - x * x)`."""
    return f.call("sqrt", f.multiply(f.subtract(ONE, x), f.add(ONE, x)))


_SINGLE: dict[str, Callable[[f.Formula], f.Formula]] = {
    "erfc": lambda x: f.subtract(ONE, f.call("erf", x)),
    "tan": lambda x: f.divide(f.call("sin", x), f.call("cos", x)),
    "asin": lambda x: f.call("atan2", x, _root(x)),
    "acos": lambda x: f.call("atan2", _root(x), x),
    "atan": lambda x: f.call("atan2", x, ONE),
    "sinh": lambda x: f.divide(f.subtract(_exp(x), _exp(f.negate(x))), f.Number(2.0)),
    "cosh": lambda x: f.divide(f.add(_exp(x), _exp(f.negate(x))), f.Number(2.0)),
    "asinh": lambda x: f.call("log", f.add(x, f.call("sqrt", f.add(f.multiply(x, x), ONE)))),
    "acosh": lambda x: f.call("log", f.add(x, f.call("sqrt", f.subtract(f.multiply(x, x), ONE)))),
    "atanh": lambda x: f.divide(f.call("log", f.divide(f.add(ONE, x), f.subtract(ONE, x))), f.Number(2.0)),
    "deg2rad": lambda x: f.multiply(x, f.Number(math.pi / 180, "pi/180")),
    "rad2deg": lambda x: f.multiply(x, f.Number(180 / math.pi, "180/pi")),
    "special_entr": lambda x: f.choose(f.Op("==", (x, ZERO)), ZERO, f.negate(f.multiply(x, f.call("log", x)))),
    "special_ndtr": lambda x: f.multiply(
        _HALF, f.add(ONE, f.call("erf", f.divide(x, f.Number(math.sqrt(2), "sqrt(2)"))))
    ),
    "positive": lambda x: x,
    "signbit": lambda x: f.Op("<", (x, ZERO)),
}


def _single(name: str, function: Callable[[f.Formula], f.Formula]) -> Rule:
    def computed(derivation: Derivation, index: Index, value: float) -> RuleResult:
        return make(name.removeprefix("special_"), function(derivation.operand("self", index)))

    return computed


for _name, _compute in _SINGLE.items():
    rule(_name)(_single(_name, _compute))


@rule("logit")
def _logit(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `log(p / (1 - p))`; with `eps`, `p` is first kept between `eps` and `1 - eps`."""
    cell, eps = derivation.operand("self", index), derivation.event.arg("eps")
    if eps is not None:
        cell = f.call("min", f.call("max", cell, f.Number(float(eps))), f.Number(1 - float(eps)))
    return make("logit", f.call("log", f.divide(cell, f.subtract(ONE, cell))))


@rule("sinc")
def _sinc(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `sin(pi * x) / (pi * x)`, which is 1 at 0."""
    cell = derivation.operand("self", index)
    angle = f.multiply(f.Number(math.pi, "pi"), cell)
    return make("sinc", f.choose(f.Op("==", (cell, ZERO)), ONE, f.divide(f.call("sin", angle), angle)))


@rule("copysign")
def _copysign(derivation: Derivation, index: Index, value: float) -> RuleResult:
    size = f.call("abs", derivation.operand("self", index))
    derivation.operand("other", index)
    signed = f.negate(size) if math.copysign(1.0, value) < 0 else size
    return make("copysign", signed, say("copysign", "The sign is that of the second number."))

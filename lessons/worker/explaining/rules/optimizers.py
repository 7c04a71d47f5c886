"""Rules for operations on lists of tensors, in which optimizers take a step for many parameters at once."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules import descent
from attn_tutor.lessons.worker.explaining.rules.registry import ONE, find, make, rule, unknown
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/optimizers")

_LISTED = (
    *("add", "sub", "mul", "div", "neg", "abs", "sqrt", "rsqrt", "reciprocal", "exp", "log", "pow", "lerp", "zero"),
    *("addcmul", "addcdiv", "maximum", "minimum", "clamp_min", "clamp_max", "sigmoid", "tanh", "sign", "round"),
    *("floor", "ceil", "trunc", "erf", "sin", "cos", "expm1", "log1p", "log2", "log10", "frac"),
)
"""Operations on a list of tensors that do to each of them what the operation of this name does to one."""

_OWN_NAMES = {"tensors1": "end", "weights": "weight", "scalars": "scalar"}
_SCALARS = {"pow": "exponent", "clamp_min": "min", "clamp_max": "max", "addcmul": "value", "addcdiv": "value"}
"""The argument that a scalar of a list operation stands for; `weight` for `lerp`, else `other`."""


@rule(*(f"_foreach_{name}" for name in _LISTED))
def _of_each(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain one tensor of a list as the operation on that tensor alone."""
    event, output = derivation.event, derivation.output
    op = event.op.removeprefix("_foreach_").rstrip("_")
    rule_of_one = find(op)
    arguments: dict[str, Any] = {}
    for name in event.info.names:
        given = event.arg(name)
        # A scalar list is a tensor or a list of numbers; one number or tensor serves all.
        is_own = isinstance(given, list | tuple)
        own = _OWN_NAMES.get(name, name)
        if own == "scalar":
            own = "weight" if op == "lerp" else _SCALARS.get(op, "other")
        if (
            own in ("other", "weight", "self")
            and op in ("maximum", "minimum", "clamp_min", "clamp_max")
            and own != "self"
        ):
            own = _SCALARS.get(op, "other")
        arguments[own] = given[output] if is_own else given
    info = replace(event.info, op=op, names=dict.fromkeys(arguments, 1 << 30), defaults={})
    one = replace(event, info=info, args=(), kwargs=arguments, outs=(event.outs[output],))
    own_derivation = replace(derivation, event=one, output=0)
    return descent.explain(own_derivation, index, value) or rule_of_one(own_derivation, index, value)


@rule("_foreach_copy")
def _copied(derivation: Derivation, index: Index, value: float) -> RuleResult:
    return make("copy", derivation.cell(derivation.event.arg("src")[derivation.output], index))


_STATE = ("self", "grads", "exp_avgs", "exp_avg_sqs", "max_exp_avg_sqs", "state_steps")


@rule("_fused_adam", "_fused_adamw")
def _adam(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a step of Adam (Kingma and Ba 2015) or AdamW (Loshchilov and Hutter 2019).

    The averages of the gradient and of its square come first; the parameter then moves by their corrected ratio.
    """
    event = derivation.event
    lists: dict[str, Any] = {name: event.arg(name) for name in _STATE}
    found = _position(event.outs, derivation.output, lists)
    if found is None or event.arg("amsgrad") or event.arg("maximize") or isinstance(event.arg("lr"), Region):
        return unknown(derivation, index, value)
    name, place = found
    decoupled = "adamw" in event.op
    lr, decay, eps = (f.Number(float(event.arg(key)), key) for key in ("lr", "weight_decay", "eps"))
    first, second = f.Number(float(event.arg("beta1")), "beta1"), f.Number(float(event.arg("beta2")), "beta2")

    def cell(key: str, at: Index = index, later: bool = False) -> f.Formula:
        tensor = lists[key][place]
        return derivation.operand_for(derivation.element(tensor, at, event.time + later))

    gradient = cell("grads")
    if name == "grads":
        return make("copy", gradient)
    if decay.value and not decoupled:
        gradient = f.add(gradient, f.multiply(decay, cell("self")))
    if name == "exp_avgs":
        average = f.add(f.multiply(first, cell(name)), f.multiply(_rest(first), gradient))
        return make("adam", average, descent.average_words())
    if name == "exp_avg_sqs":
        squares = f.add(
            f.multiply(second, cell(name)), f.multiply(_rest(second), f.Op("**", (gradient, f.Number(2.0))))
        )
        return make("adam", squares, descent.squares_words())
    start = cell("self")
    if decay.value and decoupled:
        start = f.multiply(start, _rest(f.multiply(lr, decay)))
    m, v = cell("exp_avgs", later=True), cell("exp_avg_sqs", later=True)
    moved = descent.adam_step(start, m, v, cell("state_steps", ()), lr, first, second, eps)
    return make("adamw" if decoupled else "adam", moved, descent.adam_words())


@rule("_fused_sgd")
def _sgd(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a step of stochastic gradient descent, with momentum or without."""
    event = derivation.event
    lists: dict[str, Any] = {name: event.arg(name) for name in ("self", "grads", "momentum_buffer_list")}
    found = _position(event.outs, derivation.output, lists)
    if found is None or event.arg("maximize") or isinstance(event.arg("lr"), Region):
        return unknown(derivation, index, value)
    name, place = found
    lr, decay, momentum = (f.Number(float(event.arg(key)), key) for key in ("lr", "weight_decay", "momentum"))
    gradient = derivation.cell(lists["grads"][place], index)
    if name == "grads":
        return make("copy", gradient)
    if decay.value:
        gradient = f.add(gradient, f.multiply(decay, derivation.cell(lists["self"][place], index)))
    if momentum.value:
        buffer = lists["momentum_buffer_list"][place]
        if name == "momentum_buffer_list":
            if event.arg("is_first_step"):
                return make("momentum", gradient, say("first-step", "In the first step, the gradient itself."))
            part = f.multiply(_rest(f.Number(float(event.arg("dampening")), "dampening")), gradient)
            part = gradient if not event.arg("dampening") else part
            return make("momentum", f.add(f.multiply(momentum, derivation.cell(buffer, index)), part))
        velocity = derivation.operand_for(derivation.element(buffer, index, event.time + 1))
        gradient = f.add(gradient, f.multiply(momentum, velocity)) if event.arg("nesterov") else velocity
    moved = f.Op("-", (derivation.cell(lists["self"][place], index), f.multiply(lr, gradient)))
    return make("sgd", moved, descent.descent_words())


def _rest(part: f.Formula) -> f.Formula:
    return f.Op("-", (ONE, part))


def _position(outs: tuple[Region, ...], output: int, lists: dict[str, Any]) -> tuple[str, int] | None:
    """Return which list a result belongs to, and its place there."""
    for name, items in lists.items():
        for place, item in enumerate(items or ()):
            if item is outs[output]:
                return name, place
    return None

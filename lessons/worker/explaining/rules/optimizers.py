"""Rules for the steps of optimizers, in the words of the method: of single operations, and of those on lists.

PyTorch computes a step of Adam or of gradient descent in pieces. Where these are pieces of a step that was seen, and of
tensors that the optimizer keeps, they are put together. Operations on lists of tensors take a step for many parameters
at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import accounting
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.registry import ONE, find, make, rule, unknown
from attn_tutor.lessons.worker.recording.element_history import Element
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.optimizer_steps import Step
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/descent")


def average_words() -> str:
    """Say what Adam calls m."""
    return say("average", "m: the running average of the gradients.")


def squares_words() -> str:
    """Say what Adam calls v."""
    return say("squares", "v: the running average of the squared gradients.")


def adam_words() -> str:
    """Say where a step of Adam goes."""
    return say("adam", "It moves against the average gradient, divided by the root of the average square.")


def descent_words() -> str:
    """Say where a step of gradient descent goes."""
    return say("gradient", "It moves against the gradient.")


@dataclass(slots=True)
class _Piece:
    """One operation of a step.

    Attributes:
        derivation: its derivation.
        index: the index of the cell.
        step: the step.
        target: the tensor that it writes to.
        key: what the optimizer calls this tensor; "" if it does not keep it.
        settings: those of the parameter that is updated.
        parameter: that parameter.
    """

    derivation: Derivation
    index: Index
    step: Step
    target: Region
    key: str
    settings: dict[str, Any]
    parameter: Region

    def earlier(self, op: str, factor: float) -> Element | None:
        """Return the element of the target before the step scaled it by a factor; None if it did not."""
        now = self.derivation.element(self.target, self.index)
        writer = self.derivation.run.history.writer(now)
        if writer is None or not self.step.first <= writer.time < self.step.last:
            return None
        if writer.op.strip("_").removeprefix("foreach_") != op or not _has_number(writer, factor):
            return None
        return replace(now, time=writer.time)

    def state(self, key: str, index: Index) -> f.Formula | None:
        """Return a cell of another tensor that the optimizer keeps for the parameter; None if there is none."""
        for item in self.derivation.run.optimizers.states.values():
            if item.key == key and item.parameter.storage == self.parameter.storage:
                fits = len(item.region.shape) == len(index)
                return self.derivation.operand_for(self.derivation.element(item.region, index)) if fits else None
        return None


def explain_piece(derivation: Derivation, index: Index, value: float) -> RuleResult | None:
    """Explain a cell in the words of the method; None if the operation is no piece of a step that is known."""
    piece = _piece(derivation, index)
    rule = _RULES.get((piece.key, derivation.event.op.strip("_"))) if piece is not None else None
    if piece is None or rule is None:
        return None
    elements, positions = list(derivation.elements), dict(derivation.positions)
    result = rule(piece)
    if result is not None and result.formula is not None:
        values = derivation.run.history.values(derivation.elements)
        if accounting.formula_agrees(result.formula, values, value, piece.target.dtype):
            return result
    derivation.elements[:] = elements
    derivation.positions.clear()
    derivation.positions.update(positions)
    return None


def _piece(derivation: Derivation, index: Index) -> _Piece | None:
    event, optimizers = derivation.event, derivation.run.optimizers
    step, target = optimizers.step_at(event.time), event.arg("self")
    if step is None or not isinstance(target, Region) or not event.info.written:
        return None
    state = optimizers.states.get(target.storage)
    parameter = state.parameter if state is not None else target
    settings = step.settings.get(parameter.storage)
    if settings is None or settings.get("maximize") or settings.get("amsgrad"):
        return None
    known = (torch.optim.Adam, torch.optim.AdamW, torch.optim.SGD)
    if step.kind not in known or not isinstance(settings.get("lr"), float | int):
        return None
    return _Piece(derivation, index, step, target, state.key if state is not None else "", settings, parameter)


def _average(piece: _Piece) -> RuleResult | None:
    beta = f.Number(piece.settings["betas"][0], "beta1")
    if not _has_number(piece.derivation.event, 1 - beta.value):
        return None
    old, gradient = (piece.derivation.operand(name, piece.index) for name in ("self", "end"))
    return make("adam", f.add(f.multiply(beta, old), f.multiply(f.subtract(ONE, beta), gradient)), average_words())


def _squares(piece: _Piece) -> RuleResult | None:
    beta = f.Number(piece.settings["betas"][1], "beta2")
    before = piece.earlier("mul", beta.value)
    if before is None or not _has_number(piece.derivation.event, 1 - beta.value):
        return None
    old, gradient = piece.derivation.operand_for(before), piece.derivation.operand("tensor1", piece.index)
    squared = f.Op("**", (gradient, f.Number(2.0)))
    return make("adam", f.add(f.multiply(beta, old), f.multiply(f.subtract(ONE, beta), squared)), squares_words())


def _adam_piece(piece: _Piece) -> RuleResult | None:
    settings, derivation = piece.settings, piece.derivation
    if "betas" not in settings:
        return None
    lr, decay, eps = (f.Number(float(settings[name]), name) for name in ("lr", "weight_decay", "eps"))
    first, second = (
        f.Number(float(beta), name) for name, beta in zip(("beta1", "beta2"), settings["betas"], strict=True)
    )
    m = derivation.run.optimizers.states.get(derivation.event.arg("tensor1").storage)
    if m is None or (m.key, m.parameter.storage) != ("exp_avg", piece.parameter.storage):
        return None
    decayed = piece.earlier("mul", 1 - lr.value * decay.value) if decay.value else None
    start = derivation.operand("self", piece.index) if decayed is None else derivation.operand_for(decayed)
    if decayed is not None:
        start = f.multiply(start, f.subtract(ONE, f.multiply(lr, decay)))
    v, count = piece.state("exp_avg_sq", piece.index), piece.state("step", ())
    if v is None or count is None:
        return None
    average = derivation.operand("tensor1", piece.index)
    step = adam_step(start, average, v, count, lr, first, second, eps)
    return make(piece.step.kind.__name__.lower(), step, adam_words())


def adam_step(
    start: f.Formula,
    m: f.Formula,
    v: f.Formula,
    count: f.Formula,
    lr: f.Number,
    beta1: f.Number,
    beta2: f.Number,
    eps: f.Number,
) -> f.Formula:
    """Return where a step of Adam takes a parameter (Kingma and Ba 2015), from its averages after the step."""
    average = f.Op("/", (m, f.subtract(ONE, f.Op("**", (beta1, count)))))
    spread = f.call("sqrt", f.Op("/", (v, f.subtract(ONE, f.Op("**", (beta2, count))))))
    return f.Op("-", (start, f.multiply(lr, f.Op("/", (average, f.add(spread, eps))))))


def _momentum(piece: _Piece) -> RuleResult | None:
    momentum = f.Number(float(piece.settings["momentum"]), "momentum")
    dampening = f.Number(float(piece.settings["dampening"]), "dampening")
    before = piece.earlier("mul", momentum.value)
    if before is None or (piece.derivation.event.arg("alpha") or 1) != 1 - dampening.value:
        return None
    gradient = piece.derivation.operand("other", piece.index)
    part = f.multiply(f.subtract(ONE, dampening), gradient) if dampening.value else gradient
    old = f.multiply(momentum, piece.derivation.operand_for(before))
    note = say("momentum", "Momentum: the earlier gradients count on, less and less.")
    return make("momentum", f.add(old, part), note)


def _descent(piece: _Piece) -> RuleResult | None:
    lr = f.Number(float(piece.settings["lr"]), "lr")
    if piece.step.kind is not torch.optim.SGD or piece.derivation.event.arg("alpha") != -lr.value:
        return None
    start, direction = (piece.derivation.operand(name, piece.index) for name in ("self", "other"))
    has_momentum = bool(piece.settings.get("momentum")) and not piece.settings.get("nesterov")
    note = say("against-momentum", "It moves against the momentum.") if has_momentum else descent_words()
    return make("sgd", f.Op("-", (start, f.multiply(lr, direction))), note)


def _has_number(event: Event, number: float) -> bool:
    """Return whether a number is among the arguments of an operation, in a list of its own or for each tensor."""
    numbers = [
        item
        for value in (*event.args, *event.kwargs.values())
        for item in (value if isinstance(value, list) else [value])
        if isinstance(item, float | int)
    ]
    return any(math.isclose(item, number, rel_tol=1e-12) for item in numbers)


_RULES: dict[tuple[str, str], Callable[[_Piece], RuleResult | None]] = {
    ("exp_avg", "lerp"): _average,
    ("exp_avg_sq", "addcmul"): _squares,
    ("", "addcdiv"): _adam_piece,
    ("momentum_buffer", "add"): _momentum,
    ("", "add"): _descent,
}


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
    return explain_piece(own_derivation, index, value) or rule_of_one(own_derivation, index, value)


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
        average = f.add(f.multiply(first, cell(name)), f.multiply(f.subtract(ONE, first), gradient))
        return make("adam", average, average_words())
    if name == "exp_avg_sqs":
        squares = f.add(
            f.multiply(second, cell(name)), f.multiply(f.subtract(ONE, second), f.Op("**", (gradient, f.Number(2.0))))
        )
        return make("adam", squares, squares_words())
    start = cell("self")
    if decay.value and decoupled:
        start = f.multiply(start, f.subtract(ONE, f.multiply(lr, decay)))
    m, v = cell("exp_avgs", later=True), cell("exp_avg_sqs", later=True)
    moved = adam_step(start, m, v, cell("state_steps", ()), lr, first, second, eps)
    return make("adamw" if decoupled else "adam", moved, adam_words())


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
            part = f.multiply(f.subtract(ONE, f.Number(float(event.arg("dampening")), "dampening")), gradient)
            part = gradient if not event.arg("dampening") else part
            return make("momentum", f.add(f.multiply(momentum, derivation.cell(buffer, index)), part))
        velocity = derivation.operand_for(derivation.element(buffer, index, event.time + 1))
        gradient = f.add(gradient, f.multiply(momentum, velocity)) if event.arg("nesterov") else velocity
    moved = f.Op("-", (derivation.cell(lists["self"][place], index), f.multiply(lr, gradient)))
    return make("sgd", moved, descent_words())


def _position(outs: tuple[Region, ...], output: int, lists: dict[str, Any]) -> tuple[str, int] | None:
    """Return which list a result belongs to, and its place there."""
    for name, items in lists.items():
        for place, item in enumerate(items or ()):
            if item is outs[output]:
                return name, place
    return None

"""Rules for the single operations of a step of Adam or of gradient descent, in the words of the method.

PyTorch computes a step in pieces. Where these are pieces of a step that was seen, and of tensors that the optimizer
keeps, they are put together: the average m of the gradients, the average v of their squares, and the step itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import formula_check
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.registry import ONE, make
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


def explain(derivation: Derivation, index: Index, value: float) -> RuleResult | None:
    """Explain a cell in the words of the method; None if the operation is no piece of a step that is known."""
    piece = _piece(derivation, index)
    rule = _RULES.get((piece.key, derivation.event.op.strip("_"))) if piece is not None else None
    if piece is None or rule is None:
        return None
    elements, positions = list(derivation.elements), dict(derivation.positions)
    result = rule(piece)
    if result is not None and result.formula is not None:
        values = derivation.run.history.values(derivation.elements)
        if formula_check.agrees(result.formula, values, value, piece.target.dtype):
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
    return make("adam", f.add(f.multiply(beta, old), f.multiply(_rest(beta), gradient)), average_words())


def _squares(piece: _Piece) -> RuleResult | None:
    beta = f.Number(piece.settings["betas"][1], "beta2")
    before = piece.earlier("mul", beta.value)
    if before is None or not _has_number(piece.derivation.event, 1 - beta.value):
        return None
    old, gradient = piece.derivation.operand_for(before), piece.derivation.operand("tensor1", piece.index)
    squared = f.Op("**", (gradient, f.Number(2.0)))
    return make("adam", f.add(f.multiply(beta, old), f.multiply(_rest(beta), squared)), squares_words())


def _adam(piece: _Piece) -> RuleResult | None:
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
        start = f.multiply(start, _rest(f.multiply(lr, decay)))
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
    average = f.Op("/", (m, _rest(f.Op("**", (beta1, count)))))
    spread = f.call("sqrt", f.Op("/", (v, _rest(f.Op("**", (beta2, count))))))
    return f.Op("-", (start, f.multiply(lr, f.Op("/", (average, f.add(spread, eps))))))


def _momentum(piece: _Piece) -> RuleResult | None:
    momentum = f.Number(float(piece.settings["momentum"]), "momentum")
    dampening = f.Number(float(piece.settings["dampening"]), "dampening")
    before = piece.earlier("mul", momentum.value)
    if before is None or (piece.derivation.event.arg("alpha") or 1) != 1 - dampening.value:
        return None
    gradient = piece.derivation.operand("other", piece.index)
    part = f.multiply(_rest(dampening), gradient) if dampening.value else gradient
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


def _rest(part: f.Formula) -> f.Formula:
    return f.Op("-", (ONE, part))


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
    ("", "addcdiv"): _adam,
    ("momentum_buffer", "add"): _momentum,
    ("", "add"): _descent,
}

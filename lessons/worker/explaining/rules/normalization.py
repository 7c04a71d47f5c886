"""Rules for operations on a whole row: softmax and its derivative, layer norm."""

from __future__ import annotations

import itertools
import math
from typing import Any

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.masking import masked_on
from attn_tutor.lessons.worker.explaining.rules.registry import MOST_TERMS, make, region, rule, short, too_many, unknown
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/normalization")


def _row(tensor: Region, dim: Any, index: Index) -> tuple[int, int, list[Index]]:
    """Return the line of cells along an axis through `index`: the axis, the position of `index` in it, its indices."""
    if not tensor.shape:
        return 0, 0, [()]
    axis = int(dim) % len(tensor.shape)
    return axis, index[axis], [(*index[:axis], position, *index[axis + 1 :]) for position in range(tensor.shape[axis])]


def _largest(rank: int, axis: int, number: float) -> str:
    """Say what softmax subtracts first along an axis of a tensor with so many axes."""
    largest = short(number)
    if rank - axis == 2:
        return say(
            "largest-of-column",
            "The largest of the column, {number}, is subtracted first, so that no exp overflows.",
            number=largest,
        )
    if rank - axis > 2:
        return say(
            "largest-of-line",
            "The largest of the line along axis {axis}, {number}, is subtracted first, so that no exp overflows.",
            axis=axis,
            number=largest,
        )
    return say(
        "largest-of-row",
        "The largest of the row, {number}, is subtracted first, so that no exp overflows.",
        number=largest,
    )


def _own_score(score: float, where: str, is_zero: bool) -> str:
    """Say that a score was masked, where if that is known, and whether that makes the result 0."""
    if is_zero:
        return (
            say("minus-inf-masked-at", "Its own score is -inf (masked {where}), and exp(-inf) is 0.", where=where)
            if where
            else say("minus-inf-masked", "Its own score is -inf (masked), and exp(-inf) is 0.")
        )
    return (
        say("masked-at", "Its own score is {score} (masked {where}).", score=short(score), where=where)
        if where
        else say("masked", "Its own score is {score} (masked).", score=short(score))
    )


@rule("_softmax", "_log_softmax", "softmax", "log_softmax", "_safe_softmax")
def _softmax(derivation: Derivation, index: Index, value: float) -> RuleResult:
    scores, op = region(derivation), derivation.event.op.strip("_")
    axis, own, indices = _row(scores, derivation.event.arg("dim"), index)
    if len(indices) > MOST_TERMS:
        return too_many(derivation, len(indices))
    cells = [derivation.cell(scores, at) for at in indices]
    values = derivation.values(scores, indices)
    top = max(range(len(values)), key=lambda position: -math.inf if math.isnan(values[position]) else values[position])
    exps = [f.call("exp", f.Op("-", (cell, cells[top]))) for cell in cells]
    shifted = [f.evaluate(f.call("exp", f.Number(one - values[top])), ()) for one in values]
    notes = []
    if math.isfinite(values[top]) and not any(map(math.isnan, values)):
        notes.append(_largest(len(scores.shape), axis, values[top]))
    where = masked_on(derivation, scores, indices[own])
    is_zero = value == 0 and values[own] == -math.inf
    if where is not None:
        notes.append(_own_score(values[own], where, is_zero))
    elif is_zero:
        notes.append(say("minus-inf", "Its own score is -inf, and exp(-inf) is 0."))
    details = [("exp", shifted), (say("sum-of-exp", "sum of exp"), [f.total(shifted)])]
    if op == "log_softmax":
        shifted_cell = f.Op("-", (cells[own], cells[top]))
        return make(op, f.Op("-", (shifted_cell, f.call("log", f.add(*exps)))), *notes, details=details)
    if op == "safe_softmax" and all(one == -math.inf for one in values):
        note = say("nothing-left", "Nothing in the row was left; this kernel makes such a row 0.")
        return make("softmax", f.Number(0.0), note)
    return make("softmax", f.Op("/", (exps[own], f.add(*exps))), *notes, details=details)


@rule("_softmax_backward_data")
def _softmax_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    gradient, output = region(derivation, "grad_output"), region(derivation, "output")
    _, _, indices = _row(output, derivation.event.arg("dim"), index)
    if len(indices) > MOST_TERMS:
        return too_many(derivation, 2 * len(indices))
    terms = [f.multiply(derivation.cell(gradient, at), derivation.cell(output, at)) for at in indices]
    inner = f.Op("-", (derivation.cell(gradient, index), f.add(*terms)))
    note = say(
        "derivative",
        "The derivative of softmax: a weight times how much its gradient exceeds the weighted mean of all.",
    )
    return make("softmax_backward", f.multiply(derivation.cell(output, index), inner), note)


@rule("native_layer_norm")
def layer_norm(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a normalized cell by the mean and the variance of its row."""
    if derivation.output:
        return unknown(derivation, index, value)
    inputs = region(derivation, "input")
    lead = index[: len(inputs.shape) - len(derivation.event.arg("normalized_shape"))]
    indices = [(*lead, *rest) for rest in itertools.product(*map(range, inputs.shape[len(lead) :]))]
    cell = derivation.cell(inputs, index)
    mean, variance = derivation.moments(inputs, indices)
    spread = f.call("sqrt", f.add(variance, f.Number(float(derivation.event.arg("eps")), "eps")))
    formula: f.Formula = f.Op("/", (f.Op("-", (cell, mean)), spread))
    for name, join in (("weight", f.multiply), ("bias", f.add)):
        if isinstance(derivation.event.arg(name), Region):
            formula = join(formula, derivation.cell(region(derivation, name), index[len(lead) :]))
    note = say.count(
        "moments",
        len(indices),
        "The mean and the variance are those of {count} number.",
        "The mean and the variance are those of {count} numbers.",
    )
    return make("layer_norm", formula, note)

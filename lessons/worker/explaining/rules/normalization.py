"""Rules for operations on a whole row: softmax and its derivative, layer norm."""

from __future__ import annotations

import itertools
import math
from typing import Any

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation
from lessons.worker.explaining.recorded_run import Index, RuleResult
from lessons.worker.explaining.rules.masking import masked_on
from lessons.worker.explaining.rules.registry import MOST_TERMS, make, region, rule, short, too_many, unknown
from lessons.worker.recording.regions import Region


def _row(tensor: Region, dim: Any, index: Index) -> tuple[str, int, list[Index]]:
    """Return the line of cells along an axis through `index`: its name, the position of `index` in it, its indices."""
    if not tensor.shape:
        return "row", 0, [()]
    axis = int(dim) % len(tensor.shape)
    name = {1: "row", 2: "column"}.get(len(tensor.shape) - axis, f"line along axis {axis}")
    return name, index[axis], [(*index[:axis], position, *index[axis + 1 :]) for position in range(tensor.shape[axis])]


@rule("_softmax", "_log_softmax", "softmax", "log_softmax", "_safe_softmax")
def _softmax(derivation: Derivation, index: Index, value: float) -> RuleResult:
    scores, op = region(derivation), derivation.event.op.strip("_")
    name, own, indices = _row(scores, derivation.event.arg("dim"), index)
    if len(indices) > MOST_TERMS:
        return too_many(derivation, len(indices))
    cells = [derivation.cell(scores, at) for at in indices]
    values = derivation.values(scores, indices)
    top = max(range(len(values)), key=lambda position: -math.inf if math.isnan(values[position]) else values[position])
    exps = [f.call("exp", f.Op("-", (cell, cells[top]))) for cell in cells]
    shifted = [f.evaluate(f.call("exp", f.Number(one - values[top])), ()) for one in values]
    notes = []
    if math.isfinite(values[top]):
        notes.append(f"The largest of the {name}, {short(values[top])}, is subtracted first, so that no exp overflows.")
    where = masked_on(derivation, scores, indices[own])
    if value == 0 and values[own] == -math.inf:
        notes.append(f"Its own score is -inf{where and f' ({where})'}, and exp(-inf) is 0.")
    elif where:
        notes.append(f"Its own score is {short(values[own])} ({where}).")
    details = [("exp", shifted), ("sum of exp", [f.total(shifted)])]
    if op == "log_softmax":
        shifted_cell = f.Op("-", (cells[own], cells[top]))
        return make(op, f.Op("-", (shifted_cell, f.call("log", f.add(*exps)))), *notes, details=details)
    if op == "safe_softmax" and all(one == -math.inf for one in values):
        return make("softmax", f.Number(0.0), "Nothing in the row was left; this kernel makes such a row 0.")
    return make("softmax", f.Op("/", (exps[own], f.add(*exps))), *notes, details=details)


@rule("_softmax_backward_data")
def _softmax_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    gradient, output = region(derivation, "grad_output"), region(derivation, "output")
    _, _, indices = _row(output, derivation.event.arg("dim"), index)
    if len(indices) > MOST_TERMS:
        return too_many(derivation, 2 * len(indices))
    terms = [f.multiply(derivation.cell(gradient, at), derivation.cell(output, at)) for at in indices]
    inner = f.Op("-", (derivation.cell(gradient, index), f.add(*terms)))
    note = "The derivative of softmax: a weight times how much its gradient exceeds the weighted mean of all."
    return make("softmax backward", f.multiply(derivation.cell(output, index), inner), note)


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
    return make("layer norm", formula, f"The mean and the variance are those of {len(indices)} numbers.")

"""Operations on a whole row: softmax and its derivative, layer norm."""

from __future__ import annotations

import itertools
import math
from typing import Any

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation, Index, RuleResult
from lessons.worker.explaining.rules.masking import masked_on
from lessons.worker.explaining.rules.registry import MOST_TERMS, make, region, rule, short, too_many, unknown
from lessons.worker.recording.recorder import Region


def _row(given: Region, dim: Any, index: Index) -> tuple[str, int, list[Index]]:
    """What a line of a tensor along an axis is called, where `index` is in it, and the indices of all its cells."""
    if not given.shape:
        return "row", 0, [()]
    axis = int(dim) % len(given.shape)
    name = {1: "row", 2: "column"}.get(len(given.shape) - axis, f"line along axis {axis}")
    return name, index[axis], [(*index[:axis], place, *index[axis + 1 :]) for place in range(given.shape[axis])]


@rule("_softmax", "_log_softmax", "softmax", "log_softmax", "_safe_softmax")
def _softmax(work: Derivation, index: Index, value: float) -> RuleResult:
    given, op = region(work), work.event.op.strip("_")
    name, mine, places = _row(given, work.event.arg("dim"), index)
    if len(places) > MOST_TERMS:
        return too_many(work, len(places))
    cells = [work.cell(given, place) for place in places]
    values = work.values(given, places)
    top = max(range(len(values)), key=lambda place: -math.inf if math.isnan(values[place]) else values[place])
    exps = [f.call("exp", f.Op("-", (cell, cells[top]))) for cell in cells]
    shifted = [f.evaluate(f.call("exp", f.Number(one - values[top])), ()) for one in values]
    notes = []
    if math.isfinite(values[top]):
        notes.append(f"The largest of the {name}, {short(values[top])}, is subtracted first, so that no exp overflows.")
    where = masked_on(work, given, places[mine])
    if value == 0 and values[mine] == -math.inf:
        notes.append(f"Its own score is -inf{where and f' ({where})'}, and exp(-inf) is 0.")
    elif where:
        notes.append(f"Its own score is {short(values[mine])} ({where}).")
    details = [("exp", shifted), ("sum of exp", [f.total(shifted)])]
    if op == "log_softmax":
        own = f.Op("-", (cells[mine], cells[top]))
        return make(op, f.Op("-", (own, f.call("log", f.add(*exps)))), *notes, details=details)
    if op == "safe_softmax" and all(one == -math.inf for one in values):
        return make("softmax", None, "Nothing in the row was left; this kernel makes such a row 0.")
    return make("softmax", f.Op("/", (exps[mine], f.add(*exps))), *notes, details=details)


@rule("_softmax_backward_data")
def _softmax_backward(work: Derivation, index: Index, value: float) -> RuleResult:
    gradient, output = region(work, "grad_output"), region(work, "output")
    _, _, places = _row(output, work.event.arg("dim"), index)
    if len(places) > MOST_TERMS:
        return too_many(work, 2 * len(places))
    terms = [f.multiply(work.cell(gradient, place), work.cell(output, place)) for place in places]
    inner = f.Op("-", (work.cell(gradient, index), f.add(*terms)))
    note = "The derivative of softmax: a weight times how much its gradient exceeds the weighted mean of all."
    return make("softmax backward", f.multiply(work.cell(output, index), inner), note)


@rule("native_layer_norm")
def _layer_norm(work: Derivation, index: Index, value: float) -> RuleResult:
    if work.output:
        return unknown(work, index, value)
    given = region(work, "input")
    lead = index[: len(given.shape) - len(work.event.arg("normalized_shape"))]
    places = [(*lead, *rest) for rest in itertools.product(*map(range, given.shape[len(lead) :]))]
    values = work.values(given, places)
    mean = f.total(values) / len(values)
    variance = f.total([(one - mean) ** 2 for one in values]) / len(values)
    spread = f.call("sqrt", f.add(f.Number(variance, "variance"), f.Number(float(work.event.arg("eps")), "eps")))
    formula: f.Formula = f.Op("/", (f.Op("-", (work.cell(given, index), f.Number(mean, "mean"))), spread))
    for name, join in (("weight", f.multiply), ("bias", f.add)):
        if isinstance(work.event.arg(name), Region):
            formula = join(formula, work.cell(region(work, name), index[len(lead) :]))
    return make("layer norm", formula, f"The mean and the variance are those of {len(values)} numbers.")

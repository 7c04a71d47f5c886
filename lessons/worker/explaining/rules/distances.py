"""Rules for norms and distances: of rows, of tensors, and the losses by margins that compare them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation, broadcast
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.registry import (
    MOST_TERMS,
    ONE,
    ZERO,
    make,
    region,
    rule,
    too_many,
    unknown,
)
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/distances")


def norm_of(cells: Sequence[f.Formula], order: float) -> f.Formula:
    """Return the norm of numbers, `sum(abs(x) ** p) ** (1 / p)`; for infinity the greatest, for 0 the count."""
    if not cells:
        return ZERO
    sizes = [f.call("abs", cell) for cell in cells]
    if math.isinf(order):
        return f.call("max" if order > 0 else "min", *sizes)
    if order == 0:
        return f.add(ZERO, *(f.Op("!=", (cell, ZERO)) for cell in cells))
    if order == 1:
        return f.add(*sizes)
    if order == 2:
        return f.call("sqrt", f.add(*(f.Op("**", (cell, f.Number(2.0))) for cell in cells)))
    power = f.Number(order)
    return f.Op("**", (f.add(*(f.Op("**", (size, power)) for size in sizes)), f.Op("/", (ONE, power))))


@rule("_cdist_forward", "_euclidean_dist", "_pdist_forward", "dist")
def _distance(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain the distance of two rows: the norm of their difference. `pdist` counts pairs of rows of one matrix."""
    event = derivation.event
    order = event.arg("p")
    if event.op == "dist":
        first, second = region(derivation), region(derivation, "other")
        shape = tuple(map(max, *_aligned(first.shape, second.shape)))
        pairs = [
            (derivation.operand("self", at), derivation.operand("other", at))
            for at in itertools.islice(itertools.product(*map(range, shape)), MOST_TERMS + 1)
        ]
    else:
        first, second = (
            region(derivation, name) if name in event.info.names else region(derivation) for name in ("x1", "x2")
        )
        if event.op == "_pdist_forward":
            one, two = list(itertools.combinations(range(first.shape[0]), 2))[index[0]]
        else:
            one, two = index[-2:]
        lead = index[:-2]
        pairs = [
            (
                derivation.cell(first, (*broadcast(first.shape[:-2], lead), one, k)),
                derivation.cell(second, (*broadcast(second.shape[:-2], lead), two, k)),
            )
            for k in range(min(first.shape[-1], MOST_TERMS + 1))
        ]
    if len(pairs) > MOST_TERMS:
        return too_many(derivation, 2 * len(pairs))
    return make("distance", norm_of([f.Op("-", pair) for pair in pairs], 2.0 if order is None else float(order)))


def _aligned(first: Index, second: Index) -> tuple[Index, Index]:
    rank = max(len(first), len(second))
    return (1,) * (rank - len(first)) + first, (1,) * (rank - len(second)) + second


@rule("_cdist_backward")
def _distance_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain the gradient of a coordinate: a sum over the rows of the other matrix, by the derivative of the norm."""
    order = float(derivation.event.arg("p"))
    gradient, first, second = (region(derivation, name) for name in ("grad", "x1", "x2"))
    *lead, row, axis = index
    if second.shape[-2] > MOST_TERMS:
        return too_many(derivation, 3 * second.shape[-2])
    if order == 0:
        return make("distance_backward", ZERO, say("no-slope", "A count of differences has no slope."))
    terms: list[f.Formula] = []
    for other in range(second.shape[-2]):
        at = derivation.cell(first, (*broadcast(first.shape[:-2], tuple(lead)), row, axis))
        gap = f.Op("-", (at, derivation.cell(second, (*broadcast(second.shape[:-2], tuple(lead)), other, axis))))
        sent = derivation.cell(gradient, (*lead, row, other))
        distance = derivation.cell(region(derivation, "cdist"), (*lead, row, other))
        terms.append(f.multiply(sent, _slope(gap, distance, order, str(gradient.dtype).removeprefix("torch."))))
    note = say.count(
        "over-rows",
        len(terms),
        "Over the {count} row of the other matrix.",
        "Over the {count} rows of the other matrix.",
    )
    return make("distance_backward", f.add(*terms) if terms else ZERO, note)


def _slope(gap: f.Formula, distance: f.Formula, order: float, dtype: str) -> f.Formula:
    """Return the derivative of a norm by one of the numbers that it is the norm of."""
    size, sign = f.call("abs", gap), f.Op("-", (f.Op(">", (gap, ZERO)), f.Op("<", (gap, ZERO))))
    if order == 1:
        return sign
    if math.isinf(order):
        # The kernel takes every number that is, rounded, as great as the greatest.
        rounded = f.call(dtype, size) if dtype in f.FUNCTIONS else size
        return f.multiply(sign, f.Op("==", (rounded, distance)))
    if order == 2:
        slope: f.Formula = f.Op("/", (gap, distance))
    else:
        power = f.Number(order - 1.0)
        slope = f.multiply(sign, f.Op("/", (f.Op("**", (size, power)), f.Op("**", (distance, power)))))
    undefined = f.Op("==", (distance, ZERO))
    if order < 1:
        undefined = f.Op("or", (undefined, f.Op("==", (gap, ZERO))))
    return f.choose(undefined, ZERO, slope)


@rule("multi_margin_loss")
def _multi_margin(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `nn.MultiMarginLoss`: how far other classes come nearer to the true one than the margin."""
    event, scores, target = derivation.event, region(derivation), region(derivation, "target")
    reduction, count = event.arg("reduction"), scores.shape[-1]
    if len(scores.shape) != 2 or scores.size > MOST_TERMS:
        return unknown(derivation, index, value)
    power, margin = (
        float(event.arg("p") or 1),
        f.Number(float(event.arg("margin") if event.arg("margin") is not None else 1), "margin"),
    )
    losses: list[f.Formula] = []
    for sample in [index[0]] if reduction == 0 else range(scores.shape[0]):
        true = int(derivation.value(target, (sample,)))
        weight = event.arg("weight")
        factors = [derivation.cell(weight, (true,))] if isinstance(weight, Region) else []
        parts: list[f.Formula] = []
        for label in range(count):
            if label != true:
                gap = f.Op("-", (margin, derivation.cell(scores, (sample, true))))
                near = f.call("max", f.add(gap, derivation.cell(scores, (sample, label))), ZERO)
                parts.append(f.multiply(*factors, near if power == 1 else f.Op("**", (near, f.Number(power)))))
        losses.append(f.Op("/", (f.add(*parts) if parts else ZERO, f.Number(float(count)))))
    loss = f.add(*losses)
    mean = f.Op("/", (loss, f.Number(float(len(losses))))) if reduction == 1 else loss
    note = say("margin", "How far the other classes come nearer than the margin to the true one.")
    return make("multi_margin_loss", mean, note)


@rule("renorm")
def _renorm(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a slice that is scaled down to a greatest norm, if it is longer than that."""
    tensor, event = region(derivation), derivation.event
    axis = int(event.arg("dim")) % len(tensor.shape)
    ranges = [(index[at],) if at == axis else range(size) for at, size in enumerate(tensor.shape)]
    cells = [derivation.cell(tensor, at) for at in itertools.islice(itertools.product(*ranges), MOST_TERMS + 1)]
    if len(cells) > MOST_TERMS:
        return too_many(derivation, len(cells))
    norm, most = norm_of(cells, float(event.arg("p"))), f.Number(float(event.arg("maxnorm")), "maxnorm")
    cell = derivation.cell(tensor, index)
    scaled = f.Op("/", (f.multiply(cell, most), f.add(norm, f.Number(1e-7))))
    note = say("scaled-down", "Scaled down if the slice is longer than that.")
    return make("renorm", f.choose(f.Op(">", (norm, most)), scaled, cell), note)


@rule("linalg_cross")
def _cross(derivation: Derivation, index: Index, value: float) -> RuleResult:
    axis = int(derivation.event.arg("dim")) % len(derivation.event.outs[0].shape)

    def cell(name: str, step: int) -> f.Formula:
        return derivation.operand(name, (*index[:axis], (index[axis] + step) % 3, *index[axis + 1 :]))

    products = (f.multiply(cell("self", 1), cell("other", 2)), f.multiply(cell("self", 2), cell("other", 1)))
    return make("cross_product", f.Op("-", products))

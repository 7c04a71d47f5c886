"""Rules that reduce the numbers along one or more axes to one: sums, extremes, spreads, norms, distances.

Among them are the losses by margins that compare distances.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation, broadcast
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.elementwise import term
from attn_tutor.lessons.worker.explaining.rules.registry import (
    MOST_TERMS,
    ONE,
    ZERO,
    make,
    ordinal_ending,
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


def _axes(dim: Any, rank: int) -> tuple[int, ...]:
    if dim is None or dim == []:
        return tuple(range(rank))
    given = dim if isinstance(dim, list | tuple) else [dim]
    return tuple(sorted(axis % rank for axis in given)) if rank else ()


Reduction = Callable[[Derivation, Region, list[Index]], RuleResult]
"""Takes a derivation, a tensor, and the indices of its elements that a cell is reduced from."""


def _reduction(*ops: str) -> Callable[[Reduction], Reduction]:
    """Register a rule for operations that reduce elements along `dim`."""

    def register(function: Reduction) -> Reduction:
        def apply(derivation: Derivation, index: Index, value: float) -> RuleResult:
            tensor = region(derivation)
            count = math.prod(tensor.shape[axis] for axis in _axes(derivation.event.arg("dim"), len(tensor.shape)))
            if count > MOST_TERMS:
                return too_many(derivation, count)
            result = function(derivation, tensor, reduced(derivation, tensor, index))
            if not count:
                result.notes.append(say("of-none", "The axis is empty: this is the result for no numbers at all."))
            return result

        rule(*ops)(apply)
        return function

    return register


def reduced(derivation: Derivation, tensor: Region, index: Index) -> list[Index]:
    """Return the indices of the elements that a cell is reduced from along `dim`, up to one more than are listed."""
    shape = tensor.shape
    axes = _axes(derivation.event.arg("dim"), len(shape))
    others = [axis for axis in range(len(shape)) if axis not in axes]
    left = [index[axis] for axis in others] if derivation.event.arg("keepdim") else index
    fixed = dict(zip(others, left, strict=True))
    ranges = [(fixed[axis],) if axis in fixed else range(shape[axis]) for axis in range(len(shape))]
    return list(itertools.islice(itertools.product(*ranges), MOST_TERMS + 1))


def _cells(derivation: Derivation, tensor: Region, indices: list[Index]) -> list[f.Formula]:
    return [derivation.cell(tensor, index) for index in indices]


@_reduction("sum", "mean", "nansum")
def _sum(derivation: Derivation, tensor: Region, indices: list[Index]) -> RuleResult:
    if derivation.event.op == "nansum":
        cells = _cells(derivation, tensor, indices)
        return make("sum", f.add(ZERO, *(f.choose(f.call("isnan", cell), ZERO, cell) for cell in cells)))
    terms = [term(derivation, derivation.element(tensor, index)) for index in indices]
    added = f.add(*terms) if terms else ZERO
    if derivation.event.op == "mean":
        return make("mean", f.Op("/", (added, f.Number(float(len(terms))))))
    return make("sum", added)


@_reduction("prod")
def _prod(derivation: Derivation, tensor: Region, indices: list[Index]) -> RuleResult:
    return make("product", f.multiply(*_cells(derivation, tensor, indices)) if indices else ONE)


@_reduction("any", "all")
def _any(derivation: Derivation, tensor: Region, indices: list[Index]) -> RuleResult:
    op = derivation.event.op
    tests = tuple(f.Op("!=", (cell, ZERO)) for cell in _cells(derivation, tensor, indices))
    if len(tests) < 2:
        return make(op, tests[0] if tests else f.Number(float(op == "all")))
    return make(op, f.Op("or" if op == "any" else "and", tests))


@_reduction("std", "var", "std_mean", "var_mean")
def _spread(derivation: Derivation, tensor: Region, indices: list[Index]) -> RuleResult:
    if derivation.output == 1:
        return make("mean", f.Op("/", (f.add(*_cells(derivation, tensor, indices)), f.Number(float(len(indices))))))
    correction = derivation.event.arg("correction")
    if correction is None:
        correction = 0 if derivation.event.arg("unbiased") is False else 1
    cells, mean = _cells(derivation, tensor, indices), derivation.mean(tensor, indices)
    squares = [f.Op("**", (f.Op("-", (cell, mean)), f.Number(2.0))) for cell in cells]
    variance = f.Op("/", (f.add(*squares), f.Number(float(len(indices) - correction))))
    note = say("divided-by", "Divided by {count} - {correction}.", count=len(indices), correction=correction)
    return (
        make("std", f.call("sqrt", variance), note)
        if derivation.event.op.startswith("std")
        else make("var", variance, note)
    )


@_reduction("linalg_vector_norm", "norm")
def _norm(derivation: Derivation, tensor: Region, indices: list[Index]) -> RuleResult:
    order = derivation.event.arg("ord" if "linalg" in derivation.event.op else "p")
    formula = norm_of(_cells(derivation, tensor, indices), 2.0 if order is None else float(order))
    return make("norm", formula)


@rule("cummax", "cummin")
def _running_extreme(derivation: Derivation, index: Index, value: float) -> RuleResult:
    tensor, name = region(derivation), derivation.event.op.removeprefix("cum")
    axis = int(derivation.event.arg("dim")) % max(len(tensor.shape), 1)
    count = index[axis] + 1 if index else 1
    if count > MOST_TERMS:
        return too_many(derivation, count)
    if derivation.output == 1:
        return make(name, None, _place_of_running(name, count))
    formula = f.call(name, *_cells(derivation, tensor, [_replaced(index, axis, at) for at in range(count)]))
    if name == "max":
        note = say.count(
            "greatest-of-first",
            count,
            "The greatest of the first {count} number.",
            "The greatest of the first {count} numbers.",
        )
        return make("greatest", formula, note)
    note = say.count(
        "least-of-first", count, "The least of the first {count} number.", "The least of the first {count} numbers."
    )
    return make("least", formula, note)


def _place_of_running(name: str, count: int) -> str:
    if name == "max":
        return say.count(
            "place-of-greatest",
            count,
            "The place of the greatest of the first {count} number; of equal ones the last.",
            "The place of the greatest of the first {count} numbers; of equal ones the last.",
        )
    return say.count(
        "place-of-least",
        count,
        "The place of the least of the first {count} number; of equal ones the last.",
        "The place of the least of the first {count} numbers; of equal ones the last.",
    )


@rule("logcumsumexp")
def _running_logsumexp(derivation: Derivation, index: Index, value: float) -> RuleResult:
    tensor = region(derivation)
    axis = int(derivation.event.arg("dim")) % max(len(tensor.shape), 1)
    count = index[axis] + 1 if index else 1
    if count > MOST_TERMS:
        return too_many(derivation, count)
    indices = [_replaced(index, axis, at) for at in range(count if index else 1)]
    return _logsumexp(derivation, tensor, indices)


@rule("kthvalue", "mode")
def _chosen(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a number that was chosen from an axis by the place that the operation gives as its second result."""
    tensor, event = region(derivation), derivation.event
    if not tensor.shape or "dim" not in event.info.names or len(event.outs) < 2:
        return unknown(derivation, index, value)
    axis = int(event.arg("dim")) % len(tensor.shape)
    place = int(derivation.run.history.value(derivation.element(event.outs[1], index, event.time + 1)))
    at = _replaced(index, axis, place) if event.arg("keepdim") else (*index[:axis], place, *index[axis:])
    if derivation.output == 1:
        return make(event.op, None, _place_of_chosen(event.op, int(event.arg("k") or 1)))
    return make(event.op, derivation.cell(tensor, at), _why_chosen(event.op, place, int(event.arg("k") or 1)))


def _place_of_chosen(op: str, rank: int) -> str:
    if op == "kthvalue":
        return say("place-in-order", "The place of the number that is the {nth} in order.", nth=_nth(rank))
    return say("place-of-mode", "The place of a number that no other one occurs more often than.")


def _why_chosen(op: str, place: int, rank: int) -> str:
    if op == "kthvalue":
        return say("in-order", "Number {place} is the {nth} in order.", place=place, nth=_nth(rank))
    return say("mode", "No number occurs more often than number {place}.", place=place)


def _nth(rank: int) -> str:
    """Write the rank of a number: `3rd`."""
    ending = ordinal_ending(rank)
    if ending == "st":
        return say("1st-number", "{number}st", number=rank)
    if ending == "nd":
        return say("2nd-number", "{number}nd", number=rank)
    return (
        say("3rd-number", "{number}rd", number=rank) if ending == "rd" else say("nth-number", "{number}th", number=rank)
    )


@_reduction("aminmax")
def _both_extremes(derivation: Derivation, tensor: Region, indices: list[Index]) -> RuleResult:
    name, word = (("min", "least"), ("max", "greatest"))[derivation.output]
    return make(word, f.call(name, *_cells(derivation, tensor, indices)))


@_reduction("logsumexp")
def _logsumexp(derivation: Derivation, tensor: Region, indices: list[Index]) -> RuleResult:
    """Explain `log(sum(exp(x)))` as `torch.logsumexp` computes it: the largest is subtracted first."""
    cells, values = _cells(derivation, tensor, indices), derivation.values(tensor, indices)
    top = max(range(len(cells)), key=lambda position: values[position], default=None)
    if top is None or not math.isfinite(values[top]):
        return make("logsumexp", f.call("log", f.add(ZERO, *(f.call("exp", cell) for cell in cells))))
    exps = f.add(*(f.call("exp", f.Op("-", (cell, cells[top]))) for cell in cells))
    note = say("largest-first", "The largest is subtracted from all first.")
    return make("logsumexp", f.add(cells[top], f.call("log", exps)), note)


@_reduction("count_nonzero")
def _count(derivation: Derivation, tensor: Region, indices: list[Index]) -> RuleResult:
    return make("count", f.add(ZERO, *(f.Op("!=", (cell, ZERO)) for cell in _cells(derivation, tensor, indices))))


@_reduction("median", "nanmedian")
def _median(derivation: Derivation, tensor: Region, indices: list[Index]) -> RuleResult:
    """Explain `torch.median`, which of an even count takes the lower of the two in the middle.

    `torch.nanmedian` leaves out what is NaN, unless nothing else is there.
    """
    values = derivation.values(tensor, indices)
    numbers = [index for index, value in zip(indices, values, strict=True) if not math.isnan(value)]
    kept = numbers if numbers and derivation.event.op == "nanmedian" else indices
    left_out = len(indices) - len(kept)
    notes = []
    if derivation.output == 1:
        notes.append(_place_of_median(len(kept)) if len(kept) == len(numbers) else _place_of_nan())
    if left_out:
        notes.append(say.count("nan-left-out", left_out, "{count} NaN is left out.", "{count} NaNs are left out."))
    formula = None if derivation.output == 1 else f.call("median_low", *_cells(derivation, tensor, kept))
    return make("median", formula, *notes)


def _place_of_median(count: int) -> str:
    if count % 2:
        return say.count(
            "place-of-median",
            count,
            "The place of the one in the middle of {count} number in order.",
            "The place of the one in the middle of {count} numbers in order.",
        )
    return say.count(
        "place-of-lower-median",
        count,
        "The place of the lower of the two in the middle of {count} number in order.",
        "The place of the lower of the two in the middle of {count} numbers in order.",
    )


def _place_of_nan() -> str:
    return say("place-of-nan", "The place of a NaN, which is the median where there is one.")


@_reduction("amax", "amin", "max", "min")
def _extreme(derivation: Derivation, tensor: Region, indices: list[Index]) -> RuleResult:
    name = derivation.event.op.removeprefix("a")
    if derivation.output == 1:
        return _arg_extreme(derivation, tensor, indices)
    return make("greatest" if name == "max" else "least", f.call(name, *_cells(derivation, tensor, indices)))


@_reduction("argmax", "argmin")
def _arg_extreme(derivation: Derivation, tensor: Region, indices: list[Index]) -> RuleResult:
    name = derivation.event.op.removeprefix("arg")
    count = len(indices)
    note = (
        say.count(
            "place-of-largest",
            count,
            "The place of the largest of {count} number.",
            "The place of the largest of {count} numbers.",
        )
        if name == "max"
        else say.count(
            "place-of-smallest",
            count,
            "The place of the smallest of {count} number.",
            "The place of the smallest of {count} numbers.",
        )
    )
    return make(f"arg{name}", f.call(f"arg{name}", *_cells(derivation, tensor, indices)), note)


@rule("cumsum", "cumprod")
def _cumulative(derivation: Derivation, index: Index, value: float) -> RuleResult:
    tensor = region(derivation)
    name, join = ("sum", f.add) if derivation.event.op.startswith("cumsum") else ("product", f.multiply)
    if not tensor.shape:
        return make(name, derivation.cell(tensor, ()))
    axis = int(derivation.event.arg("dim")) % len(tensor.shape)
    if index[axis] >= MOST_TERMS:
        return too_many(derivation, index[axis] + 1)
    return make(
        name, join(*(derivation.cell(tensor, _replaced(index, axis, position)) for position in range(index[axis] + 1)))
    )


@rule("sort", "topk")
def _sort(derivation: Derivation, index: Index, value: float) -> RuleResult:
    tensor, op = region(derivation), derivation.event.op
    if not tensor.shape:
        return unknown(derivation, index, value)
    axis = int(derivation.event.arg("dim")) % len(tensor.shape)
    order = derivation.event.outs[1]
    came_from = int(derivation.run.history.value(derivation.element(order, index, derivation.event.time + 1)))
    cell = derivation.cell(tensor, _replaced(index, axis, came_from))
    if derivation.output == 1:
        note = say(
            "which-came", "Number {place} is the one that came {nth}.", place=came_from, nth=_nth(index[axis] + 1)
        )
        return make(op, None, note)
    return make(op, cell, say("came", "Number {place} came {nth}.", place=came_from, nth=_nth(index[axis] + 1)))


def _replaced(index: Index, axis: int, position: int) -> Index:
    """Return an index with another position on one axis; that of a single number is empty."""
    return (*index[:axis], position, *index[axis + 1 :]) if index else ()


@rule("bucketize", "searchsorted")
def _bucket(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain how many boundaries lie before a number: the place where it would be inserted."""
    event = derivation.event
    boundaries = region(derivation, "boundaries" if event.op == "bucketize" else "sorted_sequence")
    if len(boundaries.shape) != 1 or event.arg("sorter") is not None or boundaries.size > MOST_TERMS:
        return unknown(derivation, index, value)
    sign = "<=" if event.arg("right") or event.arg("side") == "right" else "<"
    cell = derivation.operand("self", index)
    tests = (f.Op(sign, (derivation.cell(boundaries, (at,)), cell)) for at in range(boundaries.size))
    return make(event.op, f.add(ZERO, *tests), say("boundaries", "How many of the boundaries lie before it."))


@rule("bincount")
def _bincount(derivation: Derivation, index: Index, value: float) -> RuleResult:
    tensor, weights = region(derivation), derivation.event.arg("weights")
    if tensor.size > MOST_TERMS:
        return too_many(derivation, tensor.size)
    own = f.Number(float(index[0]))
    tests: list[f.Formula] = [f.Op("==", (derivation.cell(tensor, at), own)) for at in tensor.indices()]
    if isinstance(weights, Region):
        pairs = zip(tests, tensor.indices(), strict=True)
        tests = [f.multiply(test, derivation.cell(weights, at)) for test, at in pairs]
    note = (
        say("weights-of", "The weights of the numbers that are {number}, added up.", number=index[0])
        if isinstance(weights, Region)
        else say("how-many", "How many of the numbers are {number}.", number=index[0])
    )
    return make("count", f.add(ZERO, *tests), note)

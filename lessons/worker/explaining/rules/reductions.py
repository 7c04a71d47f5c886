"""Numbers along one or more axes joined into one: sums, extremes, spreads, norms."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation, Index, RuleResult
from lessons.worker.explaining.rules.elementwise import term
from lessons.worker.explaining.rules.registry import (
    MOST_TERMS,
    ONE,
    ZERO,
    make,
    named_only,
    ordinal,
    region,
    rule,
    too_many,
    unknown,
)
from lessons.worker.recording.recorder import Region


def _axes(dim: Any, rank: int) -> tuple[int, ...]:
    if dim is None or dim == []:
        return tuple(range(rank))
    given = dim if isinstance(dim, list | tuple) else [dim]
    return tuple(sorted(axis % rank for axis in given)) if rank else ()


Reduction = Callable[[Derivation, Region, list[Index]], RuleResult]
"""Gets the work, a tensor, and the indices of its elements that are joined in a cell."""


def _reduction(*ops: str) -> Callable[[Reduction], Reduction]:
    """Register the rule of operations that join elements along `dim`."""

    def register(function: Reduction) -> Reduction:
        def found(work: Derivation, index: Index, value: float) -> RuleResult:
            given = region(work)
            shape = given.shape
            axes = _axes(work.event.arg("dim"), len(shape))
            count = math.prod(shape[axis] for axis in axes)
            if count > MOST_TERMS:
                return too_many(work, count)
            others = [axis for axis in range(len(shape)) if axis not in axes]
            left = [index[axis] for axis in others] if work.event.arg("keepdim") else index
            fixed = dict(zip(others, left, strict=True))
            ranges = [(fixed[axis],) if axis in fixed else range(shape[axis]) for axis in range(len(shape))]
            return function(work, given, list(itertools.product(*ranges)))

        rule(*ops)(found)
        return function

    return register


def _cells(work: Derivation, given: Region, places: list[Index]) -> list[f.Formula]:
    return [work.cell(given, place) for place in places]


@_reduction("sum", "mean", "nansum")
def _sum(work: Derivation, given: Region, places: list[Index]) -> RuleResult:
    if work.event.op == "nansum":
        cells = _cells(work, given, places)
        return make("sum", f.add(ZERO, *(f.choose(f.call("isnan", cell), ZERO, cell) for cell in cells)))
    terms = [term(work, work.element(given, place)) for place in places]
    added = f.add(*terms) if terms else ZERO
    if work.event.op == "mean":
        return make("mean", f.Op("/", (added, f.Number(float(len(terms))))))
    return make("sum", added)


@_reduction("prod")
def _prod(work: Derivation, given: Region, places: list[Index]) -> RuleResult:
    return make("product", f.multiply(*_cells(work, given, places)) if places else ONE)


@_reduction("any", "all")
def _any(work: Derivation, given: Region, places: list[Index]) -> RuleResult:
    op = work.event.op
    tests = tuple(f.Op("!=", (cell, ZERO)) for cell in _cells(work, given, places))
    if len(tests) < 2:
        return make(op, tests[0] if tests else f.Number(float(op == "all")))
    return make(op, f.Op("or" if op == "any" else "and", tests))


@_reduction("std", "var", "std_mean", "var_mean")
def _spread(work: Derivation, given: Region, places: list[Index]) -> RuleResult:
    if work.output == 1:
        return make("mean", f.Op("/", (f.add(*_cells(work, given, places)), f.Number(float(len(places))))))
    correction = work.event.arg("correction")
    if correction is None:
        correction = 0 if work.event.arg("unbiased") is False else 1
    mean = f.total(work.values(given, places)) / len(places)
    centre = f.Number(mean, "mean")
    squares = [f.Op("**", (f.Op("-", (cell, centre)), f.Number(2.0))) for cell in _cells(work, given, places)]
    variance = f.Op("/", (f.add(*squares), f.Number(float(len(places) - correction))))
    note = f"Divided by {len(places)} - {correction}."
    return (
        make("std", f.call("sqrt", variance), note) if work.event.op.startswith("std") else make("var", variance, note)
    )


@_reduction("linalg_vector_norm", "norm")
def _norm(work: Derivation, given: Region, places: list[Index]) -> RuleResult:
    if work.event.arg("ord" if "linalg" in work.event.op else "p") not in (2, None):
        return named_only(work)
    cells = _cells(work, given, places)
    return make("norm", f.call("sqrt", f.add(*(f.Op("**", (cell, f.Number(2.0))) for cell in cells))))


@_reduction("logsumexp")
def _logsumexp(work: Derivation, given: Region, places: list[Index]) -> RuleResult:
    """`log(sum(exp(x)))`, as `torch.logsumexp` does it: the largest is subtracted first."""
    cells, values = _cells(work, given, places), work.values(given, places)
    top = max(range(len(cells)), key=lambda place: values[place], default=None)
    if top is None or not math.isfinite(values[top]):
        return make("logsumexp", f.call("log", f.add(ZERO, *(f.call("exp", cell) for cell in cells))))
    exps = f.add(*(f.call("exp", f.Op("-", (cell, cells[top]))) for cell in cells))
    return make("logsumexp", f.add(cells[top], f.call("log", exps)), "The largest is subtracted from all first.")


@_reduction("count_nonzero")
def _count(work: Derivation, given: Region, places: list[Index]) -> RuleResult:
    return make("count", f.add(ZERO, *(f.Op("!=", (cell, ZERO)) for cell in _cells(work, given, places))))


@_reduction("median")
def _median(work: Derivation, given: Region, places: list[Index]) -> RuleResult:
    """Of an even count the lower of the two in the middle, as in the documentation of `torch.median`."""
    if work.output == 1:
        return make("median", None, f"The place of the one in the middle of {len(places)} numbers.")
    return make("median", f.call("median_low", *_cells(work, given, places)))


@_reduction("amax", "amin", "max", "min")
def _extreme(work: Derivation, given: Region, places: list[Index]) -> RuleResult:
    name = work.event.op.removeprefix("a")
    if work.output == 1:
        return _position(work, given, places)
    return make("greatest" if name == "max" else "least", f.call(name, *_cells(work, given, places)))


@_reduction("argmax", "argmin")
def _position(work: Derivation, given: Region, places: list[Index]) -> RuleResult:
    name = work.event.op.removeprefix("arg")
    where = "largest" if name == "max" else "smallest"
    note = f"The place of the {where} of {len(places)} numbers."
    return make(f"arg{name}", f.call(f"arg{name}", *_cells(work, given, places)), note)


@rule("cumsum", "cumprod")
def _cumulative(work: Derivation, index: Index, value: float) -> RuleResult:
    given = region(work)
    name, join = ("sum", f.add) if work.event.op.startswith("cumsum") else ("product", f.multiply)
    if not given.shape:
        return make(name, work.cell(given, ()))
    axis = int(work.event.arg("dim")) % len(given.shape)
    if index[axis] >= MOST_TERMS:
        return too_many(work, index[axis] + 1)
    return make(name, join(*(work.cell(given, _at(index, axis, place)) for place in range(index[axis] + 1))))


@rule("sort", "topk")
def _sort(work: Derivation, index: Index, value: float) -> RuleResult:
    given, op = region(work), work.event.op
    if not given.shape:
        return unknown(work, index, value)
    axis = int(work.event.arg("dim")) % len(given.shape)
    order = work.event.outs[1]
    came_from = int(work.explainer.history.value(work.element(order, index, work.event.time + 1)))
    cell = work.cell(given, _at(index, axis, came_from))
    if work.output == 1:
        return make(op, None, f"Number {came_from} is the one that came {ordinal(index[axis] + 1)}.")
    return make(op, cell, f"Number {came_from} came {ordinal(index[axis] + 1)}.")


def _at(index: Index, axis: int, place: int) -> Index:
    return (*index[:axis], place, *index[axis + 1 :])

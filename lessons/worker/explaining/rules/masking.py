"""Masks: which of two numbers a cell got, and which line decided it."""

from __future__ import annotations

import math

import torch

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation, Index, RuleResult, broadcast
from lessons.worker.explaining.rules.registry import ZERO, make, region, rule, short
from lessons.worker.recording.recorder import Event, Region


def stored(work: Derivation, given: f.Formula) -> f.Formula:
    """A number as the tensor that it is put into can hold it."""
    dtype = region(work, "self").dtype
    if dtype == torch.bool:
        return f.Op("!=", (given, ZERO))
    return given if dtype.is_floating_point else f.call("trunc", given)


@rule("masked_fill")
def _masked_fill(work: Derivation, index: Index, value: float) -> RuleResult:
    mask = region(work, "mask")
    place = broadcast(mask.shape, index)
    seen = work.value(mask, place)
    test, given, original = work.cell(mask, place), work.operand("value", index), work.operand("self", index)
    line = work.line()
    if seen:
        on = f" on line {line}" if line else ""
        note = f"Masked{on}: the mask is {short(seen)} here, so the value is replaced."
    else:
        note = f"Not masked: the mask is {short(seen)} here, so the value stays."
    return make("masked_fill", f.choose(test, stored(work, given), original), note)


MOST_STEPS = 32

HIDDEN = 1e4
"""Size of a score from which on it is there to hide something: such as -inf and -1e9, added or subtracted."""

_CHOOSING = ("masked_fill", "where")
_PUTTING = ("index_put_", "_index_put_impl_", "fill_", "copy_", "index_fill", "index_fill_", "masked_scatter_")


def masked_on(work: Derivation, given: Region, index: Index) -> str:
    """`masked on line 4`, if an element of an operand is -inf, or about, as it, or what it was made from, was masked.

    That is where a mask put it; or else where one was added that holds nothing but constants.
    """
    explainer, history = work.explainer, work.explainer.history
    element = work.element(given, index)
    if not history.value(element) <= -HIDDEN:
        return ""
    joined: Event | None = None
    for _ in range(MOST_STEPS):
        writer = history.writer(element)
        event, inner, made = explainer.made(element)
        if writer is None or event is None:
            return ""
        if not inner.elements:
            return _on(work, writer if writer.op in _PUTTING else joined)
        values = history.values(inner.elements)
        if event.op.removesuffix("_") in _CHOOSING:
            chosen = _chosen(made.formula, values)
            if not isinstance(chosen, f.OperandRef):
                return _on(work, event)
            element = inner.elements[chosen.place]
            put = history.writer(element)
            if not explainer.made(element)[1].elements and (put is None or put.op not in _PUTTING):
                return _on(work, event)
            continue
        large = [item for item, value in zip(inner.elements, values, strict=True) if abs(value) >= HIDDEN]
        if made.op in ("add", "subtract") and len(large) < len(inner.elements):
            joined = joined or event
        if not large:
            # `1e9 * (1 - kept)` is a mask; a product of scores that happens to be large is none.
            return _on(work, joined) if _is_number_of(made.formula, history.value(element)) else ""
        element = large[0]
    return ""


def _chosen(formula: f.Formula | None, values: list[float]) -> f.Formula | None:
    """What an `if` comes to."""
    if isinstance(formula, f.Op) and formula.op == "if":
        test, yes, no = formula.parts
        return yes if f.evaluate(test, values) else no
    return formula


def _is_number_of(formula: f.Formula | None, value: float) -> bool:
    """Whether a value is one of the numbers of its formula, up to its sign and rounding."""
    parts = formula.parts if isinstance(formula, f.Op) else ()
    numbers = [abs(part.value) for part in parts if isinstance(part, f.Number)]
    return any(math.isclose(number, abs(value), rel_tol=1e-6) for number in numbers)


def _on(work: Derivation, event: Event | None) -> str:
    if event is None:
        return ""
    line = work.explainer.names.places.line(event.sites[0]) if event.sites else None
    return f"masked on line {line}" if line else "masked"


@rule("where")
def _where(work: Derivation, index: Index, value: float) -> RuleResult:
    test = work.operand("condition", index)
    return make("where", f.choose(test, work.operand("self", index), work.operand("other", index)))


@rule("triu", "tril")
def _triangle(work: Derivation, index: Index, value: float) -> RuleResult:
    diagonal = int(work.event.arg("diagonal") or 0)
    row, col = index[-2:]
    op = work.event.op.strip("_")
    kept = col - row >= diagonal if op == "triu" else col - row <= diagonal
    side = "above" if op == "triu" else "below"
    which = "the main diagonal" if diagonal == 0 else f"diagonal {diagonal}"
    where = f"row {row}, column {col}"
    if kept:
        return make(op, work.operand("self", index), f"Kept: {where} is on or {side} {which}.")
    return make(op, None, f"Set to 0: {where} is not on or {side} {which}.")

"""Masks: which of two numbers a cell got, and which line decided it."""

from __future__ import annotations

import torch

from lessons import formula as f
from lessons.worker.record import Region
from lessons.worker.rules.registry import ZERO, make, region, rule, short
from lessons.worker.work import Index, Made, Work, broadcast


def stored(work: Work, given: f.Formula) -> f.Formula:
    """A number as the tensor that it is put into can hold it."""
    dtype = region(work, "self").dtype
    if dtype == torch.bool:
        return f.Op("!=", (given, ZERO))
    return given if dtype.is_floating_point else f.call("trunc", given)


@rule("masked_fill")
def _masked_fill(work: Work, index: Index, value: float) -> Made:
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


MOST_STEPS = 8


def masked_on(work: Work, given: Region, index: Index) -> str:
    """`masked on line 4`, if an element of an operand is -inf because it, or what it was made from, was masked."""
    explainer = work.explainer
    element = work.element(given, index)
    for _ in range(MOST_STEPS):
        event = explainer.history.writer(element)
        if event is None:
            return ""
        if event.op in ("masked_fill", "masked_fill_"):
            line = explainer.names.places.line(event.sites[0]) if event.sites else None
            return f"masked on line {line}" if line else "masked"
        _, made_from, _ = explainer.made(element)
        same = [item for item in made_from.elements if explainer.history.value(item) == -float("inf")]
        if not same:
            return ""
        element = same[0]
    return ""


@rule("where")
def _where(work: Work, index: Index, value: float) -> Made:
    test = work.operand("condition", index)
    return make("where", f.choose(test, work.operand("self", index), work.operand("other", index)))


@rule("triu", "tril")
def _triangle(work: Work, index: Index, value: float) -> Made:
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

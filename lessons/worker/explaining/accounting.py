"""What may be said of a number whose formula does not give it: the operation runs again, and what it gives decides."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import formula_check
from attn_tutor.lessons.worker.explaining.narrow_types import dtype_name
from attn_tutor.lessons.worker.explaining.recorded_run import DerivedCell, RuleResult
from attn_tutor.lessons.worker.explaining.replay import Replay
from attn_tutor.lessons.worker.recording.element_history import Element
from attn_tutor.lessons.worker.recording.event import Event

say = Wording("explaining/accounting")

FEW = 4
"""Roundings by which an operation may differ from itself when it runs again, on memory that lies elsewhere."""


def unexplained(note: str, event: Event | None = None) -> DerivedCell:
    """Return what is said of a number about which only a note can be told."""
    return DerivedCell(event, "", [], frozenset(), RuleResult("unrecorded", notes=[note]))


def checked(
    replay: Replay, derived: DerivedCell, element: Element, value: float, values: Sequence[float]
) -> DerivedCell:
    """Return an explanation of an element if its formula gives its value; else one without it, and with what is known.

    `values` are those of the operands.
    """
    result, dtype = derived.result, element.region.dtype
    if result.formula is None or agrees(result.formula, derived.operands, values, value, dtype):
        return derived
    formula, got = result.formula, f.evaluate(result.formula, values) + 0.0
    again, wide = (_run_again(replay, derived, wide=wide) for wide in (False, True))
    is_as_recorded = again is not None and _is_same(again, value, dtype)
    if again is not None and not is_as_recorded and agrees(formula, derived.operands, values, again, dtype):
        # What the record holds gives another number, by the formula and by the operation itself.
        return unexplained(_changed(again, is_leaf=not derived.operands), derived.event)
    result.formula = None
    if not is_as_recorded or wide is None or not formula_check.agrees(formula, values, wide, torch.float64):
        note = say(
            "not-exact",
            "The formula for this operation comes to {number}, which is not this value, so it is left out.",
            number=_written(got, value),
        )
    elif math.isfinite(got) and not math.isfinite(value):
        note = say(
            "overflowed",
            "Computed with more room it would be {number}: on the way, a number was beyond the largest one of {dtype}.",
            number=_written(got, value),
            dtype=dtype_name(dtype),
        )
    else:
        note = say(
            "without-rounding",
            "Without rounding, these numbers would give {number}, which the operation gives in double precision.",
            number=_written(got, value),
        )
    result.notes.append(note)
    return derived


def agrees(
    formula: f.Formula, operands: Sequence[Element], values: Sequence[float], value: float, dtype: torch.dtype
) -> bool:
    """Return whether a formula over operands can have given a value of a type."""
    types = [operand.region.dtype for operand in operands]
    wider = {
        position for position, one in enumerate(types) if one == torch.float64 != dtype and dtype.is_floating_point
    }
    # The formula of a double may contain steps that were computed in the type of its operands.
    floating = [one for one in types if one.is_floating_point] if dtype == torch.float64 else []
    precision = max((dtype, *floating), key=lambda one: torch.finfo(one).eps) if floating else dtype
    return formula_check.agrees(formula, values, value, precision, wider)


def _run_again(replay: Replay, derived: DerivedCell, *, wide: bool) -> float | None:
    """Return what the operation behind an explanation gives when it runs again; None if that cannot be known."""
    event, element = derived.event, derived.element
    found = event.index_of(element.storage, element.offset, element.size) if event and element else None
    return None if event is None or found is None else replay.number(event, *found, wide=wide)


def _is_same(one: float, other: float, dtype: torch.dtype) -> bool:
    eps = torch.finfo(dtype).eps if dtype.is_floating_point else 0.0
    return formula_check.close(one, other, FEW * eps * abs(other))


def _changed(made: float, *, is_leaf: bool) -> str:
    if is_leaf:
        return say(
            "changed-since",
            "Something that was not recorded has changed this number. Here it was made {number:.6g}.",
            number=made,
        )
    return say(
        "not-accounted",
        "The record does not account for this value: what it holds comes to {number:.6g}. "
        "Something that was not recorded has changed this number, or one that it was computed from.",
        number=made,
    )


def _written(number: float, other: float) -> str:
    """Write a number with six digits, or with as many as tell it from another one."""
    digits = next((count for count in range(6, 17) if f"{number:.{count}g}" != f"{other:.{count}g}"), 17)
    return f"{number:.{digits}g}"

"""Numbers that were computed in a type with fewer digits than they are kept in: the rounding in between is a step."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import DerivedCell, RecordedRun, RuleResult
from attn_tutor.lessons.worker.recording.element_history import Element

say = Wording("explaining/narrow-types")


def dtype_name(dtype: torch.dtype) -> str:
    """Return the name of a type without the module: `bfloat16`."""
    return str(dtype).removeprefix("torch.")


def is_coarser(one: torch.dtype, other: torch.dtype) -> bool:
    """Return whether a type rounds where another one does not have to: whole numbers need no rounding."""
    if not one.is_floating_point:
        return False
    return not other.is_floating_point or torch.finfo(one).eps > torch.finfo(other).eps


def rounded_note(dtype: torch.dtype) -> str:
    """Say that a number was rounded to a type."""
    return say("rounded", "Rounded to {dtype}.", dtype=dtype_name(dtype))


def add_rounding(result: RuleResult, values: Sequence[float], dtype: torch.dtype, value: float) -> bool:
    """Round the formula of a result to a type, if it then gives a value exactly; return whether it does."""
    name, formula = dtype_name(dtype), result.formula
    # An infinity has a note, which says where it came from.
    if formula is None or name not in f.FUNCTIONS or not math.isfinite(value):
        return False
    if f.evaluate(formula, values) == value:
        # Nothing was lost.
        return True
    rounded = f.call(name, formula)
    if f.evaluate(rounded, values) != value:
        return False
    result.op, result.formula = "convert", rounded
    result.notes.append(rounded_note(dtype))
    return True


def as_copied(run: RecordedRun, derived: DerivedCell, element: Element, copy: Element) -> DerivedCell:
    """Tell how a copy in another type was computed, given how the element that was copied was.

    Its formula rounds to the type of that element. If the kernel rounded on the way too, so that no such formula gives
    the value, the copy is told as one, and leads to the element.
    """
    result, dtype = derived.result, element.region.dtype
    if not is_coarser(dtype, copy.region.dtype) or result.formula is None or not derived.operands:
        return derived
    if isinstance(result.formula, f.Op) and result.formula.op == dtype_name(dtype):
        return derived
    if add_rounding(result, run.history.values(derived.operands), dtype, run.history.value(element)):
        return derived
    event = run.history.writer(copy)
    assert event is not None
    derivation = Derivation(run, event, run.names.positions.names_in(event.sites[0]) if event.sites else frozenset())
    told = RuleResult("convert", derivation.operand_for(element))
    return DerivedCell(event, event.op, derivation.elements, derivation.code_names, told)


def round_as_given(derivation: Derivation, result: RuleResult, value: float) -> None:
    """Round the formula of a number to the type that it was computed in, if a tensor in `out` has a wider one."""
    event, dtype = derivation.event, derivation.event.outs[derivation.output].parts.dtype
    # What is in `out` is given by name.
    operands = replace(event, kwargs={}).operands() if event.info.out else ()
    types = [region.dtype for region in operands if region.dtype.is_floating_point]
    narrow = functools.reduce(torch.promote_types, types) if types else dtype
    if is_coarser(narrow, dtype):
        add_rounding(result, derivation.run.history.values(derivation.elements), narrow, value)

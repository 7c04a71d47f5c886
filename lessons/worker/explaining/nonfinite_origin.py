"""The origin of an infinity or NaN: the first number on the way back that none of its operands explains."""

from __future__ import annotations

import math

from lessons.results import formula as f
from lessons.texts.wording import Wording
from lessons.worker.explaining import source_location
from lessons.worker.explaining.operand_names import Labels
from lessons.worker.explaining.recorded_run import DerivedCell, RecordedRun
from lessons.worker.recording.element_history import Element

say = Wording("explaining/nonfinite")

LONGEST_CHAIN = 5000
"""Steps back from a number that are followed."""

_SETTING = ("masked_fill", "where", "literal", "given", "constant", "set")
"""Operations that do not compute an infinity but set a number to it."""

_OVERFLOWING = ("exp", "mul", "add", "sub", "sum", "square", "mm", "bmm")
"""Operations that turn finite numbers into an infinity only if the result is too large for its type."""


def notes(run: RecordedRun, labels: Labels, element: Element, value: float, derived: DerivedCell) -> list[str]:
    """Say where a value that is not finite came from; nothing for finite values and for those that the code gave."""
    if math.isfinite(value):
        return []
    word = "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    source = _nonfinite_operand(run, value, derived)
    if source is None:
        if derived.result.op in _SETTING or not derived.operands:
            # Its own note or formula says so already.
            return []
        return [_born_here(word, _reason(run, element, value, derived))]
    code_names = derived.code_names
    for _ in range(LONGEST_CHAIN):
        earlier = run.derive(source)
        next_source = _nonfinite_operand(run, value, earlier)
        if next_source is None:
            where = source_location.on_line(run.names.positions, earlier.event, derived.event)
            label = labels.name(source, code_names).label
            if earlier.result.op in _SETTING:
                return [_put_in(word, label, where)]
            return [_born_in(word, label, where, _reason(run, source, value, earlier))]
        source = next_source
    return []


def _born_here(number: str, reason: str) -> str:
    if not reason:
        return say("born-here", "This {number} was born here.", number=number)
    return say("born-here-why", "This {number} was born here. {reason}", number=number, reason=reason)


def _put_in(number: str, cell: str, where: str) -> str:
    if not where:
        return say("put-in", "This {number} was put in {cell}.", number=number, cell=cell)
    return say("put-in-at", "This {number} was put in {cell} {where}.", number=number, cell=cell, where=where)


def _born_in(number: str, cell: str, where: str, reason: str) -> str:
    sentence = (
        say("born-in-at", "This {number} was born in {cell} {where}.", number=number, cell=cell, where=where)
        if where
        else say("born-in", "This {number} was born in {cell}.", number=number, cell=cell)
    )
    return say("born-in-why", "{born_in} {reason}", born_in=sentence, reason=reason) if reason else sentence


def _nonfinite_operand(run: RecordedRun, value: float, derived: DerivedCell) -> Element | None:
    """Find the first operand that is not finite in the same way: NaN for NaN, an infinity for an infinity."""
    values = run.history.values(derived.operands)
    matches = math.isnan if math.isnan(value) else math.isinf
    return next((item for item, number in zip(derived.operands, values, strict=True) if matches(number)), None)


def _reason(run: RecordedRun, element: Element, value: float, derived: DerivedCell) -> str:
    """Say why finite operands gave this value; "" if that is not clear."""
    values = run.history.values(derived.operands)
    op = derived.op.strip("_")
    infinite = any(map(math.isinf, values))
    if math.isnan(value):
        if "softmax" in op and values and all(item == -math.inf for item in values):
            return say(
                "nothing-left", "Nothing in the row was left: every exponential is 0, and 0 / 0 is not a number."
            )
        if op == "div" and len(values) > 1 and all(map(math.isinf, values[:2])):
            return say("inf-by-inf", "inf / inf is not a number.")
        if op == "div" and values and all(item == 0 for item in values):
            return say("zero-by-zero", "0 / 0 is not a number.")
        if op == "mul" and infinite:
            return say("infinity-times-0", "Infinity times 0 is not a number.")
        if op in ("log", "sqrt") and values[0] < 0:
            return (
                say("logarithm-of-negative", "There is no logarithm of a number below 0.")
                if op == "log"
                else say("root-of-negative", "There is no square root of a number below 0.")
            )
        if infinite:
            return say("infinities", "The arithmetic of infinities has no result here.")
    if math.isinf(value) and not infinite:
        formula = derived.result.formula
        overflows = math.isfinite(f.evaluate(formula, values)) if formula is not None else False
        if op in ("div", "reciprocal", "rsqrt") and not overflows:
            return say("divided-by-0", "It was divided by 0.")
        if op == "log":
            return say("logarithm-of-0", "The logarithm of 0 is -inf.")
        if overflows or op in _OVERFLOWING or (op == "pow" and 0 not in values):
            dtype = str(element.region.dtype).removeprefix("torch.")
            return (
                say("exponential-beyond", "The exponential is beyond the largest number of {dtype}.", dtype=dtype)
                if op == "exp"
                else say("result-beyond", "The result is beyond the largest number of {dtype}.", dtype=dtype)
            )
    return ""

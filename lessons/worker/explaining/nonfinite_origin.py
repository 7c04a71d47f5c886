"""Where an infinity or NaN came from: the first number on the way back that none of its operands explains."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lessons.results import formula as f
from lessons.worker.explaining.derivation import Derivation, RuleResult
from lessons.worker.recording.element_history import Element

if TYPE_CHECKING:
    from lessons.worker.explaining.explainer import Explainer

CHAIN = 5000

_PUT = ("masked_fill", "where", "literal", "given", "constant", "set")
"""Operations that do not compute an infinity but put it there."""

_GROWING = ("exp", "mul", "add", "sub", "sum", "square", "mm", "bmm")
"""Operations that come to an infinity of finite numbers only if that is too large for its type."""


def told(explainer: Explainer, element: Element, value: float, work: Derivation, made: RuleResult) -> list[str]:
    """Where a value that is not finite was born, as notes; none for finite ones, and for those that the code gave."""
    if math.isfinite(value):
        return []
    word = "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    came_from = _carrier(explainer, value, work)
    if came_from is None:
        if made.op in _PUT or not work.elements:
            # Its own note or formula says so already.
            return []
        return [f"This {word} was born here.{_reason(explainer, element, value, work, made)}"]
    for _ in range(CHAIN):
        event, inner, made = explainer.made(came_from)
        earlier = _carrier(explainer, value, inner)
        if earlier is None:
            place = explainer.place(event)
            where = f" on line {place.line}" + (f" of {place.file}" if "/" in place.file else "") if place.line else ""
            label = explainer.call(came_from, work.words).label
            if made.op in _PUT:
                return [f"This {word} was put in {label}{where}."]
            return [f"This {word} was born in {label}{where}.{_reason(explainer, came_from, value, inner, made)}"]
        came_from = earlier
    return []


def _carrier(explainer: Explainer, value: float, work: Derivation) -> Element | None:
    """An operand that is not finite in the same way: NaN for NaN, an infinity for an infinity."""
    values = explainer.history.values(work.elements)
    same = math.isnan if math.isnan(value) else math.isinf
    return next((item for item, number in zip(work.elements, values, strict=True) if same(number)), None)


def _reason(explainer: Explainer, element: Element, value: float, work: Derivation, made: RuleResult) -> str:
    values = explainer.history.values(work.elements)
    op = work.event.op.strip("_")
    infinite = any(map(math.isinf, values))
    if math.isnan(value):
        if "softmax" in op and values and all(item == -math.inf for item in values):
            return " Nothing in the row was left: every exponential is 0, and 0 / 0 is not a number."
        if op == "div" and len(values) > 1 and all(map(math.isinf, values[:2])):
            return " inf / inf is not a number."
        if op == "div" and values and all(item == 0 for item in values):
            return " 0 / 0 is not a number."
        if op == "mul" and infinite:
            return " Infinity times 0 is not a number."
        if op in ("log", "sqrt") and values[0] < 0:
            return f" There is no {'logarithm' if op == 'log' else 'square root'} of a number below 0."
        if infinite:
            return " The arithmetic of infinities has no result here."
    if math.isinf(value) and not infinite:
        beyond = math.isfinite(f.evaluate(made.formula, values)) if made.formula is not None else False
        if op in ("div", "reciprocal", "rsqrt") and not beyond:
            return " It was divided by 0."
        if op == "log":
            return " The logarithm of 0 is -inf."
        if beyond or op in _GROWING or (op == "pow" and 0 not in values):
            what = "exponential" if op == "exp" else "result"
            return f" The {what} is beyond the largest number of {str(element.region.dtype).removeprefix('torch.')}."
    return ""

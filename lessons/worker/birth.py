"""Where an infinity or NaN came from: the first number on the way back that none of its operands explains."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lessons.worker.history import Element
from lessons.worker.work import Work

if TYPE_CHECKING:
    from lessons.worker.explain import Explainer

CHAIN = 5000


def told(explainer: Explainer, element: Element, value: float, work: Work, op: str) -> list[str]:
    """Where a value that is not finite was born, as notes; none for finite ones, and for those that the code gave."""
    if math.isfinite(value):
        return []
    word = "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"
    came_from = _carrier(explainer, value, work)
    if came_from is None:
        if op == "masked_fill" or not work.elements:
            # Its own note says so already.
            return []
        return [f"This {word} was born here.{_reason(explainer, value, work)}"]
    for _ in range(CHAIN):
        event, inner, made = explainer.made(came_from)
        earlier = _carrier(explainer, value, inner)
        if earlier is None:
            place = explainer.place(event)
            where = f" on line {place.line}" + (f" of {place.file}" if "/" in place.file else "") if place.line else ""
            born = "was put" if made.op in ("masked_fill", "literal", "given", "constant", "set") else "was born"
            label = explainer.call(came_from, work.words).label
            return [f"This {word} {born} in {label}{where}.{_reason(explainer, value, inner)}"]
        came_from = earlier
    return []


def _carrier(explainer: Explainer, value: float, work: Work) -> Element | None:
    """An operand that is not finite in the same way: NaN for NaN, an infinity for an infinity."""
    values = explainer.history.values(work.elements)
    same = math.isnan if math.isnan(value) else math.isinf
    return next((item for item, number in zip(work.elements, values, strict=True) if same(number)), None)


def _reason(explainer: Explainer, value: float, work: Work) -> str:
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
    if math.isinf(value):
        if op == "exp":
            return " The exponential is beyond the largest number of its type."
        if op == "div":
            return " It was divided by 0."
        if op == "log":
            return " The logarithm of 0 is -inf."
    return ""

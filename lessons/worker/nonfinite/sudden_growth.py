"""Where numbers became large that an operation then made too large for their type: mostly far away from it."""

from __future__ import annotations

from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.nonfinite.nonfinite_chain import Link
from attn_tutor.lessons.worker.nonfinite.overflow_cures import HALF
from attn_tutor.lessons.worker.recording.element_history import Element

LARGE = 1e9
"""A magnitude that numbers of a training seldom have."""

JUMP = 1e5
"""By what factor an operation has to exceed its operands to be where a number became large."""

LONGEST = 200
"""Operations that are followed back."""


def find(run: Explainer, first: Link) -> Link | None:
    """Return the number that an operation made large of ordinary ones, on the way back along the largest operands.

    None if there is none: the numbers grew little by little, or the operation that gave the first number has ordinary
    operands itself. Raises `ValueLost`.
    """
    if first.element.region.dtype in HALF:
        return None
    link = first
    for _ in range(LONGEST):
        operands = _operands(run, link)
        values = [abs(value) for value in run.history.values(operands)]
        largest = max(values, default=0.0)
        if not largest < float("inf"):
            return None
        if largest < LARGE:
            is_jump = link is not first and abs(link.value) >= LARGE and abs(link.value) > JUMP * largest
            return link if is_jump and link.derived.event is not None else None
        element = operands[values.index(largest)]
        link = Link(element, run.history.value(element), run.derive(element))
    return None


def _operands(run: Explainer, link: Link) -> list[Element]:
    """List the elements that a number was computed from, also those that a formula has as plain numbers."""
    event = link.derived.event
    found = None if event is None else event.index_of(link.element.storage, link.element.offset, link.element.size)
    if event is None or found is None or not event.info.written:
        return link.derived.operands
    index = found[1]
    alike = [
        region for region in event.operands() if region.dtype.is_floating_point and len(region.shape) == len(index)
    ]
    beside = [Element.of(region, index, event.time) for region in alike if region.shape == event.outs[found[0]].shape]
    return [*link.derived.operands, *beside]

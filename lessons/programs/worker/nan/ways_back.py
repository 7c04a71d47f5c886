"""The way back from a number that is not finite: through NaN and infinities, to an operation on finite numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import nonfinite_origin
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.explaining.nonfinite_origin import Reason
from attn_tutor.lessons.worker.explaining.recorded_run import DerivedCell, Index, RuleResult
from attn_tutor.lessons.worker.recording import operation_info
from attn_tutor.lessons.worker.recording.element_history import Element, ValueLost
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/nonfinite-chain")

LONGEST = 5000
"""Steps back that are followed."""

MOST_INFINITIES = 16
"""Infinite operands of one number that are followed to find one that the code did not set."""


_OF_MASKS = ("tril", "triu", "ones", "zeros", "ones_like", "zeros_like", "eye", "one_hot")
"""Operations that make masks of zeros and ones, whose logarithm is 0 or -inf."""


_MOVING = ("to_copy", "clone", "copy", "sort", "index_select", "gather", "cat", "stack")


@dataclass(frozen=True, slots=True)
class Link:
    """A number on the way back, and how it was computed."""

    element: Element
    value: float
    derived: DerivedCell


class WaysBack:
    """Follows numbers of a recorded run back to where they stopped being finite."""

    def __init__(self, run: Explainer) -> None:
        self._run = run

    def back(self, region: Region, index: Index, time: int, *, is_nan: bool = False) -> list[Link]:
        """Return the chain from the first number that is not finite to an element, which is not finite either.

        The chain is empty if nobody knows the element any more, unless it was seen that it `is_nan`.

        An infinity that the code set itself does not begin a chain, unless it is all there is.
        """
        element = Element.of(region, index, time)
        try:
            links = [self._link(element)]
        except ValueLost as lost:
            # It was seen when it was written.
            return [Link(element, math.nan, _unknown(lost))] if is_nan else []
        for _ in range(LONGEST):
            link = links[-1]
            found = self._nonfinite_operands(link)
            nan = next((element for element, value in found if math.isnan(value)), None)
            if nan is not None:
                links.append(self._link(nan))
                continue
            ways = (self._through_infinities(element) for element, _ in found[:MOST_INFINITIES])
            is_nan = math.isnan(link.value)
            links += next(
                (way for way in ways if not self.is_on_purpose(way[-1]) or (is_nan and _is_data(way[-1]))), []
            )
            if math.isinf(link.value) and found and links[-1] is link:
                # All that is behind an infinity was set: then so was this one.
                links += self._through_infinities(found[0][0])
            break
        links.reverse()
        return links

    def _through_infinities(self, element: Element) -> list[Link]:
        """Follow an infinity back to the first one."""
        links = [self._link(element)]
        while len(links) < LONGEST:
            found = self._nonfinite_operands(links[-1])
            if not found:
                break
            links.append(self._link(found[0][0]))
        return links

    def _nonfinite_operands(self, link: Link) -> list[tuple[Element, float]]:
        """List the operands that are not finite, with their values."""
        derived = link.derived
        try:
            values = self._run.history.values(derived.operands)
            found = [
                (element, value)
                for element, value in zip(derived.operands, values, strict=True)
                if not math.isfinite(value)
            ]
            if not found and derived.result.formula is None and derived.event is not None:
                # Made from too many numbers to list.
                found = self._any_operand(derived.event)
        except ValueLost:
            return []
        return found

    def _any_operand(self, event: Event) -> list[tuple[Element, float]]:
        """Return a number among the operands of an operation that is not finite, NaN first; none if all are."""
        for is_wanted in ("isnan", "isinf"):
            for region in event.operands():
                parts = region.parts
                if not parts.dtype.is_floating_point:
                    continue
                tensor = self._run.history.tensor(parts, event.time, copy=False)
                indices = getattr(tensor, is_wanted)().nonzero()
                if len(indices):
                    index = tuple(indices[0].tolist())
                    return [(Element.of(parts, index, event.time), float(tensor[index]))]
        return []

    def _link(self, element: Element) -> Link:
        value = self._run.history.value(element)
        try:
            return Link(element, value, self._run.derive(element))
        except ValueLost as lost:
            return Link(element, value, _unknown(lost))

    def is_mark(self, chain: list[Link]) -> bool:
        """Return whether a chain begins with a NaN that the code set or was given, and nothing is computed from it."""
        first = chain[0]
        return (
            math.isnan(first.value)
            and nonfinite_origin.is_set(first.derived)
            and not nonfinite_origin.is_chosen_inside(self._run, first.derived)
            and all(_is_moved(link) for link in chain[1:])
        )

    def is_on_purpose(self, link: Link) -> bool:
        """Return whether the code set an infinity, computes with one, or took the logarithm of a mask.

        Tables that an operation makes for its derivative alone, such as that of `ctc_loss`, may hold infinities too.
        """
        if not math.isinf(link.value):
            return False
        if _is_inside(link):
            return True
        if self._is_choice_computed(link):
            return False
        if nonfinite_origin.is_set(link.derived) or nonfinite_origin.names_infinity(link.derived):
            return True
        event = link.derived.event
        operand = event.arg("self") if event is not None and event.op == "log" else None
        if event is None or not isinstance(operand, Region):
            return False
        source = self._run.through(Element.of(operand, (0,) * len(operand.shape), event.time))
        maker = self._run.history.writer(source)
        return maker is not None and (maker.op in _OF_MASKS or _is_from_truth_values(maker))

    def _is_choice_computed(self, link: Link) -> bool:
        """Return whether `where` chose what a formula computes, as it does at the end of a derivative."""
        formula = link.derived.result.formula
        if link.derived.result.op != "where" or not isinstance(formula, f.Op) or formula.op != "if":
            return False
        test, yes, no = formula.parts
        try:
            chosen = yes if f.evaluate(test, self._run.history.values(link.derived.operands)) else no
        except ValueLost:
            return False
        return isinstance(chosen, f.Op) and chosen.op != "neg"

    def reason(self, link: Link) -> Reason:
        """Return why the first number of a chain is not finite; of the kind "unknown" if that is not clear.

        "unrecorded-operands" is what took a tensor whose numbers are not recorded, such as a sparse one.
        """
        derived = link.derived
        if derived.result.op == "uninitialized":
            text = say("uninitialized", "This memory was reserved, and nothing was written to it before it was read.")
            return Reason("uninitialized", text)
        is_chosen_inside = math.isnan(link.value) and nonfinite_origin.is_chosen_inside(self._run, derived)
        if derived.event is None or (nonfinite_origin.is_set(derived) and not is_chosen_inside):
            return Reason("from-data", say("from-data", "It came with the data: no operation computed it."))
        if derived.event.opaque:
            return Reason("unrecorded-operands", "")
        try:
            found = nonfinite_origin.reason(self._run, link.element, link.value, derived)
        except ValueLost:
            found = None
        return found or Reason("unknown", "")


def _unknown(lost: ValueLost) -> DerivedCell:
    return DerivedCell(None, "", [], frozenset(), RuleResult("unrecorded", notes=[str(lost)]))


def _is_data(link: Link) -> bool:
    """Return whether a number is an infinity from outside that hides nothing, as -inf in a mask does."""
    return link.derived.event is None and link.value == math.inf


def _is_moved(link: Link) -> bool:
    """Return whether a number is another one in another place or type."""
    derived = link.derived
    return derived.result.source is not None or derived.op.strip("_") in _MOVING


def _is_from_truth_values(event: Event) -> bool:
    """Return whether an operation turned truth values into numbers."""
    return any(region.dtype == torch.bool for region in event.operands())


def _is_inside(link: Link) -> bool:
    """Return whether a number is in a result that PyTorch does not give to the program."""
    event, element = link.derived.event, link.element
    if event is None or not operation_info.gives_first_only(event):
        return False
    found = event.index_of(element.storage, element.offset, element.size)
    return found is not None and operation_info.place_of_result(event, found[0])[0] > 0

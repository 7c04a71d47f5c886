"""Where numbers that are not finite get out of sight, and how they come back: decided from values, not from names.

An operation may take NaN and give none: an integer type, a comparison, `argmax`, `nan_to_num` or `where` loses it. What
follows is finite, and may be wrong; and a derivative multiplies what was left out by 0, which gives NaN again.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

import torch

from attn_tutor.lessons.programs.worker.nan import tried_in_place
from attn_tutor.lessons.programs.worker.nan.finite_scan import Written, widened
from attn_tutor.lessons.programs.worker.nan.ways_back import Link
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import source_location
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.recording.element_history import Element, ValueLost
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/out-of-sight")

LEAVING_OUT = {"nanmean", "nansum", "nanmedian", "nanquantile"}
"""Functions that compute with what is left if NaN is left out."""

FILLING = {"nan_to_num"}
"""Functions that put other numbers in the place of NaN."""

ASKING = {"isnan", "isfinite", "isinf", "isclose", "allclose", "assert_close", "print"}
"""Functions that tell what is NaN, and take it for nothing else."""

MOST_LOOKS = 200
"""Operations of which it is looked at whether they took such numbers."""

INSTEAD = (0.0, 1.0, -1.0, math.inf, -math.inf)
"""What is put in the place of NaN to see whether something depends on it; the largest number of a type for inf."""

MOST_PLACES = 2
"""Lines on which such numbers get out of sight that are told."""


@dataclass(frozen=True, slots=True)
class Use:
    """What was found out about the operations that take NaN from a tensor.

    Attributes:
        depends: whether one of them computes something finite that depends on NaN, such as an `argmax`.
        unknown: what could not be found out, a sentence each.
    """

    depends: bool
    unknown: tuple[str, ...] = ()


def leaving_out(run: Explainer, written: Written, *, is_set: bool) -> list[Event]:
    """Return what leaves out NaN in a tensor, as `nanmean` does; nothing if anything else reads the tensor.

    Gaps that the code has set may be filled as well. What is filled in the place of NaN that was computed hides it.
    """
    dealing = LEAVING_OUT | FILLING if is_set else LEAVING_OUT
    readers = list(_readers(run, written))
    if any(_function(run, event) not in dealing | ASKING for event in readers):
        return []
    return [event for event in readers if _function(run, event) in dealing]


def use(run: Explainer, written: Written, found: Iterable[Written]) -> Use:
    """Return whether an operation computes something finite that depends on NaN in a tensor, such as its `argmax`.

    It does if it would give something else for another number in the place of NaN, and is none that deals with NaN.
    """
    carrying = {item.event.time for item in found if item.event is not None}
    dealing = LEAVING_OUT | FILLING | ASKING
    unknown: dict[str, None] = {}
    for looks, event in enumerate(_readers(run, written)):
        if looks == MOST_LOOKS:
            unknown[say("only-first", "Of the operations that read a tensor with NaN, the first {count} were followed.",
                count=MOST_LOOKS)] = None  # fmt: skip
            break
        if event.time in carrying or _function(run, event) in dealing:
            continue
        depends = _depends(run, event, written)
        if depends:
            return Use(True)
        if depends is None:
            unknown[_what_is_unknown(event, code_and_line(run, event))] = None
    return Use(False, tuple(unknown))


def _what_is_unknown(event: Event, place: str) -> str:
    if not event.outs:
        return _taken_by_python(place)
    return say("not-tried", "{place} took NaN, and could not be run again to see whether its result depends on it.",
        place=place)  # fmt: skip


def _taken_by_python(place: str) -> str:
    return say("taken", "{place} took it into Python, where numbers are not followed.", place=place)


def sentences(run: Explainer, first: Link, found: Iterable[Written], until: int) -> list[str]:
    """Say which operations lost a number that was not finite, and which derivative brought it back, if that is seen."""
    items = [item for item in found if item.event is not None]
    beginning = first.derived.event
    storages = {first.element.storage, *(out.storage for out in (beginning.outs if beginning is not None else ()))}
    start = first.element.time if beginning is None else beginning.time + 1
    carried = {item.event.time for item in items if item.event is not None}
    lost: dict[str, str] = {}
    taken: dict[str, str] = {}
    looks = 0
    try:
        for looks, event in enumerate(_takers(run, storages, start, until)):
            if looks == MOST_LOOKS:
                break
            if event.time in carried:
                storages.update(out.storage for out in event.outs)
            elif event.node is None and _is_lost_in(run, event):
                # One function may consist of several operations; the last one gives its result.
                there = code_and_line(run, event, beginning)
                (lost if event.outs else taken)[there] = _what_became_of_it(event, there)
        back = _brought_back(run, items, storages, beginning) if lost or taken else []
    except (ValueLost, RuntimeError):
        return []
    end = say("followed-only", "It was followed through the first {count} operations that took it.", count=MOST_LOOKS)
    # What Python takes once a number is back is in sight: it prints the loss of the next step as NaN.
    told = [*lost.values(), *(() if back else taken.values())]
    return [*told[:MOST_PLACES], *back, *([end] if looks == MOST_LOOKS else [])]


def reaches(run: Explainer, first: Link, later: Link) -> bool:
    """Return whether operations may have carried a number to another one: each took a tensor that the one before gave.

    True if the operation that gave the second number is not known.
    """
    beginning, end = first.derived.event, later.derived.event
    if end is None:
        return True
    storages = {first.element.storage, *(out.storage for out in (beginning.outs if beginning is not None else ()))}
    events = run.record.events
    start = first.element.time if beginning is None else beginning.time + 1
    for position in range(events.after(start), events.after(end.time + 1)):
        _, read, given, written = events.flow(position)
        if any(memory._cdata in storages for memory in read):
            storages.update(memory._cdata for memory in (*given, *written))
    return not storages.isdisjoint(out.storage for out in end.outs)


def _takers(run: Explainer, storages: set[int], start: int, until: int) -> Iterator[Event]:
    """Yield the operations that take numbers that are not finite from storages, which may become more on the way."""
    events = run.record.events
    for position in range(events.after(start), events.after(until)):
        if any(memory._cdata in storages for memory in events.flow(position)[1]):
            event = events[position]
            regions = [region for region in event.operands() if region.storage in storages]
            if any(_is_nonfinite(run, region, event.time) for region in regions):
                yield event


def _is_lost_in(run: Explainer, event: Event) -> bool:
    """Return whether an operation that took numbers that are not finite gave none."""
    # What is made like another tensor takes its shape, and none of its numbers.
    if not _is_computed(event) or event.op.endswith("_like") or _function(run, event) in ASKING:
        return False
    return not any(_is_nonfinite(run, out, event.time + 1) for out in event.outs)


def _what_became_of_it(event: Event, place: str) -> str:
    kinds = {out.dtype for out in event.outs}
    if not kinds:
        return _taken_by_python(place)
    if kinds == {torch.bool}:
        return say("compared", "{place} took it and gave truth values, which cannot be NaN.", place=place)
    if not any(dtype.is_floating_point or dtype.is_complex for dtype in kinds):
        return say(
            "made-whole", "{place} took it and gave whole numbers, which cannot be NaN or infinite.", place=place
        )
    return say("lost", "{place} took it, and all that it gave is finite.", place=place)


def code_and_line(run: Explainer, event: Event, reader: Event | None = None) -> str:
    """Return the code of an operation and its line, as it is told beside another one, or beside the program."""
    code = source_location.locate(run.names.positions, event).code or _function(run, event)
    beside = reader if reader is not None else replace(event, sites=event.sites[-1:])
    where = source_location.on_line(run.names.positions, event, beside)
    return say("place", "{code} {where}", code=code, where=where) if where else code


def _brought_back(run: Explainer, items: Iterable[Written], storages: set[int], reader: Event | None) -> list[str]:
    """Say which derivative multiplied such a number by 0, so that it is NaN again."""
    for item in items:
        event = item.event
        if event is None or event.node is None or not {region.storage for region in event.operands()} & storages:
            continue
        nan = run.history.tensor(item.region, item.time, copy=False).isnan().nonzero()
        maker = run.gradients.maker(event)
        if maker is None or not len(nan):
            continue
        derived = run.derive(Element.of(item.region, tuple(nan[0].tolist()), item.time))
        if derived.result.formula is None or not _is_times_zero(run, derived.result.formula, derived.operands):
            continue
        return [
            say(
                "times-zero",
                "In the backward pass it comes back: the derivative of {place} multiplies it by a gradient of 0, and 0 "
                "times what is not finite is NaN.",
                place=code_and_line(run, maker, reader),
            )
        ]  # fmt: skip
    return []


def _is_times_zero(run: Explainer, formula: f.Formula, operands: list[Element]) -> bool:
    """Return whether a formula would give the same for any finite numbers in the place of those that are not."""
    values = run.history.values(operands)
    results = [
        f.evaluate(formula, [value if abs(value) < float("inf") else other for value in values]) for other in (0.0, 1.0)
    ]
    return results[0] == results[1] and abs(results[0]) < float("inf")


def _readers(run: Explainer, written: Written) -> Iterator[Event]:
    events = run.record.events
    for position in range(events.after(written.time), len(events)):
        if written.region.memory in events.flow(position)[1]:
            yield events[position]


def _depends(run: Explainer, event: Event, written: Written) -> bool | None:
    """Return whether what an operation gives depends on NaN in a tensor; None if that cannot be tried."""
    taken = [region for region in event.operands() if region.storage == written.region.storage]
    is_itself = event.op.strip("_") in ("eq", "ne") and event.arg("self") == event.arg("other")
    # What is made like another tensor takes its shape, and none of its numbers.
    if is_itself or event.op.endswith("_like") or not _is_computed(event):
        return False
    try:
        there = {tried_in_place.key(region): run.history.tensor(region, event.time) for region in taken}
        if not any(map(_has_nan, there.values())):
            return False
        if not event.outs or event.info.func is None or event.info.random:
            return None
        before = tried_in_place.run_again(run, event, {})
        for other in INSTEAD:
            given = tried_in_place.run_again(
                run, event, {key: _instead(tensor, other) for key, tensor in there.items()}
            )
            if not all(map(is_same, before, given)):
                return True
    except (ValueLost, RuntimeError, TypeError, ValueError, IndexError):
        return None
    return False


def _is_computed(event: Event) -> bool:
    """Return whether an operation gave more than a view of what it took."""
    taken = {region.storage for region in event.operands()}
    return bool(event.info.written) or not any(out.storage in taken for out in event.outs)


def is_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors hold the same: NaN is the same as NaN, and an infinity as itself."""
    return one.shape == other.shape and bool(((one == other) | (one.isnan() & other.isnan())).all())


def _instead(tensor: torch.Tensor, other: float) -> torch.Tensor:
    if not _has_nan(tensor):
        return tensor
    largest = torch.finfo(tensor.dtype).max
    return torch.where(tensor.isnan(), torch.full_like(tensor, min(max(other, -largest), largest)), tensor)


def _has_nan(tensor: torch.Tensor) -> bool:
    return (tensor.is_floating_point() or tensor.is_complex()) and bool(widened(tensor).isnan().any())


def _is_nonfinite(run: Explainer, region: Region, time: int) -> bool:
    parts = region.parts
    if not parts.dtype.is_floating_point or not parts.size:
        return False
    return not bool(widened(run.history.tensor(parts, time, copy=False)).isfinite().all())


def _function(run: Explainer, event: Event) -> str:
    return run.names.function_of(event).strip("_")

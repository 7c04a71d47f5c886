"""The diagram of a run: boxes for what was asked about and all that it was computed from, with thumbnails."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from itertools import chain
from typing import Any

import torch

from attn_tutor.lessons.results import code_unit
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.flow import LARGEST_THUMBNAIL, MOST_BOXES, Flow, FlowArrow, FlowBox, OpenBox
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.flow.arrows import GroupArrows
from attn_tutor.lessons.worker.flow.grouping import ASIDE, BoxGroup, CodePaths, OpenGroup, group, short
from attn_tutor.lessons.worker.recording.element_history import ElementHistory, ValueLost
from attn_tutor.lessons.worker.recording.event import LEFT, Event
from attn_tutor.lessons.worker.recording.names import Names
from attn_tutor.lessons.worker.recording.regions import Region
from attn_tutor.lessons.worker.recording.tensor_parts import bounds

Rows = tuple[tuple[float, ...], ...]


def thumbnail(tensor: torch.Tensor) -> Rows:
    """Return the first matrix of a tensor in at most `LARGEST_THUMBNAIL` rows and columns; a vector is one row.

    A block of a larger matrix is the mean of its cells without those that a mask has made -inf.
    """
    if tensor.is_complex():
        tensor = tensor.abs()
    if not tensor.numel():
        return ()
    matrix = tensor[(0,) * (tensor.dim() - 2)] if tensor.dim() > 2 else tensor.reshape(-1, (1, *tensor.shape)[-1])
    most_rows, most_cols = LARGEST_THUMBNAIL
    strips = matrix.to(torch.float64).tensor_split(min(matrix.shape[0], most_rows))
    return tuple(
        tuple(_mean(block) for block in strip.tensor_split(min(strip.shape[1], most_cols), dim=1)) for strip in strips
    )


def _mean(block: torch.Tensor) -> float:
    mean = float(block.mean())
    if math.isfinite(mean):
        return mean
    there = block[block != -torch.inf]
    return float(there.mean()) if there.numel() else -torch.inf


say = Wording("explaining/flow")

LARGEST_PAST = 4096
"""Elements of a tensor up to which numbers that have been overwritten are looked up for its thumbnail."""

OUTSIDE = "outside"


class NoBox(LookupError):
    """A box that does not exist, or that has no tensor of its own."""


class Diagram:
    """The boxes of a run with what is needed to describe them."""

    def __init__(
        self, explainer: Explainer, unit: CodeUnit | None, opened: Collection[str], until: int | None = None
    ) -> None:
        """Group the operations up to the end of `unit`, and to a time, with the boxes in `opened` open."""
        explainer.names.update()
        self._explainer, self._unit = explainer, unit
        self._until = explainer.record.time if until is None else until
        self._names: Names = explainer.names
        self._history: ElementHistory = explainer.history
        self._paths = CodePaths(explainer.names.positions)
        recorded = explainer.record.events
        events = [event for event in recorded[: recorded.after(self._until)] if event.outs and not _is_ours(event)]
        last = max((at for at, event in enumerate(events) if self._is_of_unit(event)), default=len(events) - 1)
        groups, self._replaced = group(events[: last + 1], self._paths, frozenset(opened))
        self._trace = GroupArrows(groups)

    def flow(self, path: Iterable[int] = ()) -> Flow:
        """Return the boxes and arrows; `path` are the times of operations that an explanation leads through."""
        trace = self._trace
        of_unit = self._groups_shown()
        # A step that computes nothing has the flow of what was shown before it.
        wanted = self._closure([*of_unit, *self._results()] or self._makers_of_last() or trace.groups[::-1])
        kept = [one for one in trace.groups if one in wanted]
        left_out = len(kept) - MOST_BOXES
        if left_out > 0:
            order = {one: position for position, one in enumerate(wanted)}
            nearest = set(sorted(kept, key=order.__getitem__)[:MOST_BOXES])
            kept = [one for one in kept if one in nearest]
        positions = {one: position for position, one in enumerate(kept)}
        outside = [
            (number, region, readers)
            for number, (region, all_readers) in enumerate(trace.outside.values())
            if (readers := [one for one in dict.fromkeys(map(self._final, all_readers)) if one in positions])
        ]
        boxes = [self._outside_box(number, region) for number, region, _ in outside]
        boxes += [self._box(one, of_unit.get(one, ())) for one in kept]
        arrows = [FlowArrow(f"{OUTSIDE}.{number}", reader.id) for number, _, readers in outside for reader in readers]
        pairs = [
            (source, target)
            for source, target in trace.arrows
            if source in positions and target in positions and source is not target
        ]
        # In the order in which the code reads them, as far as it names them.
        pairs.sort(key=lambda pair: self._paths.code(pair[1].part).find(pair[0].name))
        arrows += [FlowArrow(one.id, other.id, positions[one] > positions[other]) for one, other in pairs]
        groups = (trace.group_of(time) for time in path)
        steps = dict.fromkeys(one.id for one in groups if one is not None and one in positions)
        opened = [OpenBox(one.id, self._name(one), self._paths.code(one.part), one.parent) for one in self._replaced]
        return Flow(tuple(boxes), tuple(arrows), tuple(opened), tuple(steps), max(0, left_out))

    def result(self, box: str) -> tuple[str, Region, int]:
        """Return the name and the tensor of a box, and the time at which its code had run. Raises `NoBox`."""
        kind, _, number = box.partition(".")
        if kind == OUTSIDE:
            found = list(self._trace.outside.values())
            if not number.isdecimal() or int(number) >= len(found):
                raise NoBox(box)
            given = found[int(number)][0]
            return self._outside_name(given), self._whole(given), self._until
        one = next((one for one in self._trace.groups if one.id == box), None)
        region = self._result(one) if one is not None else None
        if one is None or region is None:
            raise NoBox(box)
        return self._name(one), region, one.events[-1].time + 1

    def _final(self, one: BoxGroup) -> BoxGroup:
        return self._trace.group_of(one.events[0].time) or one

    def _is_of_unit(self, event: Event) -> bool:
        """Return whether the code of the unit, or of an expression that it shows, called an operation."""
        if self._unit is None or not event.sites:
            return False
        unit = code_unit.of_filename(event.sites[-1][0].co_filename)
        return unit is not None and (unit == self._unit or unit.of == str(self._unit))

    def _groups_shown(self) -> dict[BoxGroup, tuple[str, ...]]:
        """Return the groups whose results the unit shows, with the names under which it does."""
        found: dict[BoxGroup, tuple[str, ...]] = {}
        for name, region in self._explainer.shown_regions(self._unit):
            made = self._trace.maker(region)
            if made is not None:
                found[made] = (*found.get(made, ()), name)
        return found

    def _makers_of_last(self) -> list[BoxGroup]:
        """Return the groups whose results were shown last."""
        makers = (self._trace.maker(region) for _, region in self._explainer.last_shown())
        return list(dict.fromkeys(made for made in makers if made is not None))

    def _results(self) -> list[BoxGroup]:
        """Return the groups of the unit that give a result a name, latest first."""
        own = [one for one in self._trace.groups if one.name and self._is_of_unit(one.events[-1])]
        return own[::-1]

    def _closure(self, targets: Sequence[BoxGroup]) -> dict[BoxGroup, None]:
        """Return groups and all that they were computed from, nearest first."""
        sources: dict[BoxGroup, list[BoxGroup]] = {}
        for source, target in self._trace.arrows:
            sources.setdefault(target, []).append(source)
        found = dict.fromkeys(targets)
        todo = list(found)
        for one in todo:
            for source in sources.get(one, ()):
                if source not in found and source.computes:
                    found[source] = None
                    todo.append(source)
        return found

    def _box(self, one: BoxGroup, shown: tuple[str, ...]) -> FlowBox:
        code = self._paths.code(one.part)
        span = one.part.span
        unit = code_unit.of_filename(span.file) if span is not None else None
        result = self._result(one)
        operations = [event for event in one.events if not event.view and event.op not in ASIDE]
        return FlowBox(
            id=one.id,
            name=self._name(one),
            code=code,
            unit="" if span is None else str(unit) if unit is not None else self._title(span.file),
            line=span.line if span is not None else None,
            times=one.times,
            operations=len(operations),
            opens=one.opens,
            parent=one.parent,
            shown=shown,
            loops=(one, one) in self._trace.arrows,
            **self._content(result, one.events[-1].time + 1),
        )

    def _title(self, file: str) -> str:
        title = self._names.positions.file_of(file)
        return title.rpartition("/")[2] if title == file else title

    def _name(self, one: BoxGroup | OpenGroup) -> str:
        """Return what a box is called: the result by its name in the source, or the code, or the operation."""
        if one.part.kind == "operation":
            return one.part.op.strip("_")
        name = self._paths.name(one.part) or short(self._paths.code(one.part))
        if name or isinstance(one, OpenGroup):
            return name
        # The source is not known, as of code that was typed into Python itself.
        last = one.events[-1]
        written = [region for region in last.outs if region.storage in self._explainer.record.bindings]
        return self._outside_name(written[0]) if written else last.op.strip("_")

    def _outside_box(self, number: int, region: Region) -> FlowBox:
        content = self._content(self._whole(region), self._until)
        return FlowBox(f"{OUTSIDE}.{number}", self._outside_name(region), **content)

    def _outside_name(self, region: Region) -> str:
        bound = self._explainer.record.bindings.get(region.storage, ())
        return next((item.name for item in bound), say("from-outside", "from outside"))

    def _whole(self, region: Region) -> Region:
        """Return the tensor from outside that has a name: code may have read it transposed, or a part of it, first."""
        bound = self._explainer.record.bindings.get(region.storage, ())
        return next((item.region for item in bound), region)

    def _result(self, one: BoxGroup) -> Region | None:
        """Return what a group hands on: what its name is bound to, else the result of its last operation.

        None for a name that means no tensor, such as that of a module.
        """
        storages = {region.storage for event in one.events for region in event.outs}
        since, until = one.events[0].time, one.events[-1].time + 1
        if one.name:
            bound = [item.region for item in self._names.bindings(one.name) if item.region.storage in storages]
            if bound:
                return bound[-1]
            if any(name == one.name for name, _ in self._explainer.shown_regions(self._unit)):
                # The step shows a tensor of this name that the code did not compute, such as a list of numbers.
                return None
            if any(
                item.name.startswith(f"{one.name}.") and since <= item.time <= until + 1
                for item in chain.from_iterable(self._explainer.record.bindings.get(key, ()) for key in storages)
            ):
                return None
        if self._paths.is_discarded(one.part):
            return None
        last = next((event for event in reversed(one.events) if event.op not in ASIDE), one.events[-1])
        region = last.outs[0]
        if last.info.written:
            # What a loop writes part by part is the whole tensor.
            whole = [item.region for item in self._names.bindings(one.name) if item.region.storage == region.storage]
            return whole[-1] if whole else region
        return region

    def _content(self, region: Region | None, time: int) -> dict[str, Any]:
        """Return shape, type, thumbnail and bounds of a tensor as it was at a time."""
        if region is None:
            return {}
        known: dict[str, Any] = {"shape": region.shape, "dtype": str(region.dtype).removeprefix("torch.")}
        if region.size > LARGEST_PAST and self._history.is_overwritten_since(region.storage, time):
            return known
        try:
            tensor = self._history.tensor(region, time, copy=False)
        except ValueLost:
            return known
        low, high = bounds(tensor)
        return {**known, "thumbnail": thumbnail(tensor), "low": low, "high": high}


def _is_ours(event: Event) -> bool:
    """Return whether a tensor was looked at by us or by autograd, and not by the code that ran."""
    return not event.sites and (event.view or event.op in ASIDE or event.op == "lift_fresh" or event.info is LEFT)

"""Arrows between groups of operations: which group read what which other group had written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from attn_tutor.lessons.worker.flow.grouping import ASIDE, BoxGroup
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region

FILLS = frozenset({"copy_", "fill_", "zero_", "uniform_", "normal_", "index_put_", "scatter_", "lift_fresh"})
"""Operations in place that replace what was there without reading it."""

Shape = tuple[int, tuple[int, ...], tuple[int, ...]]
"""A way to look at a storage: offset, shape and stride."""


@dataclass(slots=True)
class _Maker:
    """A group, and the round of it, that made a tensor."""

    group: BoxGroup
    round: int


@dataclass(slots=True)
class _Content:
    """What a storage holds now: who wrote to it last, and who has looked at it in which shape since then."""

    writer: _Maker
    views: dict[Shape, _Maker] = field(default_factory=dict)


class GroupArrows:
    """Groups with the arrows between them.

    A group that fills a tensor which was only allocated before, as a loop does with `scores[i, j] = ...`, takes the
    place of the group that allocated it.

    Attributes:
        groups: those that compute something, in order.
        arrows: pairs of groups: the second read what the first had written. An arrow from a group to itself says that
            it went on from what it had written in an earlier round.
        outside: the tensors that no recorded operation made, with the groups that read them.
    """

    def __init__(self, groups: Sequence[BoxGroup]) -> None:
        self._owners = {event.time: one for one in groups for event in one.events}
        self._merged: dict[BoxGroup, BoxGroup] = {}
        self._contents: dict[int, _Content] = {}
        self._tails = {time for one in groups if one.computes for time in _tail(one)}
        self._readers: set[BoxGroup] = set()
        arrows: dict[tuple[BoxGroup, BoxGroup], None] = {}
        self.outside: dict[int, tuple[Region, list[BoxGroup]]] = {}
        for event in sorted((event for one in groups for event in one.events), key=lambda event: event.time):
            group = self._owners[event.time]
            here = _Maker(group, group.rounds[event.time])
            self._read(event, here, arrows)
            self._write(event, here, arrows)
        self.arrows = dict.fromkeys((self._final(source), self._final(target)) for source, target in arrows)
        self.groups = [one for one in groups if one not in self._merged and one.computes]
        self.groups.sort(key=lambda one: one.order)

    def group_of(self, time: int) -> BoxGroup | None:
        """Return the group of the operation at a time; None if there is none."""
        found = self._owners.get(time)
        return self._final(found) if found is not None else None

    def maker(self, region: Region) -> BoxGroup | None:
        """Return the group that made what a region holds in the end; None if no recorded operation did."""
        made = self._maker(region)
        return self._final(made.group) if made is not None else None

    def _final(self, group: BoxGroup) -> BoxGroup:
        while group in self._merged:
            group = self._merged[group]
        return group

    def _maker(self, region: Region) -> _Maker | None:
        content = self._contents.get(region.storage)
        return None if content is None else content.views.get(_shape(region), content.writer)

    def _read(self, event: Event, here: _Maker, arrows: dict[tuple[BoxGroup, BoxGroup], None]) -> None:
        """Note what an operation reads."""
        if event.op in ASIDE or (event.view and event.time not in self._tails):
            # To look at a tensor in another shape is not to read it yet.
            return
        for region in _taken(event):
            made = self._maker(region)
            if made is None:
                self.outside.setdefault(region.storage, (region, []))[1].append(here.group)
                self._readers.add(here.group)
            elif made.group is not here.group:
                arrows[made.group, here.group] = None
                self._readers.add(here.group)
            elif made.round < here.round:
                arrows[here.group, here.group] = None

    def _write(self, event: Event, here: _Maker, arrows: dict[tuple[BoxGroup, BoxGroup], None]) -> None:
        """Note what an operation writes, or shows in another shape."""
        taken = {region.storage for region in _taken(event)}
        for region in event.written:
            before = self._contents.get(region.storage)
            self._contents[region.storage] = _Content(here)
            if before is None or before.writer.group is here.group:
                continue
            owner = self._final(before.writer.group)
            # What is read as well was more than allocated.
            fills = (event.op in FILLS or event.info.out) and region.storage not in taken
            if (
                owner is not here.group
                and fills
                and owner not in self._readers
                and owner.name in here.group.name.split(", ")
            ):
                self._merged[owner] = here.group
            elif owner is not here.group and not event.info.out:
                # A part was overwritten, or all of it was computed from what was there.
                arrows[before.writer.group, here.group] = None
        if event.view:
            base = next(event.operands(), None)
            # A library that detaches a tensor, as `state_dict()` does with each, has not made it.
            hands_on = event.time in self._tails and (event.direct or event.op not in ASIDE)
            made = here if hands_on else self._maker(base) if base is not None else None
            for region in event.outs:
                content = self._contents.get(region.storage)
                if content is not None and made is not None:
                    content.views[_shape(region)] = made


def _taken(event: Event) -> list[Region]:
    """Return what an operation reads: its operands without those that it only replaces, which may be both."""
    operands = list(event.operands())
    if event.op in FILLS or event.info.out:
        for written in event.written:
            # What is replaced stands first; an argument such as `out` stands last.
            at = [index for index, region in enumerate(operands) if region.storage == written.storage]
            if at:
                del operands[at[-1] if event.info.out else at[0]]
    return operands


def _tail(group: BoxGroup) -> list[int]:
    """Return the times of the views that stand at the end of a round: in their shape it hands its result on."""
    times: list[int] = []
    following = -1
    ends = False
    for event in reversed(group.events):
        if group.rounds[event.time] != following:
            following, ends = group.rounds[event.time], True
        ends = ends and event.view
        if ends:
            times.append(event.time)
    return times


def _shape(region: Region) -> Shape:
    return region.offset, region.shape, region.stride

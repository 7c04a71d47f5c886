"""What an element was at a time, and who had written it: the record of each storage, ready to be looked up."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field

import torch

from lessons.worker.recording.recorder import Event, Record, Region

NARROW = 16
"""A write to so few elements is filed under each of them: a loop that fills a matrix makes thousands."""


class ValueLost(Exception):
    """What an element was is not known any more: it was overwritten, and no copy was kept. The message says so."""


@dataclass(slots=True, frozen=True)
class Element:
    """An element of a storage as it was just before `time`. `region` is any region of that storage, for its type."""

    storage: int
    offset: int
    time: int
    region: Region

    @classmethod
    def of(cls, region: Region, index: tuple[int, ...], time: int) -> Element:
        """The element at an index of a region."""
        return cls(region.storage, region.at(index), time, region)


@dataclass(slots=True)
class _Writes:
    """Writes to one storage: those of a few elements by element, the others in order."""

    seen: int = 0
    wide: list[Event] = field(default_factory=list)
    wide_times: list[int] = field(default_factory=list)
    narrow: dict[int, list[Event]] = field(default_factory=dict)
    overwritten: int = 0
    """Time of the last write that overwrote something."""

    def take(self, events: Sequence[Event], storage: int) -> None:
        """File the events that are new."""
        for event in events[self.seen :]:
            if event.info.written:
                self.overwritten = event.time
            regions = [region for region in event.outs if region.storage == storage]
            if sum(region.size for region in regions) > NARROW:
                self.wide.append(event)
                self.wide_times.append(event.time)
                continue
            for region in regions:
                for offset in region.offsets():
                    self.narrow.setdefault(offset, []).append(event)
        self.seen = len(events)

    def last(self, element: Element) -> Event | None:
        """Who wrote an element last before its time."""
        narrow = self.narrow.get(element.offset, ())
        place = bisect_left(narrow, element.time, key=lambda event: event.time)
        found = narrow[place - 1] if place else None
        for at in range(bisect_left(self.wide_times, element.time) - 1, -1, -1):
            if found is not None and self.wide_times[at] < found.time:
                break
            if self.wide[at].index_of(element.storage, element.offset) is not None:
                return self.wide[at]
        return found

    def next(self, element: Element) -> Event | None:
        """Who overwrote an element first at its time or later."""
        narrow = self.narrow.get(element.offset, ())
        place = bisect_left(narrow, element.time, key=lambda event: event.time)
        found = next((event for event in narrow[place:] if event.info.written), None)
        for at in range(bisect_left(self.wide_times, element.time), len(self.wide)):
            event = self.wide[at]
            if found is not None and found.time < event.time:
                break
            if event.info.written and event.index_of(element.storage, element.offset) is not None:
                return event
        return found


class ElementHistory:
    """Looks up a record. What is recorded later is taken in."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._writes: dict[int, _Writes] = {}

    def _of(self, storage: int) -> _Writes:
        writes = self._writes.get(storage)
        if writes is None:
            writes = self._writes[storage] = _Writes()
        events = self._record.writes.get(storage, ())
        if len(events) > writes.seen:
            writes.take(events, storage)
        return writes

    def writer(self, element: Element) -> Event | None:
        """Who wrote the element last before its time; None if that was not recorded."""
        lost = self._record.lost.get(element.storage)
        if lost is not None and element.time > lost[0]:
            return None
        return self._of(element.storage).last(element)

    def value(self, element: Element) -> float:
        """The element as it was at its time. Raises `ValueLost`."""
        return self.values([element])[0]

    def values(self, elements: Sequence[Element]) -> list[float]:
        """The elements as they were at their times. Raises `ValueLost`."""
        found = [0.0] * len(elements)
        unchanged: dict[tuple[int, torch.dtype], list[int]] = {}
        for place, element in enumerate(elements):
            event = None
            writes = self._of(element.storage)
            if writes.overwritten >= element.time:
                event = writes.next(element)
            if event is None:
                self._check(element.storage, element.time)
                unchanged.setdefault((element.storage, element.region.dtype), []).append(place)
            else:
                found[place] = self._before(event, element)
        for (_, dtype), places in unchanged.items():
            offsets = [elements[place].offset for place in places]
            memory = elements[places[0]].region.memory
            length = memory.nbytes() // dtype.itemsize
            if max(offsets) >= length:
                raise ValueLost("Its memory was given back since.")
            whole = torch.empty(0, dtype=dtype).set_(memory, 0, (length,), (1,))
            numbers = whole[torch.tensor(offsets)].tolist() if len(places) > 1 else [whole[offsets[0]].item()]
            for place, number in zip(places, numbers, strict=True):
                found[place] = float(number)
        return found

    def tensor(self, region: Region, time: int) -> torch.Tensor:
        """A copy of a region as it was at a time. Raises `ValueLost`."""
        later = [event for event in self._record.writes.get(region.storage, ()) if event.time >= time]
        if not any(event.info.written for event in later):
            self._check(region.storage, time)
            return region.tensor.clone()
        elements = [Element.of(region, index, time) for index in region.indices()]
        return torch.tensor(self.values(elements), dtype=torch.float64).to(region.dtype).reshape(region.shape)

    def _check(self, storage: int, time: int) -> None:
        lost = self._record.lost.get(storage)
        if lost is not None and time <= lost[1]:
            raise ValueLost("It was overwritten after recording had stopped.")

    @staticmethod
    def _before(event: Event, element: Element) -> float:
        """What an element was before an event overwrote it."""
        for region, copy in zip(event.outs, event.before, strict=False):
            index = region.find(element.offset) if region.storage == element.storage else None
            if index is not None and copy is not None:
                return float(copy[index].item())
        raise ValueLost("It was overwritten later, and there was no room to keep what it had been.")

"""An index of a record by element: its value at any time, and the operation that had written it.

An operation is recorded with the storage that it wrote to. Where two storages lie in the same memory, as two that were
made from one buffer, what it wrote is not followed in the other one, and that can be said.
"""

from __future__ import annotations

import itertools
import math
import sys
import time
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter

import torch

from attn_tutor.lessons.results.floats import exact_number
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.recording.event import DROPPED, LEFT, Event, contents
from attn_tutor.lessons.worker.recording.reachability import is_like, is_whole
from attn_tutor.lessons.worker.recording.record import CannotRestore, Record
from attn_tutor.lessons.worker.recording.regions import QUANTIZED, Region

say = Wording("explaining/history")

NARROW = 16
"""Elements of a write up to which it is indexed under each: a loop that fills a matrix makes thousands of writes."""

UNKEPT = sys.maxsize
"""In `Record.lost`, the time of the last write to a storage that the program had when recording ended."""

LINE = 16
"""Bytes that share an entry of that index: no element is longer, and bytes may be read as another type."""


LARGE = 4096
"""Elements of a tensor above which its former numbers are not looked up one by one."""


class TookTooLong(Exception):
    """What is being looked up takes longer than it may."""


class ValueLost(Exception):
    """The value of an element is lost: it was overwritten, and there is no copy. The message is for people."""


@dataclass(slots=True, frozen=True)
class Element:
    """An element of a storage as it was just before `time`.

    The offset is in bytes. `region` is any region of the storage with the dtype of the element. The parts of a complex
    number are elements of their own.
    """

    storage: int
    offset: int
    time: int
    region: Region

    @classmethod
    def of(cls, region: Region, index: tuple[int, ...], time: int) -> Element:
        """Return the element at an index of a region; of a complex one its real part."""
        return cls(region.storage, region.at(index), time, region.parts)

    @property
    def size(self) -> int:
        """The number of bytes."""
        return self.region.dtype.itemsize


@dataclass(slots=True)
class _Writes:
    """The writes to one storage: narrow ones by line, wide ones in order."""

    seen: int = 0
    wide: list[Event] = field(default_factory=list)
    wide_times: list[int] = field(default_factory=list)
    narrow: dict[int, list[Event]] = field(default_factory=dict)
    overwritten: int = 0
    """The time of the last write that overwrote something."""
    found: dict[tuple[int, int, int], Event | None] = field(default_factory=dict)
    """The results of `last` by offset, size and time: an explanation asks for the same element again and again."""
    write_times: dict[tuple[int, int], list[int]] = field(default_factory=dict)
    """The times of all writes to an element, by its offset and size."""

    def extend(self, events: Sequence[Event], storage: int) -> None:
        """Add the events after the first `seen` ones."""
        for event in events[self.seen :]:
            if event.info.written:
                self.overwritten = event.time
            outs = (*event.outs, *event.overwritten) if event.info.out else event.outs
            regions = [region for region in outs if region.storage == storage]
            if sum(region.size for region in regions) > NARROW:
                self.wide.append(event)
                self.wide_times.append(event.time)
                continue
            for line in {offset // LINE for region in regions for offset in region.offsets()}:
                self.narrow.setdefault(line, []).append(event)
        self.seen = len(events)
        self.found.clear()
        self.write_times.clear()

    def last(self, element: Element) -> Event | None:
        """Return the last event before the time of an element that wrote it, or None."""
        narrow = self.narrow.get(element.offset // LINE, ())
        count = bisect_left(narrow, element.time, key=lambda event: event.time)
        last = next((event for event in reversed(narrow[:count]) if _holds(event, element)), None)
        for position in range(bisect_left(self.wide_times, element.time) - 1, -1, -1):
            if last is not None and self.wide_times[position] < last.time:
                break
            if _holds(self.wide[position], element):
                return self.wide[position]
        return last

    def times(self, element: Element, since: int) -> list[int]:
        """Return the times of the writes to an element before its time, from the last one before `since` on."""
        key = element.offset, element.size
        times = self.write_times.get(key)
        if times is None:
            events = itertools.chain(self.narrow.get(element.offset // LINE, ()), self.wide)
            times = self.write_times[key] = sorted({event.time for event in events if _holds(event, element)})
        end = bisect_left(times, element.time)
        return times[max(0, bisect_left(times, since, hi=end) - 1) : end]

    def next(self, element: Element) -> Event | None:
        """Return the first event at or after the time of an element that overwrote it, or None."""
        narrow = self.narrow.get(element.offset // LINE, ())
        count = bisect_left(narrow, element.time, key=lambda event: event.time)
        first = next((event for event in narrow[count:] if event.info.written and _took(event, element)), None)
        for event in self.wide[bisect_left(self.wide_times, element.time) :]:
            if first is not None and first.time < event.time:
                break
            if event.info.written and _took(event, element):
                return event
        return first


def _holds(event: Event, element: Element) -> bool:
    """Return whether an event wrote an element."""
    return event.index_of(element.storage, element.offset, element.size) is not None


def _took(event: Event, element: Element) -> bool:
    """Return whether an event overwrote an element, or took it from a tensor that it made smaller."""
    if not event.info.out:
        return _holds(event, element)
    return any(one.storage == element.storage and one.find(element.offset) is not None for one in event.overwritten)


class ElementHistory:
    """Looks elements up in a record, which may grow meanwhile."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._writes: dict[int, _Writes] = {}
        self._until = math.inf

    @contextmanager
    def no_longer_than(self, seconds: float) -> Iterator[None]:
        """Raise `TookTooLong` where something is looked up after some seconds, before anything is changed there."""
        self._until = time.monotonic() + seconds
        try:
            yield
        finally:
            self._until = math.inf

    def _of(self, storage: int) -> _Writes:
        if time.monotonic() > self._until:
            raise TookTooLong
        writes = self._writes.get(storage)
        if writes is None:
            writes = self._writes[storage] = _Writes()
        events = self._record.writes.get(storage, ())
        if len(events) > writes.seen:
            writes.extend(events, storage)
        return writes

    def writer(self, element: Element) -> Event | None:
        """Return the event that wrote the element last before its time; None if that was not recorded."""
        lost = self._record.lost.get(element.storage)
        if lost is not None and element.time > lost[0]:
            return None
        writes = self._of(element.storage)
        key = element.offset, element.size, element.time
        if key not in writes.found:
            writes.found[key] = writes.last(element)
        return writes.found[key]

    def write_times(self, element: Element, since: int) -> list[int]:
        """Return the times of the writes to an element before its time, from the last one before `since` on."""
        return self._of(element.storage).times(element, since)

    def overwriter(self, element: Element) -> Event | None:
        """Return the first event at or after the time of an element that overwrote it; None if none did."""
        writes = self._of(element.storage)
        return writes.next(element) if writes.overwritten >= element.time else None

    def is_overwritten_since(self, storage: int, time: int) -> bool:
        """Return whether an event at or after a time has overwritten anything in a storage."""
        return self._of(storage).overwritten >= time

    def value(self, element: Element) -> float:
        """Return the value of the element at its time. Raises `ValueLost`."""
        return self.values([element])[0]

    def values(self, elements: Sequence[Element]) -> list[float]:
        """Return the values of elements at their times. Raises `ValueLost`."""
        values = [0.0] * len(elements)
        unchanged: dict[tuple[int, torch.dtype], list[int]] = {}
        for position, element in enumerate(elements):
            event = self.overwriter(element)
            if element.region.dtype in QUANTIZED:
                raise ValueLost(_quantized())
            if event is None:
                self._check(element.storage, element.time)
                unchanged.setdefault((element.storage, element.region.dtype), []).append(position)
            else:
                values[position] = self._before(event, element)
        for (_, dtype), positions in unchanged.items():
            offsets = [elements[position].offset // dtype.itemsize for position in positions]
            memory = elements[positions[0]].region.memory
            self._bring_back(elements[positions[0]].region)
            length = memory.nbytes() // dtype.itemsize
            if max(offsets) >= length:
                raise ValueLost(say("memory-gone", "Its memory was given back since."))
            whole = torch.empty(0, dtype=dtype).set_(memory, 0, (length,), (1,))
            numbers = whole[torch.tensor(offsets)].tolist() if len(positions) > 1 else [whole[offsets[0]].item()]
            for position, number in zip(positions, numbers, strict=True):
                values[position] = exact_number(number)
        return values

    def tensor(self, region: Region, time: int, *, copy: bool = True) -> torch.Tensor:
        """Return a copy of a region as it was at a time; without `copy` the region itself if it has not changed since.

        Raises `ValueLost`.
        """
        if region.dtype in QUANTIZED:
            raise ValueLost(_quantized())
        writes: Sequence[Event] = self._record.writes.get(region.storage, ())
        start = bisect_left(writes, time, key=attrgetter("time"))
        first = next((writes[at] for at in range(start, len(writes)) if writes[at].info.written), None)
        if first is None:
            self._check(region.storage, time)
            self._bring_back(region)
            return region.tensor.clone() if copy else region.tensor
        if first.info is LEFT and (kept := self.overwritten(first)) is not None:
            held = region.inside(kept.untyped_storage())
            return held.clone() if copy else held
        if region.size > LARGE:
            return self._undone(region, writes[start:])
        self.overwritten(first)
        for target, before in zip(first.overwritten, first.before, strict=False):
            if before is not None and _is_same(target, region):
                # The whole of it was overwritten at once, and copied before.
                return contents(before).clone()
            if before is not None and target.storage == region.storage and is_whole(target) and is_like(before, target):
                # So was more than that, as when an optimizer changes a weight that was read transposed.
                return region.inside(contents(before).clone().untyped_storage()).clone()
        parts = region.parts
        elements = [Element.of(parts, index, time) for index in parts.indices()]
        values = self.values(elements)
        # Whole numbers may be greater than a float can hold.
        wide = torch.float64 if parts.dtype.is_floating_point else torch.int64
        numbers = values if parts.dtype.is_floating_point else list(map(int, values))
        tensor = torch.tensor(numbers, dtype=wide).to(parts.dtype).reshape(parts.shape)
        return torch.view_as_complex(tensor) if region.dtype.is_complex else tensor

    def is_at_hand(self, region: Region, time: int) -> bool:
        """Return whether nothing has to be computed again to know a region as it was at a time."""
        later = (event for event in self._record.writes.get(region.storage, ()) if event.time >= time)
        is_kept = not any(event.before is DROPPED for event in later)
        return is_kept and (bool(region.memory.nbytes()) or 0 in region.shape)

    def _undone(self, region: Region, later: Sequence[Event]) -> torch.Tensor:
        """Return a copy of a region as it was before these operations, by undoing what they overwrote in its storage.

        Raises `ValueLost`.
        """
        self._check(region.storage, later[0].time)
        self._bring_back(region)
        memory = torch.empty(0, dtype=torch.uint8).set_(region.memory).clone().untyped_storage()
        for event in reversed(later):
            self.overwritten(event)
            for target, copy in zip(event.overwritten, event.before, strict=False):
                if target.storage == region.storage:
                    if copy is None:
                        raise ValueLost(_no_room())
                    target.inside(memory).copy_(contents(copy))
        return region.inside(memory).clone()

    def _check(self, storage: int, time: int) -> None:
        lost = self._record.lost.get(storage)
        if lost is not None and lost[1] == UNKEPT:
            raise ValueLost(
                say("not-kept", "There was no room to keep it when recording ended, and it may have changed since.")
            )
        if lost is not None and time <= lost[1]:
            raise ValueLost(say("overwritten-unrecorded", "It was overwritten after recording had stopped."))

    def overwritten(self, event: Event) -> torch.Tensor | None:
        """Return a copy of what an event overwrote first; None if there is none. Raises `ValueLost`."""
        try:
            copy = next(iter(self._record.before(event)), None)
            return None if copy is None else contents(copy)
        except CannotRestore as error:
            raise ValueLost(str(error)) from error

    def _bring_back(self, region: Region) -> None:
        """Bring back the bytes of a storage if they were dropped. Raises `ValueLost`."""
        writes = self._record.writes.get(region.storage)
        if writes and not region.memory.nbytes():
            try:
                self._record.restore(writes[-1].time)
            except CannotRestore as error:
                raise ValueLost(str(error)) from error

    def _before(self, event: Event, element: Element) -> float:
        """Return the value that an element had before an event overwrote it. Raises `ValueLost`."""
        kept = self.overwritten(event)
        if event.info is LEFT and kept is not None:
            part = kept[element.offset : element.offset + element.size].view(element.region.dtype)
            return exact_number(part.item())
        for region, copy in zip(event.overwritten, event.before, strict=False):
            index = region.find(element.offset) if region.storage == element.storage else None
            if index is not None and copy is not None:
                start = element.offset - region.at(index)
                part = contents(copy)[index].reshape(1).view(torch.uint8)[start : start + element.region.dtype.itemsize]
                return exact_number(part.view(element.region.dtype).item())
        raise ValueLost(_no_room())


def _quantized() -> str:
    return say("quantized", "The numbers of a quantized tensor cannot be read one by one.")


def _no_room() -> str:
    return say("overwritten", "It was overwritten later, and there was no room to keep what it had been.")


def _is_same(one: Region, other: Region) -> bool:
    """Return whether two regions are the same elements of the same storage."""
    first = one.storage, one.offset, one.shape, one.stride, one.dtype, one.conj, one.neg
    return first == (other.storage, other.offset, other.shape, other.stride, other.dtype, other.conj, other.neg)


class SharedMemory:
    """Finds which storages of a record lie in the same memory as others."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._found: tuple[int, dict[int, int]] = -1, {}

    def sentence(self, element: Element) -> str:
        """Say that the memory of an element is also that of another tensor; "" if no such is known."""
        other = self._others().get(element.storage)
        if other is None:
            return ""
        if not (name := self._name(other)):
            return say("other", "Another tensor has the same memory, and what is written through it is not followed.")
        return say(
            "named", "The tensor {name} has the same memory, and what is written through it is not followed.", name=name
        )

    def sentence_of_operands(self, elements: Iterable[Element]) -> str:
        """Say the same of one of the elements that a number was computed from; "" if no such is known."""
        others = self._others()
        other = next((others[element.storage] for element in elements if element.storage in others), None)
        if other is None:
            return ""
        if not (name := self._name(other)):
            return say(
                "operand-other",
                "A number that it was computed from is in memory that another tensor has too, and what is written "
                "through that one is not followed.",
            )
        return say(
            "operand-named",
            "A number that it was computed from is in memory that the tensor {name} has too, and what is written "
            "through that one is not followed.",
            name=name,
        )

    def _name(self, storage: int) -> str:
        bindings = self._record.bindings.get(storage)
        return bindings[0].name if bindings else ""

    def _others(self) -> dict[int, int]:
        """Return for each storage that shares its memory another one that has it too."""
        if self._found[0] != self._record.time:
            self._found = self._record.time, _overlapping(self._memories())
        return self._found[1]

    def _memories(self) -> set[torch.UntypedStorage]:
        bound = itertools.chain.from_iterable(self._record.bindings.values())
        return self._record.events.memories() | {binding.region.memory for binding in bound}


def _overlapping(memories: Iterable[torch.UntypedStorage]) -> dict[int, int]:
    # What PyTorch allocated itself is in one storage, but others may be made from that.
    areas = sorted((memory.data_ptr(), memory.nbytes(), memory._cdata) for memory in memories if memory.nbytes())
    found: dict[int, int] = {}
    reach, last = 0, 0
    for start, size, storage in areas:
        if start < reach and storage != last:
            found.setdefault(storage, last)
            found.setdefault(last, storage)
        if start + size > reach:
            reach, last = start + size, storage
    return found

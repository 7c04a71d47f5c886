"""Values that a record drops to save memory, and computes again when somebody asks for them.

A record is a straight-line program: operations with their arguments, in order. So what a segment of it computed can be
computed again from what it started with, as in gradient checkpointing (Chen et al. 2016, "Training deep nets with
sublinear memory cost"). Sealing a segment drops copies of overwritten values, and the bytes of storages that no tensor
has any more. It keeps the contents that the segment read but did not make, and everything that was drawn at random.
"""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import torch

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.recording.event import DROPPED, SNAPSHOT, Bytes, Event, Info, tensors_of
from attn_tutor.lessons.worker.recording.event import contents as copied
from attn_tutor.lessons.worker.recording.operation_info import DATA
from attn_tutor.lessons.worker.recording.reachability import OVERWRITING, is_held, is_like, is_whole, overwrites
from attn_tutor.lessons.worker.recording.record import CannotRestore, Record
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/rematerialization")

MOST_RESTORED = 2
"""Segments whose values are there at the same time."""

UNREPEATABLE = frozenset({"set_", "resize_"})
"""Operations that give a tensor other memory."""

EMPTY = ("empty", "new_empty")
"""How the names of operations start that reserve memory and write nothing to it."""

Memory = torch.UntypedStorage

_Step = tuple[int, Info, list[Memory], list[Memory], list[Memory]]
"""The position of an operation, what it is, and the storages of its operands, of its results, and of what it wrote."""


@dataclass(slots=True, eq=False, repr=False)
class Segment:
    """A part of a record whose values can be computed again.

    Attributes:
        first, last: the times of its first and last operation.
        start: contents at the start of the segment of storages that the segment overwrote, by storage.
        drawn: by time, what random operations wrote, if the segment overwrote that later.
        empty: the storages whose bytes were dropped, with the number of bytes.
        failure: why its values cannot be computed again; "" if they can, or have not been needed.
    """

    first: int
    last: int
    start: dict[int, Memory] = field(default_factory=dict)
    drawn: dict[int, list[Memory]] = field(default_factory=dict)
    empty: dict[int, tuple[Memory, int]] = field(default_factory=dict)
    failure: str = ""

    def size(self) -> int:
        """Return the bytes that the segment itself keeps."""
        copies = itertools.chain(self.start.values(), *self.drawn.values())
        return sum(memory.nbytes() for memory in copies)


class Rematerializer:
    """Drops values of a record and computes them again."""

    def __init__(self, record: Record) -> None:
        # The record refers to this object too, and the memory of a record is not to wait for the garbage collector.
        self._reference = weakref.ref(record)
        self.segments: list[Segment] = []
        self._restored: list[Segment] = []
        self._sealed = 0
        self._last_writes: dict[int, int] | None = {}
        """When each storage was written last, as far as it was sealed; None if that is to be found out again."""
        self._kept: set[int] = set()

    @property
    def _record(self) -> Record:
        record = self._reference()
        assert record is not None
        return record

    def seal(self, storages: Iterable[Memory], *, is_full: bool) -> int | None:
        """Drop what can be computed again of everything recorded since the last call.

        `storages` are those that operations of the record made. Unless there is no room, only if that drops more than
        it has to copy. Returns the bytes that they and the record keep then; None if nothing was dropped.
        """
        events = self._record.events
        start = events.after(self._sealed)
        steps = [(position, *events.flow(position)) for position in range(start, len(events))]
        sizes = [events.overwritten_bytes(position) for position in range(start, len(events))]
        if not is_full and not _is_worthwhile(steps, sizes):
            return None
        for segment in list(self._restored):
            self._forget(segment)
        self._sealed = self._record.time
        self._note_writes(steps)
        if steps and None not in sizes and all(map(_is_repeatable, steps)) and not events.is_any_opaque(start):
            segment = Segment(events.time(steps[0][0]), events.time(steps[-1][0]))
            self._undo(segment, steps)
            for position, size in enumerate(sizes, start):
                if size:
                    events.drop_before(position)
            self.segments.append(segment)
        else:
            # The values of these operations stay.
            for _, _, read, outs, _ in steps:
                self._kept.update(memory._cdata for memory in (*outs, *read))
        copies = sum(segment.size() for segment in self.segments) + events.copied_bytes()
        return copies + sum(self._emptied(memory) for memory in storages)

    def forget(self) -> None:
        """Take note that the record has forgotten operations."""
        self._last_writes = None

    def _note_writes(self, steps: list[_Step]) -> None:
        """Note when each storage was written last, which the events need not be built for."""
        events = self._record.events
        if self._last_writes is None:
            self._last_writes = {}
            steps = [(position, *events.flow(position)) for position in range(len(events))]
        for position, _, _, _, written in steps:
            for memory in written:
                self._last_writes[memory._cdata] = events.time(position)

    def _emptied(self, memory: Memory) -> int:
        """Drop the bytes of a storage if nobody has it and they can be computed again; return how many are left."""
        storage, size = memory._cdata, memory.nbytes()
        if not size or storage in self._kept or is_held(memory) or not memory.resizable():
            return size
        time = (self._last_writes or {}).get(storage)
        segment = self._segment_of(time) if time is not None else None
        if segment is None:
            return size
        segment.empty[storage] = memory, size
        memory.resize_(0)
        return 0

    def _segment_of(self, time: int) -> Segment | None:
        return next((item for item in reversed(self.segments) if item.first <= time <= item.last), None)

    def _undo(self, segment: Segment, steps: list[_Step]) -> None:
        """Go backwards through a segment to find what it started with, and what was drawn at random in it."""
        events = self._record.events
        made: set[int] = set()
        read: set[int] = set()
        for _, info, operands, outs, written in steps:
            for memory in operands:
                if (storage := memory._cdata) not in made:
                    read.add(storage)
            if info.op == DATA:
                read.update(memory._cdata for memory in outs)
            elif not info.written:
                made.update(memory._cdata for memory in written)
        now = _Contents()
        covered: set[int] = set()
        for position, info, _, outs, written in reversed(steps):
            is_empty = info.op.startswith(EMPTY)
            if not outs or (is_empty and outs[0]._cdata in covered):
                # A tensor on the meta device has no numbers.
                continue
            if info.random or is_empty:
                if all(memory._cdata in now for memory in written):
                    drawn = [now.copy(memory._cdata) for memory in written]
                else:
                    # What was drawn last stays where it is.
                    self._kept.update(memory._cdata for memory in written)
                    drawn = []
                segment.drawn[events.time(position)] = drawn
            if not info.written:
                continue
            target = events.target(position)
            targets = (target,) if target is not None else events[position].overwritten
            for region, copy in zip(targets, events.before(position), strict=False):
                assert copy is not None
                now.put_back(region, copy)
            if info.op in OVERWRITING and is_whole(targets[0]):
                covered.update(memory._cdata for memory in outs)
        segment.start = {storage: now.copy(storage) for storage in read if storage in now}
        # The other ones have the same content at the end as at the start.
        self._kept.update(storage for storage in read if storage not in now)

    # Computing again ----------------------------------------------------------------------------------------------

    def restore(self, time: int) -> None:
        """Bring back the values of the segment that an operation belongs to. Raises `CannotRestore`."""
        segment = self._segment_of(time)
        if segment is None or segment in self._restored:
            return
        if segment.failure:
            raise CannotRestore(segment.failure)
        while len(self._restored) >= MOST_RESTORED:
            self._forget(self._restored[0])
        try:
            self._compute(segment)
        except (RuntimeError, MemoryError):
            # There may be room for it alone.
            for other in list(self._restored):
                self._forget(other)
            try:
                self._compute(segment)
            except (RuntimeError, ValueError, MemoryError) as error:
                segment.failure = _no_memory() if _is_memory(error) else _failed()
                raise CannotRestore(segment.failure) from error
        except (ValueError, CannotRestore) as error:
            segment.failure = str(error) if isinstance(error, CannotRestore) else _failed()
            raise CannotRestore(segment.failure) from error

    def _forget(self, segment: Segment) -> None:
        """Drop the values of a segment again."""
        self._restored.remove(segment)
        for event in self._events(segment):
            if event.before:
                event.before = DROPPED
        for memory, _ in segment.empty.values():
            memory.resize_(0)

    def _events(self, segment: Segment) -> list[Event]:
        events = self._record.events
        return events[events.after(segment.first) : events.after(segment.last + 1)]

    def _compute(self, segment: Segment) -> None:
        """Compute the dropped values of a segment again. If that fails, they are dropped as before."""
        self._restored.append(segment)
        try:
            with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad(), warnings.catch_warnings():
                # The program has heard them.
                warnings.simplefilter("ignore")
                self._run(segment)
        except BaseException:
            self._forget(segment)
            raise

    def _needed(self, segment: Segment) -> list[Event]:
        """Return the operations of a segment that its dropped values come from, in order."""
        wanted, chosen = set(segment.empty), []
        for event in reversed(self._events(segment)):
            if event.view or not event.outs or event.op == "lift_fresh":
                continue
            written = {region.storage for region in event.written}
            if event.before is DROPPED or not wanted.isdisjoint(written):
                wanted |= written
                wanted.update(region.storage for region in event.operands())
                chosen.append(event)
        return chosen[::-1]

    def _run(self, segment: Segment) -> None:
        """Run operations of a segment again, and put the dropped values back. Raises `CannotRestore`.

        What was not dropped is read where it is. What an operation makes is let go of when it has been read last, so
        this takes little more memory than the values that come back.
        """
        events, contents = self._needed(segment), dict(segment.start)
        own: set[int] = set()
        blank: set[int] = set()
        last_use: dict[int, int] = {}
        last_write: dict[int, int] = {}
        for position, event in enumerate(events):
            last_use.update((region.storage, position) for region in (*event.operands(), *event.outs))
            last_write.update((region.storage, position) for region in event.written)

        def memory_of(region: Region) -> Memory:
            found = contents.get(region.storage)
            if found is None:
                found = contents[region.storage] = self._content(region, segment)
            return found

        def taken(region: Region) -> torch.Tensor:
            return region.inside(memory_of(region))

        for position, event in enumerate(events):
            targets = tuple(event.info.targets(event.args, event.kwargs)) if event.info.written else ()
            written = {region.storage for region in event.written}
            if event.before is DROPPED:
                event.before = tuple(
                    _nothing(region) if region.storage in blank else region.inside(memory_of(region)).clone()
                    for region in targets
                )
            if is_drawn(event):
                drawn = segment.drawn.get(event.time, ())
                for at, region in enumerate(event.written):
                    contents[region.storage] = drawn[at] if at < len(drawn) else self._content(region, segment)
                own -= written
            else:
                for region in targets:
                    if region.storage not in own:
                        contents[region.storage] = _clone(memory_of(region))
                self._repeat(event, targets, contents, taken)
                own |= written
            blank = blank | written if event.op.startswith(EMPTY) else blank - written
            for storage in written:
                if last_write[storage] == position:
                    contents[storage] = self._settled(storage, segment, contents[storage])
                    own.discard(storage)
            for region in (*event.operands(), *event.outs):
                if last_use[region.storage] == position:
                    contents.pop(region.storage, None)

    @staticmethod
    def _repeat(
        event: Event, targets: Sequence[Region], contents: dict[int, Memory], taken: Callable[[Region], torch.Tensor]
    ) -> None:
        """Run an operation again; what it makes becomes the contents of the storages that it made then."""
        args, kwargs = event.arguments(taken)
        out = event.info.func(*args, **kwargs)
        overwritten = {contents[region.storage]._cdata for region in targets}
        fresh = [item for item in tensors_of(out) if item.untyped_storage()._cdata not in overwritten]
        for region, tensor in zip(event.outs[len(targets) :], fresh, strict=True):
            if (region.shape, region.stride) != (tuple(tensor.shape), tensor.stride()):
                raise CannotRestore(_changed())
            contents[region.storage] = tensor.untyped_storage()

    def _content(self, region: Region, segment: Segment) -> Memory:
        """Return the content at the end of a segment of a storage that was not written in it, or only drawn last.

        It is not to be written to.
        """
        later = [event for event in self._record.writes.get(region.storage, ()) if event.time > segment.last]
        first = later[0] if later else None
        owner = self._segment_of(first.time) if first is not None else None
        if owner is not None and region.storage in owner.start:
            return owner.start[region.storage]
        if not later and region.memory.nbytes():
            return region.memory
        found = _clone(region.memory)
        if not found.nbytes():
            size = next((item.empty[region.storage][1] for item in self.segments if region.storage in item.empty), 0)
            found = _bytes(Memory(size)).zero_().untyped_storage()
        for event in reversed(later):
            for target, copy in zip(event.overwritten, () if event.before is DROPPED else event.before, strict=False):
                if target.storage == region.storage and copy is not None:
                    target.inside(found).copy_(copied(copy))
        return found

    def _settled(self, storage: int, segment: Segment, content: Memory) -> Memory:
        """Return where the content of a storage at the end of a segment is, given what was computed again.

        That is put back if it was dropped, and compared with what is known. Raises `CannotRestore`.
        """
        if storage in segment.empty:
            memory, size = segment.empty[storage]
            memory.resize_(size)
            _bytes(memory).copy_(_bytes(content))
            return memory
        known = self._known(storage, segment)
        if known is None:
            return content
        if not _equal(known, content):
            raise CannotRestore(_changed())
        return known

    def _known(self, storage: int, segment: Segment) -> Memory | None:
        """Return the content of a storage at the end of a segment that wrote it; None if it is not known."""
        writes = self._record.writes[storage]
        following = next((one for one in writes if one.time > segment.last), None)
        if following is None:
            return next(region.memory for region in writes[-1].written if region.storage == storage)
        owner = self._segment_of(following.time)
        # What was overwritten as a whole may have been forgotten before.
        return owner.start.get(storage) if owner is not None and not overwrites(following) else None


def _is_worthwhile(steps: list[_Step], sizes: list[int | None]) -> bool:
    """Return whether to seal some operations drops more than it has to copy."""
    dropped = sum(filter(None, sizes))
    overwritten: dict[int, int] = {}
    for _, info, _, _, written in steps:
        for memory in written:
            if info.written:
                overwritten[memory._cdata] = memory.nbytes()
            elif not is_held(memory):
                dropped += memory.nbytes()
    return dropped > 2 * sum(overwritten.values())


def _is_repeatable(step: _Step) -> bool:
    info = step[1]
    return info is not SNAPSHOT and info.op not in UNREPEATABLE


class _Contents:
    """What storages held at a time, going backwards: put together from copies of what operations had overwritten."""

    def __init__(self) -> None:
        self._copies: dict[int, torch.Tensor | Bytes] = {}
        """Copies of whole storages that nothing was put into. A training makes many, and needs only the earliest."""
        self._own: dict[int, Memory] = {}

    def __contains__(self, storage: int) -> bool:
        return storage in self._copies or storage in self._own

    def put_back(self, region: Region, copy: torch.Tensor | Bytes) -> None:
        """Put back what an operation had overwritten."""
        if is_whole(region) and is_like(copy, region):
            self._copies[region.storage] = copy
            self._own.pop(region.storage, None)
            return
        if region.storage not in self._own:
            self._own[region.storage] = self.copy(region.storage) if region.storage in self else _clone(region.memory)
            self._copies.pop(region.storage, None)
        region.inside(self._own[region.storage]).copy_(copied(copy))

    def copy(self, storage: int) -> Memory:
        """Return a copy of what a storage held."""
        # The copies of operations lie among numbers that are about to be dropped, and if some of them stayed, the gaps
        # around them could often not be used again.
        copy = self._copies.get(storage)
        return _clone(self._own[storage]) if copy is None else copied(copy).clone().untyped_storage()


def is_drawn(event: Event) -> bool:
    """Return whether an operation makes other numbers when it runs again."""
    return event.info.random or event.op.startswith(EMPTY)


def _equal(one: Memory, other: Memory) -> bool:
    if one.nbytes() != other.nbytes():
        return False
    # Bytes are compared one by one, which takes ten times as long.
    dtype = torch.int64 if not one.nbytes() % 8 else torch.uint8
    return torch.equal(_bytes(one).view(dtype), _bytes(other).view(dtype))


def _bytes(memory: Memory) -> torch.Tensor:
    return torch.empty(0, dtype=torch.uint8).set_(memory)


def _clone(memory: Memory) -> Memory:
    return _bytes(memory).clone().untyped_storage()


def _nothing(region: Region) -> torch.Tensor:
    """Return what memory held that was only reserved, without room for each element."""
    return torch.zeros((), dtype=region.dtype).expand(region.shape)


def _is_memory(error: BaseException) -> bool:
    """Return whether there was not enough memory. PyTorch raises no exception of its own for that of a processor."""
    return isinstance(error, MemoryError) or "memory" in str(error)


def _changed() -> str:
    """Say that values came out differently when they were computed again."""
    return say("changed", "It was dropped to save memory, and computing it again gave other numbers.")


def _no_memory() -> str:
    return say("no-memory", "It was dropped to save memory, and there is not enough memory to compute it again.")


def _failed() -> str:
    return say("failed", "It was dropped to save memory, and it could not be computed again.")

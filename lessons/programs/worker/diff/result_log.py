"""The log of a run's results: what each operation of its code computed, with the numbers that it had then.

For a run of any length, a recorder keeps it and forgets the operations.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch

from attn_tutor.lessons.programs.worker.diff.result_sketch import sketch, stretch
from attn_tutor.lessons.programs.worker.diff.traced_result import MOST_RESULTS, ResultTrace, TracedResult
from attn_tutor.lessons.worker.explaining import source_location
from attn_tutor.lessons.worker.jobs.intermediates import EMPTY, LONGEST_NAME
from attn_tutor.lessons.worker.recording import operation_info
from attn_tutor.lessons.worker.recording.event import Event, Site
from attn_tutor.lessons.worker.recording.events import Noted
from attn_tutor.lessons.worker.recording.reachability import is_held
from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.recorder import RollingRecorder
from attn_tutor.lessons.worker.recording.regions import Region
from attn_tutor.lessons.worker.recording.source_positions import SourcePositions

MOST_BYTES = 256 << 20
"""What the numbers of all results take at most."""

MOST_PENDING = 64 << 20
"""Bytes of tensors that are kept alive because more may be written to them."""

MOST_AXES = 6
MOST_CALLERS = 3

GIVEN = "lift_fresh"
"""The operation that turns numbers of the code into a tensor, in the memory where it found them."""

Read = Callable[[Region], torch.Tensor | None]
"""Returns what a region holds after the operation that is being logged; None if that is not known any more."""

Memory = torch.UntypedStorage
View = tuple[Memory, int, tuple[int, ...], tuple[int, ...]]


@dataclass(slots=True, frozen=True)
class _Source:
    """What the code that called an operation says of its result."""

    name: str
    named: bool
    file: str
    line: int | None
    code: str
    callers: tuple[tuple[str, int], ...]


class ResultLog:
    """Logs the results of operations, in order.

    What a loop writes piece by piece into a tensor counts once more, as the whole tensor, in place of the last piece.
    A view and what the same code computes from it, such as a transpose and the product with it, count as one.
    """

    def __init__(self, record: Record) -> None:
        self._record = record
        self._positions = SourcePositions(record)
        self._sources: dict[tuple[tuple[Site, ...], tuple[int, int]], _Source] = {}
        self.trace = ResultTrace([])
        self._bytes = 0
        self._wrote: dict[Memory, int] = {}
        """Which result was written last to each storage."""
        self._viewed: dict[View, int] = {}
        """Which result is which view."""
        self._makers: dict[Memory, Event] = {}
        """The operation that made the tensor in a storage."""
        self._pending: dict[Memory, int] = {}
        """The results that are the last pieces written to a storage, so far."""

    def add(self, event: Event, read: Read) -> None:
        """Log what an operation has computed; one that no watched code called has no result."""
        if not event.sites or not event.outs or self.trace.gaps.many:
            return
        pieces = self._note_pieces(event)
        if event.op in EMPTY:
            # What lies in memory that nothing has written yet may be anything.
            return
        taken = set(map(_view, event.operands()))
        parents = self._parents(event)
        for output, region in enumerate(event.outs):
            if (output and not _is_given(event, output)) or (event.view and _view(region) in taken):
                # What the program never gets counts for nothing; and a tensor as it was is no news.
                continue
            at = self._log(event, output, read, parents)
            if region.memory in pieces and at is not None:
                self._pending[region.memory] = at
                self._relieve(read)

    def finish(self, read: Read) -> ResultTrace:
        """Return all results, once the program has ended."""
        while self._pending:
            self._complete(next(iter(self._pending)), read)
        gaps, record = self.trace.gaps, self._record
        self.trace.gaps = replace(gaps, stopped=record.stopped, unread=gaps.unread + record.opaque)
        return self.trace

    def forget(self, kept: Iterable[Memory]) -> None:
        """Let go of all storages but these and those that the program still has."""
        alive = set(kept) | self._pending.keys()
        gone = {memory for memory in self._makers.keys() | self._wrote.keys() if memory not in alive}
        gone = {memory for memory in gone if not is_held(memory)}
        self._makers = {memory: maker for memory, maker in self._makers.items() if memory not in gone}
        self._wrote = {memory: at for memory, at in self._wrote.items() if memory not in gone}
        self._viewed = {view: at for view, at in self._viewed.items() if view[0] not in gone}

    def _note_pieces(self, event: Event) -> set[Memory]:
        """Note which tensors an operation made, and return those that were there before and got a piece."""
        pieces: set[Memory] = set()
        for region in event.outs:
            maker = self._makers.setdefault(region.memory, event)
            if event.info.written:
                if region.size < maker.outs[0].size:
                    pieces.add(region.memory)
                else:
                    self._pending.pop(region.memory, None)
        return pieces

    def _parents(self, event: Event) -> frozenset[int]:
        """Return which results an operation computed with."""
        if event.op.endswith("_like"):
            # What is made like another tensor takes its shape, and none of its numbers.
            return frozenset()
        makers = (max(self._wrote.get(one.memory, -1), self._viewed.get(_view(one), -1)) for one in event.operands())
        return frozenset(at for at in makers if at >= 0)

    def _log(self, event: Event, output: int, read: Read, parents: frozenset[int]) -> int | None:
        region = event.outs[output]
        value = _readable(region, read)
        if value is None:
            if region.size:
                self.trace.gaps = replace(self.trace.gaps, unread=self.trace.gaps.unread + 1)
            return None
        source, results = self._source(event, output), self.trace.results
        item = _result(source, event.op, value)
        item.view = event.view
        item.parents = parents
        last = results[-1] if results else None
        is_same_code = last is not None and (last.name, last.line) == (item.name, item.line)
        if last is not None and is_same_code and last.view and len(results) - 1 in item.parents:
            results.pop()
            self._bytes -= last.nbytes
            item.parents = (last.parents | item.parents) - {len(results)}
        if not self._has_room(item):
            return None
        results.append(item)
        operands = list(event.operands())
        if event.info.written or region.memory not in {one.memory for one in operands} or event.op == GIVEN:
            self._wrote[region.memory] = len(results) - 1
        elif _view(region) not in set(map(_view, operands)):
            # A view makes nothing: what reads the same parameter later does not depend on it.
            self._viewed[_view(region)] = len(results) - 1
        return len(results) - 1

    def _has_room(self, item: TracedResult) -> bool:
        self._bytes += item.nbytes
        is_full = self._bytes > MOST_BYTES or len(self.trace.results) >= MOST_RESULTS
        if is_full:
            self.trace.gaps = replace(self.trace.gaps, many=True)
        return not is_full

    def _relieve(self, read: Read) -> None:
        """Have no more tensors wait for pieces than there is room for."""
        while sum(memory.nbytes() for memory in self._pending if not is_held(memory)) > MOST_PENDING:
            self._complete(next(iter(self._pending)), read)

    def _complete(self, memory: Memory, read: Read) -> None:
        """Put the whole of a tensor in place of the last piece that was written to it."""
        at, maker = self._pending.pop(memory), self._makers[memory]
        region = maker.outs[0]
        value = _readable(region, read)
        if value is None or not maker.sites:
            return
        piece = self.trace.results[at]
        whole = _result(self._source(maker, 0), piece.op, value)
        self._bytes += whole.nbytes - piece.nbytes
        self.trace.results[at] = replace(whole, line=piece.line, parents=piece.parents)

    def _source(self, event: Event, output: int) -> _Source:
        key = event.sites, operation_info.place_of_result(event, output)
        found = self._sources.get(key)
        if found is None:
            site, positions = event.sites[0], self._positions
            assigned = positions.assigned(site) or self._part(event, output)
            name = (assigned or self._code(event, output))[:LONGEST_NAME]
            location = source_location.locate(positions, event)
            outer = event.sites[1 : 1 + MOST_CALLERS]
            lines = ((positions.file_of(caller[0].co_filename).strip("<>"), positions.line(caller)) for caller in outer)
            callers = tuple((file, line) for file, line in lines if line is not None)
            found = _Source(name, bool(assigned), location.file, positions.line(site), location.code, callers)
            self._sources[key] = found
        return found

    def _part(self, event: Event, output: int) -> str:
        """Return the name that one of several results is assigned to, as in `best, place = x.max(0)`; "" if to none."""
        names = self._positions.unpacked(event.sites[0])
        place, count = operation_info.place_of_result(event, output)
        return names[place] if 0 <= place < len(names) == count else ""

    def _code(self, event: Event, output: int) -> str:
        code = self._positions.code(event.sites[0]) or event.op
        place, _ = operation_info.place_of_result(event, output)
        return f"{code}[{place}]" if place > 0 else code


def _is_given(event: Event, output: int) -> bool:
    """Return whether the program gets one of the results of an operation beside the first one."""
    place, _ = operation_info.place_of_result(event, output)
    return place >= 0 and not operation_info.gives_first_only(event)


def _result(source: _Source, op: str, value: torch.Tensor) -> TracedResult:
    value = value.detach()
    every = stretch(value.numel())
    return TracedResult(
        source.name,
        source.named,
        source.line,
        value.flatten()[::every].clone() if every else value.clone(),
        op=op,
        file=source.file,
        code=source.code,
        shape=tuple(value.shape),
        dtype=str(value.dtype).removeprefix("torch."),
        sketch=sketch(value) if every else None,
        callers=source.callers,
    )


def _readable(region: Region, read: Read) -> torch.Tensor | None:
    """Return the numbers of a region; None if it has none, or if they cannot be compared.

    The real and imaginary parts of complex ones stand on an axis of their own.
    """
    if not region.size or len(region.shape) > MOST_AXES - region.dtype.is_complex:
        return None
    value = read(region)
    return value if value is None or not value.is_complex() else torch.view_as_real(value.resolve_conj())


def _view(region: Region) -> View:
    return region.memory, region.offset, region.shape, region.stride


KEEP = 128 << 20
MOST = 10_000
"""Bytes and operations that the record holds, which nobody will ask about."""


class TracingRecorder(RollingRecorder):
    """Records a run of any length, and logs each result as soon as it is computed."""

    def __init__(self, keep: int = KEEP, most: int = MOST) -> None:
        super().__init__(keep=keep, most=most)
        self._log = ResultLog(self.record)
        self._observe = self._add

    def trace(self) -> ResultTrace:
        """Return the results. Not to be called while the recorder is entered."""
        with torch.no_grad():
            return self._log.finish(_present)

    def _add(self, noted: Noted, out: Any) -> None:
        with torch.no_grad():
            self._log.add(self.record.events[-1], _present)

    def _make_room(self, sites: tuple[Site, ...]) -> None:
        super()._make_room(sites)
        self._log.forget(self._storages)


def _present(region: Region) -> torch.Tensor | None:
    return region.tensor if region.memory.device.type == "cpu" else None

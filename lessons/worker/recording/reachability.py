"""Reachability of operations: which of them a question about a tensor of the program can still lead to."""

from __future__ import annotations

import torch

from attn_tutor.lessons.worker.recording.event import Bytes, Event
from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.regions import Region

OVERWRITING = frozenset({"copy_", "zero_", "fill_"})
"""In-place operations whose result does not depend on what was there before."""

_TO_PYTHON = "_local_scalar_dense"
"""The operation below `item()` and `tolist()`: the number may live on in Python."""


def is_held(memory: torch.UntypedStorage) -> bool:
    """Return whether a tensor still has this storage; the record holds the storage itself."""
    # One reference is that of the Python object, which all regions of the record share.
    return int(torch._C._storage_Use_Count(memory._cdata)) > 1


def sweep(record: Record) -> tuple[list[torch.UntypedStorage], set[int]]:
    """Forget the operations that no tensor of the program, and no question that was asked, depends on.

    Returns the storages that the other ones wrote, in no order and perhaps repeatedly; and, if calls of functions are
    kept, those that the forgotten ones wrote.
    """
    held: dict[int, bool] = {}
    lasting: set[int] = set()
    while True:
        kept, remaining, unneeded = _pass(record, held, lasting)
        if not unneeded:
            forgotten = _written_by_others(record, kept) if record.calls else set()
            record.keep(kept)
            return remaining, forgotten
        # What was overwritten is needed, and the copy of it that the overwriting operation has.
        lasting |= unneeded


def _written_by_others(record: Record, kept: list[int]) -> set[int]:
    """Return the storages that operations at other than the kept positions have written."""
    others = sorted(set(range(len(record.events))).difference(kept))
    return {memory._cdata for position in others for memory in record.events.flow(position)[3]}


def _pass(
    record: Record, held: dict[int, bool], lasting: set[int]
) -> tuple[list[int], list[torch.UntypedStorage], set[int]]:
    """Find what is needed, and every operation that wrote to one of the `lasting` storages.

    Returns the positions of these operations, the storages that they wrote, and the storages whose needed contents were
    overwritten by an operation that is not among them.
    """
    # Backwards: a storage is needed if an operation that is kept reads it later.
    last = (region.storage for variables in record.variables.values() for region in variables.regions.values())
    needed = record.asked_about.union(last)
    ever = set(needed)
    kept: list[int] = []
    remaining: list[torch.UntypedStorage] = []
    gone: set[int] = set()
    passed: set[int] = set()
    overwritten: set[int] = set()
    events = record.events
    for position in range(len(events) - 1, -1, -1):
        info, read, outs, written = events.flow(position)
        storages = [memory._cdata for memory in outs]
        # What an operation made in the first place is needed if any later content of it is.
        made = not info.written and not ever.isdisjoint(storages)
        stays = made or info.op == _TO_PYTHON or (info.written and not lasting.isdisjoint(storages))
        if not stays and not any(memory._cdata not in gone and _is_needed(memory, needed, held) for memory in outs):
            if info.written:
                passed.update(storages)
            continue
        kept.append(position)
        remaining += written
        sources = {memory._cdata for memory in read}
        if info.op in OVERWRITING and overwrites(events[position]):
            needed.discard(storages[0])
            gone.add(storages[0])
            passed.discard(storages[0])
            sources.discard(storages[0])
        elif outs and not written:
            sources.update(storages)
        gone -= sources
        overwritten |= sources & passed
        needed |= sources
        ever |= sources
        ever.update(storages)
    kept.reverse()
    return kept, remaining, overwritten


def _is_needed(memory: torch.UntypedStorage, needed: set[int], held: dict[int, bool]) -> bool:
    storage = memory._cdata
    if storage in needed:
        return True
    if storage not in held:
        held[storage] = is_held(memory)
    return held[storage]


def overwrites(event: Event) -> bool:
    """Return whether an operation overwrites a whole storage with numbers that do not depend on what was there."""
    return event.op in OVERWRITING and bool(event.outs) and is_whole(event.outs[0])


def is_whole(region: Region) -> bool:
    """Return whether a region is all of its storage."""
    return region.size * region.dtype.itemsize == region.memory.nbytes() and 0 not in region.stride


def is_like(copy: torch.Tensor | Bytes, region: Region) -> bool:
    """Return whether a copy of a region has its numbers in the same order in memory."""
    if isinstance(copy, Bytes):
        # Only a contiguous tensor is copied as bytes.
        return True
    return copy.stride() == region.stride and not (region.conj or region.neg)

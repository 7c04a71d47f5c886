"""Reachability of operations: which of them a question about a tensor of the program can still lead to."""

from __future__ import annotations

import torch

from lessons.worker.recording.record import Event, Record, Region

_OVERWRITING = frozenset({"copy_", "zero_", "fill_"})
"""In-place operations whose result does not depend on what was there before."""

_TO_PYTHON = "_local_scalar_dense"
"""The operation below `item()` and `tolist()`: the number may live on in Python."""


def is_held(memory: torch.UntypedStorage) -> bool:
    """Return whether a tensor still has this storage; the record holds the storage itself."""
    # One reference is that of the Python object, which all regions of the record share.
    return int(torch._C._storage_Use_Count(memory._cdata)) > 1


def sweep(record: Record) -> None:
    """Forget the operations that no tensor of the program, and no question that was asked, depends on."""
    # Backwards: a storage is needed if an operation that is kept reads it later.
    needed = set(record.asked_about)
    ever = set(needed)
    kept: list[Event] = []
    known: dict[int, bool] = {}
    for event in reversed(record.events):
        # What an operation made in the first place is needed if any later content of it is.
        made = not event.info.written and any(region.storage in ever for region in event.outs)
        if not (made or event.op == _TO_PYTHON or any(_is_needed(region, needed, known) for region in event.outs)):
            continue
        kept.append(event)
        if overwrites(event):
            needed.discard(event.outs[0].storage)
            known[event.outs[0].storage] = False
        for region in (*event.operands(), *(event.outs if event.view else ())):
            if overwrites(event) and region.storage == event.outs[0].storage:
                continue
            needed.add(region.storage)
            ever.add(region.storage)
        ever.update(region.storage for region in event.outs)
    kept.reverse()
    record.keep(kept)


def _is_needed(region: Region, needed: set[int], known: dict[int, bool]) -> bool:
    if region.storage in needed:
        return True
    if region.storage not in known:
        known[region.storage] = is_held(region.memory)
    return known[region.storage]


def overwrites(event: Event) -> bool:
    """Return whether an operation overwrites a whole storage with numbers that do not depend on what was there."""
    if event.op not in _OVERWRITING or not event.outs:
        return False
    region = event.outs[0]
    return region.size * region.dtype.itemsize == region.memory.nbytes() and 0 not in region.stride

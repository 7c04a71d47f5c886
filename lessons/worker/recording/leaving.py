"""The end of a recording in a program that goes on: what its tensors hold is kept, since it may change unseen."""

from __future__ import annotations

import torch

from lessons.worker.recording.element_history import UNKEPT
from lessons.worker.recording.event import LEFT, Event
from lessons.worker.recording.reachability import is_held
from lessons.worker.recording.record import Record
from lessons.worker.recording.regions import Region


def leave(record: Record, room: int) -> int:
    """Keep what the tensors of the program hold; return the time until which numbers of the record can be asked about.

    Of all tensors that the record knows, the small ones first, `room` bytes are copied. What the others hold can't be
    asked about any more. Not to be used while the recorder is entered.
    """
    until = record.time
    record.time += 1
    bound = {item.region.memory for items in record.bindings.values() for item in items}
    for memory in sorted(record.events.memories() | bound, key=lambda memory: memory.nbytes()):
        size, storage = memory.nbytes(), memory._cdata
        if not size or memory.device.type == "meta" or not is_held(memory):
            continue
        room -= size
        if room < 0 or storage in record.lost:
            record.lost[storage] = record.lost.get(storage, (record.time, 0))[0], UNKEPT
            continue
        whole = Region(storage, 0, (size,), (1,), torch.uint8, memory)
        copies = (whole.tensor.clone(),)
        record.events.add(Event(until, LEFT, (whole,), {}, (whole,), (), before=copies, written=(whole,)))
    return until

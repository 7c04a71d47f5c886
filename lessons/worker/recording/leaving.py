"""The end of a recording in a program that goes on: what its tensors hold is kept, since it may change unseen."""

from __future__ import annotations

from operator import itemgetter

import torch

from attn_tutor.lessons.worker.recording.element_history import UNKEPT
from attn_tutor.lessons.worker.recording.event import LEFT, Event
from attn_tutor.lessons.worker.recording.reachability import is_held
from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.regions import Region


def leave(record: Record, known: set[torch.UntypedStorage], room: int) -> int:
    """Keep what the tensors of the program hold; return the time until which numbers of the record can be asked about.

    Of the storages that the record knows, the small ones first, `room` bytes are copied. What the others hold can't be
    asked about any more. Not to be used while the recorder is entered.
    """
    until = record.time
    record.time += 1
    bound = {item.region.memory for items in record.bindings.values() for item in items}
    held = [(memory.nbytes(), memory) for memory in known | bound if is_held(memory)]
    for size, memory in sorted(held, key=itemgetter(0)):
        if not size or memory.device.type == "meta":
            continue
        storage = memory._cdata
        room -= size
        if room < 0 or storage in record.lost:
            record.lost[storage] = record.lost.get(storage, (record.time, 0))[0], UNKEPT
            continue
        whole = Region(storage, 0, (size,), (1,), torch.uint8, memory)
        copies = (whole.tensor.clone(),)
        record.events.add(Event(until, LEFT, (whole,), {}, (whole,), (), before=copies, written=(whole,)))
    return until

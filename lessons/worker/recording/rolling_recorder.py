"""A recorder for runs of any length: when its record is full, it forgets the older half instead of stopping."""

from __future__ import annotations

import torch

from attn_tutor.lessons.worker.recording.event import Site
from attn_tutor.lessons.worker.recording.lent_storages import LentStorages
from attn_tutor.lessons.worker.recording.reachability import is_held
from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.recorder import KEEP, MOST_EVENTS, Recorder


class RollingRecorder(Recorder):
    """A recorder whose record always holds the latest operations.

    What they read that was computed earlier is as if it had come from outside. Nothing is dropped to be computed again:
    room comes from forgetting.
    """

    def __init__(self, keep: int = KEEP, most: int = MOST_EVENTS) -> None:
        super().__init__(keep=keep, most=most, few=most)
        # The last quarter is for copies of what is overwritten, which are refused where there is no room.
        self._room = self._drop_at = keep - keep // 4

    def _make_room(self, sites: tuple[Site, ...]) -> None:
        record = self.record
        memories: set[torch.UntypedStorage] = set()
        while len(record.events) > 1:
            forget_before(record, len(record.events) // 2)
            memories = record.events.memories()
            self.kept = record.events.copied_bytes()
            # What the program holds itself costs nothing.
            self.kept += sum(memory.nbytes() for memory in memories if not is_held(memory))
            if self.kept <= self._room // 2:
                break
        self._storages = dict.fromkeys(memories)
        self._lent = LentStorages()
        self.optimizers.forget_before(record.since)
        self._drop_at = max(self._room, 2 * self.kept)
        self._next_sweep = record.time + max(1, self._most - len(record.events))


def forget_before(record: Record, position: int) -> None:
    """Forget the operations before a position, and the names of tensors that are gone."""
    record.since = record.events[position].time
    record.keep(range(position, len(record.events)))
    memories = record.events.memories()
    for storage, bindings in list(record.bindings.items()):
        memory = bindings[0].region.memory
        if memory not in memories and not is_held(memory):
            del record.bindings[storage]

"""Storages that operations read and did not make: data from files, from arrays, or from before the recording began.

As long as the program has such a storage itself, it costs nothing. When the program has let go of it, the record keeps
it alive, as every batch of a training that was read from a file.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch

from attn_tutor.lessons.worker.recording.reachability import is_held

Memory = torch.UntypedStorage


class LentStorages(dict[Memory, None]):
    """The storages that operations of a record read and did not make.

    Attributes:
        counted: how many bytes of them count as kept by the record.
    """

    def __init__(self, memories: Iterable[Memory] = ()) -> None:
        super().__init__(dict.fromkeys(memories))
        self.counted = 0

    def add(self, memory: Memory) -> int:
        """Add a storage; return its bytes, which count until it is known that the program has it."""
        self[memory] = None
        size = memory.nbytes()
        self.counted += size
        return size

    def add_all(self, noted: Any, made: dict[Memory, None]) -> int:
        """Add the storages among arguments as they are noted that an operation has not made; return their bytes."""
        if type(noted) is tuple:
            memory = noted[0]
            return 0 if memory in made or memory in self else self.add(memory)
        return sum(self.add_all(item, made) for item in noted) if type(noted) is list else 0

    def settle(self) -> int:
        """Count only what the program has let go of; return how many bytes more there are than were counted."""
        before = self.counted
        self.counted = sum(memory.nbytes() for memory in self if not is_held(memory))
        return self.counted - before

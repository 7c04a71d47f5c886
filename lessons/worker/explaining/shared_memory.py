"""Storages that lie in the same memory, as two that were made from one buffer: PyTorch knows them as two.

An operation is recorded with the storage that it wrote to, so what it wrote is not followed in the other one.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import torch

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.recording.element_history import Element
from attn_tutor.lessons.worker.recording.record import Record

say = Wording("explaining/shared-memory")


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

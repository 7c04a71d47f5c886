"""The record of a run: operations in order, which elements of which storage each wrote, and names of tensors."""

from __future__ import annotations

import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from types import CodeType
from weakref import WeakKeyDictionary

import torch

from attn_tutor.lessons.worker.recording.event import DROPPED, Bytes, Event, Site
from attn_tutor.lessons.worker.recording.events import Events
from attn_tutor.lessons.worker.recording.regions import Region


@dataclass(slots=True)
class Binding:
    """A name for a region, valid from a time on.

    Attributes:
        top: whether it is a variable of the lesson, not of a function.
        leaf: whether autograd adds up the gradient of this tensor in its `.grad`.
        until: when the name was taken from it without being given to another tensor.
    """

    time: int
    name: str
    region: Region
    top: bool
    leaf: bool = False
    until: int = sys.maxsize


@dataclass(slots=True, frozen=True)
class Variables:
    """The tensors among the variables of a function when a call of it returned.

    Attributes:
        regions: the tensors by what code calls them.
        since, time: when it began, and when it returned.
        call: which call of the function it was, counted from 1.
        order: how many functions were called for the first time before this one.
        module: the module whose method the function is; None if it is none.
        forgotten: how many more tensors there were, of which nothing is recorded any more.
    """

    regions: dict[str, Region]
    since: int
    time: int
    call: int
    order: int
    module: weakref.ref[torch.nn.Module] | None = None
    forgotten: int = 0

    def without(self, is_lost: Callable[[Region], bool]) -> Variables:
        """Return the same without the tensors that are lost."""
        left = {name: region for name, region in self.regions.items() if not is_lost(region)}
        lost = len(self.regions) - len(left)
        return replace(self, regions=left, forgotten=self.forgotten + lost) if lost else self


@dataclass(slots=True, frozen=True)
class FailedStatement:
    """A statement that an exception has left: what it computed between two times was not assigned to its name."""

    site: Site
    since: int
    until: int


@dataclass(slots=True)
class ForwardDerivatives:
    """A time in which PyTorch computes derivatives beside numbers.

    Attributes:
        since, until: when it began, and when it ended.
        given: the storages of the tangents that were given.
    """

    since: int
    until: int = sys.maxsize
    given: set[int] = field(default_factory=set)


@dataclass(slots=True, weakref_slot=True)
class Record:
    """A record of a run: operations in order, and names of regions by storage."""

    events: Events = field(default_factory=Events)
    bindings: dict[int, list[Binding]] = field(default_factory=dict)
    loops: set[str] = field(default_factory=set)
    """Variables of loops, which are not bound: they mean a different tensor in every round."""
    sources: dict[str, str] = field(default_factory=dict)
    folder: str = ""
    """The folder of a program of one's own, with a separator at its end; "" for a lesson."""
    titles: dict[str, str] = field(default_factory=dict)
    """What people call watched files where that is not their path."""
    time: int = 1
    since: int = 1
    """The time at which what is kept of a long run begins: all operations before it were forgotten."""
    forgotten: int = 0
    """How many operations were forgotten."""
    opaque: int = 0
    """How many tensors operations have returned whose numbers the record does not hold, such as sparse ones."""
    hidden: int = 0
    """How many of these have numbers that are not finite, or that cannot be looked at."""
    stopped: str = ""
    """Why recording stopped; "" if it did not."""
    stopped_site: Site | None = None
    failed: FailedStatement | None = None
    """The statement at which the run failed, as far as it had computed something; None if there is none."""
    lost: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The times of the first and the last write to each storage after recording stopped."""
    asked_about: set[int] = field(default_factory=set)
    """Storages that somebody may ask about although the program has let go of them."""
    variables: dict[CodeType, Variables] = field(default_factory=dict)
    """The variables of functions as their last call left them, or one that was chosen, if somebody notes these."""
    calls: dict[CodeType, deque[Variables]] = field(default_factory=dict)
    """The latest calls of functions that can be chosen, the last one included."""
    unlisted: dict[tuple[CodeType | None, str], str] = field(default_factory=dict)
    """Variables of functions, and of the program itself (None), that are tensors without numbers in a storage."""
    modules: WeakKeyDictionary[torch.nn.Module, str] = field(default_factory=WeakKeyDictionary)
    """What the program calls its modules: for each the name under which it was seen first."""
    forward: list[ForwardDerivatives] = field(default_factory=list)
    """The times in which PyTorch computed derivatives beside numbers."""
    asides: list[tuple[int, int]] = field(default_factory=list)
    """When what only explains began to be computed, and when it ended."""
    restore: Callable[[int], None] = lambda time: None
    """Brings back the values around an operation that were dropped. Raises `CannotRestore`."""
    _writes: dict[int, list[Event]] = field(default_factory=dict)
    _indexed: int = 0

    @property
    def writes(self) -> dict[int, list[Event]]:
        """The operations that wrote to each storage, in order."""
        if self._indexed != self.time:
            for position in range(self.events.after(self._indexed), len(self.events)):
                event = self.events[position]
                for region in event.written:
                    self._writes.setdefault(region.storage, []).append(event)
            self._indexed = self.time
        return self._writes

    def before(self, event: Event) -> tuple[torch.Tensor | Bytes | None, ...]:
        """Return copies of what an operation overwrote. Raises `CannotRestore`."""
        if event.before is DROPPED:
            self.restore(event.time)
        return event.before

    def times_called(self, code: CodeType) -> int:
        """Return how often a function was called whose variables are noted."""
        return (self.calls[code][-1] if code in self.calls else self.variables[code]).call

    def forget_in_calls(self, is_lost: Callable[[Region], bool]) -> None:
        """Forget the lost tensors among the variables of all calls but the last one of each function."""
        for calls in self.calls.values():
            for position in range(len(calls) - 1):
                calls[position] = calls[position].without(is_lost)

    def keep(self, chosen: Iterable[int]) -> None:
        """Forget all operations but those at the chosen positions, which are in order."""
        count = len(self.events)
        self.events.keep(chosen)
        self.forgotten += count - len(self.events)
        self._writes.clear()
        self._indexed = 0


class CannotRestore(Exception):
    """Values that were dropped do not come out when they are computed again. The message is for people."""

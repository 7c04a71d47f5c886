"""The record of a run: operations in order, which elements of which storage each wrote, and names of tensors.

Which tensors variables, parameters and buffers of a namespace refer to, and from when on, is noted in it.
"""

from __future__ import annotations

import ast
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import CodeType
from typing import Any
from weakref import WeakKeyDictionary, WeakMethod

import torch

from attn_tutor.lessons.worker.recording.event import DROPPED, Bytes, Event, Site
from attn_tutor.lessons.worker.recording.events import Events
from attn_tutor.lessons.worker.recording.regions import Region, plain_region


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


class VariableNames:
    """Notes in a record which tensors names refer to.

    Attributes:
        present: the names that tensors had when all variables were named last, and those that were bound since.
    """

    def __init__(
        self,
        record: Record,
        is_recorded: WeakMethod[Callable[[torch.UntypedStorage], bool]],
        release: Callable[[], None],
    ) -> None:
        """Initialize.

        Args:
            record: the record.
            is_recorded: tells whether an operation of the record has made or read a storage. The recorder has it.
            release: lets go of the variables of functions that have returned.
        """
        self._record, self._is_recorded, self._release = record, is_recorded, release
        self.present: set[str] = set()
        self._known: dict[str, tuple[torch.Tensor, Binding]] = {}
        self._late: dict[str, int] = {}
        """The storages of tensors that were named after recording had stopped, and of which nothing is recorded."""

    def name(self, namespace: Mapping[str, Any], statement: ast.stmt) -> None:
        """Record which tensors the names of a namespace refer to after a statement, also parameters and buffers.

        Variables of loops are left out, because they refer to a different tensor in every round.
        """
        for node in ast.walk(statement):
            if isinstance(node, ast.For):
                self._record.loops.update(item.id for item in ast.walk(node.target) if isinstance(item, ast.Name))
        self.name_all(namespace)

    def name_all(self, namespace: Mapping[str, Any]) -> None:
        """Record which tensors the names of a namespace refer to now, also parameters and buffers of modules."""
        self._release()
        self.present = set()
        for key, value in list(namespace.items()):
            if key in self._record.loops or key.startswith("__"):
                continue
            if isinstance(value, torch.Tensor):
                self.bind(key, value)
            elif isinstance(value, torch.nn.Module):
                self.name_module(key, value)

    def name_module(self, name: str, module: torch.nn.Module) -> None:
        """Record which tensors the parameters and buffers of a module are, by the name of the module.

        A parameter may go: pruning gives it another name, and puts a plain tensor in its place.
        """
        seen: set[int] = set()
        parts: dict[str, torch.nn.Module] = {}
        held: set[str] = set()
        for path, part in module.named_modules(prefix=name):
            parts[path] = part
            self._record.modules.setdefault(part, path)
            for key, tensor in (*part._parameters.items(), *part._buffers.items()):
                held.add(f"{path}.{key}")
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    self.bind(f"{path}.{key}", tensor)
        for gone in [known for known in self._known if known.startswith(f"{name}.") and known not in held]:
            path, _, key = gone.rpartition(".")
            tensor = vars(parts[path]).get(key) if path in parts else None
            if isinstance(tensor, torch.Tensor):
                self.bind(gone, tensor)
            else:
                self._known.pop(gone)[1].until = self._record.time

    def bind(self, name: str, tensor: torch.Tensor) -> None:
        """Record that a name refers to a tensor from now on."""
        region = plain_region(tensor)
        if region is None:
            return
        self.present.add(name)
        # A tensor can get a different storage (`.data = ...`) or shape, and become a parameter (`requires_grad_`).
        binding = Binding(self._record.time, name, region, True, tensor.requires_grad and tensor.is_leaf)
        before = self._known.get(name)
        if before is not None and before[0] is tensor and _is_same(before[1], binding):
            return
        self._known[name] = tensor, binding
        if self._record.stopped:
            # Nothing leads from a later value to an earlier one, which would stay in memory for nothing.
            self._forget_late(name)
            is_recorded = self._is_recorded()
            if is_recorded is not None and not is_recorded(region.memory):
                self._late[name] = region.storage
        self._record.bindings.setdefault(region.storage, []).append(binding)

    def bind_again(self, tensor: torch.Tensor) -> None:
        """Record what the names of a tensor mean when its layout was changed in place."""
        for name in [name for name, (known, _) in self._known.items() if known is tensor]:
            self.bind(name, tensor)

    def _forget_late(self, name: str) -> None:
        storage = self._late.pop(name, None)
        bindings = self._record.bindings
        if storage in bindings:
            bindings[storage] = [item for item in bindings[storage] if item.name != name]
            if not bindings[storage]:
                del bindings[storage]


def _is_same(one: Binding, other: Binding) -> bool:
    """Return whether two bindings say the same of a tensor."""
    first = one.leaf, one.region.storage, one.region.offset, one.region.shape, one.region.stride
    return first == (other.leaf, other.region.storage, other.region.offset, other.region.shape, other.region.stride)

"""The record of a run: operations in order, which elements of which storage each wrote, and names of tensors.

A recorder adds what it sees as flat lists, which takes little time: it makes few objects, so the garbage collector has
little to look at. An `Event` is built from such a list when somebody looks at it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, overload

import torch

from lessons.worker.recording.draw import Draw
from lessons.worker.recording.gradient_node import GradientNode
from lessons.worker.recording.regions import OPAQUE, Layout, Region

Site = tuple[CodeType, int]
"""A position in running code: a code object and the offset of an instruction in it."""

CallSites = tuple[tuple[Site, ...], bool]
"""The sites that an operation was called from, innermost first, and whether the innermost did so itself."""

MOST_SHARED = 4096
"""Regions that events share, until they are forgotten; a new event then has regions of its own."""

DROPPED: Any = object()
"""Stands in `Event.before` for copies that can be computed again; `Record.restore` brings them back."""


NO_KWARGS: dict[str, Any] = {}

_MEMORY = torch.UntypedStorage


@dataclass(slots=True, eq=False)
class Info:
    """The schema of an operation.

    Attributes:
        func: the operation itself.
        op: its name without the overload.
        names: the position of each argument, by name.
        defaults: the default values of arguments, by name.
        written: position and name of the arguments that it writes to.
        random: whether it draws random numbers.
        call: a faster way to call it, if its first argument is a tensor.
        tensors: whether any argument may be a tensor or a list of tensors.
        undeclared: the position of the argument `training`, if the schema only declares writes without it.
        out: whether it writes to an argument such as `out`, which it resizes to what it computes.
        in_place: whether it writes to its first argument only, and always.
        sign: whether its result is only marked as having the other sign.
    """

    func: Any
    op: str
    names: dict[str, int]
    defaults: dict[str, Any]
    written: tuple[tuple[int, str], ...]
    random: bool
    call: Callable[..., Any] | None = None
    tensors: bool = False
    undeclared: int | None = None
    out: bool = False
    in_place: bool = False
    sign: bool = False

    def targets(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[Any]:
        """Yield the tensors (or their regions) that a call writes to."""
        if self.undeclared is not None and not args[self.undeclared]:
            return
        for position, name in self.written:
            value = args[position] if position < len(args) else kwargs.get(name)
            for item in value if isinstance(value, list | tuple) else (value,):
                if isinstance(item, torch.Tensor | Region):
                    yield item


SNAPSHOT = Info(None, "snapshot", {"region": 0, "time": 1}, {}, (), False)
"""Stands for no operation: the event made a tensor that holds what a region held at a time."""

LEFT = Info(None, "left", {"memory": 0}, {}, ((0, "memory"),), False)
"""Stands for all that a program may do to a storage when it is no longer recorded: its bytes as they were are kept."""


@dataclass(slots=True)
class Event:
    """One recorded operation.

    Attributes:
        time: its position in the record, from 1.
        info: its schema.
        args, kwargs: its arguments; tensors are `Region`s.
        outs: the tensors that it wrote or returned.
        sites: the positions in watched code that it was called from, innermost first.
        direct: whether the innermost watched code called it itself, without a function or module in between.
        before: for an in-place operation, copies of what it overwrote, in the shapes of the first of `outs`; None
            where there was no room for a copy. `DROPPED` for all of them: see `Record.before`.
        draw: for a random operation, the state of the generator.
        hand: whether the learner set this value as a "what if".
        initial: for data that came from outside, a copy of them as they came.
        written: the tensors that it wrote, new ones included.
        opaque: whether it took or returned a tensor without a storage.
        node_made: the number of the node that autograd had just made when it ran, which is for its derivative if the
            name of the node fits; -1 if there was none.
        node: the node of the backward pass that it ran in; None elsewhere.
    """

    time: int
    info: Info
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    outs: tuple[Region, ...]
    sites: tuple[Site, ...]
    direct: bool = False
    before: tuple[torch.Tensor | Bytes | None, ...] = ()
    draw: Draw | None = None
    hand: bool = False
    initial: torch.Tensor | Bytes | None = None
    written: tuple[Region, ...] = ()
    opaque: bool = False
    node_made: int = -1
    node: GradientNode | None = None

    @property
    def op(self) -> str:
        """The name of the operation without its overload: `mm`, `_softmax`, `add_`."""
        return self.info.op

    @property
    def view(self) -> bool:
        """Whether it made a view and wrote nothing."""
        return bool(self.outs) and not self.written

    def index_of(self, storage: int, offset: int, size: int = 1) -> tuple[int, tuple[int, ...]] | None:
        """Return which of the results holds bytes from an offset on, and the index there; None if none of them does."""
        for output, region in enumerate(self.outs):
            if region.storage != storage:
                continue
            # What is read as one number may have been written as several shorter ones.
            for start in range(offset, offset + size, region.dtype.itemsize):
                index = region.find(start)
                if index is not None:
                    return output, index
        return None

    def arg(self, name: str) -> Any:
        """Return an argument by its name in the schema, or its default; None if there is no such argument."""
        if name in self.kwargs:
            return self.kwargs[name]
        position = self.info.names.get(name)
        if position is None:
            return None
        return self.args[position] if position < len(self.args) else self.info.defaults.get(name)

    def operands(self) -> Iterator[Region]:
        """Iterate over all tensors among the arguments, also inside lists."""
        for value in (*self.args, *self.kwargs.values()):
            if isinstance(value, Region):
                yield value
            elif isinstance(value, list):
                yield from (item for item in value if isinstance(item, Region))


RawEvent = list[Any]
"""An operation as the recorder adds it: time, info, call sites, what is rare, the position of the results, the number
of the node that was made, the node that it ran in, then the arguments and the results one after the other.

A tensor is the five items of its layout, which begins with a storage; one that has more items, or is in a list, is a
layout. What is rare is None, or a `Rare`, or the bytes of a small first argument that was overwritten or came from
outside.
"""

HEAD = 7
"""The position of the first argument in a `RawEvent`."""


@dataclass(slots=True)
class Rare:
    """The fields of an `Event` that most operations do not have."""

    kwargs: dict[str, Any]
    before: tuple[torch.Tensor | Bytes | None, ...]
    draw: Draw | None
    hand: bool
    initial: torch.Tensor | Bytes | None


@dataclass(slots=True, frozen=True)
class Bytes:
    """A copy of a small tensor. It takes less time to make than a tensor does."""

    data: bytes
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return len(self.data)

    @property
    def tensor(self) -> torch.Tensor:
        """A new tensor with these contents. Not to be used while the recorder is entered."""
        if not self.data:
            return torch.empty(self.shape, dtype=self.dtype)
        return torch.frombuffer(bytearray(self.data), dtype=self.dtype).reshape(self.shape)


def contents(copy: torch.Tensor | Bytes) -> torch.Tensor:
    """Return a copy of overwritten numbers as a tensor. Not to be used while the recorder is entered."""
    return copy.tensor if isinstance(copy, Bytes) else copy


Flow = tuple[Info, list[torch.UntypedStorage], list[torch.UntypedStorage], list[torch.UntypedStorage]]
"""What an operation is, and the storages of its operands, of its results, and of what it wrote."""


class Events(Sequence[Event]):
    """The operations of a record in order. Each is built when it is looked at for the first time."""

    def __init__(self) -> None:
        self._items: list[RawEvent | Event] = []
        self.add: Callable[[RawEvent | Event], None] = self._items.append
        """Adds an operation after all others."""
        self._shared: dict[Layout, Region | None] = {}

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self._items)))]
        item = self._items[index]
        if type(item) is list:
            item = self._items[index] = self._built(item)
        return item

    def __iter__(self) -> Iterator[Event]:
        for index in range(len(self._items)):
            yield self[index]

    def after(self, time: int) -> int:
        """Return the position of the first operation at or after a time."""
        return bisect_left(self._items, time, key=lambda item: item[0] if type(item) is list else item.time)  # type: ignore[union-attr]

    def sites(self, position: int) -> tuple[Site, ...]:
        """Return from where an operation was called, without building it."""
        item = self._items[position]
        return item[2][0] if type(item) is list else item.sites  # type: ignore[union-attr]

    def info(self, position: int) -> Info:
        """Return what an operation is, without building it."""
        item = self._items[position]
        return item[1] if type(item) is list else item.info  # type: ignore[union-attr]

    def time(self, position: int) -> int:
        """Return when an operation ran, without building it."""
        item = self._items[position]
        return int(item[0] if type(item) is list else item.time)  # type: ignore[union-attr]

    def node(self, position: int) -> GradientNode | None:
        """Return the node of the backward pass that an operation ran in, without building it."""
        item = self._items[position]
        return item[6] if type(item) is list else item.node  # type: ignore[union-attr]

    def is_view(self, position: int) -> bool:
        """Return whether an operation made a view and wrote nothing, without building it if possible."""
        item = self._items[position]
        if type(item) is not list:
            return item.view  # type: ignore[union-attr]
        info, results = item[1], item[4]
        if info.written or item[3] is not None or len(item) != results + 5 or type(item[results]) is not _MEMORY:
            return self[position].view
        memory = item[results]
        return any(value is memory for value in item[HEAD:results])

    def flow(self, position: int) -> Flow:
        """Return which storages an operation read and wrote, without building it if possible."""
        item = self._items[position]
        if type(item) is list:
            info, rare, results = item[1], item[3], item[4]
            if (not info.written or info.in_place) and not (type(rare) is Rare and rare.kwargs):
                args, outs = layouts(item, HEAD, results), layouts(item, results, len(item))
                if not any(map(_is_nested, args)) and not any(map(_is_nested, outs)):
                    read = [value[0] for value in args if type(value) is tuple]
                    memories = [value[0] for value in outs]
                    if info.written:
                        return info, read, read[:1], read[:1]
                    fresh = memories if info.op == "lift_fresh" else [value for value in memories if value not in read]
                    return info, read, memories, fresh
        event = self[position]
        operands = [region.memory for region in event.operands()]
        return event.info, operands, [region.memory for region in event.outs], [one.memory for one in event.written]

    def memories(self) -> set[torch.UntypedStorage]:
        """Return all storages that operations read or made."""
        found: set[torch.UntypedStorage] = set()
        for position, item in enumerate(self._items):
            if type(item) is list and not (type(item[3]) is Rare and item[3].kwargs):
                _collect(item[HEAD:], found)
            else:
                event = self[position]
                found.update(region.memory for region in (*event.operands(), *event.outs))
        return found

    def copied_bytes(self) -> int:
        """Return how many bytes the copies of overwritten numbers, of data and of generators fill."""
        size = 0
        for item in self._items:
            rare = item[3] if type(item) is list else item
            if type(rare) is bytes:
                size += len(rare)
            elif rare is not None:
                copies = (*(rare.before if rare.before is not DROPPED else ()), rare.initial)  # type: ignore[union-attr]
                size += sum(copy.nbytes for copy in copies if copy is not None)
                size += rare.draw.state.nbytes if rare.draw is not None else 0  # type: ignore[union-attr]
        return size

    def keep(self, chosen: Iterable[int]) -> None:
        """Forget all operations but those at the chosen positions, which are in order."""
        self._items[:] = [self._items[position] for position in chosen]
        self._shared.clear()

    def _region(self, raw: Any) -> Any:
        """Return the region of a layout, also inside a list; other arguments as they are."""
        if type(raw) is tuple:
            if raw not in self._shared:
                if len(self._shared) >= MOST_SHARED:
                    self._shared.clear()
                self._shared[raw] = None if raw[0].device.type == "meta" else Region.of_layout(raw)
            return self._shared[raw]
        if type(raw) is list:
            return [self._region(item) for item in raw]
        return None if raw is OPAQUE else raw

    def _built(self, item: RawEvent) -> Event:
        time, info, (sites, direct), rare, results, made, node, *_ = item
        raw_args, raw_outs = layouts(item, HEAD, results), layouts(item, results, len(item))
        args = tuple(map(self._region, raw_args))
        outs = tuple(region for raw in raw_outs if isinstance(region := self._region(raw), Region))
        event = Event(time, info, args, NO_KWARGS, outs, sites, direct)
        event.node_made, event.node = made, node
        if type(rare) is bytes:
            copy = Bytes(rare, args[0].shape, args[0].dtype)
            event.before, event.initial = ((copy,), None) if info.written else ((), copy)
        elif rare is not None:
            event.kwargs = {key: self._region(value) for key, value in rare.kwargs.items()}
            event.before, event.draw, event.hand, event.initial = rare.before, rare.draw, rare.hand, rare.initial
            event.opaque = any(map(_is_opaque, rare.kwargs.values()))
        event.opaque = event.opaque or any(map(_is_opaque, raw_args)) or any(map(_is_opaque, raw_outs))
        if info.written and info.op != "set_":
            # An operation may write to other tensors than it returns, and give those in `out` another shape.
            targets = tuple(info.targets(args, event.kwargs))
            returned = {region.storage: region for region in outs} if info.out else {}
            storages = {region.storage for region in targets}
            targets = tuple(returned.get(region.storage, region) for region in targets)
            if info.out and event.before is not DROPPED:
                event.before = tuple(
                    copy if copy is not None and tuple(copy.shape) == region.shape else None
                    for copy, region in zip(event.before, targets, strict=False)
                )
            event.written = event.outs = (*targets, *(region for region in outs if region.storage not in storages))
        elif info.op != "set_":
            sources = {region.storage for region in event.operands()}
            fresh = info.op == "lift_fresh"
            event.written = tuple(region for region in outs if fresh or region.storage not in sources)
        return event


def layouts(raw: RawEvent, start: int, stop: int) -> list[Any]:
    """Return a part of the arguments or results with each tensor as one layout."""
    found: list[Any] = []
    while start < stop:
        length = 5 if type(raw[start]) is _MEMORY else 1
        found.append(tuple(raw[start : start + 5]) if length == 5 else raw[start])
        start += length
    return found


def _collect(values: Iterable[Any], found: set[torch.UntypedStorage]) -> None:
    """Add the storages among arguments and results, also in lists and layouts."""
    for value in values:
        kind = type(value)
        if kind is _MEMORY:
            found.add(value)
        elif kind is list or kind is tuple:
            _collect(value, found)


def _is_nested(value: Any) -> bool:
    """Return whether an argument may be a list of tensors, or a tensor without a storage."""
    return value is OPAQUE or (type(value) is list and not all(type(one) is int for one in value))


def _is_opaque(raw: Any) -> bool:
    return raw is OPAQUE or (type(raw) is list and any(item is OPAQUE for item in raw))


@dataclass(slots=True)
class Binding:
    """A name for a region, valid from a time on.

    Attributes:
        top: whether it is a variable of the lesson, not of a function.
        leaf: whether autograd adds up the gradient of this tensor in its `.grad`.
    """

    time: int
    name: str
    region: Region
    top: bool
    leaf: bool = False


@dataclass(slots=True, frozen=True)
class Variables:
    """The tensors among the variables of a function when its last call returned.

    Attributes:
        regions: the tensors by what code calls them.
        time: when it returned.
        calls: how often it was called.
        order: how many functions were called for the first time before this one.
    """

    regions: dict[str, Region]
    time: int
    calls: int
    order: int


@dataclass(slots=True, weakref_slot=True)
class Record:
    """A record of a run: operations in order, and names of regions by storage."""

    events: Events = field(default_factory=Events)
    bindings: dict[int, list[Binding]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    folder: str = ""
    """The folder of a program of one's own, with a separator at its end; "" for a lesson."""
    titles: dict[str, str] = field(default_factory=dict)
    """What people call watched files where that is not their path."""
    time: int = 1
    since: int = 1
    """The time at which what is kept of a long run begins: all operations before it were forgotten."""
    stopped: str = ""
    """Why recording stopped; "" if it did not."""
    stopped_site: Site | None = None
    lost: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The times of the first and the last write to each storage after recording stopped."""
    asked_about: set[int] = field(default_factory=set)
    """Storages that somebody may ask about although the program has let go of them."""
    variables: dict[CodeType, Variables] = field(default_factory=dict)
    """The variables of functions as their last call left them, if somebody notes these."""
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

    def keep(self, chosen: Iterable[int]) -> None:
        """Forget all operations but those at the chosen positions, which are in order."""
        self.events.keep(chosen)
        self._writes.clear()
        self._indexed = 0


class CannotRestore(Exception):
    """Values that were dropped do not come out when they are computed again. The message is for people."""

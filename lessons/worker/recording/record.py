"""The record of a run: operations in order, which elements of which storage each wrote, and names of tensors.

A recorder adds what it sees as plain tuples, which takes little time. An `Event` is built from such a tuple when
somebody looks at it.
"""

from __future__ import annotations

import itertools
import math
import operator
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any, overload

import torch

from lessons.worker.recording.draw import Draw

Site = tuple[CodeType, int]
"""A position in running code: a code object and the offset of an instruction in it."""

Layout = tuple[Any, ...]
"""A tensor as an operation saw it: storage, offset, shape, stride, dtype. Operations take no other tuples.

Two more items, `conj` and `neg`, stand behind these if one of them is true.
"""

OPAQUE = object()
"""Stands for a tensor without a storage, such as a sparse one."""

MOST_SHARED = 4096
"""Regions that events share, until they are forgotten; a new event then has regions of its own."""

DROPPED: Any = object()
"""Stands in `Event.before` for copies that can be computed again; `Record.restore` brings them back."""


@dataclass(slots=True, eq=False)
class Region:
    """A tensor as an operation saw it: which elements of which storage, in which shape.

    It keeps the storage alive and not the tensor, which may get a different storage later (`.data = ...`). The bytes
    of the storage may be dropped meanwhile; `Record.restore` brings them back. `conj` and `neg` are the lazy views of
    PyTorch that show imaginary parts, or all numbers, with the other sign.
    """

    storage: int
    offset: int
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    dtype: torch.dtype
    memory: torch.UntypedStorage
    conj: bool = False
    neg: bool = False
    _steps: tuple[tuple[int, int, int], ...] | None = None

    @classmethod
    def of(cls, tensor: torch.Tensor) -> Region:
        """Return the region of a tensor."""
        return cls.of_layout(layout(tensor))

    @classmethod
    def of_layout(cls, raw: Layout) -> Region:
        """Return the region that a layout describes."""
        memory, offset, shape, stride, dtype, *signs = raw
        return cls(memory._cdata, offset, tuple(shape), stride, dtype, memory, *signs)

    @property
    def tensor(self) -> torch.Tensor:
        """The present contents of the region, as a view. Not to be used while the recorder is entered."""
        return self.inside(self.memory)

    def inside(self, memory: torch.UntypedStorage) -> torch.Tensor:
        """Return the elements of this region in another storage of the same size, as a view."""
        return torch.empty(0, dtype=self.dtype).set_(memory, self.offset, self.shape, self.stride)

    def part(self, index: Any) -> Region:
        """Return the part of the region that an index of its tensor selects."""
        outline = torch.empty_strided(self.shape, self.stride, dtype=self.dtype, device="meta")[index]
        offset = self.offset + int(outline.storage_offset())
        return Region(self.storage, offset, tuple(outline.shape), outline.stride(), self.dtype, self.memory)

    @property
    def parts(self) -> Region:
        """The real and imaginary parts of a complex tensor, along one more axis; any other tensor as it is."""
        if not self.dtype.is_complex:
            return self
        return Region(
            self.storage,
            2 * self.offset,
            (*self.shape, 2),
            (*(2 * step for step in self.stride), 1),
            self.dtype.to_real(),
            self.memory,
        )

    def flips(self, offset: int) -> bool:
        """Return whether the region shows the number at an offset with the other sign."""
        imaginary = offset % self.dtype.itemsize > 0
        return self.neg != (self.conj and imaginary)

    def at(self, index: tuple[int, ...]) -> int:
        """Return the offset of an element in the storage, in bytes."""
        steps: int = sum(map(operator.mul, index, self.stride))
        return (self.offset + steps) * self.dtype.itemsize

    def find(self, offset: int) -> tuple[int, ...] | None:
        """Return the index of the element that holds the byte at an offset; None if it is not in this region."""
        left = offset // self.dtype.itemsize - self.offset
        if left < 0 or 0 in self.shape:
            return None
        steps = self._steps
        if steps is None:
            # Largest strides first; an axis of size 1 or stride 0 only has index 0.
            axes = [axis for axis, step in enumerate(self.stride) if step > 0 and self.shape[axis] > 1]
            axes.sort(key=lambda axis: -self.stride[axis])
            steps = self._steps = tuple((axis, self.stride[axis], self.shape[axis] - 1) for axis in axes)
        index = [0] * len(self.shape)
        rest = left
        for axis, step, last in steps:
            index[axis] = min(rest // step, last)
            rest -= index[axis] * step
        return tuple(index) if rest == 0 else self._search(left)

    def _search(self, left: int) -> tuple[int, ...] | None:
        """Find an index by trying all: where rows overlap, as `as_strided` allows, the largest step may lead astray."""
        steps = self._steps or ()
        if left > sum(step * last for _, step, last in steps) or not self._overlaps(steps):
            return None
        ways = itertools.product(*(range(min(left // step, last), -1, -1) for _, step, last in steps[:-1]))
        for way in ways:
            rest = left - sum(step * position for (_, step, _), position in zip(steps, way, strict=False))
            axis, step, last = steps[-1]
            if rest % step == 0 and 0 <= rest // step <= last:
                index = [0] * len(self.shape)
                for (earlier, _, _), position in zip(steps, way, strict=False):
                    index[earlier] = position
                index[axis] = rest // step
                return tuple(index)
        return None

    @staticmethod
    def _overlaps(steps: tuple[tuple[int, int, int], ...]) -> bool:
        """Return whether two indices may have the same offset: a step that is no longer than all smaller ones."""
        reach = 0
        for _, step, last in reversed(steps):
            if step <= reach:
                return True
            reach += step * last
        return False

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(self.shape)

    def indices(self) -> Iterator[tuple[int, ...]]:
        """Iterate over all indices; the last axis changes fastest."""
        return itertools.product(*map(range, self.shape))

    def offsets(self) -> Iterator[int]:
        """Iterate over the offsets of all elements in the storage, in bytes, in the order of their indices."""
        return map(self.at, self.indices())


def layout(tensor: torch.Tensor) -> Layout:
    """Return the layout of a tensor that has a storage. Raises `NotImplementedError` for a sparse one."""
    plain = tensor.untyped_storage(), tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype
    conj, neg = tensor.is_conj(), tensor.is_neg()
    return (*plain, conj, neg) if conj or neg else plain


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
        tensors: the positions of arguments that may be tensors or lists of tensors.
        undeclared: the position of the argument `training`, if the schema only declares writes without it.
        out: whether it writes to an argument such as `out`, which it resizes to what it computes.
    """

    func: Any
    op: str
    names: dict[str, int]
    defaults: dict[str, Any]
    written: tuple[tuple[int, str], ...]
    random: bool
    call: Callable[..., Any] | None = None
    tensors: tuple[int, ...] = ()
    undeclared: int | None = None
    out: bool = False

    def targets(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Iterator[Any]:
        """Yield the tensors (or their regions) that a call writes to."""
        if self.undeclared is not None and not args[self.undeclared]:
            return
        for position, name in self.written:
            value = args[position] if position < len(args) else kwargs.get(name)
            for item in value if isinstance(value, list | tuple) else (value,):
                if isinstance(item, torch.Tensor | Region):
                    yield item


@dataclass(slots=True, frozen=True)
class GradientNode:
    """A node of autograd's graph, in which an operation of the backward pass ran.

    Attributes:
        run: the number of the backward pass.
        number: counts the operations for whose derivatives autograd made a node: `Event.node_made` of one of them.
        name: as autograd calls it, such as `MulBackward0`.
        plain: whether no graph was recorded meanwhile: then it only computed gradients.
        leaf: the tensor whose gradient is added up in its `.grad` here; None in all other nodes.
        targets: number and name of the nodes that take what it computes.
    """

    run: int
    number: int
    name: str
    plain: bool
    leaf: Region | None = None
    targets: tuple[tuple[int, str], ...] = ()


SNAPSHOT = Info(None, "snapshot", {"region": 0, "time": 1}, {}, (), False)
"""Stands for no operation: the event made a tensor that holds what a region held at a time."""


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
    before: tuple[torch.Tensor | None, ...] = ()
    draw: Draw | None = None
    hand: bool = False
    initial: torch.Tensor | None = None
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


RawEvent = tuple[
    int,
    Info,
    list[Any],
    dict[str, Any],
    list[Any],
    tuple[Site, ...],
    bool,
    Any,
    Draw | None,
    bool,
    Any,
    int,
    GradientNode | None,
]
"""The first eleven fields of an `Event` and the last two, with layouts instead of regions."""


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
        if type(item) is tuple:
            item = self._items[index] = self._built(item)
        return item  # type: ignore[return-value]

    def __iter__(self) -> Iterator[Event]:
        for index in range(len(self._items)):
            yield self[index]

    def after(self, time: int) -> int:
        """Return the position of the first operation at or after a time."""
        return bisect_left(self._items, time, key=lambda item: item[0] if type(item) is tuple else item.time)  # type: ignore[union-attr]

    def sites(self, position: int) -> tuple[Site, ...]:
        """Return from where an operation was called, without building it."""
        item = self._items[position]
        return item[5] if type(item) is tuple else item.sites  # type: ignore[union-attr]

    def is_view(self, position: int) -> bool:
        """Return whether an operation made a view and wrote nothing, without building it if possible."""
        item = self._items[position]
        if type(item) is not tuple:
            return item.view  # type: ignore[union-attr]
        _, info, args, kwargs, outs, *_ = item
        if info.written or kwargs or len(outs) != 1 or type(outs[0]) is not tuple:
            return self[position].view
        memory = outs[0][0]
        return info.op != "lift_fresh" and any(type(value) is tuple and value[0] is memory for value in args)

    def keep(self, chosen: Iterable[Event]) -> None:
        """Forget all operations but the chosen ones, which are in order."""
        self._items[:] = chosen
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
        time, info, raw_args, raw_kwargs, raw_outs, sites, direct, before, draw, hand, initial, made, node = item
        args = tuple(map(self._region, raw_args))
        kwargs = {key: self._region(value) for key, value in raw_kwargs.items()} if raw_kwargs else raw_kwargs
        outs = tuple(region for raw in raw_outs if isinstance(region := self._region(raw), Region))
        event = Event(time, info, args, kwargs, outs, sites, direct, before, draw, hand, initial)
        event.node_made, event.node = made, node
        event.opaque = any(_is_opaque(value) for value in (*raw_args, *raw_kwargs.values(), *raw_outs))
        if info.written and info.op != "set_":
            # An operation may write to other tensors than it returns, and give those in `out` another shape.
            targets = tuple(info.targets(args, kwargs))
            returned = {region.storage: region for region in outs} if info.out else {}
            storages = {region.storage for region in targets}
            targets = tuple(returned.get(region.storage, region) for region in targets)
            if info.out and before is not DROPPED:
                event.before = tuple(
                    copy if copy is not None and tuple(copy.shape) == region.shape else None
                    for copy, region in zip(before, targets, strict=False)
                )
            event.written = event.outs = (*targets, *(region for region in outs if region.storage not in storages))
        elif info.op != "set_":
            sources = {region.storage for region in event.operands()}
            fresh = info.op == "lift_fresh"
            event.written = tuple(region for region in outs if fresh or region.storage not in sources)
        return event


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


@dataclass(slots=True, weakref_slot=True)
class Record:
    """A record of a run: operations in order, and names of regions by storage."""

    events: Events = field(default_factory=Events)
    bindings: dict[int, list[Binding]] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    time: int = 1
    stopped: str = ""
    """Why recording stopped; "" if it did not."""
    stopped_site: Site | None = None
    lost: dict[int, tuple[int, int]] = field(default_factory=dict)
    """The times of the first and the last write to each storage after recording stopped."""
    asked_about: set[int] = field(default_factory=set)
    """Storages that somebody may ask about although the program has let go of them."""
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

    def before(self, event: Event) -> tuple[torch.Tensor | None, ...]:
        """Return copies of what an operation overwrote. Raises `CannotRestore`."""
        if event.before is DROPPED:
            self.restore(event.time)
        return event.before

    def keep(self, chosen: list[Event]) -> None:
        """Forget all operations but the chosen ones, which are in order."""
        self.events.keep(chosen)
        self._writes.clear()
        self._indexed = 0


class CannotRestore(Exception):
    """Values that were dropped do not come out when they are computed again. The message is for people."""

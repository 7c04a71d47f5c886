"""The operations of a record, on one long list.

A recorder adds what it sees of an operation to the end of this list, which takes little time: it makes no object for an
operation, so the garbage collector has nothing to look at. An `Event` is built when somebody looks at it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import torch

from attn_tutor.lessons.worker.recording.autograd_nodes import GradientNode
from attn_tutor.lessons.worker.recording.draw import Draw
from attn_tutor.lessons.worker.recording.event import DROPPED, NO_KWARGS, Bytes, CallSites, Event, Info, Site
from attn_tutor.lessons.worker.recording.operation_info import DATA
from attn_tutor.lessons.worker.recording.regions import OPAQUE, Layout, Region

HEAD = 6
"""The items that every operation begins with: time, info, call sites, node, the number of the node that was made, and
what is rare.

Then follow the results, and then the arguments. A tensor is the five items of its layout, which begins with a storage;
one that has more items, or is in a list, is a layout. Results that are not one such tensor are one list of layouts, or
`SAME`. The node is the fields of a `GradientNode`, but with a layout; None outside of a backward pass. What is rare is
None, or a `Rare`, or the bytes of a small first argument that was overwritten.
"""

SAME = None
"""Stands for the first argument as the result."""

Rare = tuple[
    dict[str, Any], tuple[torch.Tensor | Bytes | None, ...], Draw | None, bool, torch.Tensor | Bytes | None
]  # fmt: skip
"""The fields of an `Event` that most operations do not have: `kwargs`, `before`, `draw`, `hand`, `initial`."""

MOST_SHARED = 4096
"""Regions that events share, until they are forgotten; a new event then has regions of its own."""

Memory = torch.UntypedStorage

Flow = tuple[Info, list[Memory], list[Memory], list[Memory]]
"""What an operation is, and the storages of its operands, of its results, and of what it wrote."""


@dataclass(slots=True, frozen=True)
class Noted:
    """An operation as it was noted, before an `Event` is built.

    Attributes:
        time, info, sites: as in the event, the sites with whether the innermost called it itself.
        args: the arguments, each tensor as a layout.
    """

    time: int
    info: Info
    sites: CallSites
    args: list[Any]


class Events(Sequence[Event]):
    """The operations of a record in order. Each is built when it is looked at for the first time.

    Attributes:
        items: what a recorder notes, see `HEAD`. An operation that was built is an `Event`, with nothing behind it.
        starts: where each operation begins in the items.
    """

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.starts: list[int] = []
        self._shared: dict[Layout, Region | None] = {}
        self._node: tuple[Any, GradientNode | None] = None, None

    def __len__(self) -> int:
        return len(self.starts)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        if isinstance(index, slice):
            return [self[position] for position in range(*index.indices(len(self.starts)))]
        first = self.items[self.starts[index]]
        return first if type(first) is Event else self._build(index)

    def __iter__(self) -> Iterator[Event]:
        for index in range(len(self.starts)):
            yield self[index]

    def add(self, event: Event) -> None:
        """Add an operation after all others."""
        self.starts.append(len(self.items))
        self.items.append(event)

    def after(self, time: int) -> int:
        """Return the position of the first operation at or after a time."""
        items = self.items
        return bisect_left(self.starts, time, key=lambda start: one.time if type(one := items[start]) is Event else one)

    def sites(self, position: int) -> tuple[Site, ...]:
        """Return from where an operation was called, without building it."""
        start = self.starts[position]
        first = self.items[start]
        sites: tuple[Site, ...] = first.sites if type(first) is Event else self.items[start + 2][0]
        return sites

    def info(self, position: int) -> Info:
        """Return what an operation is, without building it."""
        start = self.starts[position]
        first = self.items[start]
        info: Info = first.info if type(first) is Event else self.items[start + 1]
        return info

    def time(self, position: int) -> int:
        """Return when an operation ran, without building it."""
        first = self.items[self.starts[position]]
        return first.time if type(first) is Event else int(first)

    def node(self, position: int) -> GradientNode | None:
        """Return the node of the backward pass that an operation ran in, without building it."""
        start = self.starts[position]
        first = self.items[start]
        return first.node if type(first) is Event else self._gradient_node(self.items[start + 3])

    def last(self) -> Noted:
        """Return the last operation as it was noted."""
        start, position = self.starts[-1], len(self.starts) - 1
        time, info, sites = self.items[start : start + 3]
        return Noted(time, info, sites, self._args(start, position))

    def is_view(self, position: int) -> bool:
        """Return whether an operation made a view and wrote nothing, without building it if possible."""
        items, start = self.items, self.starts[position]
        first = items[start]
        if type(first) is Event:
            return first.view
        memory = items[start + HEAD]
        if items[start + 1].written or items[start + 5] is not None or type(memory) is not Memory:
            return self[position].view
        return any(value is memory for value in items[start + HEAD + 5 : self._stop(position)])

    def flow(self, position: int) -> Flow:
        """Return which storages an operation read and wrote, without building it if possible."""
        items, starts = self.items, self.starts
        start = starts[position]
        if type(items[start]) is not Event:
            info, rare, result = items[start + 1], items[start + 5], items[start + HEAD]
            if not info.written or info.in_place:
                read: list[Memory] = []
                at = start + HEAD + (5 if type(result) is Memory else 1)
                stop = starts[position + 1] if position + 1 < len(starts) else len(items)
                while at < stop:
                    value = items[at]
                    kind = type(value)
                    if kind is Memory:
                        read.append(value)
                        at += 5
                        continue
                    if kind is tuple or kind is list:
                        _read(value, read)
                    at += 1
                if type(rare) is tuple:
                    for value in rare[0].values():
                        _read(value, read)
                if info.written:
                    return info, read, read[:1], read[:1]
                made = [result] if type(result) is Memory else [one[0] for one in result if one is not OPAQUE]
                fresh = made if info.op == DATA else [memory for memory in made if memory not in read]
                return info, read, made, fresh
        event = self[position]
        operands = [region.memory for region in event.operands()]
        return event.info, operands, [region.memory for region in event.outs], [one.memory for one in event.written]

    def overwritten_bytes(self, position: int) -> int | None:
        """Return how many bytes the copies fill of what an operation has overwritten; None if one of them is missing.

        Copies that were dropped fill none, and are not missing.
        """
        start = self.starts[position]
        first = self.items[start]
        rare = self.items[start + 5] if type(first) is not Event else (None, first.before)
        if rare is None:
            return 0
        if type(rare) is bytes:
            return len(rare)
        size = 0
        for copy in rare[1] if rare[1] is not DROPPED else ():
            if copy is None:
                return None
            size += copy.nbytes
        return size

    def before(self, position: int) -> tuple[torch.Tensor | Bytes | None, ...]:
        """Return the copies of what an operation has overwritten, as far as they are there, without building it."""
        start = self.starts[position]
        first = self.items[start]
        if type(first) is Event:
            return first.before
        rare = self.items[start + 5]
        if type(rare) is bytes:
            _, _, shape, _, dtype = self._args(start, position)[0]
            return (Bytes(rare, shape, dtype),)
        copies: tuple[torch.Tensor | Bytes | None, ...] = () if rare is None else rare[1]
        return copies

    def drop_before(self, position: int) -> None:
        """Let go of the copies of what an operation has overwritten."""
        start = self.starts[position]
        first = self.items[start]
        if type(first) is Event:
            first.before = DROPPED
            return
        rare = self.items[start + 5]
        kwargs, _, *others = (NO_KWARGS, (), None, False, None) if type(rare) is bytes else rare
        self.items[start + 5] = (kwargs, DROPPED, *others)

    def target(self, position: int) -> Region | None:
        """Return what an operation that writes to its first argument and to nothing else has written, not building it.

        None for any other operation.
        """
        start = self.starts[position]
        first = self.items[start]
        if type(first) is Event:
            return first.outs[0] if first.info.in_place and first.outs else None
        found = self._region(self._args(start, position)[0]) if self.items[start + 1].in_place else None
        return found if isinstance(found, Region) else None

    def is_any_opaque(self, first: int) -> bool:
        """Return whether an operation from a position on took or returned a tensor without a storage."""
        items, starts = self.items, self.starts
        noted = items[starts[first] :] if first < len(starts) else []
        if OPAQUE in noted or any(item.opaque for item in noted if type(item) is Event):
            return True
        nested = [item for item in noted if type(item) is list]
        rare = [items[start + 5] for start in starts[first:] if type(items[start]) is not Event]
        for each in rare:
            if type(each) is tuple:
                nested += each[0].values()
        return any(map(_is_opaque, nested))

    def memories(self) -> set[Memory]:
        """Return all storages that operations read or made."""
        items = self.items
        found = {item for item in items if type(item) is Memory}
        nested: dict[int, Any] = {}
        for position, start in enumerate(self.starts):
            first = items[start]
            if type(first) is Event:
                found.update(region.memory for region in (*first.operands(), *first.outs))
                continue
            for value in items[start + HEAD : self._stop(position)]:
                if type(value) is list or type(value) is tuple:
                    nested[id(value)] = value
            rare = items[start + 5]
            if type(rare) is tuple and rare[0]:
                nested[id(rare)] = tuple(rare[0].values())
        _collect(nested.values(), found)
        return found

    def copied_bytes(self) -> int:
        """Return how many bytes the copies of overwritten numbers, of data and of generators fill."""
        size = 0
        for start in self.starts:
            first = self.items[start]
            if type(first) is Event:
                rare: Any = None, first.before, first.draw, first.hand, first.initial
            else:
                rare = self.items[start + 5]
            if rare is None:
                continue
            if type(rare) is bytes:
                size += len(rare)
            else:
                _, before, draw, _, initial = rare
                copies = (*(before if before is not DROPPED else ()), initial)
                size += sum(copy.nbytes for copy in copies if copy is not None)
                size += draw.nbytes if draw is not None else 0
        return size

    def keep(self, chosen: Iterable[int]) -> None:
        """Forget all operations but those at the chosen positions, which are in order."""
        items: list[Any] = []
        starts: list[int] = []
        for position in chosen:
            start = self.starts[position]
            stop = start + 1 if type(self.items[start]) is Event else self._stop(position)
            starts.append(len(items))
            items += self.items[start:stop]
        # A recorder adds to these two lists.
        self.items[:] = items
        self.starts[:] = starts
        self._shared.clear()

    def _stop(self, position: int) -> int:
        """Return where the items of an operation end."""
        following = position + 1 if position >= 0 else position + 1 + len(self.starts)
        return self.starts[following] if following < len(self.starts) else len(self.items)

    def _results(self, start: int) -> list[Any]:
        """Return the layouts of the results of an operation that was not built."""
        first = self.items[start + HEAD]
        if type(first) is Memory:
            return [tuple(self.items[start + HEAD : start + HEAD + 5])]
        if first is SAME:
            argument = self.items[start + HEAD + 1]
            return [tuple(self.items[start + HEAD + 1 : start + HEAD + 6]) if type(argument) is Memory else argument]
        results: list[Any] = first
        return results

    def _args(self, start: int, position: int) -> list[Any]:
        """Return the arguments of an operation that was not built, each tensor as one layout."""
        items, stop = self.items, self._stop(position)
        at = start + HEAD + (5 if type(items[start + HEAD]) is Memory else 1)
        found: list[Any] = []
        while at < stop:
            length = 5 if type(items[at]) is Memory else 1
            found.append(tuple(items[at : at + 5]) if length == 5 else items[at])
            at += length
        return found

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

    def _build(self, position: int) -> Event:
        start = self.starts[position]
        time, info, (sites, direct), node, made, rare = self.items[start : start + HEAD]
        raw_args, raw_outs = self._args(start, position), self._results(start)
        args = tuple(map(self._region, raw_args))
        outs = tuple(region for raw in raw_outs if isinstance(region := self._region(raw), Region))
        event = Event(time, info, args, NO_KWARGS, outs, sites, direct, node_made=made, node=self._gradient_node(node))
        if type(rare) is bytes:
            event.before = (Bytes(rare, args[0].shape, args[0].dtype),)
        elif rare is not None:
            kwargs, event.before, event.draw, event.hand, event.initial = rare
            event.kwargs = {key: self._region(value) for key, value in kwargs.items()}
            event.opaque = any(map(_is_opaque, kwargs.values()))
        event.opaque = event.opaque or any(map(_is_opaque, raw_args)) or any(map(_is_opaque, raw_outs))
        _add_written(event)
        # The other items stay as they are until the record forgets the operation; what they refer to is in the event.
        stop = self._stop(position)
        self.items[start:stop] = [event, *[None] * (stop - start - 1)]
        return event

    def _gradient_node(self, raw: Any) -> GradientNode | None:
        if raw is None:
            return None
        if raw is not self._node[0]:
            run, number, name, plain, leaf, targets = raw
            node = GradientNode(run, number, name, plain, None if leaf is None else Region.of_layout(leaf), targets)
            self._node = raw, node
        return self._node[1]


def _add_written(event: Event) -> None:
    """Tell which results of an operation it has written, and which were there before."""
    info, args, outs = event.info, event.args, event.outs
    if info.op == "set_":
        return
    if info.written:
        # An operation may write to other tensors than it returns, and give those in `out` another shape.
        targets = tuple(info.targets(args, event.kwargs))
        returned = {region.storage: region for region in outs} if info.out else {}
        storages = {region.storage for region in targets}
        targets = tuple(returned.get(region.storage, region) for region in targets)
        event.written = event.outs = (*targets, *(region for region in outs if region.storage not in storages))
        return
    sources = {region.storage for region in event.operands()}
    event.written = tuple(region for region in outs if info.op == DATA or region.storage not in sources)


def _collect(values: Iterable[Any], found: set[Memory]) -> None:
    """Add the storages among arguments and results, also in lists and layouts."""
    for value in values:
        kind = type(value)
        if kind is Memory:
            found.add(value)
        elif kind is list or kind is tuple:
            _collect(value, found)


def _read(value: Any, found: list[Memory]) -> None:
    """Add the storages of a layout, or of the layouts in a list."""
    if type(value) is tuple:
        found.append(value[0])
    elif type(value) is list and value and type(value[0]) is not int:
        for item in value:
            _read(item, found)


def _is_opaque(raw: Any) -> bool:
    return raw is OPAQUE or (type(raw) is list and any(item is OPAQUE for item in raw))

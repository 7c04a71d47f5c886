"""Names for the numbers of a backward pass: the gradient of which tensor they are.

Autograd has a node for the derivative of each operation. What a node takes from other nodes is the gradient of what its
operation had made: so a tensor that one node wrote and another one took has a name if the operation of the latter is
known. Where several operations have used a tensor, autograd adds in between: the terms are parts of its gradient.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.recording import operation_info
from attn_tutor.lessons.worker.recording.autograd_nodes import GradientNode
from attn_tutor.lessons.worker.recording.element_history import Element, ElementHistory
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.names import NamedCell, Names
from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/gradients")

Index = tuple[int, ...]

_SUMS = frozenset({"add", "add_"})
_JOINS = frozenset({"cat", "stack"})
"""Operations by which a node puts the gradients of several results together."""

_IDLE = frozenset({"add", "add_", "sub", "sub_", "clone"})
"""Operations whose nodes may compute nothing, but hand on what they take."""

_INTO_LEAF = {"detach": "self", "clone": "self", "copy_": "src", "add_": "other"}
"""Operations that put a gradient into `.grad`, with the argument that takes it."""

MOST_SUMS = 100
"""Sums in a row: for a tensor that so many operations have used, more parts of its gradient have no name."""


@dataclass(frozen=True, slots=True)
class _Receipt:
    """A tensor that an operation of a node took.

    Attributes:
        event: the operation.
        region: the tensor.
        place: its place in a list, if the operation joins several gradients.
    """

    event: Event
    region: Region
    place: int | None = None


@dataclass(frozen=True, slots=True)
class Gradient:
    """What a number of a backward pass is.

    Attributes:
        cell: its name, such as `(gradient of scores)[0,1]`.
        index: its index in the tensor that autograd passed on.
        of: the name of what it is the gradient of.
        is_part: whether it is one of several terms of a gradient.
        maker: the operation whose result it is the gradient of; of a parameter None.
        leaf: the parameter whose gradient it is.
        variable: the name of the tensor whose gradient it is; "" if it has none.
    """

    cell: NamedCell
    index: Index
    of: str
    is_part: bool = False
    maker: Event | None = None
    leaf: Region | None = None
    variable: str = ""


@dataclass(slots=True)
class GradientNames:
    """Finds what the numbers of backward passes are the gradients of."""

    record: Record
    history: ElementHistory
    names: Names
    _seen: int = 0
    _active: set[tuple[int, int]] = field(default_factory=set)
    _makers: dict[int, Event] = field(default_factory=dict)
    _taken: dict[int, list[_Receipt]] = field(default_factory=dict)
    _by_node: dict[int, list[_Receipt]] = field(default_factory=dict)
    _by_leaf: dict[int, list[_Receipt]] = field(default_factory=dict)
    _orders: dict[tuple[int, str, tuple[Index, bool] | None], list[tuple[int, int]]] = field(default_factory=dict)
    """What was counted for a name: for one cell, whole or in parts; or with None for all cells."""
    _counted: dict[tuple[int, str], list[tuple[int, _Receipt]]] = field(default_factory=dict)

    def find(self, element: Element, writer: Event, code_names: frozenset[str] = frozenset()) -> Gradient | None:
        """Return the gradient of which cell an element is; None if that is not certain, or if it is none."""
        self._update()
        return self._find(element, writer, code_names, MOST_SUMS)

    def count(self, gradient: Gradient, writer: Event) -> int:
        """Return the place of the gradient that an operation wrote among those of this name; 0 if there is only one.

        They are in the order of the tensors whose gradients they are.
        """
        name = (gradient.maker or writer).time if gradient.leaf is None else -gradient.leaf.storage, gradient.variable
        all_cells, cell = (*name, None), (*name, (gradient.index, gradient.is_part))
        times = self._orders.get(cell if gradient.is_part or cell in self._orders else all_cells)
        if times is None:
            times = sorted(set(self._times(gradient)))
            same = not gradient.is_part and self._are_written_once(gradient)
            self._orders[all_cells if same else cell] = times
        places = [place for place, (_, time) in enumerate(times, 1) if time == writer.time]
        return places[0] if places and len(times) > 1 else 0

    def maker(self, writer: Event) -> Event | None:
        """Return the operation whose derivative an operation of a backward pass computes; None if it has none."""
        self._update()
        return self._makers.get(writer.node.number) if writer.node is not None and writer.node.leaf is None else None

    def step_of(self, writer: Event, output: int) -> str:
        """Describe a number that a derivative computes on its way, in parentheses; "" for any other."""
        maker = self.maker(writer)
        if maker is None:
            return ""
        return say(
            "step",
            "({operation} in the derivative of {code})",
            operation=operation_info.describe_result(writer, output) or writer.op.strip("_"),
            code=self.names.described(maker),
        )

    def find_changed(self, element: Element, writer: Event) -> NamedCell | None:
        """Name an element of the gradient of a parameter that was changed in place; None if it is none."""
        earlier, before = element, writer
        for _ in range(MOST_SUMS):
            if before.node is not None or not before.info.written:
                break
            earlier = replace(element, time=before.time)
            found = self.history.writer(earlier)
            if found is None:
                return None
            before = found
        if before is writer or before.node is None:
            return None
        gradient = self.find(earlier, before)
        if gradient is None or gradient.leaf is None or gradient.is_part:
            return None
        function = self.names.function_of(writer)
        name = say("after", "(gradient of {tensor} after {function})", tensor=gradient.of, function=function)
        return replace(gradient.cell, name=name, proper=False)

    # Which node took an element ------------------------------------------------------------------------------------

    def _update(self) -> None:
        """Index what has been recorded since the last call."""
        if self._seen == self.record.time:
            return
        events = self.record.events
        self._counted.clear()
        self._orders.clear()
        start, self._seen = events.after(self._seen), self.record.time
        for event in events[start:]:
            if event.node is None:
                if event.node_made >= 0:
                    self._makers.setdefault(event.node_made, event)
                continue
            self._active.add((event.node.run, event.node.number))
            for receipt in _receipts(event) if event.node.plain else ():
                self._taken.setdefault(receipt.region.storage, []).append(receipt)
                if event.node.leaf is not None:
                    self._by_leaf.setdefault(event.node.leaf.storage, []).append(receipt)
                elif not _is_sum(event):
                    self._by_node.setdefault(event.node.number, []).append(receipt)

    def _find(self, element: Element, writer: Event, code_names: frozenset[str], most: int) -> Gradient | None:
        node = writer.node
        if self.names.tangents.has(writer):
            return None
        if node is None:
            return self._first(writer, code_names)
        if not node.plain or not most:
            return None
        if node.leaf is not None:
            found = writer.index_of(element.storage, element.offset, element.size)
            return self._of_leaf(node.leaf, found[1], False) if found and writer.op in _INTO_LEAF else None
        taken = [
            (receipt, index)
            for receipt in self._taken.get(element.storage, ())
            if (index := self._index(receipt, element, writer)) is not None
        ]
        best = self._handed_on(node, taken, code_names)
        for receipt, index in taken:
            if best is not None and best.cell.proper:
                break
            gradient = self._of_receipt(receipt, index, code_names, most)
            best = gradient if best is None or (gradient is not None and gradient.cell.proper) else best
        return best

    def _handed_on(
        self, node: GradientNode, taken: list[tuple[_Receipt, Index]], code_names: frozenset[str]
    ) -> Gradient | None:
        """Name what reached its takers through a node that computes nothing: that of a sum hands its gradient on."""
        idle = [target for target in dict.fromkeys(node.targets) if (node.run, target[0]) not in self._active]
        direct = {number for number, _ in node.targets}
        if len(idle) != 1 or not taken or _is_sum(taken[0][0].event):
            return None
        (number, name), (receipt, index) = idle[0], taken[0]
        maker = self._makers.get(number)
        if maker is None or maker.op not in _IDLE or not _is_for(name, maker):
            return None
        if any(item.event.node is not None and item.event.node.number in direct for item, _ in taken):
            return None
        out = maker.outs[0]
        fits = (out.shape, out.dtype) == (receipt.region.shape, receipt.region.dtype)
        return self._of_result(maker, out, index, code_names) if fits else None

    def _index(self, receipt: _Receipt, element: Element, writer: Event) -> Index | None:
        """Return the index at which a node took an element as another node had made it; None if it did not."""
        event, region = receipt.event, receipt.region
        if event.time <= writer.time or not _passes(writer, event):
            return None
        if region.dtype != element.region.dtype or region.dtype.is_complex or _repeats(region):
            return None
        index = region.find(element.offset)
        if index is None or self._writer(region, index, event.time) is not writer:
            return None
        return index

    def _writer(self, region: Region, index: Index, time: int) -> Event | None:
        return self.history.writer(Element.of(region, index, time))

    # What it is the gradient of ------------------------------------------------------------------------------------

    def _of_receipt(self, receipt: _Receipt, index: Index, code_names: frozenset[str], most: int) -> Gradient | None:
        event = receipt.event
        assert event.node is not None
        if event.node.leaf is not None:
            return self._of_leaf(event.node.leaf, index, event.op in _SUMS)
        if _is_sum(event):
            return self._part(event, index, code_names, most)
        maker = self._makers.get(event.node.number)
        out = _result(maker, receipt) if maker is not None else None
        return None if maker is None or out is None else self._of_result(maker, out, index, code_names)

    def _part(self, event: Event, index: Index, code_names: frozenset[str], most: int) -> Gradient | None:
        """Name a term of a sum like the sum, which is a gradient or again a part of one."""
        total = self._find(Element.of(event.outs[0], index, event.time + 1), event, code_names, most - 1)
        if total is None or total.is_part:
            return total
        return replace(total, cell=replace(total.cell, name=_part_of(total.of)), is_part=True)

    def _of_result(self, maker: Event, out: Region, index: Index, code_names: frozenset[str]) -> Gradient:
        """Name the gradient of a cell of what an operation made."""
        cell: NamedCell | None
        code = self.names.described(maker, maker.outs.index(out))
        if maker.view:
            # Not the name of the tensor behind a view: that may have further uses, so its gradient is another one.
            name = self.names.result_name(maker)
            cell = NamedCell(name or code, index, bool(name))
        else:
            cell = self.names.find(Element.of(out, index, maker.time + 1), code_names)
            if cell is None or not self._is_whole(cell, out):
                cell = NamedCell(code, index, False)
        variable = cell.name if cell.proper else ""
        return Gradient(_gradient_of(cell), index, cell.name, maker=maker, variable=variable)

    def _is_whole(self, cell: NamedCell, out: Region) -> bool:
        """Return whether a name means all of a tensor: a part of it that has a name may have another gradient."""
        return any(
            binding.region.storage == out.storage and binding.region.size == out.size
            for binding in self.names.bindings(cell.name)
        )

    def _of_leaf(self, leaf: Region, index: Index, is_part: bool) -> Gradient | None:
        """Name the gradient of a cell of a parameter: that is known by its name in the lesson only."""
        name = self.names.leaf_name(leaf)
        if not name:
            return None
        cell = NamedCell(_part_of(name) if is_part else _whole(name), index, True)
        return Gradient(cell, index, name, is_part, leaf=leaf)

    def _first(self, writer: Event, code_names: frozenset[str]) -> Gradient | None:
        """Name the gradient that a backward pass starts from, which is 1: that of the loss."""
        loss = writer.arg("self")
        if writer.op != "ones_like" or not isinstance(loss, Region) or not self.names.is_backward(writer):
            return None
        index = (0,) * len(loss.shape)
        element = Element.of(loss, index, writer.time)
        maker = self.history.writer(element)
        cell = self.names.find(element, code_names)
        if cell is None and maker is not None:
            cell = NamedCell(self.names.described(maker), index, False)
        return Gradient(_gradient_of(cell), index, cell.name, maker=writer) if cell is not None else None

    # Which gradients have the same name ----------------------------------------------------------------------------

    def _times(self, gradient: Gradient) -> Iterator[tuple[int, int]]:
        """Yield when the tensors of this name were made, and their gradients or the parts of these were written."""
        maker, leaf, index = gradient.maker, gradient.leaf, gradient.index
        if maker is not None and maker.op == "ones_like":
            yield from ((event.time, event.time) for event in self.names.repetitions(maker))
            return
        for made, receipt in self._receipts_of(gradient):
            event, region = receipt.event, receipt.region
            writer = self._writer(region, index, event.time) if _is_inside(index, region.shape) else None
            if writer is None or not _passes(writer, event):
                continue
            is_added = leaf is not None and event.op in _SUMS
            if gradient.is_part:
                yield from ((made, writer.time),) if is_added else ()
                yield from ((made, time) for time in self._terms(writer, index))
            else:
                yield made, event.time if is_added else writer.time

    def _are_written_once(self, gradient: Gradient) -> bool:
        """Return whether one operation wrote all of each gradient of a name."""
        maker = gradient.maker
        if maker is not None and maker.op == "ones_like":
            return True
        for _, receipt in self._receipts_of(gradient):
            writes = self.record.writes.get(receipt.region.storage, ())
            if len(writes) != 1 or writes[0].outs[0].size < receipt.region.size:
                return False
        return True

    def _receipts_of(self, gradient: Gradient) -> list[tuple[int, _Receipt]]:
        """Return when the tensors of a name were made, each with what nodes took as their gradients."""
        maker, leaf = gradient.maker, gradient.leaf
        if leaf is not None:
            return [(0, item) for item in self._by_leaf.get(leaf.storage, ())]
        assert maker is not None
        key = maker.time, gradient.variable
        if key not in self._counted:
            self._counted[key] = [
                (time, item)
                for time, one in {one.time: one for one in self._makers_of(maker, gradient.variable)}.items()
                for item in self._by_node.get(one.node_made, ())
                if _result(one, item) is not None
            ]
        return self._counted[key]

    def _makers_of(self, maker: Event, variable: str) -> Iterator[Event]:
        """Yield the operations whose results have had the name of the result of one of them."""
        yield maker
        yield from self.names.repetitions(maker)
        events = self.record.events
        for binding in self.names.bindings(variable) if variable else ():
            region = binding.region
            if 0 not in region.shape:
                last = Element.of(region, (0,) * len(region.shape), self.record.time)
                for time in self.history.write_times(last, binding.time):
                    yield events[events.after(time)]

    def _terms(self, event: Event, index: Index, most: int = MOST_SUMS) -> Iterator[int]:
        """Yield when the terms of a sum, and the terms of these, were written."""
        for region in event.operands() if _is_sum(event) and most else ():
            writer = self._writer(region, index, event.time)
            if writer is not None and writer.node is not None:
                yield writer.time
                yield from self._terms(writer, index, most - 1)


def _receipts(event: Event) -> Iterator[_Receipt]:
    """Yield what an operation of a backward pass took."""
    assert event.node is not None
    if event.node.leaf is not None:
        region = event.arg(_INTO_LEAF.get(event.op, ""))
        if isinstance(region, Region):
            yield _Receipt(event, region)
        return
    for value in (*event.args, *event.kwargs.values()):
        if isinstance(value, Region):
            yield _Receipt(event, value)
        elif isinstance(value, list) and event.op in _JOINS:
            yield from (_Receipt(event, item, place) for place, item in enumerate(value) if isinstance(item, Region))


def _passes(writer: Event, taker: Event) -> bool:
    """Return whether an operation of a backward pass took what another node of the same pass had written."""
    if writer.node is None or taker.node is None or writer.node.run != taker.node.run:
        return False
    # A hook, which is code of its own, may replace a gradient before its node takes it.
    if writer.sites[-len(taker.sites) :] != taker.sites:
        return False
    # Autograd adds after the last operation of a node, while that is still the present one.
    return writer.node != taker.node or _is_sum(taker)


def _is_sum(event: Event) -> bool:
    """Return whether an operation may be one by which autograd adds what several nodes have made for the same."""
    regions = list(event.operands()) if event.op in _SUMS else []
    return len(regions) == 2 and regions[0].shape == regions[1].shape and event.arg("alpha") in (None, 1)


def _result(maker: Event, receipt: _Receipt) -> Region | None:
    """Return the result of an operation whose gradient its node took; None if that is unclear."""
    event, region = receipt.event, receipt.region
    if event.node is None or not _is_for(event.node.name, maker):
        return None
    outs = [out for out in maker.outs if out.dtype.is_floating_point]
    place = 0
    if receipt.place is not None:
        place = receipt.place
        if len(outs) < 2 or len(event.args[0]) != len(outs):
            return None
    elif len(outs) != 1 and not operation_info.gives_first_only(maker):
        return None
    fits = place < len(outs) and (outs[place].shape, outs[place].dtype) == (region.shape, region.dtype)
    return outs[place] if fits else None


def _is_for(name: str, maker: Event) -> bool:
    """Return whether a node with this name is for the derivative of an operation."""
    return name.partition("Backward")[0].lower() == maker.op.replace("_", "")


def _gradient_of(cell: NamedCell) -> NamedCell:
    return replace(cell, name=_whole(cell.name))


def _whole(tensor: str) -> str:
    return say("whole", "(gradient of {tensor})", tensor=tensor)


def _part_of(tensor: str) -> str:
    return say("part", "(part of the gradient of {tensor})", tensor=tensor)


def _is_inside(index: Index, shape: Index) -> bool:
    return len(index) == len(shape) and all(position < size for position, size in zip(index, shape, strict=True))


def _repeats(region: Region) -> bool:
    """Return whether several indices of a region mean the same element."""
    return any(size > 1 and not step for size, step in zip(region.shape, region.stride, strict=True))

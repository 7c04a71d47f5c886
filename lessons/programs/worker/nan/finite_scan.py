"""A scan of a record for numbers that are not finite: which operations wrote some, and how close others came to it.

Every number that a run ever had was either overwritten, and then there is a copy of it, or is still there. So the scan
goes backwards in time: it looks at what each operation wrote, then puts back what the operation had overwritten.

Two kinds of findings do not count. One are numbers inside of a derivative that PyTorch computes, and that it hides
itself: the derivative of a norm divides by the norm, and then puts zeros where that was 0. The others are gradients for
which a `GradScaler` skips the step and lowers the factor of the loss: that is how the factor is found, and no failure,
unless no later step was better.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Literal

import torch

from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.recording.autograd_nodes import GradientNode
from attn_tutor.lessons.worker.recording.element_history import Element, ValueLost
from attn_tutor.lessons.worker.recording.event import Event, contents
from attn_tutor.lessons.worker.recording.events import Events
from attn_tutor.lessons.worker.recording.reachability import is_held
from attn_tutor.lessons.worker.recording.record import CannotRestore, Record
from attn_tutor.lessons.worker.recording.regions import Region
from attn_tutor.lessons.worker.recording.rematerialization import EMPTY

Kind = Literal["nan", "inf"]

NEAR = 16
"""By how much a number may be smaller than the largest number of its type to be reported as close to it."""

SETTING = frozenset(
    {
        *("masked_fill", "masked_fill_", "fill", "fill_", "full", "full_like", "new_full", "scalar_tensor", "where"),
        *("lift_fresh", "masked_scatter", "masked_scatter_", "index_fill", "index_fill_", "scatter", "scatter_"),
    }
)
"""Operations whose numbers that are not finite were there before, or are set by the code."""

MOST_INDICES = 16
"""Numbers that are not finite of which it is noted where in their tensor they are."""

MOST_PEAKS = 3
"""Tensors with numbers close to the largest one of their type that are listed."""

_Memory = torch.UntypedStorage

_aminmax = torch._C._VariableFunctions.aminmax


@dataclass(slots=True, frozen=True)
class Written:
    """A tensor with numbers that are not finite.

    Attributes:
        time: just after they were written; for numbers from outside, the time at which they were first read.
        region: the tensor.
        event: the operation that wrote them; None if they came from outside.
        kind: whether any of them is NaN, or all are infinite.
        count: how many are NaN or infinite.
        indices: where the first ones of the kind are.
    """

    time: int
    region: Region
    event: Event | None
    kind: Kind
    count: int
    indices: tuple[tuple[int, ...], ...]


@dataclass(slots=True, frozen=True)
class Peak:
    """A tensor with a finite number close to the largest one of its type.

    Attributes:
        part: how close it is: by what part of it.
        event: the operation that wrote it.
        size, dtype: of the tensor.
        largest: the largest magnitude in the tensor.
    """

    part: float
    event: Event
    size: int
    dtype: torch.dtype
    largest: float


@dataclass(slots=True, frozen=True)
class Loss:
    """A number whose gradients were asked for.

    Attributes:
        event: the operation with which the backward pass began.
        value: the number.
        product: the operation that had computed it, if that multiplied a number.
        factor: the number that was multiplied.
    """

    event: Event
    value: float
    product: Event | None = None
    factor: float = 0.0


@dataclass(slots=True)
class Scan:
    """What a scan has found.

    Attributes:
        found: the tensors with numbers that are not finite, in the order of time.
        operations: the count of operations that were looked at.
        numbers: the count of numbers that these wrote.
        lost: the count of numbers that could not be looked at, because they were overwritten and no copy was kept.
        peaks: the tensors with the numbers that are closest to the largest one of their type.
    """

    found: list[Written] = field(default_factory=list)
    operations: int = 0
    numbers: int = 0
    lost: int = 0
    peaks: list[Peak] = field(default_factory=list)

    def add_peak(self, peak: Peak) -> None:
        """Note a tensor with a number close to the largest one of its type, if only few came closer."""
        same = [item for item in self.peaks if item.event.sites[:1] == peak.event.sites[:1]]
        if same and same[0].part >= peak.part:
            # Of the operations of one piece of code, and of the times that it runs, the closest.
            return
        self.peaks = [item for item in self.peaks if item not in same]
        self.peaks.append(peak)
        self.peaks.sort(key=lambda item: -item.part)
        del self.peaks[MOST_PEAKS:]


def is_given(op: str, args: Iterable[Any], near: float) -> bool:
    """Return whether a number of a size above `near` was there before an operation, or the code gives it as it is."""
    return op in SETTING or any(isinstance(item, float) and abs(item) > near for item in args)


def widened(tensor: torch.Tensor) -> torch.Tensor:
    """Return a tensor in a type that PyTorch can compare numbers of: float8 is none."""
    return tensor.float() if tensor.dtype.itemsize < 2 else tensor


def largest_magnitude(tensor: torch.Tensor) -> float:
    """Return the largest magnitude in a tensor that is not empty, NaN if there is any."""
    if not tensor.is_contiguous() and tensor.dim() > 1:
        # Numbers are looked at several times faster in the order in which they lie in memory.
        strides = tensor.stride()
        tensor = tensor.permute(sorted(range(len(strides)), key=lambda axis: -strides[axis]))
    # One pass, and no mask in between.
    least, greatest = _aminmax(tensor)
    return max(-float(least), float(greatest))


def described(time: int, region: Region, event: Event | None, tensor: torch.Tensor, largest: float) -> Written:
    """Describe a tensor with numbers that are not finite, given its numbers and their largest magnitude."""
    mask = tensor.isnan() if math.isnan(largest) else tensor.isinf()
    indices = tuple(tuple(index) for index in mask.nonzero()[:MOST_INDICES].tolist())
    count = tensor.numel() - int(tensor.isfinite().sum())
    return Written(time, region, event, "nan" if math.isnan(largest) else "inf", count, indices)


def scan(record: Record, until: int | None = None) -> Scan:
    """Look at everything that the operations of a record wrote, until a time if one is given.

    Not to be used while the recorder is entered.
    """
    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        return _Scanner(record, record.time if until is None else until).run()


class _Scanner:
    def __init__(self, record: Record, until: int) -> None:
        self._record, self._until = record, until
        self._scan = Scan()
        self._contents: dict[int, _Memory] = {}
        """What storages held that were overwritten later, at the time that the scan has come to."""
        self._reads: dict[int, tuple[int, Region]] = {}
        """The first time that each storage was read, and as which tensor."""

    def run(self) -> Scan:
        events = self._record.events
        for position in range(len(events) - 1, -1, -1):
            event = events[position]
            is_within = event.time < self._until
            for region in event.operands() if is_within else ():
                self._reads[region.storage] = event.time, region
            if not event.written:
                continue
            if is_within:
                self._scan.operations += event.info.func is not None
                for region in event.written:
                    self._look_at(event, region)
            self._undo(event)
        for time, region in self._reads.values():
            if region.storage in self._contents or region.storage not in self._record.lost:
                self._look(time, region, None, self._contents.get(region.storage, region.memory))
        self._scan.found.sort(key=lambda item: item.time)
        return self._scan

    def _look_at(self, event: Event, region: Region) -> None:
        """Look at what an operation wrote."""
        if region.storage not in self._contents and (
            # What is there now was written after recording had stopped.
            region.storage in self._record.lost or not self._bring_back(region, event.time)
        ):
            self._scan.lost += region.size
            return
        # What lies in memory that nothing has written yet may be anything.
        if not event.op.startswith(EMPTY):
            self._look(event.time + 1, region, event, self._contents.get(region.storage, region.memory))

    def _bring_back(self, region: Region, time: int) -> bool:
        """Bring back the bytes of a storage if they were dropped; return whether they are there."""
        if region.memory.nbytes() or not region.size:
            return True
        try:
            self._record.restore(time)
        except CannotRestore:
            return False
        return region.memory.nbytes() > 0

    def _look(self, time: int, region: Region, event: Event | None, memory: _Memory) -> None:
        parts = region.parts
        if not parts.dtype.is_floating_point or not parts.size:
            return
        if _end(parts) > memory.nbytes():
            # `resize_` has made the storage smaller since.
            self._scan.lost += parts.size
            return
        if event is not None:
            self._scan.numbers += parts.size
        tensor = widened(parts.inside(memory))
        largest = largest_magnitude(tensor)
        if math.isfinite(largest):
            near = torch.finfo(parts.dtype).max / NEAR
            if event is not None and largest > near and not is_given(event.op, event.args, near):
                peak = Peak(largest / torch.finfo(parts.dtype).max, event, parts.size, parts.dtype, largest)
                self._scan.add_peak(peak)
            return
        self._scan.found.append(described(time, parts, event, tensor, largest))

    def _undo(self, event: Event) -> None:
        """Put back what an operation had overwritten; forget the storages that it made."""
        count = len(list(event.info.targets(event.args, event.kwargs))) if event.info.written else 0
        for region in event.written[count:]:
            self._reads.pop(region.storage, None)
            self._contents.pop(region.storage, None)
        try:
            copies = self._record.before(event) if count else ()
        except CannotRestore:
            copies = ()
        for region, copy in itertools.zip_longest(event.written[:count], copies[:count]):
            memory = self._contents.get(region.storage)
            if memory is None:
                memory = self._contents[region.storage] = self._clone(region, event.time)
            target = region.inside(memory)
            if copy is None:
                # Zeros stand for numbers that nobody knows any more.
                target.zero_()
                self._scan.lost += region.size
            else:
                target.copy_(contents(copy))

    def _clone(self, region: Region, time: int) -> _Memory:
        known = region.storage not in self._record.lost and self._bring_back(region, time)
        size = max(_end(region), region.memory.nbytes())
        whole = torch.zeros(size, dtype=torch.uint8)
        if known:
            whole[: region.memory.nbytes()] = torch.empty(0, dtype=torch.uint8).set_(region.memory)
        return whole.untyped_storage()


def _end(region: Region) -> int:
    """Return the offset behind the last byte of a region in its storage."""
    last = sum((length - 1) * step for length, step in zip(region.shape, region.stride, strict=True))
    return (region.offset + last + 1) * region.dtype.itemsize if region.size else 0


def without_hidden(run: Explainer, found: list[Written]) -> list[Written]:
    """Leave out those, up to the first derivative of which some leaves it, that no operation outside of it gets."""
    events = run.record.events
    inside = [item for item in found if item.event is not None and item.event.node is not None]
    if not inside:
        return found
    read = _last_reads(events, events.after(inside[0].time), {item.region.storage for item in inside})
    hidden: set[int] = set()
    for _, group in itertools.groupby(inside, key=_node_of):
        items = list(group)
        end = _end_of_node(events, items[-1])
        leaving = [item for item in items if _leaves(run, item, end, read.get(item.region.storage, 0))]
        hidden.update(map(id, _without_way_out(items, leaving)))
        if leaving:
            break
    return [item for item in found if id(item) not in hidden]


def _without_way_out(items: list[Written], leaving: list[Written]) -> list[Written]:
    """Return those of a derivative from which none was computed that leaves it."""
    kept = set(map(id, leaving))
    read: set[int] = set()
    for item in reversed(items):
        if id(item) in kept or item.region.storage in read:
            kept.add(id(item))
            read.update(region.storage for region in (item.event.operands() if item.event is not None else ()))
    return [item for item in items if id(item) not in kept]


def _node_of(item: Written) -> tuple[int, int]:
    assert item.event is not None
    assert item.event.node is not None
    return item.event.node.run, item.event.node.number


def _leaves(run: Explainer, item: Written, end: int, read: int) -> bool:
    """Return whether anything outside of a node, whose operations end at a time, gets numbers that are not finite."""
    if read < end and not is_held(item.region.memory):
        return False
    try:
        return not bool(run.history.tensor(item.region, end, copy=False).isfinite().all())
    except ValueLost:
        return True


def _last_reads(events: Events, start: int, storages: set[int]) -> dict[int, int]:
    """Return the time of the last operation that read each of these storages, from a position on."""
    found: dict[int, int] = {}
    for position in range(start, len(events)):
        for memory in events.flow(position)[1]:
            if memory._cdata in storages:
                found[memory._cdata] = events.time(position)
    return found


def _end_of_node(events: Events, item: Written) -> int:
    """Return the time of the first operation that ran in another node of the backward pass, or in none."""
    position = events.after(item.time)
    node = item.event.node if item.event is not None else None
    while position < len(events) and _is_same(events.node(position), node):
        position += 1
    return events.time(position) if position < len(events) else events.time(position - 1) + 1


def _is_same(one: GradientNode | None, other: GradientNode | None) -> bool:
    return one is not None and other is not None and (one.run, one.number) == (other.run, other.number)


UPDATE = "_amp_update_scale_"
"""The operation with which a scaler ends a step."""

UNSCALE = "_amp_foreach_non_finite_check_and_unscale_"
"""The operation with which a scaler looks at gradients."""


@dataclass(frozen=True, slots=True)
class ScaledStep:
    """A step of a scaler.

    Attributes:
        since: the time from which on its numbers were not finite because of its gradients.
        end: the time at which the scaler ended it.
        is_finite: whether its gradients were finite.
    """

    since: int
    end: int
    is_finite: bool


def scaled_steps(run: Explainer, until: int, found: Iterable[Written]) -> list[ScaledStep]:
    """List the steps of scalers before a time, given what was not finite."""
    steps: list[ScaledStep] = []
    gradients = [item.time for item in found if item.event is not None and item.event.node is not None]
    events = run.record.events
    for position in range(events.after(until)):
        op = events.info(position).op
        if op == UNSCALE:
            gradients.append(events.time(position))
        elif op == UPDATE:
            event = events[position]
            flag = event.arg("found_inf")
            if isinstance(flag, Region) and flag.size == 1:
                try:
                    value = run.history.value(Element.of(flag, (0,) * len(flag.shape), event.time))
                except ValueLost:
                    continue
                before = steps[-1].end if steps else 0
                since = min((time for time in gradients if before < time <= event.time), default=event.time)
                steps.append(ScaledStep(since, event.time, value == 0))
    return steps


def without_skipped(
    found: list[Written], steps: list[ScaledStep], *, is_last: bool, is_nan: Callable[[Written], bool]
) -> list[Written]:
    """Leave out what was not finite only because of the gradients of steps that were skipped.

    If these are the last ones, only those that are followed by a better one.

    Args:
        found: what was not finite.
        steps: the steps of scalers; if they are not the last ones, also the one that has begun.
        is_last: whether no step follows.
        is_nan: tells whether any number of a tensor is NaN.
    """
    last_good = max((step.end for step in steps if step.is_finite), default=0) if is_last else sys.maxsize
    left = list(found)
    before = 0
    for step in steps:
        is_excused = not step.is_finite and step.end <= last_good
        # A loss that was NaN itself is no fault of the factor.
        if is_excused and not any(before < item.time < step.since and is_nan(item) for item in left):
            left = [item for item in left if not step.since <= item.time <= step.end]
        before = step.end
    return left

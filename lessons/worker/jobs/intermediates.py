"""The intermediate results of an answer: which line computed which tensor, in order; and where two answers diverge.

Tensors are compared by value, never by the names of variables, which each learner chooses differently.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from lessons.worker.recording.element_history import ElementHistory, ValueLost
from lessons.worker.recording.record import Event, Region, Site
from lessons.worker.recording.recorder import Recorder
from lessons.worker.recording.source_positions import SourcePositions

MOST_TENSORS = 300
MOST_ELEMENTS = 50_000
MOST_BYTES = 5 << 20
LONGEST_NAME = 80
TOLERANCE = 1e-4
EMPTY = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
"""The operations whose result nothing has written yet."""


@dataclass(slots=True)
class IntermediateResult:
    """An intermediate result: its name in the code (`named`) or the code that computes it, its line, its value.

    `parents` are the indices of the earlier results that it was computed from.
    """

    name: str
    named: bool
    line: int | None
    value: torch.Tensor
    parents: frozenset[int] = field(default_factory=frozenset)


class Tracer:
    """A tracer of a program: run the program inside `with tracer.running():`, then call `results`."""

    def __init__(self, filename: str, source: str) -> None:
        self._filename = filename
        self._recorder = Recorder()
        self._recorder.watch(filename, source)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Record everything that is computed in the `with` block."""
        with self._recorder:
            yield

    def results(self) -> list[IntermediateResult]:
        """Return the results of the program's own lines, in order, with the values that they had when computed."""
        record = self._recorder.record
        history, positions = ElementHistory(record), SourcePositions(record)
        found: list[IntermediateResult] = []
        wrote: dict[int, int] = {}
        viewed: dict[tuple[object, ...], int] = {}
        filled = _filled_piece_by_piece(record.events)
        size = 0
        for event in record.events:
            site = self._site(event)
            if site is None or not event.outs or len(found) >= MOST_TENSORS:
                continue
            # Of a tensor that a loop fills, the last piece stands for the whole.
            whole = filled.get(event.time)
            if whole is None and event.op in EMPTY:
                # What lies in memory that nothing has written yet is no result, and may be anything.
                continue
            region, origin = (event.outs[0], site) if whole is None else (whole.outs[0], self._site(whole) or site)
            value = _value(history, region, event.time + 1)
            if value is None or size + value.numel() * value.element_size() > MOST_BYTES:
                continue
            size += value.numel() * value.element_size()
            operands = list(event.operands())
            makers = (max(wrote.get(item.storage, -1), viewed.get(_view(item), -1)) for item in operands)
            parents = frozenset(index for index in makers if index >= 0)
            assigned = positions.assigned(origin)
            name = (assigned or positions.code(origin) or event.op)[:LONGEST_NAME]
            if event.info.written or region.storage not in {item.storage for item in operands}:
                wrote[region.storage] = len(found)
            elif _view(region) not in {_view(item) for item in operands}:
                # A view makes nothing: what reads the same parameter later does not depend on it.
                viewed[_view(region)] = len(found)
            found.append(IntermediateResult(name, bool(assigned), positions.line(site), value, parents))
        return _last_of_each_code(found)

    def _site(self, event: Event) -> Site | None:
        """Return the innermost site in the program's own code that called an operation, None if there is none."""
        return next((site for site in event.sites if site[0].co_filename == self._filename), None)


def _view(region: Region) -> tuple[object, ...]:
    return region.storage, region.offset, region.shape, region.stride


def _filled_piece_by_piece(events: Sequence[Event]) -> dict[int, Event]:
    """Find the tensors written in pieces. Maps the time of their last piece to the event that made the tensor."""
    makers: dict[int, Event] = {}
    last: dict[int, int] = {}
    for event in events:
        for region in event.outs:
            maker = makers.setdefault(region.storage, event)
            if event.info.written and region.size < maker.outs[0].size:
                last[region.storage] = event.time
    return {time: makers[storage] for storage, time in last.items()}


def _value(history: ElementHistory, region: Region, time: int) -> torch.Tensor | None:
    """Return the value of a region at a time, None if it is not worth showing or is lost."""
    if not 1 < region.size <= MOST_ELEMENTS or region.dtype.is_complex or len(region.shape) > 6:
        return None
    with contextlib.suppress(ValueLost, RuntimeError):
        return history.tensor(region, time)
    return None


def _last_of_each_code(found: list[IntermediateResult]) -> list[IntermediateResult]:
    """Merge successive operations with the same code (`transpose`, then the product) into the last one.

    Results computed from one of the others count as computed from the last.
    """
    merged: list[IntermediateResult] = []
    merged_index: dict[int, int] = {}
    for index, item in enumerate(found):
        parents = frozenset(merged_index[parent] for parent in item.parents if parent in merged_index)
        last = merged[-1] if merged else None
        if last is not None and index - 1 in merged_index and (last.name, last.line) == (item.name, item.line):
            parents = (last.parents | parents) - {len(merged) - 1}
            merged[-1] = IntermediateResult(item.name, item.named, item.line, item.value, parents)
        else:
            merged.append(IntermediateResult(item.name, item.named, item.line, item.value, parents))
        merged_index[index] = len(merged) - 1
    return merged


# Encoding ------------------------------------------------------------------------------------------------------------


def plain(results: Sequence[IntermediateResult]) -> list[dict[str, Any]]:
    """Return results as plain values, which `jobs.values` can encode."""
    return [
        {
            "name": item.name,
            "named": item.named,
            "line": item.line,
            "value": item.value,
            "parents": sorted(item.parents),
        }
        for item in results
    ]


def of_plain(data: Any) -> list[IntermediateResult]:
    """Return the results from plain values. Raises `ValueError`, `KeyError` or `TypeError` for malformed data."""
    found: list[IntermediateResult] = []
    for index, item in enumerate(data[:MOST_TENSORS]):
        value, line = item["value"], item["line"]
        if not isinstance(value, torch.Tensor) or not isinstance(line, int | None):
            raise TypeError("no result")
        parents = frozenset(int(parent) for parent in item["parents"] if 0 <= int(parent) < index)
        found.append(IntermediateResult(str(item["name"])[:LONGEST_NAME], bool(item["named"]), line, value, parents))
    return found


# Comparing -----------------------------------------------------------------------------------------------------------


def equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two results hold the same numbers: in the same places if their shapes agree, else in any order."""
    if one.numel() != other.numel():
        return False
    first, second = one.double(), other.double()
    if one.shape != other.shape:
        first, second = first.flatten().sort().values, second.flatten().sort().values
    return torch.allclose(first, second, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)


def _is_distinctive(value: torch.Tensor) -> bool:
    """Return whether a tensor has at least two different numbers, so that it can be recognized by value."""
    return value.numel() > 1 and bool((value != value.flatten()[0]).any())


def match(theirs: Sequence[IntermediateResult], ours: Sequence[IntermediateResult]) -> list[int | None]:
    """Return, for each of our results, the index of the first of theirs with the same value, None if there is none."""
    found: list[int | None] = []
    for item in ours:
        indices = (
            at for at, other in enumerate(theirs) if _is_distinctive(item.value) and equal(other.value, item.value)
        )
        found.append(next(indices, None))
    return found


@dataclass(slots=True)
class Divergence:
    """The point where two programs diverge: the first of our results that they lack, and theirs in place of it.

    All fields are indices; `agreed` are the ones of our results that lead there and that they have.
    """

    ours: int
    theirs: int | None
    agreed: tuple[int, ...]


def find_divergence(theirs: Sequence[IntermediateResult], ours: Sequence[IntermediateResult]) -> Divergence | None:
    """Find the first of our results that they lack and could not do without. Returns None if nothing differs.

    A result that they bypassed, since a later result that depends on it is the same, does not count: for example
    scores, where they scale the queries instead. If they have all of our results, the divergence is a result that they
    computed after our last one.
    """
    matched = match(theirs, ours)
    ancestors = _ancestors(ours)
    bypassed = {parent for index, at in enumerate(matched) if at is not None for parent in ancestors[index]}
    for index, at in enumerate(matched):
        if at is None and index not in bypassed and _is_distinctive(ours[index].value):
            agreed = tuple(sorted(parent for parent in ancestors[index] if matched[parent] is not None))
            after = [matched[parent] for parent in agreed]
            return Divergence(index, _in_place_of(ours[index], theirs, ours, after), agreed)
    if not ours:
        return None
    last = len(ours) - 1
    found = _in_place_of(ours[last], theirs, ours, matched)
    return None if found is None else Divergence(last, found, tuple(sorted(ancestors[last])))


def _in_place_of(
    wanted: IntermediateResult,
    theirs: Sequence[IntermediateResult],
    ours: Sequence[IntermediateResult],
    after: Sequence[int | None],
) -> int | None:
    """Return the index of their result in place of `wanted`: the first that we lack, after all that both agree on.

    A result computed from agreed ones is preferred to others (a mask, say), then one of the right shape.
    """
    agreed = {index for index in after if index is not None}
    start = max(agreed, default=-1) + 1
    ancestors = _ancestors(theirs)
    strange = [
        index
        for index, item in enumerate(theirs)
        if index >= start and not any(equal(item.value, other.value) for other in ours)
    ]
    derived = [index for index in strange if ancestors[index] & agreed] or strange
    same_shape = [index for index in derived if theirs[index].value.shape == wanted.value.shape]
    return next(iter(same_shape or derived), None)


def _ancestors(results: Sequence[IntermediateResult]) -> list[frozenset[int]]:
    found: list[frozenset[int]] = []
    for item in results:
        found.append(item.parents.union(*(found[parent] for parent in item.parents)))
    return found

"""The intermediate results of an answer: which line made which tensor, in order; and where two answers part.

Tensors are compared by value, never by the names of variables, which are the learner's own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from lessons.worker.recording.element_history import ElementHistory, ValueLost
from lessons.worker.recording.recorder import Event, Recorder, Region, Site
from lessons.worker.recording.source_positions import SourcePositions

MOST_TENSORS = 300
MOST_ELEMENTS = 50_000
MOST_BYTES = 5 << 20
LONGEST_NAME = 80
TOLERANCE = 1e-4


@dataclass(slots=True)
class IntermediateResult:
    """One result: what the code calls it (`named`) or the code that makes it, its line, its value.

    `parents` are the places of earlier results that it was made from.
    """

    name: str
    named: bool
    line: int | None
    value: torch.Tensor
    parents: frozenset[int] = field(default_factory=frozenset)


class Tracer:
    """Traces a program: `with tracer:` around what runs it, `made` afterwards."""

    def __init__(self, filename: str, source: str) -> None:
        self._filename = filename
        self._recorder = Recorder()
        self._recorder.watch(filename, source)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Record what is computed meanwhile."""
        with self._recorder:
            yield

    def results(self) -> list[IntermediateResult]:
        """The results of the program's own lines, in order, as they were when they were made."""
        record = self._recorder.record
        history, positions = ElementHistory(record), SourcePositions(record)
        found: list[IntermediateResult] = []
        wrote: dict[int, int] = {}
        filled = _filled_piece_by_piece(record.events)
        size = 0
        for event in record.events:
            site = self._site(event)
            if site is None or not event.outs or len(found) >= MOST_TENSORS:
                continue
            # The last piece of a tensor that a loop fills stands for all of it.
            whole = filled.get(event.time)
            region, maker = (event.outs[0], site) if whole is None else (whole.outs[0], self._site(whole) or site)
            value = _value(history, region, event.time + 1)
            if value is None or size + value.numel() * value.element_size() > MOST_BYTES:
                continue
            size += value.numel() * value.element_size()
            parents = frozenset(wrote[item.storage] for item in event.operands() if item.storage in wrote)
            assigned = positions.assigned(maker)
            name = (assigned or positions.code(maker) or event.op)[:LONGEST_NAME]
            wrote[region.storage] = len(found)
            found.append(IntermediateResult(name, bool(assigned), positions.line(site), value, parents))
        return _last_of_each_code(found)

    def _site(self, event: Event) -> Site | None:
        """Where the program's own code called an operation, innermost first."""
        return next((site for site in event.sites if site[0].co_filename == self._filename), None)


def _filled_piece_by_piece(events: Sequence[Event]) -> dict[int, Event]:
    """Tensors that are written in pieces: the time of the last piece, and what made the tensor."""
    makers: dict[int, Event] = {}
    last: dict[int, int] = {}
    for event in events:
        for region in event.outs:
            maker = makers.setdefault(region.storage, event)
            if event.info.written and region.size < maker.outs[0].size:
                last[region.storage] = event.time
    return {time: makers[storage] for storage, time in last.items()}


def _value(history: ElementHistory, region: Region, time: int) -> torch.Tensor | None:
    """What a region held at a time, None if it is nothing to look at."""
    if not 1 < region.size <= MOST_ELEMENTS or region.dtype.is_complex or len(region.shape) > 6:
        return None
    with contextlib.suppress(ValueLost, RuntimeError):
        return history.tensor(region, time)
    return None


def _last_of_each_code(found: list[IntermediateResult]) -> list[IntermediateResult]:
    """Of several operations that one piece of code stands for (`transpose`, then the product), only the last counts.

    What was made by one of the others counts as made by it.
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


# Travelling ----------------------------------------------------------------------------------------------------------


def plain(results: Sequence[IntermediateResult]) -> list[dict[str, Any]]:
    """Results as values that travel."""
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
    """Results from what travelled. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
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
    """Whether two results are the same: equal where the shapes are, else the same numbers in another arrangement."""
    if one.numel() != other.numel():
        return False
    first, second = one.double(), other.double()
    if one.shape != other.shape:
        first, second = first.flatten().sort().values, second.flatten().sort().values
    return torch.allclose(first, second, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)


def _is_distinctive(value: torch.Tensor) -> bool:
    """Whether a tensor has enough different numbers in it to be recognised."""
    return value.numel() > 1 and bool((value != value.flatten()[0]).any())


def match(theirs: Sequence[IntermediateResult], ours: Sequence[IntermediateResult]) -> list[int | None]:
    """For each of our results the place of theirs that is the same, if there is one."""
    found: list[int | None] = []
    for item in ours:
        indices = (
            at for at, other in enumerate(theirs) if _is_distinctive(item.value) and equal(other.value, item.value)
        )
        found.append(next(indices, None))
    return found


@dataclass(slots=True)
class Divergence:
    """Where two ways part: the first of our results that they do not have, and what they have in its place.

    `agreed` are the places of ours that lead there and that they have.
    """

    ours: int
    theirs: int | None
    agreed: tuple[int, ...]


def find_divergence(theirs: Sequence[IntermediateResult], ours: Sequence[IntermediateResult]) -> Divergence | None:
    """The first result of ours that they lack and could not do without; None if there is none.

    What they got around (a later result that depends on it is the same) is no difference: queries scaled instead of
    scores, say. If they have all of ours, it is what they have made of the last of them.
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
    """What they made where `wanted` was due: the first result not of ours after all that both agree on.

    What was made from that comes before what was not (a mask, say), and what has the right shape before the rest.
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

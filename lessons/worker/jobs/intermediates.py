"""The trace of an answer: its statements, and its intermediate results: which line computed which tensor, in order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from attn_tutor.lessons.reading.statements import LONGEST_TEXT, MOST_STATEMENTS, Statement, statements_of
from attn_tutor.lessons.worker.recording.element_history import ElementHistory, ValueLost
from attn_tutor.lessons.worker.recording.event import Event, Site
from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.recorder import Recorder
from attn_tutor.lessons.worker.recording.regions import Region
from attn_tutor.lessons.worker.recording.source_positions import SourcePositions

MOST_TENSORS = 300
FEWEST_ELEMENTS, MOST_ELEMENTS = 2, 50_000
MOST_BYTES = 5 << 20
LONGEST_NAME = 80
EMPTY = ("empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided")
"""The operations whose result nothing has written yet."""


@dataclass(slots=True)
class IntermediateResult:
    """An intermediate result: its name in the code (`named`) or the code that computes it, its line, its value.

    Attributes:
        parents: the indices of the earlier results that it was computed from.
        op: the operation that computed it, as PyTorch calls it.
        fixed: whether it was computed from nothing that came from outside: constants, and draws of random numbers.
    """

    name: str
    named: bool
    line: int | None
    value: torch.Tensor
    parents: frozenset[int] = field(default_factory=frozenset)
    op: str = ""
    fixed: bool = False


@dataclass(frozen=True, slots=True)
class Trace:
    """The statements of a program and its intermediate results, in order."""

    statements: tuple[Statement, ...] = ()
    results: tuple[IntermediateResult, ...] = ()


class Tracer:
    """A tracer of a program: run the program inside `with tracer.running():`, then call `results`."""

    def __init__(self, filename: str, source: str) -> None:
        self._filename = filename
        # Before the program runs, which may replace what reads them.
        self._statements = statements_of(source)
        self._recorder = Recorder()
        self._recorder.watch(filename, source)

    @contextlib.contextmanager
    def running(self) -> Iterator[None]:
        """Record everything that is computed in the `with` block."""
        with self._recorder:
            yield

    def trace(self) -> Trace:
        """Return the statements of the program, and the results that its lines have computed."""
        return Trace(self._statements, tuple(self.results()))

    def results(self) -> list[IntermediateResult]:
        """Return the results of the program's own lines, in order, with the values that they had when computed."""
        return _results_of(self._recorder.record, self._filename)


def _results_of(record: Record, filename: str) -> list[IntermediateResult]:
    """Return the results of the lines of a file, in order, with the values that they had when computed."""
    history, positions = ElementHistory(record), SourcePositions(record)
    found: list[IntermediateResult] = []
    wrote: dict[int, int] = {}
    viewed: dict[tuple[object, ...], int] = {}
    made: set[int] = set()
    filled = _filled_piece_by_piece(record.events)
    size = 0
    for event in record.events:
        site = _site(event, filename)
        if site is None or not event.outs or len(found) >= MOST_TENSORS:
            continue
        # Of a tensor that a loop fills, the last piece stands for the whole.
        whole = filled.get(event.time)
        operands = list(event.operands())
        if not operands:
            made |= {item.storage for item in event.outs}
        if whole is None and event.op in EMPTY:
            # What lies in memory that nothing has written yet is no result, and may be anything.
            continue
        region, origin = (event.outs[0], site) if whole is None else (whole.outs[0], _site(whole, filename) or site)
        value = _value(history, region, event.time + 1)
        if value is None or size + value.numel() * value.element_size() > MOST_BYTES:
            continue
        size += value.numel() * value.element_size()
        makers = (max(wrote.get(item.storage, -1), viewed.get(_view(item), -1)) for item in operands)
        parents = frozenset(index for index in makers if index >= 0)
        assigned = positions.assigned(origin)
        name = (assigned or positions.code(origin) or event.op)[:LONGEST_NAME]
        if event.info.written or region.storage not in {item.storage for item in operands}:
            wrote[region.storage] = len(found)
        elif _view(region) not in {_view(item) for item in operands}:
            # A view makes nothing: what reads the same parameter later does not depend on it.
            viewed[_view(region)] = len(found)
        fixed = all(found[index].fixed for index in parents) and all(
            item.storage in made or item.storage in wrote for item in operands
        )
        if fixed:
            made.add(region.storage)
        line = positions.line(site)
        found.append(IntermediateResult(name, bool(assigned), line, value, parents, event.op, fixed))
    return _last_of_each_code(found)


def _site(event: Event, filename: str) -> Site | None:
    """Return the innermost site in a file that called an operation; None if there is none."""
    return next((site for site in event.sites if site[0].co_filename == filename), None)


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
    """Return the value of a region at a time; None if it is not worth showing, too large or lost."""
    if not FEWEST_ELEMENTS <= region.size <= MOST_ELEMENTS or region.dtype.is_complex or len(region.shape) > 6:
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
            merged[-1] = replace(item, parents=(last.parents | parents) - {len(merged) - 1})
        else:
            merged.append(replace(item, parents=parents))
        merged_index[index] = len(merged) - 1
    return merged


# Encoding ------------------------------------------------------------------------------------------------------------


def plain(trace: Trace) -> dict[str, Any]:
    """Return a trace as plain values, which `jobs.values` can encode."""
    return {
        "statements": [[item.line, item.end, item.text, item.owner, list(item.arguments)] for item in trace.statements],
        "results": [
            [item.name, item.named, item.line, item.value, sorted(item.parents), item.op, item.fixed]
            for item in trace.results
        ],
    }


def of_plain(data: Any) -> Trace:
    """Return the trace from plain values. Raises `ValueError`, `KeyError` or `TypeError` for malformed data."""
    statements = [
        Statement(int(line), int(end), str(text)[:LONGEST_TEXT], str(owner), tuple(map(str, arguments)))
        for line, end, text, owner, arguments in data["statements"][:MOST_STATEMENTS]
    ]
    found: list[IntermediateResult] = []
    for index, (name, named, line, value, parents, op, fixed) in enumerate(data["results"][:MOST_TENSORS]):
        if not isinstance(value, torch.Tensor) or not isinstance(line, int | None):
            raise TypeError("no result")
        earlier = frozenset(int(parent) for parent in parents if 0 <= int(parent) < index)
        found.append(
            IntermediateResult(str(name)[:LONGEST_NAME], bool(named), line, value, earlier, str(op), bool(fixed))
        )
    return Trace(tuple(statements), tuple(found))

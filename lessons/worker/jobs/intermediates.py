"""Intermediate results of a program: which line computed which tensor, and how those of two programs compare.

The trace of an answer holds its statements and its results in order. Results are compared by value, never by names,
which each learner chooses differently.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import torch

from attn_tutor.lessons.reading.code_differences import LONGEST_TEXT, MOST_STATEMENTS, Statement, statements_of
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
class AnswerTrace:
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

    def trace(self) -> AnswerTrace:
        """Return the statements of the program, and the results that its lines have computed."""
        return AnswerTrace(self._statements, tuple(self.results()))

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
        makers = (max(wrote.get(item.storage, -1), viewed.get(item.view, -1)) for item in operands)
        parents = frozenset(index for index in makers if index >= 0)
        assigned = positions.assigned(origin)
        name = (assigned or positions.code(origin) or event.op)[:LONGEST_NAME]
        if event.info.written or region.storage not in {item.storage for item in operands}:
            wrote[region.storage] = len(found)
        elif region.view not in {item.view for item in operands}:
            # A view makes nothing: what reads the same parameter later does not depend on it.
            viewed[region.view] = len(found)
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


def plain(trace: AnswerTrace) -> dict[str, Any]:
    """Return a trace as plain values, which `jobs.values` can encode."""
    return {
        "statements": [[item.line, item.end, item.text, item.owner, list(item.arguments)] for item in trace.statements],
        "results": [
            [item.name, item.named, item.line, item.value, sorted(item.parents), item.op, item.fixed]
            for item in trace.results
        ],
    }


def of_plain(data: Any) -> AnswerTrace:
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
    return AnswerTrace(tuple(statements), tuple(found))


TOLERANCE = 1e-4
MOST_AXES = 5
"""The most axes, without those of size 1, whose orders are tried."""

Kinship = Literal["same", "arranged", "permuted", ""]
"""How two results compare: the same numbers in the same places; the same ones as a view of the other could have them,
with axes in another order, or merged, or split; the same ones in another order; other numbers."""


Limits = tuple[float, float]
"""A relative and an absolute tolerance."""

JUDGED: Limits = TOLERANCE, TOLERANCE
"""The tolerance by which answers are judged."""


def _prints(results: Sequence[IntermediateResult]) -> torch.Tensor:
    """Return for each result, a row each, what it has in common with all that hold the same numbers in any order."""
    flat = [item.value.detach().double().nan_to_num(0.0, 1e3, -1e3).flatten() for item in results]
    rows = [[float(len(one)), float(one.sum()), float(one.abs().sum())] for one in flat]
    return torch.tensor(rows, dtype=torch.float64).reshape(-1, 3)


def _similar(one: torch.Tensor, other: torch.Tensor, tolerance: float) -> list[list[int]]:
    """Return for each row of `other` which rows of `one` may be of the same numbers."""
    slack = 2 * tolerance * (other[:, 0] + other[:, 2]) + 1e-12
    apart = (one[None] - other[:, None]).abs()
    fits = (apart[..., 0] == 0) & (apart[..., 1:] <= slack[:, None, None]).all(dim=-1)
    return [[index for index, fit in enumerate(row) if fit] for row in fits.tolist()]


def kinship(one: torch.Tensor, other: torch.Tensor, limits: Limits = JUDGED) -> Kinship:
    """Return how two tensors compare."""
    if one.numel() != other.numel():
        return ""
    # A float cannot tell all whole numbers apart.
    are_whole = not (one.is_floating_point() or other.is_floating_point())
    dtype = torch.int64 if are_whole else torch.float64
    first, second = one.detach().to(dtype), other.detach().to(dtype)
    if one.shape == other.shape and _close(first, second, limits):
        return "same"
    if not _close(first.flatten().sort().values, second.flatten().sort().values, limits):
        return ""
    if one.shape == other.shape:
        return "permuted"
    if any(_close(arrangement, second.flatten(), limits) for arrangement in _arrangements(first)):
        return "arranged"
    if any(_close(arrangement, first.flatten(), limits) for arrangement in _arrangements(second)):
        return "arranged"
    return "permuted"


def _arrangements(value: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield the numbers row by row, for every order of the axes."""
    bare = value.squeeze()
    if bare.dim() > MOST_AXES:
        yield bare.flatten()
        return
    for order in itertools.permutations(range(bare.dim())):
        yield bare.permute(order).flatten()


def _close(one: torch.Tensor, other: torch.Tensor, limits: Limits) -> bool:
    return torch.allclose(one, other, rtol=limits[0], atol=limits[1], equal_nan=True)


def is_distinctive(value: torch.Tensor) -> bool:
    """Return whether a tensor has at least two different numbers, so that it can be recognized by value."""
    return value.numel() > 1 and bool((value != value.flatten()[0]).any())


def is_mask(value: torch.Tensor) -> bool:
    """Return whether all numbers are 0, 1 or infinite: a mask has many forms, and a right one may be used wrongly."""
    return bool(((value == 0) | (value == 1) | value.isinf()).all())


def hide_the_same(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two masks are one in two forms: the same cells marked, or all others; by True, 1 or -inf."""
    if one.numel() != other.numel() or not (is_mask(one) and is_mask(other)):
        return False
    first, second = (one != 0).flatten(), (other != 0).flatten()
    return bool((first == second).all() or (first != second).all())


class Kinships:
    """How the results of one program compare with those of another one; each pair is compared at most once."""

    def __init__(
        self,
        theirs: Sequence[IntermediateResult],
        ours: Sequence[IntermediateResult],
    ) -> None:
        self._theirs, self._ours = theirs, ours
        self._similar = _similar(_prints(theirs), _prints(ours), TOLERANCE)
        self._known: dict[tuple[int, int], Kinship] = {}

    def of(self, theirs: int, ours: int) -> Kinship:
        """Return how one of their results compares with one of ours, by their indices."""
        pair = (theirs, ours)
        if theirs not in self._similar[ours]:
            return ""
        if pair not in self._known:
            self._known[pair] = kinship(self._theirs[theirs].value, self._ours[ours].value)
        return self._known[pair]

    def is_equal(self, theirs: int, ours: int) -> bool:
        """Return whether one of their results is one of ours, or as a view of it could be."""
        return self.of(theirs, ours) in ("same", "arranged")

    def match(self) -> list[int | None]:
        """Return, for each of our results, the index of the first of theirs with the same value, None if there is none.

        If they have one of its shape with its numbers in another order, then that one stands in its place.
        """
        return [self._match(index) for index in range(len(self._ours))]

    def _match(self, ours: int) -> int | None:
        value = self._ours[ours].value
        if not is_distinctive(value):
            return None
        kin = {index: found for index in self._similar[ours] if (found := self.of(index, ours))}
        for index, found in kin.items():
            if found == "same":
                return index
        if any(self._theirs[index].value.shape == value.shape for index in kin):
            return None
        return next((index for index, found in kin.items() if found == "arranged"), None)

    def agrees(self, theirs: int) -> bool:
        """Return whether one of their results is one of ours, or a view of one could be it."""
        kin = {index: found for index in range(len(self._ours)) if (found := self.of(theirs, index))}
        if "same" in kin.values():
            return True
        shape = self._theirs[theirs].value.shape
        return "arranged" in kin.values() and not any(self._ours[index].value.shape == shape for index in kin)


def match_results(theirs: Sequence[IntermediateResult], ours: Sequence[IntermediateResult]) -> list[int | None]:
    """Return, for each of our results, the index of the first of theirs with the same value, None if there is none."""
    return Kinships(theirs, ours).match()


def ancestors(results: Sequence[IntermediateResult]) -> list[frozenset[int]]:
    """Return, for each result, the indices of all results that it was computed from."""
    found: list[frozenset[int]] = []
    for item in results:
        found.append(item.parents.union(*(found[parent] for parent in item.parents)))
    return found

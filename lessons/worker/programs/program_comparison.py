"""Two runs compared by the numbers that they computed on their way, whatever they call them.

`trace` lists the intermediate results of a run in the order in which they were computed; `compare` says which ones two
runs have in common, and which is the first that differs. A result of one run agrees with any of the other that holds
the same numbers, up to a tolerance that depends on their type, also as a view with axes in another order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from lessons.results.run_comparison import Agreement, ComparedCell, ComparedResult, RunComparison, RunDifference
from lessons.worker.explaining import source_location
from lessons.worker.explaining.explainer import Explainer
from lessons.worker.jobs import intermediates
from lessons.worker.jobs.intermediates import IntermediateResult
from lessons.worker.jobs.result_matching import Kinships, Tolerance, ancestors, hide_the_same, is_mask

MOST_RESULTS = 1500
"""Results of one run that are compared."""

WHOLE = 16_384
"""Elements of a result up to which all are compared; of a larger one that many are, at equal distances."""

MOST_OPERATIONS = 12_000
"""Operations of one run whose results are looked at; those of one call of a function count as one result."""

MOST_BYTES = 192 << 20
MOST_CELLS = 6
MOST_AGREED = 200

TOLERANCES = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
}
"""The relative and absolute tolerance of `torch.testing.assert_close` for each type; all others agree exactly."""


@dataclass(slots=True)
class TracedResult(IntermediateResult):
    """An intermediate result of a program.

    Attributes:
        file, code: where it was computed.
        shape, dtype: of the whole result, of which `value` may be a sample.
    """

    file: str = ""
    code: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""

    @property
    def compared(self) -> ComparedResult:
        """What a reader is told of it."""
        return ComparedResult(self.name, self.named, self.file, self.line, self.code, self.op, self.shape, self.dtype)


def trace(run: Explainer, until: int | None = None) -> list[TracedResult]:
    """List the intermediate results of a run up to a time. Not to be called while its recorder is entered."""
    positions = run.names.positions
    limits = intermediates.Limits(MOST_OPERATIONS, MOST_BYTES, least=1, whole=WHOLE, sampled=True)
    found: list[TracedResult] = []
    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        results = intermediates.results_of(run.record, until=until, limits=limits)
    for item in results[:MOST_RESULTS]:
        location = source_location.locate(positions, item.event)
        region = item.region
        found.append(
            TracedResult(
                item.name, item.named, item.line, item.value, item.parents, item.op, item.fixed,
                file=location.file,
                code=location.code,
                shape=region.shape if region is not None else tuple(item.value.shape),
                dtype=str(item.value.dtype).removeprefix("torch."),
                every=item.every,
            )
        )  # fmt: skip
    return found


# Comparing ---------------------------------------------------------------------------------------------------------


def tolerance_of(rtol: float | None, atol: float | None) -> Tolerance:
    """Return the tolerance for two types of numbers, the coarser of the two, unless it is given."""

    def found(one: torch.dtype, other: torch.dtype) -> tuple[float, float]:
        relative, absolute = (
            max(pair) for pair in zip(*(TOLERANCES.get(dtype, (0.0, 0.0)) for dtype in (one, other)), strict=True)
        )
        return relative if rtol is None else rtol, absolute if atol is None else atol

    return found


def compare(
    one: Sequence[TracedResult], other: Sequence[TracedResult], rtol: float | None = None, atol: float | None = None
) -> RunComparison:
    """Compare two runs, given their traces."""
    with torch.utils._python_dispatch._disable_current_modes(), torch.no_grad():
        return _Comparison(one, other, tolerance_of(rtol, atol)).run()


class _Comparison:
    def __init__(self, one: Sequence[TracedResult], other: Sequence[TracedResult], tolerance: Tolerance) -> None:
        self.one, self.other, self.tolerance = one, other, tolerance
        self.kin = Kinships(one, other, tolerance)
        self.ones: dict[int, int] = {}
        """The results of the first run that the second one has, each with the one there that is the same."""
        self.others: dict[int, int] = {}
        for mine in range(len(other)):
            # Equal numbers may be there several times: first one that stands for nothing else yet.
            alike = sorted(self.kin.similar(mine), key=lambda theirs: theirs in self.ones)
            theirs = self._agreeing((theirs, mine) for theirs in alike)
            if theirs is not None:
                self.others[mine] = theirs[0]
                self.ones.setdefault(*theirs)
        alike_of: dict[int, list[int]] = {}
        for mine in range(len(other)):
            for theirs_index in self.kin.similar(mine):
                alike_of.setdefault(theirs_index, []).append(mine)
        for index in range(len(one)):
            if index not in self.ones and (pair := self._agreeing((index, mine) for mine in alike_of.get(index, ()))):
                self.ones[index] = pair[1]

    def _agreeing(self, pairs: Iterable[tuple[int, int]]) -> tuple[int, int] | None:
        """Return the first of some pairs of results that are the same; else the first that are views of each other."""
        arranged = None
        for pair in pairs:
            kind = self.kin.of(*pair)
            if kind == "same":
                return pair
            arranged = arranged or (pair if kind == "arranged" else None)
        return arranged

    def run(self) -> RunComparison:
        pairs = sorted(self.ones.items())
        # Of code that ran again and again, the last time.
        last = {(self.one[at].name, self.one[at].file, self.one[at].line): (at, mine) for at, mine in pairs}
        kept = sorted(last.values())
        named = [pair for pair in kept if self.one[pair[0]].named]
        shown = kept if len(kept) <= MOST_AGREED else named[-MOST_AGREED:]
        agreed = tuple(
            Agreement(
                self.one[theirs].compared,
                self.other[mine].compared,
                "arranged" if self.kin.of(theirs, mine) == "arranged" else "same",
            )
            for theirs, mine in shown
        )
        cut = max(len(self.one), len(self.other)) >= MOST_RESULTS
        return RunComparison(agreed, len(pairs), len(self.one), len(self.other), self._difference(), cut)

    def _difference(self) -> RunDifference | None:
        first = next(self._lacking(self.one, self.ones, self.other), None)
        second = next(self._lacking(self.other, self.others, self.one), None)
        if first is None and second is None:
            return None
        for at, item in enumerate(self.one if first is None else self.one[:first]):
            # That a later result agrees, up to the tolerance, excuses no result that is computed from the same ones.
            if at not in self.ones and (twin := self._twin(item)) is not None:
                return self._described(at, twin)
        if first is not None:
            beside = self._beside(first, self.one, self.other, self.ones, self.others)
            if beside is not None or second is None:
                return self._described(first, beside)
        assert second is not None
        beside = self._beside(second, self.other, self.one, self.others, self.ones)
        return self._described(beside, second)

    def _twin(self, item: TracedResult) -> int | None:
        """Return which result of the second run has name, shape and origin of one of the first, but other numbers."""
        parents = {self.ones[parent] for parent in item.parents if parent in self.ones}
        if not parents or len(parents) < len(item.parents):
            return None
        for index, found in enumerate(self.other):
            same_name = (found.named, found.name) == (item.named, item.name)
            if index not in self.others and same_name and found.shape == item.shape and found.parents == parents:
                return index
        return None

    def _lacking(
        self, results: Sequence[TracedResult], known: dict[int, int], others: Sequence[TracedResult]
    ) -> Iterator[int]:
        """Yield the results that the other run lacks, and that lead to none that it has: not just another way there."""
        before = ancestors(results)
        bypassed = frozenset().union(*(before[at] for at in known))
        masks = [item.value for item in others if is_mask(item.value)]
        for at, item in enumerate(results):
            if at in known or at in bypassed or not item.value.numel():
                continue
            if is_mask(item.value) and any(hide_the_same(item.value, mask) for mask in masks):
                continue
            yield at

    def _beside(
        self,
        at: int,
        results: Sequence[TracedResult],
        others: Sequence[TracedResult],
        known: dict[int, int],
        theirs: dict[int, int],
    ) -> int | None:
        """Return which result of the other run stands in the place of one that it lacks; None if none does."""
        item = results[at]
        parents = {known[parent] for parent in item.parents if parent in known}

        def likeness(index: int) -> tuple[int, int]:
            found = others[index]
            same_name = found.named == item.named and found.name == item.name
            shared = len(parents & found.parents)
            return 3 * same_name + 3 * (found.shape == item.shape) + (found.op == item.op) + 2 * min(shared, 2), -index

        free = [index for index in range(len(others)) if index not in theirs and others[index].value.numel()]
        best = max(free, key=likeness, default=None)
        return best if best is not None and likeness(best)[0] >= 3 else None

    def _described(self, one: int | None, other: int | None) -> RunDifference:
        first = None if one is None else self.one[one]
        second = None if other is None else self.other[other]
        told = (None if first is None else first.compared, None if second is None else second.compared)
        if one is None or other is None or first is None or second is None:
            return RunDifference(*told)
        permuted = self.kin.of(one, other) == "permuted"
        if first.shape != second.shape or first.value.shape != second.value.shape:
            return RunDifference(*told, permuted=permuted)
        a, b = first.value.double(), second.value.double()
        rtol, atol = self.tolerance(first.value.dtype, second.value.dtype)
        differs = ~torch.isclose(a, b, rtol=rtol, atol=atol, equal_nan=True)
        apart = (a - b).abs().nan_to_num(math.inf, math.inf)
        apart = torch.where(differs, apart, 0.0)
        flat = differs.flatten().nonzero().flatten()[: MOST_CELLS - 1].tolist()
        furthest = int(apart.flatten().argmax())
        cells = tuple(
            ComparedCell(_index(position, first), float(a.flatten()[position]), float(b.flatten()[position]))
            for position in dict.fromkeys([*flat, furthest])
        )
        return RunDifference(
            *told, permuted, cells, int(differs.sum()), a.numel(), float(apart.max()), sampled=first.every > 0
        )


def _index(position: int, result: TracedResult) -> tuple[int, ...]:
    """Return the index in the whole result of an element of its value."""
    rest, index = position * max(result.every, 1), []
    for size in reversed(result.shape):
        index.append(rest % size)
        rest //= size
    return tuple(reversed(index))


# As plain values ----------------------------------------------------------------------------------------------------


MOST_IN_PART = 150
PART_BYTES = 5 << 20
"""What one part of a trace holds at most."""


def parts(results: Sequence[TracedResult]) -> Iterator[list[TracedResult]]:
    """Divide a trace into parts that fit into a message each; there is at least one."""
    part: list[TracedResult] = []
    size = 0
    for item in results:
        if part and (len(part) >= MOST_IN_PART or size + item.value.nbytes > PART_BYTES):
            yield part
            part, size = [], 0
        part.append(item)
        size += item.value.nbytes
    yield part


def plain(results: Sequence[TracedResult]) -> list[Any]:
    """Return results as plain values, which `jobs.values` can encode."""
    return [
        [
            *(item.name, item.named, item.line, item.value, item.op, item.file, item.code),
            *(" ".join(map(str, sorted(item.parents))), " ".join(map(str, item.shape)), item.dtype, item.every),
        ]
        for item in results
    ]  # fmt: skip


def of_plain(data: Any, before: int) -> list[TracedResult]:
    """Return results from plain values, given how many came before. Raises `ValueError` or `TypeError` for others."""
    found: list[TracedResult] = []
    for name, named, line, value, op, file, code, parents, shape, dtype, every in data:
        if not isinstance(value, torch.Tensor) or not isinstance(line, int | None):
            raise TypeError("no result")
        earlier = frozenset(at for at in map(int, str(parents).split()) if 0 <= at < before + len(found))
        sizes = tuple(map(int, str(shape).split()))
        if not every and math.prod(sizes) != value.numel():
            raise ValueError("a result of another size")
        found.append(
            TracedResult(
                str(name), bool(named), line, value, earlier, str(op),
                file=str(file), code=str(code), shape=sizes, dtype=str(dtype), every=max(0, int(every)),
            )
        )  # fmt: skip
    return found


def joined(traces: Iterable[Any]) -> list[TracedResult]:
    """Return the trace whose parts are given as plain values. Raises `ValueError` or `TypeError` for anything else."""
    found: list[TracedResult] = []
    for part in itertools.islice(traces, MOST_RESULTS):
        found += of_plain(part, len(found))
    return found[:MOST_RESULTS]

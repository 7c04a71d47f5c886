"""The results of a program that are compared with those of another one, also as plain values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import torch

from attn_tutor.lessons.programs.results.comparison import NO_GAPS, ComparedResult, Gaps
from attn_tutor.lessons.programs.worker.diff.result_sketch import EXTREMES, KINDS, PLACES, Sketch, stretch

MOST_RESULTS = 50_000
"""Results of one run that are compared."""

MOST_IN_PART = 150
PART_BYTES = 5 << 20
"""What one part of a trace holds at most."""


@dataclass
class TracedResult:
    """An intermediate result of a program.

    Attributes:
        name: the variable that it was assigned to (`named`), or the code that computed it.
        file, line, code: where it was computed.
        op: the operation, as PyTorch calls it.
        value: its numbers; of a large one, the first of each stretch.
        sketch: what else is known of a large one.
        shape, dtype: of the whole result.
        parents: the indices of the earlier results that it was computed from.
        view: whether nothing was computed: it shows numbers that were there before.
        callers: files and lines from which the function was called that computed it, the innermost first.
    """

    name: str
    named: bool
    line: int | None
    value: torch.Tensor
    parents: frozenset[int] = field(default_factory=frozenset)
    op: str = ""
    file: str = ""
    code: str = ""
    shape: tuple[int, ...] = ()
    dtype: str = ""
    sketch: Sketch | None = None
    view: bool = False
    callers: tuple[tuple[str, int], ...] = ()

    @property
    def size(self) -> int:
        """How many numbers the whole result has."""
        return math.prod(self.shape)

    @property
    def outline(self) -> tuple[int, ...]:
        """The shape without axes of one number."""
        return tuple(size for size in self.shape if size > 1)

    @cached_property
    def is_whole(self) -> bool:
        """Whether all of its numbers here are whole, those aside that are not finite."""
        finite = self.value[self.value.isfinite()]
        return bool((finite == finite.round()).all()) if finite.is_floating_point() else True

    @cached_property
    def has_room(self) -> bool:
        """Whether its type holds fractions of the size of its numbers."""
        finite = self.value[self.value.isfinite()]
        return not finite.numel() or float(finite.abs().max()) < 1 / torch.finfo(finite.dtype).eps

    @property
    def nbytes(self) -> int:
        """The bytes that its numbers take here."""
        return self.value.nbytes + (self.sketch.nbytes if self.sketch is not None else 0)

    @property
    def compared(self) -> ComparedResult:
        """What a reader is told of it."""
        told = self.name, self.named, self.file, self.line, self.code, self.op, self.shape, self.dtype
        return ComparedResult(*told, callers=self.callers)


@dataclass(slots=True)
class ResultTrace:
    """The results of a run in order, and what is missing among them."""

    results: list[TracedResult]
    gaps: Gaps = NO_GAPS


def parts(trace: ResultTrace) -> Iterator[list[TracedResult]]:
    """Divide a trace into parts that fit into a message each; there is at least one."""
    part: list[TracedResult] = []
    size = 0
    for item in trace.results:
        if part and (len(part) >= MOST_IN_PART or size + item.nbytes > PART_BYTES):
            yield part
            part, size = [], 0
        part.append(item)
        size += item.nbytes
    yield part


def plain(results: Sequence[TracedResult]) -> list[Any]:
    """Return results as plain values, which `jobs.values` can encode."""
    return [
        [
            *(item.name, item.named, item.line, item.value, item.op, item.file, item.code),
            *(" ".join(map(str, sorted(item.parents))), " ".join(map(str, item.shape)), item.dtype, item.view),
            list(item.sketch.tensors) if item.sketch is not None else None,
            "\n".join(f"{line} {file}" for file, line in item.callers),
        ]
        for item in results
    ]  # fmt: skip


def of_plain(data: Any, before: int) -> list[TracedResult]:
    """Return results from plain values, given how many came before. Raises `ValueError` or `TypeError` for others."""
    found: list[TracedResult] = []
    for name, named, line, value, op, file, code, parents, shape, dtype, view, sketched, *later in data:
        if not isinstance(value, torch.Tensor) or not isinstance(line, int | None):
            raise TypeError("no result")
        earlier = frozenset(at for at in map(int, str(parents).split()) if 0 <= at < before + len(found))
        sizes = tuple(map(int, str(shape).split()))
        every = stretch(math.prod(sizes))
        if -(-math.prod(sizes) // max(every, 1)) != value.numel() or (sketched is None) != (every == 0):
            raise ValueError("a result of another size")
        kept = None if sketched is None else _sketch(sketched, value.numel())
        found.append(
            TracedResult(
                str(name), bool(named), line, value, earlier, str(op),
                file=str(file), code=str(code), shape=sizes, dtype=str(dtype), sketch=kept, view=bool(view),
                # Traces that were saved by an earlier version lack them.
                callers=_callers(str(later[0])) if later else (),
            )
        )  # fmt: skip
    return found


def joined(encoded: Iterable[Any]) -> list[TracedResult]:
    """Return the results whose parts are given as plain values. Raises `ValueError` or `TypeError` for others."""
    found: list[TracedResult] = []
    for part in itertools.islice(encoded, MOST_RESULTS):
        found += of_plain(part, len(found))
    return found[:MOST_RESULTS]


def _callers(text: str) -> tuple[tuple[str, int], ...]:
    pairs = (line.split(" ", 1) for line in text.splitlines())
    return tuple((file, int(line)) for line, file in pairs)


def _sketch(data: Any, stretches: int) -> Sketch:
    # Traces that were saved by an earlier version do not tell which numbers are not finite.
    sums, sizes, totals, extremes, places, nonfinite = (*data, torch.empty(0)) if len(data) == 5 else data
    kept = Sketch(sums, sizes, totals, extremes, places, nonfinite)
    if not all(isinstance(item, torch.Tensor) for item in data) or places.dim() != 2 or not len(places):
        raise TypeError("no sketch")
    sizes_of_parts = tuple(tensor.numel() for tensor in (sums, sizes, totals, extremes, places[0]))
    is_whole = nonfinite.numel() in (0, stretches + len(KINDS))
    if sizes_of_parts != (stretches, stretches, 3, 2 * EXTREMES, PLACES) or not is_whole:
        raise ValueError("a sketch of another size")
    return kept

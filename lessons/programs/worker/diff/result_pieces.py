"""Results of one run that are parts of results of the other: what a loop computes piece by piece, and what is whole.

One program computes a head, a time step or a tile at a time, and the other one all of them at once. A piece agrees if
the whole has its numbers in some place, and a whole agrees if pieces cover all of it.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from attn_tutor.lessons.programs.results.comparison import IndexSpan
from attn_tutor.lessons.programs.worker.diff.result_pairs import Tolerances, is_telling
from attn_tutor.lessons.programs.worker.diff.traced_result import TracedResult

MOST_NUMBERS = 4_000_000
"""Numbers of all wholes together in which pieces are looked for."""

MOST_PIECES = 20_000
MOST_HITS = 48
"""Places that are tried for a piece, which have its largest number."""

MOST_AXES = 4
FEW = 256
"""Numbers of a whole up to which a single number is taken for a piece of it, and not for a coincidence."""


Line = tuple[str, int | None, tuple[int, ...]]
"""A line that computes a result, and the shape of that."""

Code = tuple[Line, str]
"""The same, with the name of the result."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Where a result lies in one of the other run.

    Attributes:
        whole: the index of that result.
        axes: which of its axes the piece has, in the order of the piece; axes of one number are left out of both.
        starts, sizes: for each axis of the whole, the first index and how many there are.
    """

    whole: int
    axes: tuple[int, ...]
    starts: tuple[int, ...]
    sizes: tuple[int, ...]


class ResultPieces:
    """The pieces among results of one run, and which results of the other run they cover.

    Attributes:
        pieces: the results that are pieces, each with its place.
        covered: the results of the other run that are covered by pieces, each with one of them.
    """

    def __init__(
        self,
        results: Sequence[TracedResult],
        known: Collection[int],
        others: Sequence[TracedResult],
        tolerances: Tolerances,
    ) -> None:
        self._results, self._others = results, others
        times = Counter(map(_code, results))
        new = (at for at, item in enumerate(results) if at not in known and times[_code(item)] > 1)
        wanted = list(itertools.islice((at for at in new if _may_be_piece(results[at])), MOST_PIECES))
        found: dict[int, Piece] = {}
        if wanted:
            wholes = _Wholes(others, min(results[at].size for at in wanted), tolerances)
            places = ((at, wholes.find(results[at])) for at in wanted)
            found = {at: piece for at, piece in places if piece is not None}
        self.pieces = dict(self._of_loops(found, times))
        self._kin: dict[tuple[Line, int], list[int]] = {}
        for at, piece in self.pieces.items():
            self._kin.setdefault((_line(results[at]), piece.whole), []).append(at)
        by_whole: dict[int, dict[tuple[tuple[int, ...], tuple[int, ...]], int]] = {}
        for at, piece in self.pieces.items():
            by_whole.setdefault(piece.whole, {})[piece.starts, piece.sizes] = at
        self.covered = {
            whole: next(iter(places.values()))
            for whole, places in by_whole.items()
            if sum(math.prod(sizes) for _, sizes in places) >= others[whole].size
        }

    def _of_loops(self, found: Mapping[int, Piece], times: Mapping[Code, int]) -> Iterator[tuple[int, Piece]]:
        """Yield those of the pieces that a loop makes one after the other, each in a place of its own."""
        loops: dict[tuple[Code, int], dict[tuple[int, ...], list[int]]] = {}
        again: set[int] = set()
        for at, piece in found.items():
            item = self._results[at]
            same = loops.setdefault((_code(item), piece.whole), {}).setdefault(piece.starts, [])
            # A piece that was there before may stand in place of another one, unless it is a view that a line reads.
            if same and (not item.view or item.named or item.parents & again):
                again.add(at)
            else:
                same.append(at)
        elsewhere = Counter(code for code, _ in loops)
        for (code, whole), places in loops.items():
            first = next(iter(places.values()))[0]
            count = self._others[whole].size // self._results[first].size
            if len(places) > 1 or (elsewhere[code] == 1 and times[code] == count):
                yield from ((at, found[at]) for same in places.values() for at in same)

    def has_place(self, at: int, whole: int) -> bool:
        """Return whether others of the same line and shape as a result are pieces of a whole."""
        return (_line(self._results[at]), whole) in self._kin

    def place_of(self, at: int, whole: int) -> Piece | None:
        """Return which piece of a whole a result should be: the place among those of the same line that is empty."""
        kin = [(index, self.pieces[index]) for index in self._kin.get((_line(self._results[at]), whole), ())]
        if not kin:
            return None
        sizes, axes = kin[0][1].sizes, kin[0][1].axes
        taken = {piece.starts: index for index, piece in kin if piece.sizes == sizes}
        shape = self._others[whole].outline
        grid = itertools.product(*(range(0, full - size + 1, size) for full, size in zip(shape, sizes, strict=True)))
        empty = [starts for starts in grid if starts not in taken]
        before = [starts for starts, index in taken.items() if index < at]
        # Next to the latest one, wherever the loop begins.
        near = max(before, key=taken.__getitem__) if before else None
        starts = min(empty, key=lambda one: _distance(one, near) if near is not None else 0, default=None)
        return None if starts is None else Piece(whole, axes, starts, sizes)


class _Wholes:
    """The numbers of the results in which pieces are looked for."""

    def __init__(self, results: Sequence[TracedResult], least: int, tolerances: Tolerances) -> None:
        self._results, self._tolerances = results, tolerances
        self._bases: list[int] = []
        self._owners: list[int] = []
        numbers, room = [], MOST_NUMBERS
        for at, item in enumerate(results):
            if (
                item.sketch is None
                and least < item.size <= room
                and len(item.outline) <= MOST_AXES
                and is_telling(item)
            ):
                self._bases.append(MOST_NUMBERS - room)
                self._owners.append(at)
                numbers.append(item.value.double().flatten())
                room -= item.size
        flat = torch.cat(numbers) if numbers else torch.zeros(0, dtype=torch.float64)
        self._sorted, self._order = flat.nan_to_num(0.0, 0.0, 0.0).sort()
        self._starts = torch.tensor(self._bases)

    def find(self, item: TracedResult) -> Piece | None:
        """Return where a result lies in one of these; None if in none."""
        value = item.value.double().reshape(item.outline)
        flat = value.nan_to_num(0.0, 0.0, 0.0).flatten()
        peak = int(flat.abs().argmax())
        number = float(flat[peak])
        rtol, atol = self._tolerances.of_types(item.value.dtype, item.value.dtype)
        slack = atol + rtol * abs(number)
        bounds = torch.tensor([number - slack, number + slack], dtype=torch.float64)
        low, high = torch.searchsorted(self._sorted, bounds).tolist()
        hits = self._order[low : min(high, low + MOST_HITS)]
        owners = torch.searchsorted(self._starts, hits, right=True) - 1
        index = _unraveled(peak, item.outline)
        for hit, owner in sorted(zip(hits.tolist(), owners.tolist(), strict=True), key=lambda pair: pair[::-1]):
            at = self._owners[owner]
            whole = self._results[at]
            if item.size < whole.size and (item.size > 1 or whole.size <= FEW):
                found = self._part_of(value, index, whole, hit - self._bases[owner], item)
                if found is not None:
                    return Piece(at, *found)
        return None

    def _part_of(
        self, value: torch.Tensor, index: Sequence[int], whole: TracedResult, hit: int, item: TracedResult
    ) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]] | None:
        shape = whole.outline
        numbers, there = whole.value.double().reshape(shape), _unraveled(hit, shape)
        rtol, atol = self._tolerances.of(item, whole)
        for axes in itertools.permutations(range(len(shape)), value.dim()):
            starts, sizes = list(there), [1] * len(shape)
            for axis, size, step in zip(axes, value.shape, index, strict=True):
                starts[axis], sizes[axis] = there[axis] - step, size
            ends = [start + size for start, size in zip(starts, sizes, strict=True)]
            if min(starts, default=0) < 0 or any(end > full for end, full in zip(ends, shape, strict=True)):
                continue
            part = numbers[tuple(map(slice, starts, ends))]
            kept = [axis for axis in range(len(shape)) if axis in axes]
            part = part.squeeze([axis for axis in range(len(shape)) if axis not in axes])
            part = part.permute([kept.index(axis) for axis in axes])
            if torch.allclose(part, value, rtol=rtol, atol=atol, equal_nan=True):
                return axes, tuple(starts), tuple(sizes)
        return None


def part(item: TracedResult, piece: Piece) -> torch.Tensor:
    """Return the numbers of a whole in the place of a piece, with the axes in the order of the piece."""
    shape = item.outline
    numbers = item.value.reshape(shape)
    numbers = numbers[tuple(slice(start, start + size) for start, size in zip(piece.starts, piece.sizes, strict=True))]
    numbers = numbers.squeeze([axis for axis in range(len(shape)) if axis not in piece.axes])
    kept = sorted(piece.axes)
    return numbers.permute([kept.index(axis) for axis in piece.axes])


def spans(item: TracedResult, piece: Piece) -> tuple[IndexSpan, ...]:
    """Return for each axis of a whole which part of it a piece takes."""
    places = iter(zip(piece.starts, piece.sizes, strict=True))
    found = []
    for full in item.shape:
        start, size = (0, 1) if full == 1 else next(places)
        found.append(IndexSpan(start, size, full))
    return tuple(found)


def extended(known: Mapping[int, int], pieces: ResultPieces, covers: ResultPieces) -> dict[int, int]:
    """Return what a run has that the other one has too, as a whole, as a piece, or in pieces."""
    found = {at: piece.whole for at, piece in pieces.pieces.items()}
    return {**covers.covered, **found, **known}


def _line(item: TracedResult) -> Line:
    return item.file, item.line, item.outline


def _code(item: TracedResult) -> Code:
    return _line(item), item.name


def _may_be_piece(item: TracedResult) -> bool:
    return (
        item.sketch is None
        and len(item.outline) < MOST_AXES + 1
        and is_telling(item)
        and item.value.is_floating_point()
    )


def _unraveled(position: int, shape: Sequence[int]) -> tuple[int, ...]:
    index: list[int] = []
    for size in reversed(shape):
        position, rest = divmod(position, size)
        index.append(rest)
    return tuple(reversed(index))


def _distance(one: Iterable[int], other: Iterable[int]) -> int:
    return sum(abs(a - b) for a, b in zip(one, other, strict=True))

"""What is seen of a matrix at a glance: blocks of cells as one number each, and what a row amounts to.

The definitions are here, without torch. The worker computes blocks of large matrices with it, to the same numbers, and
asks `row_stats` itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

How = Literal["max", "mean"]
"""Which number stands for a block."""

SUM_OF_WEIGHTS = 1e-3
"""A row may be this far from a sum of 1 to count as shares."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix divided into blocks of `rows` by `cols` cells; those at its end may have fewer.

    Attributes:
        lead: indices of the leading axes.
        grid: a number for each block.
        peaks: row and column of the greatest cell of each block, the first of equals; of a NaN if there is one.
    """

    lead: tuple[int, ...]
    rows: int
    cols: int
    how: How
    grid: tuple[tuple[float, ...], ...]
    peaks: tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True, slots=True)
class RowStats:
    """What a row amounts to.

    Attributes:
        lead, row: which row it is.
        total: the sum, which a NaN makes NaN.
        low, high: the least and greatest finite value, None if there is none.
        support: how many values are above 0.
        bits: the entropy, if the row is a distribution: nothing below 0, a sum of 1. Else None.
        top: column and value of the greatest, in order; what is masked (-inf) or NaN is not among them.
    """

    lead: tuple[int, ...]
    row: int
    total: float
    low: float | None
    high: float | None
    support: int
    bits: float | None
    top: tuple[tuple[int, float], ...]

    @property
    def even(self) -> float | None:
        """Among how many an even share would have the same entropy."""
        return None if self.bits is None else 2.0**self.bits


def row_stats(lead: tuple[int, ...], row: int, values: Sequence[float], top: int) -> RowStats:
    """The statistics of a row."""
    finite = [value for value in values if math.isfinite(value)]
    total = float(sum(values))
    bits = None
    if values and abs(total - 1) <= SUM_OF_WEIGHTS and min(values) >= 0:
        bits = max(0.0, -sum(value * math.log2(value) for value in values if value > 0))
    there = [(col, float(value)) for col, value in enumerate(values) if value > -math.inf]
    return RowStats(
        lead,
        row,
        total,
        float(min(finite)) if finite else None,
        float(max(finite)) if finite else None,
        sum(value > 0 for value in values),
        bits,
        tuple(sorted(there, key=lambda item: (-item[1], item[0]))[:top]),
    )


def blocks_of(lead: tuple[int, ...], matrix: Sequence[Sequence[float]], rows: int, cols: int, how: How) -> Blocks:
    """Divide a matrix into blocks.

    A NaN in a block makes it NaN. The mean is that of the cells which are not -inf, since a mask has taken those out;
    where nothing is left it is -inf, as the maximum is.
    """
    width = len(matrix[0]) if matrix else 0
    grid, peaks = [], []
    for top in range(0, len(matrix), rows):
        strip = matrix[top : top + rows]
        parts = [
            [
                (float(value), (top + down, left + right))
                for down, row in enumerate(strip)
                for right, value in enumerate(row[left : left + cols])
            ]
            for left in range(0, width, cols)
        ]
        best = [max(part, key=lambda cell: (math.isnan(cell[0]), cell[0], _earlier(cell[1]))) for part in parts]
        peaks.append(tuple(place for _, place in best))
        grid.append(tuple(value if how == "max" else _mean(part) for part, (value, _) in zip(parts, best, strict=True)))
    return Blocks(lead, rows, cols, how, tuple(grid), tuple(peaks))


def _earlier(place: tuple[int, int]) -> tuple[int, int]:
    return -place[0], -place[1]


def _mean(cells: Sequence[tuple[float, tuple[int, int]]]) -> float:
    there = [value for value, _ in cells if value != -math.inf]
    return sum(there) / len(there) if there else -math.inf

"""Summaries of a matrix: one number for each block of cells, and the statistics of a row.

The definitions are here, without torch. The worker computes the blocks of large matrices with torch, with the same
results, and calls `row_stats` itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

from attn_tutor.lessons.results.field_bounds import Between, Count, Finite, Index, Longest

How = Literal["max", "mean"]
"""The number that stands for a block."""

SUM_OF_WEIGHTS = 1e-3
"""Distance from a sum of 1 up to which a row counts as a distribution."""

LARGEST_WINDOW = 256
"""The most rows, and the most columns, of a part of a matrix."""

LOOKED_AT = 1 << 25
"""Numbers of a matrix beyond which its blocks are summed up from a sample: more would take longer than people wait."""


def sampling(shape: tuple[int, int], rows: int, cols: int) -> tuple[int, int]:
    """Return of how many rows and of how many columns one is looked at in blocks of `rows` by `cols` of a matrix.

    The number of columns divides `cols`, so that each block is sampled alike.
    """
    least = -(-shape[0] * shape[1] // LOOKED_AT)
    down, across = max(1, min(rows, least)), 1
    while down * across < least and cols % (2 * across) == 0:
        across *= 2
    return down, across


@dataclass(frozen=True, slots=True)
class Blocks:
    """A matrix divided into blocks of `rows` by `cols` cells; the last ones of an axis may be smaller.

    Attributes:
        lead: the indices on the leading axes.
        how: whether `grid` holds maxima or means.
        grid: a number for each block.
        peaks: row and column of the greatest cell of each block, the first of equals; of a NaN if there is one.

    Of a very large matrix, both are those of a sample (`sampling`).
    """

    lead: tuple[int, ...]
    rows: int
    cols: int
    how: How
    grid: tuple[tuple[float, ...], ...]
    peaks: tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True, slots=True)
class RowStats:
    """The statistics of a row.

    Attributes:
        lead, row: the indices on the leading axes, and the row.
        total: the sum; NaN if there is one in the row.
        low, high: the least and greatest finite value, None if there is none.
        support: the number of values above 0.
        bits: the entropy if the row is a distribution (nothing below 0, a sum of 1), else None.
        top: column and value of the greatest ones, in order, without masked values (-inf) and NaN.
    """

    lead: Index
    row: Count
    total: float
    low: Finite | None
    high: Finite | None
    support: Count
    bits: Annotated[float, Between(0, 64)] | None
    top: Annotated[tuple[tuple[Count, float], ...], Longest(LARGEST_WINDOW)]

    @property
    def equal_shares(self) -> float | None:
        """The number of equal shares that have the same entropy; None if the row is not a distribution."""
        return None if self.bits is None else 2.0**self.bits


def row_stats(lead: tuple[int, ...], row: int, values: Sequence[float], top: int) -> RowStats:
    """Compute the statistics of a row, with its `top` greatest values."""
    finite = [value for value in values if math.isfinite(value)]
    total = float(sum(values))
    bits = None
    if values and abs(total - 1) <= SUM_OF_WEIGHTS and min(values) >= 0:
        bits = max(0.0, -sum(value * math.log2(value) for value in values if value > 0))
    unmasked = [(col, float(value)) for col, value in enumerate(values) if value > -math.inf]
    return RowStats(
        lead,
        row,
        total,
        float(min(finite)) if finite else None,
        float(max(finite)) if finite else None,
        sum(value > 0 for value in values),
        bits,
        tuple(sorted(unmasked, key=lambda item: (-item[1], item[0]))[:top]),
    )


def blocks_of(lead: tuple[int, ...], matrix: Sequence[Sequence[float]], rows: int, cols: int, how: How) -> Blocks:
    """Divide a matrix into blocks.

    A block with a NaN is NaN. The mean leaves out cells that are -inf, since a mask took these out; where nothing is
    left it is -inf, like the maximum.
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
        best = [max(part, key=lambda cell: (math.isnan(cell[0]), cell[0], _reversed(cell[1]))) for part in parts]
        peaks.append(tuple(cell for _, cell in best))
        grid.append(tuple(value if how == "max" else _mean(part) for part, (value, _) in zip(parts, best, strict=True)))
    return Blocks(lead, rows, cols, how, tuple(grid), tuple(peaks))


def _reversed(cell: tuple[int, int]) -> tuple[int, int]:
    """Return a key by which `max` prefers the first of equal cells."""
    return -cell[0], -cell[1]


def _mean(cells: Sequence[tuple[float, tuple[int, int]]]) -> float:
    unmasked = [value for value, _ in cells if value != -math.inf]
    return sum(unmasked) / len(unmasked) if unmasked else -math.inf

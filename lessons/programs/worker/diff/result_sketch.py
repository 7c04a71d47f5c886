"""What is kept of a result with many numbers: enough to compare it as a whole with another one.

Every number of the result counts in what is kept. Sums over short stretches tell whether another result holds the same
numbers in the same places; sums over all, and the least and greatest numbers, whether it holds them in any order; and
the numbers in a few places, for each order of the axes, whether it is a view of the same numbers.
"""

from __future__ import annotations

import functools
import itertools
import math
from dataclasses import dataclass
from typing import Final

import torch

from attn_tutor.lessons.worker.jobs.intermediates import MOST_AXES, Kinship, Limits

WHOLE = 16_384
"""Numbers of a result up to which all are kept."""

STRETCHES = 4096
"""Stretches that a larger result is divided into, at most: of each, the first number and sums are kept."""

EXTREMES = 64
"""How many of the least numbers are kept, and how many of the greatest."""

PLACES = 64
"""In how many places numbers are kept for each order of the axes."""

SUMMED = 1e-12
"""How far sums may be apart, as a part of their magnitudes, that are added up in another order."""

CHUNK = 1 << 22
"""Numbers that are added up at a time."""

NAN, ABOVE, BELOW = 3.7, 11.0, -13.0
"""What stands for NaN and for the infinities in sums: not so large that they hide the numbers beside them."""

KINDS = (1.0, 2**0.5, 3**0.5)
"""What stands for NaN, inf and -inf in the sums that tell where they are: no one of these makes up for others."""

LEAST_WEIGHT: Final = 0.5
GREATEST_WEIGHT: Final = 1.5


@dataclass(slots=True, frozen=True)
class Sketch:
    """What is kept of the numbers of a large result, besides the first one of each stretch.

    Attributes:
        sums: of each stretch, the sum of its numbers, each times a weight that depends on its place in the stretch.
        sizes: of each stretch, the sum of the magnitudes.
        totals: the sums of all numbers, of their magnitudes, and of their squares.
        extremes: the least and the greatest numbers.
        places: the numbers in the same few places, a row for each order of the axes, first for the order as it is.
        nonfinite: which are NaN or infinite: for each stretch, a sum that depends on their places; then, how many are
            NaN, infinite, and infinite below 0. Empty if all are finite.
    """

    sums: torch.Tensor
    sizes: torch.Tensor
    totals: torch.Tensor
    extremes: torch.Tensor
    places: torch.Tensor
    nonfinite: torch.Tensor

    @property
    def tensors(self) -> tuple[torch.Tensor, ...]:
        """All that is kept, in the order in which it is given."""
        return self.sums, self.sizes, self.totals, self.extremes, self.places, self.nonfinite

    @property
    def nbytes(self) -> int:
        """The bytes that it takes."""
        return sum(tensor.nbytes for tensor in self.tensors)


def stretch(size: int) -> int:
    """Return how many numbers a stretch of a result with so many has; 0 if all of its numbers are kept."""
    return -(-size // STRETCHES) if size > WHOLE else 0


def sketch(value: torch.Tensor) -> Sketch:
    """Return the sketch of a tensor with more than `WHOLE` numbers."""
    flat = value.flatten()
    every = stretch(len(flat))
    sums, sizes, lows, highs, kinds, total, squares = [], [], [], [], [], 0.0, 0.0
    counts = torch.zeros(len(KINDS), dtype=torch.float64)
    step = CHUNK // every * every or every
    for start in range(0, len(flat), step):
        chunk = flat[start : start + step].double()
        masks = torch.stack([chunk.isnan(), chunk == math.inf, chunk == -math.inf]).double()
        counts += masks.sum(dim=1)
        kinds.append(_rows(torch.tensor(KINDS, dtype=torch.float64) @ masks, every) @ _weights(every))
        chunk.nan_to_num_(NAN, ABOVE, BELOW)
        count = min(EXTREMES, len(chunk))
        lows.append(chunk.topk(count, largest=False).values)
        highs.append(chunk.topk(count).values)
        total += float(chunk.sum())
        squares += float(chunk.dot(chunk))
        rows = _rows(chunk, every)
        sums.append(rows @ _weights(every))
        sizes.append(rows.abs_().sum(dim=1))
    magnitudes = torch.cat(sizes)
    ends = torch.cat(lows).topk(EXTREMES, largest=False).values, torch.cat(highs).topk(EXTREMES).values
    totals = torch.tensor([total, float(magnitudes.sum()), squares], dtype=torch.float64)
    places = flat[_places(tuple(value.shape))]
    nonfinite = torch.cat([*kinds, counts]) if counts.any() else torch.empty(0, dtype=torch.float64)
    return Sketch(torch.cat(sums), magnitudes.float(), totals, torch.cat(ends), places, nonfinite)


def _rows(chunk: torch.Tensor, every: int) -> torch.Tensor:
    """Return numbers with a row for each stretch of `every`, the last one filled with zeros."""
    return torch.nn.functional.pad(chunk, (0, -len(chunk) % every)).view(-1, every)


@functools.lru_cache(maxsize=64)
def _weights(every: int) -> torch.Tensor:
    """Return the weights of the numbers in a stretch. No two are the same, so that an exchange changes the sum."""
    steps = torch.arange(every, dtype=torch.float64) * (math.sqrt(5) - 1) / 2
    return LEAST_WEIGHT + (GREATEST_WEIGHT - LEAST_WEIGHT) * (steps - steps.floor())


@functools.lru_cache(maxsize=256)
def _places(shape: tuple[int, ...]) -> torch.Tensor:
    """Return where the numbers are that stand in the chosen places, for each order of the axes, as flat indices."""
    sizes = [size for size in shape if size > 1]
    strides = [math.prod(sizes[axis + 1 :]) for axis in range(len(sizes))]
    size = math.prod(sizes)
    steps = (torch.arange(PLACES, dtype=torch.float64) + 0.5) * (math.sqrt(5) - 1) / 2
    places = ((steps - steps.floor()) * size).long().clamp(0, size - 1)
    rows = []
    axes = range(len(sizes))
    for order in itertools.permutations(axes) if len(sizes) <= MOST_AXES else (tuple(axes),):
        rest, flat = places.clone(), torch.zeros_like(places)
        for axis in reversed(order):
            flat += rest % sizes[axis] * strides[axis]
            rest //= sizes[axis]
        rows.append(flat)
    return torch.stack(rows)


def differing(one: Sketch, other: Sketch, every: int, limits: Limits) -> torch.Tensor:
    """Return which stretches of two results of one shape hold different numbers, as far as their sums tell."""
    rtol, atol = limits
    slack = GREATEST_WEIGHT * (every * atol + rtol * torch.maximum(one.sizes, other.sizes).double())
    apart = ~((one.sums - other.sums).abs() <= slack)
    if len(one.nonfinite) or len(other.nonfinite):
        apart |= (_nonfinite(one) != _nonfinite(other))[: len(apart)]
    return apart


def _nonfinite(kept: Sketch) -> torch.Tensor:
    return kept.nonfinite if len(kept.nonfinite) else torch.zeros(len(kept.sums) + len(KINDS), dtype=torch.float64)


def kinship(
    one: tuple[torch.Tensor, Sketch, tuple[int, ...]],
    other: tuple[torch.Tensor, Sketch, tuple[int, ...]],
    limits: Limits,
) -> Kinship:
    """Return how two large results compare, each given as the first numbers of its stretches, its sketch, its shape."""
    (first, left, shape), (second, right, other_shape) = one, other
    if math.prod(shape) != math.prod(other_shape):
        return ""
    every = stretch(math.prod(shape))
    if shape == other_shape and _close(first, second, limits):
        return "same" if not differing(left, right, every, limits).any() else ""
    if not torch.equal(_nonfinite(left)[-len(KINDS) :], _nonfinite(right)[-len(KINDS) :]):
        return ""
    apart, slack = _apart(left, right, math.prod(shape), limits)
    if not (apart <= slack).all() or not _close(left.extremes, right.extremes, limits):
        return ""
    rows = itertools.chain(
        ((row, right.places[0]) for row in left.places), ((row, left.places[0]) for row in right.places)
    )
    if shape != other_shape and any(_close(row, places, limits) for row, places in rows):
        return "arranged"
    # Nothing else speaks for it here, so the sums may be apart only by what errors add up to that go either way.
    return "permuted" if (apart <= slack / math.sqrt(math.prod(shape))).all() else ""


def _apart(one: Sketch, other: Sketch, size: int, limits: Limits) -> tuple[torch.Tensor, torch.Tensor]:
    """Return how far the sums of all numbers are apart, and how far they can be if each number is within the limits."""
    rtol, atol = limits
    _, magnitudes, squares = torch.maximum(one.totals, other.totals).tolist()
    slack = size * atol + (rtol + SUMMED) * magnitudes
    slacks = torch.tensor([slack, slack, 2 * (atol * magnitudes + (rtol + SUMMED) * squares)], dtype=torch.float64)
    return (one.totals - other.totals).abs(), slacks


def _close(one: torch.Tensor, other: torch.Tensor, limits: Limits) -> bool:
    return torch.allclose(one.double(), other.double(), rtol=limits[0], atol=limits[1], equal_nan=True)

"""Intermediate results of two programs compared by value, never by names, which each learner chooses differently."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Literal

import torch

from attn_tutor.lessons.worker.jobs.intermediates import IntermediateResult

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


def equal(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors hold the same numbers: in the same places if their shapes agree, else as views do."""
    return kinship(one, other) in ("same", "arranged")


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

    def similar(self, ours: int) -> list[int]:
        """Return the indices of those of their results that may hold the same numbers as one of ours."""
        return self._similar[ours]

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


def match(theirs: Sequence[IntermediateResult], ours: Sequence[IntermediateResult]) -> list[int | None]:
    """Return, for each of our results, the index of the first of theirs with the same value, None if there is none."""
    return Kinships(theirs, ours).match()


def ancestors(results: Sequence[IntermediateResult]) -> list[frozenset[int]]:
    """Return, for each result, the indices of all results that it was computed from."""
    found: list[frozenset[int]] = []
    for item in results:
        found.append(item.parents.union(*(found[parent] for parent in item.parents)))
    return found

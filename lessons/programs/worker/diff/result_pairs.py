"""Which results of two runs hold the same numbers: as far apart as rounding may take them, and no further.

Of equal results of one run, only one is looked at.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from attn_tutor.lessons.programs.worker.diff import result_sketch
from attn_tutor.lessons.programs.worker.diff.traced_result import TracedResult
from attn_tutor.lessons.worker.jobs import intermediates, values
from attn_tutor.lessons.worker.jobs.intermediates import Kinship, Limits

EXACTLY: Limits = 0.0, 0.0

LIMITS: dict[torch.dtype, Limits] = {
    torch.float16: (1e-3, 1e-5),
    torch.bfloat16: (1.6e-2, 1e-5),
    torch.float32: (1.3e-6, 1e-5),
    torch.float64: (1e-7, 1e-7),
}
"""The relative and absolute tolerance of `torch.testing.assert_close` for each type; all others agree exactly."""


class Numbers(Protocol):
    """Numbers that are compared; of many, some of them."""

    @property
    def value(self) -> torch.Tensor:
        """The numbers."""

    @property
    def is_whole(self) -> bool:
        """Whether all are whole."""

    @property
    def has_room(self) -> bool:
        """Whether their type could hold fractions of this size."""


@dataclass(frozen=True, slots=True)
class Tolerances:
    """The tolerances of a comparison: those that somebody has given, or else those of the types of the numbers.

    Whole numbers are not rounded: positions, counts, targets and truth values are the same or they are not, also if a
    floating-point type holds them. In a type that holds no fractions of their size, they may be whole by rounding.
    """

    relative: float | None = None
    absolute: float | None = None

    def of_types(self, one: torch.dtype, other: torch.dtype) -> Limits:
        """Return the relative and the absolute tolerance for numbers of two types, of which the coarser one counts."""
        pairs = zip(LIMITS.get(one, EXACTLY), LIMITS.get(other, EXACTLY), strict=True)
        relative, absolute = (max(pair) for pair in pairs)
        return self._unless_given((relative, absolute))

    def of(self, one: Numbers, other: Numbers) -> Limits:
        """Return the relative and the absolute tolerance for two results."""
        types = one.value.dtype, other.value.dtype
        if not all(dtype.is_floating_point for dtype in types):
            return self._unless_given(EXACTLY)
        if one.is_whole and other.is_whole and (one.has_room or other.has_room):
            return self._unless_given(EXACTLY)
        return self.of_types(*types)

    def _unless_given(self, limits: Limits) -> Limits:
        relative, absolute = limits
        return (
            relative if self.relative is None else self.relative,
            absolute if self.absolute is None else self.absolute,
        )


class _Values:
    """The different values among the results of a run.

    Attributes:
        members: for each value, the indices of the results that have it.
        of: for each result, its value.
        by_content: the values by what is the same for all results that have them.
    """

    def __init__(self, results: Sequence[TracedResult]) -> None:
        self.results = results
        self.members: list[list[int]] = []
        self.of: list[int] = []
        self.by_content: dict[bytes, int] = {}
        for index, item in enumerate(results):
            value = self.by_content.setdefault(_content(item), len(self.members))
            if value == len(self.members):
                self.members.append([])
            self.members[value].append(index)
            self.of.append(value)

    def example(self, value: int) -> TracedResult:
        """Return one of the results that have a value."""
        return self.results[self.members[value][0]]

    def totals(self) -> list[tuple[int, float, float]]:
        """Return for each value what it has in common with all that hold the same numbers in any order."""
        return [_totals(self.example(value)) for value in range(len(self.members))]


class ResultPairs:
    """The results of two runs, in pairs that hold the same numbers, up to a tolerance.

    Attributes:
        ones: the results of the first run that the second one has, each with the one there that is the same.
        others: the results of the second run that the first one has, likewise.
    """

    def __init__(self, one: Sequence[TracedResult], other: Sequence[TracedResult], tolerances: Tolerances) -> None:
        self._one, self._other, self._tolerances = _Values(one), _Values(other), tolerances
        types = {item.value.dtype for item in (*one, *other)}
        self._most = max((max(tolerances.of_types(kind, kind)) for kind in types), default=0.0)
        self._known: dict[tuple[int, int], Kinship] = {}
        self.ones: dict[int, int] = {}
        self.others: dict[int, int] = {}
        self._pair()

    def of(self, one: int, other: int) -> Kinship:
        """Return how a result of the first run compares with one of the second, by their indices."""
        return self._kinship(self._one.of[one], self._other.of[other])

    def value_of(self, other: int) -> int:
        """Return the number of the value of a result of the second run, the same for all that are in pairs with it."""
        one = self.others.get(other)
        return self._other.of[other if one is None else self.ones[one]]

    def _pair(self) -> None:
        contents = self._one.by_content.keys() & self._other.by_content.keys()
        equal = {self._other.by_content[content]: self._one.by_content[content] for content in contents}
        exact = set(equal.values())
        kin: list[list[tuple[int, Kinship]]] = []
        for other, near in enumerate(self._near()):
            mine = equal.get(other)
            # Values that both runs have to the last bit belong together, whatever else is close to them. A training
            # has thousands of small gradients that are all within the tolerance of each other.
            kin.append(
                [
                    (one, "same" if one == mine else self._kinship(one, other))
                    for one in near
                    if mine is None or one == mine or one not in exact
                ]
            )
        back: list[list[tuple[int, Kinship]]] = [[] for _ in self._one.members]
        for other, found in enumerate(kin):
            for one, kind in found:
                back[one].append((other, kind))
        for other, members in enumerate(self._other.members):
            alike = _alike(self._other.example(other), self._one, kin[other])
            pool = sorted(index for one in alike for index in self._one.members[one])
            # Equal numbers may be there several times: first one of the same name that stands for nothing else yet.
            free = dict.fromkeys(index for index in pool if index not in self.ones)
            named: dict[str, list[int]] = {}
            for index in reversed(free):
                named.setdefault(self._one.results[index].name, []).append(index)
            for index in members if pool else ():
                namesakes = named.get(self._other.results[index].name)
                theirs = namesakes.pop() if namesakes else next(iter(free), pool[0])
                free.pop(theirs, None)
                self.others[index] = theirs
                self.ones.setdefault(theirs, index)
        for one, members in enumerate(self._one.members):
            alike = _alike(self._one.example(one), self._other, back[one])
            for index in members if alike else ():
                there = self._other.members[alike[0]]
                same = (at for at in there if self._other.results[at].name == self._one.results[index].name)
                self.ones.setdefault(index, next(same, there[0]))

    def _near(self) -> Iterator[list[int]]:
        """Yield for each value of the second run which ones of the first may hold the same numbers in any order."""
        sizes: dict[int, list[tuple[float, float, int]]] = {}
        for value, (size, total, magnitude) in enumerate(self._one.totals()):
            sizes.setdefault(size, []).append((total, magnitude, value))
        for group in sizes.values():
            group.sort()
        for size, total, magnitude in self._other.totals():
            slack = 2 * self._most * (size + magnitude) + 1e-12
            group = sizes.get(size, [])
            found = []
            for position in range(bisect_left(group, (total - slack,)), len(group)):
                theirs, their_magnitude, value = group[position]
                if theirs > total + slack:
                    break
                if abs(their_magnitude - magnitude) <= slack:
                    found.append(value)
            yield sorted(found)

    def _kinship(self, one: int, other: int) -> Kinship:
        pair = one, other
        if pair not in self._known:
            self._known[pair] = _compared(self._one.example(one), self._other.example(other), self._tolerances)
        return self._known[pair]


def is_telling(item: TracedResult) -> bool:
    """Return whether another result with the same numbers is likely to be the same one, and no coincidence.

    Numbers that are all equal, such as zeros, are not, unless it is a single one with a fraction.
    """
    first = item.value.flatten()[0]
    if item.size == 1:
        return item.value.is_floating_point() and bool(first.isfinite() & (first != first.round()))
    return bool((item.value != first).any())


def _alike(item: TracedResult, others: _Values, kin: Sequence[tuple[int, Kinship]]) -> list[int]:
    """Return the values of the other run that a result is the same as; else one that a view of it could be.

    No view will do if the other run has the numbers in this shape, but in another order.
    """
    same = [value for value, kind in kin if kind == "same"]
    if same or any(kind == "permuted" and others.example(value).outline == item.outline for value, kind in kin):
        return same
    return [value for value, kind in kin if kind == "arranged"][:1]


def _compared(one: TracedResult, other: TracedResult, tolerances: Tolerances) -> Kinship:
    if one.size != other.size:
        return ""
    limits = tolerances.of(one, other)
    if one.sketch is None or other.sketch is None:
        return intermediates.kinship(one.value, other.value, limits)
    return result_sketch.kinship((one.value, one.sketch, one.shape), (other.value, other.sketch, other.shape), limits)


def _content(item: TracedResult) -> bytes:
    """Return what is the same for all results with the same numbers in the same shape."""
    digest = hashlib.blake2b(f"{item.shape} {item.value.dtype}".encode(), digest_size=16)
    for tensor in (item.value, *(item.sketch.tensors if item.sketch is not None else ())):
        digest.update(values.raw(tensor))
    return digest.digest()


def _totals(item: TracedResult) -> tuple[int, float, float]:
    if item.sketch is not None:
        total, magnitude, _ = item.sketch.totals.tolist()
        return item.size, total, magnitude
    flat = item.value.detach().double().nan_to_num(0.0, 1e3, -1e3).flatten()
    return len(flat), float(flat.sum()), float(flat.abs().sum())

"""Two records compared: which results both have, and the first that only one of them has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from lessons.worker.jobs.intermediates import IntermediateResult
from lessons.worker.jobs.result_matching import TOLERANCE, Kinships, is_distinctive


@dataclass(frozen=True, slots=True)
class ComparedResult:
    """A result of one record: its name or code, and its line; None if that is not known."""

    name: str
    line: int | None
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first result that the other record does not have, and what seems to stand in its place there.

    Attributes:
        own: the result.
        other: the result of the other record with the same name, or else the same code or shape; None if there is none.
        count: how many numbers of the two differ; 0 if there is no other, or if it has another shape.
        furthest: where they differ most.
        values: the two numbers there.
    """

    own: ComparedResult
    other: ComparedResult | None
    count: int = 0
    furthest: tuple[int, ...] = ()
    values: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class RecordComparison:
    """Two records compared.

    Attributes:
        agreed: the results that both have, by value: in this record, and in the other one.
        first: the first result of this record that the other does not have; None if it has all.
    """

    agreed: tuple[tuple[ComparedResult, ComparedResult], ...]
    first: Difference | None


def compare(ours: Sequence[IntermediateResult], theirs: Sequence[IntermediateResult]) -> RecordComparison:
    """Compare the results of two records by value, whatever they are called.

    A number alone, or a tensor of one number only, says too little to be recognized.
    """
    ours = [item for item in ours if not item.view]
    matched = Kinships(theirs, ours).match()
    pairs = [(one, theirs[at]) for one, at in zip(ours, matched, strict=True) if at is not None]
    taken = {at for at in matched if at is not None}
    left = [item for at, item in enumerate(theirs) if at not in taken]
    missing = (one for one, at in zip(ours, matched, strict=True) if at is None and is_distinctive(one.value))
    first = next((_difference(one, left) for one in missing), None)
    return RecordComparison(tuple((_plain(one), _plain(other)) for one, other in pairs), first)


def _difference(own: IntermediateResult, left: Sequence[IntermediateResult]) -> Difference:
    same_shape = [item for item in left if item.value.shape == own.value.shape]
    other = next((item for item in same_shape if item.name == own.name), None) or next(
        (item for item in [*same_shape, *left] if item.op == own.op or item.name == own.name), None
    )
    if other is None or other.value.shape != own.value.shape:
        return Difference(_plain(own), None if other is None else _plain(other))
    one, two = own.value.double(), other.value.double()
    apart = ~torch.isclose(one, two, rtol=TOLERANCE, atol=TOLERANCE, equal_nan=True)
    distance = torch.where(apart, (one - two).abs().nan_to_num(torch.inf), -1.0)
    at = torch.unravel_index(distance.argmax(), distance.shape)
    index = tuple(int(part) for part in at)
    return Difference(_plain(own), _plain(other), int(apart.sum()), index, (float(one[index]), float(two[index])))


def _plain(item: IntermediateResult) -> ComparedResult:
    return ComparedResult(item.name, item.line, tuple(item.value.shape))

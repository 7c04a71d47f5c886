"""The state of a generator of random numbers when an operation drew from it."""

from __future__ import annotations

from dataclasses import dataclass

import torch


@dataclass(slots=True, frozen=True)
class Draw:
    """The state of a generator when a random operation drew from it.

    Attributes:
        seed: the seed of the generator.
        call: how many random operations it has served since, including this one; None if that is unknown.
        first: how many numbers it had given before, if all were uniform and in single precision: then number k of
            this operation is number `first + k` of `torch.rand` after the same seed. Else None, because other
            operations consume a different count of random bits for each number.
        state: the state itself.
    """

    seed: int
    call: int | None
    first: int | None
    state: torch.Tensor

"""Draws of random numbers: the state of the generator, and how much it had served before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

UNIFORM = frozenset({"rand", "rand_like", "uniform_"})
"""Operations that draw one uniform number from a generator for each element."""

MOST_CHANGES = 32
"""Bytes of a state that may differ from an earlier one for it not to be kept as a whole."""


@dataclass(slots=True, frozen=True)
class Draw:
    """The state of a generator when a random operation drew from it.

    Attributes:
        seed: the seed of the generator.
        call: how many random operations it has served since, including this one; None if that is unknown.
        first: how many numbers it had given before, if all were uniform and in single precision: then number k of
            this operation is number `first + k` of `torch.rand` after the same seed. Else None, because other
            operations consume a different count of random bits for each number.
        base, changes: the state itself: that of an earlier draw, and which bytes of it are others now.
    """

    seed: int
    call: int | None
    first: int | None
    base: torch.Tensor
    changes: tuple[tuple[int, int], ...] = ()

    @property
    def state(self) -> torch.Tensor:
        """The state of the generator."""
        state = self.base.clone()
        for place, value in self.changes:
            state[place] = value
        return state

    @property
    def nbytes(self) -> int:
        """The bytes that are kept for it alone."""
        return 16 * len(self.changes) if self.changes else self.base.nbytes


class Draws:
    """Counts the operations that generators have served since they were seeded, and the numbers that they gave."""

    def __init__(self) -> None:
        self._base: torch.Tensor | None = None
        self._last: dict[int, tuple[Draw, torch.Tensor, int | None]] = {}

    def note(
        self, op: str, generator: torch.Generator, state: torch.Tensor, results: Sequence[torch.Tensor]
    ) -> Draw | None:
        """Describe a draw from a generator that was in a state before, given what it was for; None if none was made.

        On the meta device, nothing is drawn.
        """
        now = generator.get_state()
        if torch.equal(now, state):
            return None
        seed = generator.initial_seed()
        known = self._last.get(id(generator))
        first: int | None
        if known is not None and known[0].seed == seed and torch.equal(known[1], state):
            last, _, first = known
            call = None if last.call is None else last.call + 1
        else:
            # It was seeded again, or gave numbers to an operation that was not recorded.
            fresh = torch.Generator()
            fresh.manual_seed(seed)
            call, first = (1, 0) if torch.equal(fresh.get_state(), state) else (None, None)
        plain = op in UNIFORM and all(result.dtype == torch.float32 for result in results)
        draw = Draw(seed, call, first if plain else None, *self._shared(state))
        after = None if draw.first is None else draw.first + sum(result.numel() for result in results)
        self._last[id(generator)] = draw, now, after
        return draw

    def _shared(self, state: torch.Tensor) -> tuple[torch.Tensor, tuple[tuple[int, int], ...]]:
        """Return a state as that of an earlier draw and what has changed, if little has: of 5 kB, often two bytes."""
        if self._base is not None and self._base.shape == state.shape:
            places = (state != self._base).nonzero().flatten()
            # A list of all of them would take longer than the rest: many draws change the whole state.
            if 0 < len(places) <= MOST_CHANGES:
                return self._base, tuple((place, int(state[place])) for place in places.tolist())
        self._base = state
        return state, ()

"""How far the numbers of two results may be apart that count as the same: as rounding may take them, and no further."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch

from attn_tutor.lessons.worker.jobs.result_matching import Limits

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

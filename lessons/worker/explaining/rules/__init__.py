"""The rule of each operation: which elements a cell of its result is made from, and how.

A rule gets the work (the event and its operands so far), the index of the cell in the result and its value, and returns
a formula. Formulas follow the definitions in the documentation of PyTorch. Only operations below autograd are here,
since all others are made of them: `x @ y` arrives as `mm` or `bmm`, `nn.Linear` as `addmm`, `einsum` as `bmm`.
"""

from __future__ import annotations

# Each of these registers its rules.
from lessons.worker.explaining.rules import (
    constants,
    elementwise,
    losses,
    masking,
    movement,
    normalization,
    products,
    random_draws,
    reductions,
)
from lessons.worker.explaining.rules.constants import LEAVES, by_hand
from lessons.worker.explaining.rules.movement import Moves, apply, copied, moves
from lessons.worker.explaining.rules.registry import known

__all__ = [
    "LEAVES",
    "Moves",
    "apply",
    "by_hand",
    "constants",
    "copied",
    "elementwise",
    "known",
    "losses",
    "masking",
    "movement",
    "moves",
    "normalization",
    "products",
    "random_draws",
    "reductions",
]

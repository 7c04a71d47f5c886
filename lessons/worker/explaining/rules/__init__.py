"""The rule of each operation: which elements a cell of its result is made from, and how.

A rule gets a derivation (the event and its operands so far), the index of the cell in the result and its value, and
returns a formula. Formulas follow the definitions in the documentation of PyTorch. There are rules only for operations
below autograd, since all others consist of them: `x @ y` arrives as `mm` or `bmm`, `nn.Linear` as `addmm`, `einsum` as
`bmm`.
"""

from __future__ import annotations

# Importing a module registers its rules.
from attn_tutor.lessons.worker.explaining.rules import (
    activations,
    complex_numbers,
    constants,
    elementwise,
    linear_maps,
    losses,
    masking,
    movement,
    normalization,
    optimizers,
    random_draws,
    reductions,
    weight_norms,
)
from attn_tutor.lessons.worker.explaining.rules.constants import LEAVES, set_by_hand
from attn_tutor.lessons.worker.explaining.rules.movement import apply, copied, movement_of
from attn_tutor.lessons.worker.explaining.rules.registry import known

__all__ = [
    "LEAVES",
    "activations",
    "apply",
    "complex_numbers",
    "constants",
    "copied",
    "elementwise",
    "known",
    "linear_maps",
    "losses",
    "masking",
    "movement",
    "movement_of",
    "normalization",
    "optimizers",
    "random_draws",
    "reductions",
    "set_by_hand",
    "weight_norms",
]

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
from attn_tutor.lessons.worker.explaining.rules.constants import LEAVES as LEAVES
from attn_tutor.lessons.worker.explaining.rules.constants import set_by_hand as set_by_hand
from attn_tutor.lessons.worker.explaining.rules.movement import apply as apply
from attn_tutor.lessons.worker.explaining.rules.movement import copied as copied
from attn_tutor.lessons.worker.explaining.rules.movement import movement_of as movement_of

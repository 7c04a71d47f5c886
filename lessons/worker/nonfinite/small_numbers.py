"""Small numbers that keep an operand away from 0. Which one helps depends on the type: in float16, 1e-8 is 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch

from attn_tutor.lessons.worker.recording.event import Event

OF_DIVISORS = ("1e-8", "1e-6", "1e-4")
OF_LOGARITHMS = ("1e-12", "1e-6")
OF_EDGES = ("1e-6", "1e-3", "1e-2")
OF_SLOPES = ("1e-8", "1e-4", "1e-2")


def first_that_helps(
    event: Event, result: Callable[[torch.Tensor], torch.Tensor], numbers: Sequence[str] = OF_DIVISORS
) -> tuple[str, float] | None:
    """Return the first small number with which a result is finite in the type of an operation, and that result.

    `result` computes it, given the small number in that type. None if no number helps.
    """
    dtype = event.outs[0].dtype
    for text in numbers if dtype.is_floating_point else ():
        value = result(torch.tensor(float(text), dtype=dtype)).item() + 0.0
        if math.isfinite(value):
            return text, value
    return None

"""Sketches of large results: what is not finite in one is so in the other, in the same places."""

from __future__ import annotations

import math

import pytest
import torch

from attn_tutor.lessons.programs.worker.diff import result_sketch
from attn_tutor.lessons.programs.worker.diff.result_sketch import sketch, stretch
from attn_tutor.lessons.worker.jobs.intermediates import Kinship

SIZE = 20_000
LIMITS = (1e-4, 1e-5)


def _kinship(one: torch.Tensor, other: torch.Tensor) -> Kinship:
    every = stretch(SIZE)
    first, second = ((item[::every], sketch(item), (SIZE,)) for item in (one, other))
    return result_sketch.kinship(first, second, LIMITS)


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("stand_in", [0.0, result_sketch.NAN, result_sketch.ABOVE, result_sketch.BELOW])
def test_no_number_is_the_same_as_one_that_is_not_finite(value: float, stand_in: float) -> None:
    one = torch.full((SIZE,), stand_in)
    other = one.clone()
    other[7] = value
    assert (_kinship(one, other), _kinship(other, other), _kinship(one, one)) == ("", "same", "same")
    elsewhere = one.clone()
    elsewhere[8] = value
    assert _kinship(other, elsewhere) != "same"

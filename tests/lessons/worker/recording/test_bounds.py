"""The bounds of tensors of any kind: the least and the greatest of their finite numbers."""

from __future__ import annotations

import pytest
import torch

from attn_tutor.lessons.worker.recording.tensor_parts import bounds

INF, NAN = torch.inf, torch.nan


@pytest.mark.parametrize(
    ("tensor", "expected"),
    [
        (torch.tensor([2.0, -1.0]), (-1.0, 2.0)),
        (torch.tensor([2.0, -INF, 1.0]), (1.0, 2.0)),
        (torch.tensor([2.0, INF, NAN, -3.0]), (-3.0, 2.0)),
        (torch.tensor([-INF, NAN]), (None, None)),
        (torch.tensor([-INF, -INF]), (None, None)),
        (torch.ones(0), (None, None)),
        (torch.tensor([True, False]), (0.0, 1.0)),
        (torch.tensor([3, -4], dtype=torch.int16), (-4.0, 3.0)),
        (torch.tensor([3 + 4j, 1j]), (1.0, 5.0)),
        (torch.tensor([0.5, -INF], dtype=torch.bfloat16), (0.5, 0.5)),
    ],
)
def test_bounds_are_of_the_finite_numbers(tensor: torch.Tensor, expected: tuple[float | None, float | None]) -> None:
    assert bounds(tensor) == expected

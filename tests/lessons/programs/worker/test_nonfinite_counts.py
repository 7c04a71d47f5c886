"""How many numbers of a tensor are not finite, as far as there is time to count them."""

from __future__ import annotations

import math
import time

import pytest
import torch

from attn_tutor.lessons.programs.worker.named_report import count_nonfinite

NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("tensor", "counts"),
    [
        (torch.tensor(NAN), (1, 0)),
        (torch.zeros(0), (0, 0)),
        (torch.tensor([[1.0, NAN], [INF, -INF]]).T, (1, 2)),
        (torch.tensor([complex(NAN, INF), 1j]), (1, 1)),
        (torch.tensor([1.0, NAN]).to(torch.float8_e5m2), (1, 0)),
        (torch.tensor([1.0, INF, NAN, INF]).repeat(1 << 17), (1 << 17, 1 << 18)),
    ],
)
def test_all_numbers_are_counted(tensor: torch.Tensor, counts: tuple[int, int]) -> None:
    assert count_nonfinite(tensor, INF) == counts


def test_counting_ends_with_its_time() -> None:
    """A page of a file of 40 GB was shown when all of it had been read, half a minute later."""
    without_end = torch.zeros(1).expand(1 << 34)
    assert count_nonfinite(without_end, time.monotonic() + 0.01) is None

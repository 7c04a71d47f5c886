"""Statistics of a tensor of any size: in parts, within a limit of time, without a copy of the whole."""

from __future__ import annotations

import math
import time

import torch

from attn_tutor.lessons.results.tensor_file import TensorStatistics
from attn_tutor.lessons.worker.recording.tensor_parts import parts


def summarize(tensor: torch.Tensor, seconds: float) -> TensorStatistics:
    """Return the statistics of a tensor, of a part of its numbers if not all can be looked at within this time."""
    until = time.monotonic() + seconds
    seen = finite_count = zeros = nans = 0
    low, high, mean, squares = math.inf, -math.inf, 0.0, 0.0
    for part in parts(tensor):
        numbers = (part.abs() if part.is_complex() else part).to(torch.float64)
        seen += numbers.numel()
        zeros += int((numbers == 0).sum())
        finite = numbers.isfinite()
        if not finite.all():
            nans += int(numbers.isnan().sum())
            numbers = numbers[finite]
        if count := numbers.numel():
            least, greatest = numbers.aminmax()
            low, high = min(low, float(least)), max(high, float(greatest))
            part_mean = float(numbers.mean())
            # Chan's way to join sums of squares, which does not lose digits where the mean is large.
            difference, total = part_mean - mean, finite_count + count
            squares += float((numbers - part_mean).square().sum()) + difference**2 * finite_count * count / total
            mean += difference * count / total
            finite_count = total
        if time.monotonic() > until:
            break
    there = finite_count > 0
    return TensorStatistics(
        count=tensor.numel(),
        seen=seen,
        low=low if there else None,
        high=high if there else None,
        mean=_finite(mean) if there else None,
        std=_finite(math.sqrt(squares / finite_count)) if there else None,
        zeros=zeros,
        nans=nans,
        infinities=seen - finite_count - nans,
    )


def _finite(number: float) -> float | None:
    return number if math.isfinite(number) else None

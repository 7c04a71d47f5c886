"""The least and the greatest number of a tensor, which the scale of its colors begins and ends with."""

from __future__ import annotations

import math

import torch

Bounds = tuple[float, float] | tuple[None, None]


def bounds(tensor: torch.Tensor) -> Bounds:
    """Return the least and the greatest finite value, of complex numbers that of their absolute values.

    None for each if there are none.
    """
    if tensor.is_complex():
        tensor = tensor.abs()
    elif not tensor.dtype.is_floating_point:
        tensor = tensor.to(torch.int64)
    if not tensor.numel():
        return None, None
    low, high = (float(bound) for bound in tensor.aminmax())
    if math.isfinite(high) and low == -math.inf:
        # Scores that are masked: twice as fast as to look for all numbers that are not finite.
        low = float(torch.where(tensor == -torch.inf, high, tensor).amin())
    if math.isfinite(low) and math.isfinite(high):
        return low, high
    finite = tensor[torch.isfinite(tensor)]
    return (float(finite.min()), float(finite.max())) if finite.numel() else (None, None)

"""The least and the greatest number of a tensor, which the scale of its colors begins and ends with."""

from __future__ import annotations

import math
import time

import torch

from attn_tutor.lessons.worker.recording.tensor_parts import parts

Bounds = tuple[float | None, float | None]

LARGE = 1 << 24
"""Numbers beyond which a tensor may not fit into memory, or take long: it may be a file."""
SECONDS = 1.0


def bounds(tensor: torch.Tensor) -> Bounds:
    """Return the least and the greatest finite value, of complex numbers that of their absolute values.

    None for each if there are none. Of a very large tensor, only as many numbers are looked at as there is time for.
    """
    if tensor.numel() > LARGE and tensor.layout == torch.strided:
        return _bounds_of_parts(tensor)
    if tensor.is_complex():
        tensor = tensor.abs()
    elif tensor.dtype == torch.uint64 or (tensor.dtype.is_floating_point and tensor.dtype.itemsize == 1):
        tensor = tensor.to(torch.float64)
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


def _bounds_of_parts(tensor: torch.Tensor) -> Bounds:
    until = time.monotonic() + SECONDS
    found: list[float] = []
    for part in parts(tensor):
        found += [bound for bound in bounds(part) if bound is not None]
        if time.monotonic() > until:
            break
    return (min(found), max(found)) if found else (None, None)

"""A tensor of any size in parts, for what has to look at all of its numbers, or at as many as there is time for.

The least and the greatest of them are what the scale of its colors begins and ends with.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import torch

PART = 1 << 18
"""Numbers that are looked at together; their copies in double precision take two MiB."""
GOLDEN = (math.sqrt(5) - 1) / 2


def parts(tensor: torch.Tensor) -> Iterator[torch.Tensor]:
    """Yield all of a tensor in parts of at most `PART` numbers, first some that are spread over all of it."""
    # In the order of memory, so that a part is read from one place of the file.
    strides = tensor.stride()
    axes = sorted(range(tensor.dim()), key=lambda axis: -strides[axis])
    tensor = tensor.permute(axes)
    shape = tuple(tensor.shape)
    if not tensor.numel():
        return
    axis = next((axis for axis in range(len(shape)) if math.prod(shape[axis + 1 :]) <= PART), 0)
    if not shape:
        yield tensor
        return
    length = max(1, PART // math.prod(shape[axis + 1 :]))
    pieces = -(-shape[axis] // length)
    total = math.prod(shape[:axis]) * pieces
    step = _step(total)
    for count in range(total):
        where, piece = divmod(count * step % total, pieces)
        lead: list[int] = []
        for size in reversed(shape[:axis]):
            where, index = divmod(where, size)
            lead.append(index)
        yield tensor[tuple(reversed(lead))][piece * length : (piece + 1) * length]


def _step(total: int) -> int:
    """Return a step that visits all of so many positions, each far from those before it."""
    step = max(1, round(total * GOLDEN))
    while math.gcd(step, total) != 1:
        step += 1
    return step


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

"""A tensor of any size in parts, for what has to look at all of its numbers, or at as many as there is time for."""

from __future__ import annotations

import math
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

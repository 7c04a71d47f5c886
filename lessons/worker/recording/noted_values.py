"""What of the values of an operation can be noted as it is, or once for all of them."""

from __future__ import annotations

import torch

MOST_DIMS = 4096
"""Shapes and strides that are shared, until they are forgotten."""

NUMBERS = frozenset(
    {
        *(int, float, bool, type(None), complex, str),
        *(torch.dtype, torch.device, torch.layout, torch.memory_format),
    }
)
"""The types of arguments that are recorded as they are."""

PACKED = frozenset(
    {
        *(torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.bool),
        *(torch.int64, torch.int32, torch.int16, torch.int8, torch.uint8, torch.complex64, torch.complex128),
    }
)
"""The types of numbers that can be read from bytes."""


class SharedDims(dict[tuple[int, ...], tuple[int, ...]]):
    """Shapes and strides, each of them once."""

    def __missing__(self, dims: tuple[int, ...]) -> tuple[int, ...]:
        if len(self) >= MOST_DIMS:
            self.clear()
        # The shape of a tensor is of another type, which the garbage collector would look at again and again.
        found = self[tuple(dims)] = tuple(dims)
        return found

"""Reports of tensors for the screen: shape, bounds and numbers."""

from __future__ import annotations

import torch

from attn_tutor.lessons.results.result import WHOLE
from attn_tutor.lessons.worker.jobs import values
from attn_tutor.lessons.worker.message_parts import Code, LayoutReport, TensorReport
from attn_tutor.lessons.worker.recording.bounds import Bounds, bounds

CORNER = 32


def entry(name: str, tensor: torch.Tensor, blob: bytearray, known: Bounds | None = None) -> TensorReport:
    """Report a tensor: its shape, its bounds, and its numbers, which are appended to `blob`.

    Of a large tensor, only the first corner is sent. The bounds are found unless they are `known`.
    """
    whole = tensor.numel() <= WHOLE
    part = tensor if whole else corner(tensor)
    code, data = numbers(part)
    low, high = known or bounds(tensor)
    report = TensorReport(
        name,
        dtype=str(tensor.dtype).removeprefix("torch."),
        shape=tuple(tensor.shape),
        low=low,
        high=high,
        whole=whole,
        rows=1 if part.dim() < 2 else part.shape[-2],
        code=code,
        offset=len(blob),
        size=len(data),
        layout=layout(tensor),
    )
    blob += data
    return report


def corner(tensor: torch.Tensor) -> torch.Tensor:
    """Return the first rows and columns of a tensor, at the first of its leading indices."""
    part = tensor[(0,) * max(0, tensor.dim() - 2)]
    return part[:CORNER, :CORNER] if part.dim() > 1 else part[:CORNER] if part.dim() else part


def layout(tensor: torch.Tensor) -> LayoutReport | None:
    """Return the memory layout of a tensor, None if the tensor is not strided or has no data."""
    if tensor.layout != torch.strided or tensor.is_meta:
        return None
    storage = tensor.untyped_storage()
    return LayoutReport(
        tensor.stride(),
        int(tensor.storage_offset()),
        storage.nbytes() // tensor.element_size(),
        tensor.is_contiguous(),
        storage.data_ptr(),
    )


def numbers(tensor: torch.Tensor) -> tuple[Code, bytes]:
    """Return the elements as bytes, with their `array` type code: bool B, integers q, double d, all other floats f.

    Of integers without a sign, those of 64 bits are sent as doubles, since q does not hold all of them.
    """
    if tensor.dtype == torch.bool:
        return "B", values.raw(tensor.to(torch.uint8))
    if not tensor.dtype.is_floating_point and tensor.dtype != torch.uint64:
        return "q", values.raw(tensor.to(torch.int64))
    if tensor.dtype in (torch.float64, torch.uint64):
        return "d", values.raw(tensor.to(torch.float64))
    return "f", values.raw(tensor.to(torch.float32))

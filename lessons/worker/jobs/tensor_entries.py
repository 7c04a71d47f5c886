"""Reports of tensors for the screen: shape, bounds and numbers, and summaries of a matrix by blocks.

Summaries are computed in the worker, so that only the visible part is sent.
"""

from __future__ import annotations

import torch
from torch.nn.functional import pad

from attn_tutor.lessons.results.result import WHOLE, MemoryLayout
from attn_tutor.lessons.results.summaries import How, sampling
from attn_tutor.lessons.worker.jobs import values
from attn_tutor.lessons.worker.message_parts import Code, TensorReport
from attn_tutor.lessons.worker.messages import BlocksReport
from attn_tutor.lessons.worker.recording.tensor_parts import Bounds, bounds

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


def layout(tensor: torch.Tensor) -> MemoryLayout | None:
    """Return the memory layout of a tensor, None if the tensor is not strided or has no data."""
    if tensor.layout != torch.strided or tensor.is_meta:
        return None
    storage = tensor.untyped_storage()
    return MemoryLayout(
        tensor.stride(),
        int(tensor.storage_offset()),
        storage.nbytes() // tensor.element_size(),
        tensor.is_contiguous(),
        str(storage.data_ptr()),
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


def block_count(matrix: torch.Tensor, rows: int, cols: int) -> int:
    """Return the number of blocks of this size that a matrix has."""
    height, width = matrix.shape
    return -(-height // rows) * -(-width // cols)


def blocks_report(matrix: torch.Tensor, rows: int, cols: int, how: How) -> BlocksReport:
    """Compute the blocks of a matrix, as `lessons.results.summaries.blocks_of` defines them.

    Numbers are sent as doubles, in which integers beyond 2**53 are rounded. Only one strip of blocks is held at once,
    of a very large matrix a sample of it.
    """
    height, width = matrix.shape
    down, across = -(-height // rows), -(-width // cols)
    row_step, col_step = sampling((height, width), rows, cols)
    per_row = cols // col_step
    grid = torch.empty(down, across, dtype=torch.float64)
    peaks = torch.empty(down, across, dtype=torch.int64)
    firsts = torch.arange(across) * cols
    for index in range(down):
        strip = matrix[index * rows : (index + 1) * rows : row_step, ::col_step].to(torch.float64)
        # The padding of the last block is ignored, like masked cells.
        filled = pad(strip, (0, across * per_row - strip.shape[1]), value=-torch.inf)
        cells = filled.view(-1, across, per_row).transpose(0, 1).reshape(across, -1)
        best = cells.argmax(dim=-1)
        peaks[index] = (index * rows + best // per_row * row_step) * width + firsts + best % per_row * col_step
        grid[index] = cells.gather(1, best[:, None])[:, 0] if how == "max" else _mean(cells)
    return BlocksReport(down, width, values.raw(grid) + values.raw(peaks))


def _mean(cells: torch.Tensor) -> torch.Tensor:
    there = cells != -torch.inf
    count = there.sum(dim=-1)
    mean = cells.masked_fill(~there, 0.0).sum(dim=-1) / count
    return mean.masked_fill(count == 0, -torch.inf)

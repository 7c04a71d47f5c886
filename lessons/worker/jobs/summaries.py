"""Summaries of a matrix by blocks and rows, computed in the worker, so that only the visible part is sent."""

from __future__ import annotations

import torch
from torch.nn.functional import pad

from attn_tutor.lessons.results.summaries import How, row_stats, sampling
from attn_tutor.lessons.worker.jobs import values
from attn_tutor.lessons.worker.tensor_reports import BlocksReport, RowReport


def count(matrix: torch.Tensor, rows: int, cols: int) -> int:
    """Return the number of blocks of this size that a matrix has."""
    height, width = matrix.shape
    return -(-height // rows) * -(-width // cols)


def blocks(matrix: torch.Tensor, rows: int, cols: int, how: How) -> BlocksReport:
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


def row(matrix: torch.Tensor, index: int, top: int) -> RowReport:
    """Compute the statistics of a row, as `lessons.results.summaries.row_stats` defines them.

    Values are sent as doubles, since JSON has no NaN.
    """
    stats = row_stats((), index, matrix[index].tolist(), top)
    numbers = torch.tensor([stats.total, *(value for _, value in stats.top)], dtype=torch.float64)
    cols = tuple(col for col, _ in stats.top)
    return RowReport(stats.low, stats.high, stats.support, stats.bits, cols, values.raw(numbers))


def _mean(cells: torch.Tensor) -> torch.Tensor:
    there = cells != -torch.inf
    count = there.sum(dim=-1)
    mean = cells.masked_fill(~there, 0.0).sum(dim=-1) / count
    return mean.masked_fill(count == 0, -torch.inf)

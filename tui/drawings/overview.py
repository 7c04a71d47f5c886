"""An overview of a large matrix: blocks of cells, each drawn as one number or shade.

An overview is drawn as a different, smaller tensor, whose values are those of the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from attn_tutor.lessons.render.numbers import exact, number_format, visible
from attn_tutor.lessons.results.result import Tensor, Window
from attn_tutor.lessons.results.summaries import Blocks, How, sampling
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.drawings.drawing_scene import Face, index_of
from attn_tutor.tui.drawings.grid import layout

say = Wording("matrix/overview")

DIGITS = 7
"""Cells for the number of a block; whole numbers may need more."""

FEWEST = 6
"""The minimum number of number columns in an overview; where fewer fit, shades are more informative."""


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """How a matrix is divided: rows and columns per block, and the cells for each number (0 for shades)."""

    rows: int
    cols: int
    digits: int

    def shape(self, matrix: tuple[int, int]) -> tuple[int, int]:
        """Return the number of rows and columns of blocks."""
        return -(-matrix[0] // self.rows), -(-matrix[1] // self.cols)

    def block(self, row: int, col: int) -> tuple[int, int]:
        """Return the row and column of the block that contains a cell."""
        return row // self.rows, col // self.cols


def divide(face: Face, width: int, height: int, shades: bool | None = None) -> BlockPlan:
    """Divide a matrix into the smallest blocks that all fit into `width` by `height` cells.

    `shades` says whether the learner wants shades or numbers; None decides by how many numbers fit.
    """
    rows, cols = face.tensor.matrix_shape
    at_origin = layout(face, width, height, 0, 0)
    gutter = 2 + (max(len(str(rows)), min(6, face.row_label_width)) if face.row_labels else 0)
    digits = max(DIGITS, face.numbers.width) if face.numbers.style == "integer" else DIGITS
    across = (width - gutter) // (digits + 2)
    if shades or (shades is None and across < min(cols, FEWEST)):
        digits, across = 0, (width - gutter) // 2
    return BlockPlan(_round(-(-rows // max(1, height - at_origin.first))), _round(-(-cols // max(1, across))), digits)


def _round(least: int) -> int:
    """Round a block size up to one that is easy to calculate with: a power of two, or a quarter step between two."""
    size = 1
    while size * 2 <= least:
        size *= 2
    steps = (size + part * size // 4 for part in range(5))
    return next(step for step in steps if step >= least)


def face_of(source: Face, division: BlockPlan, how: How, blocks: Blocks | None) -> Face:
    """Return the face of an overview; `blocks` is None while its numbers have not arrived."""
    tensor = source.tensor
    down, across = division.shape(tensor.matrix_shape)
    low, high, least = bounds(tensor, () if blocks is None else (blocks,))
    small = replace(
        tensor,
        kind="weight" if how == "mean" and tensor.kind == "mask" else tensor.kind,
        dtype="float64" if how == "mean" and not tensor.dtype.startswith(("float", "bfloat")) else tensor.dtype,
        shape=(*tensor.shape[:-2], *((down, across)[-len(tensor.shape) :])),
        labels=_labels(source, division),
        low=low,
        high=high,
        values=None,
        window=None,
    )
    face = Face.of(small, source.scale.palette)
    numbers = number_format(small.dtype, small.kind, low, high)
    if numbers.width > division.digits and numbers.style != "integer":
        numbers = replace(numbers, decimals=max(0, numbers.decimals - (numbers.width - division.digits)))
    return replace(
        face,
        # Use the same number width for every head, so that nothing moves when the head changes.
        numbers=replace(numbers, width=max(division.digits, 1)),
        scale=replace(face.scale, least=least),
        shape=tensor.shape,
        shades=not division.digits,
    )


def bounds(tensor: Tensor, grids: Sequence[Blocks]) -> tuple[float | None, float | None, float | None]:
    """Return the least, greatest and least positive number of some overviews; the tensor's bounds while there are none.

    The least positive number is for weights only. Among a thousand tokens, most weights are powers of ten below the
    greatest one, so their levels are logarithmic.
    """
    values = [value for blocks in grids for row in blocks.grid for value in row if isfinite(value)]
    if not values:
        return tensor.low, tensor.high, None
    above = [value for value in values if value > 0]
    return min(values), max(values), min(above) if tensor.kind == "weight" and above else None


def window_of(blocks: Blocks) -> Window:
    """Return the numbers of an overview as a window of its tensor."""
    return Window(blocks.lead, 0, 0, blocks.grid)


def _labels(source: Face, division: BlockPlan) -> tuple[tuple[str, ...], ...]:
    """Return the labels of blocks: where each begins, or the tensor's own labels where a block is one row or column."""
    tensor = source.tensor
    labels = list(tensor.labels) + [()] * (len(tensor.shape) - len(tensor.labels))
    for axis, step in ((-1, division.cols), (-2, division.rows)):
        if step > 1 and -axis <= len(tensor.shape):
            labels[axis] = tuple(map(str, range(0, tensor.shape[axis], step)))
    return tuple(labels)


def cell_of(matrix: tuple[int, int], division: BlockPlan, blocks: Blocks | None, row: int, col: int) -> tuple[int, int]:
    """Return the cell that represents a block: its greatest, or its first while that is unknown.

    The block is clamped to the matrix.
    """
    down, across = division.shape(matrix)
    row, col = max(0, min(down - 1, row)), max(0, min(across - 1, col))
    return blocks.peaks[row][col] if blocks else (row * division.rows, col * division.cols)


def caption(division: BlockPlan, how: How, times: str, matrix: tuple[int, int]) -> str:
    """Describe what the numbers of an overview of a matrix of this shape are."""
    blocks = f"{division.rows}{times}{division.cols}"
    if sampling(matrix, division.rows, division.cols) != (1, 1):
        blocks = say("sample-of", "a sample of {what}", what=blocks)
    return (
        say("max-of", "max of {what}", what=blocks) if how == "max" else say("mean-of", "mean of {what}", what=blocks)
    )


def how_word(how: How) -> str:
    """Return what the numbers of an overview are, in one word."""
    return say("max", "max") if how == "max" else say("mean", "mean")


def describe(
    face: Face, division: BlockPlan, how: How, blocks: Blocks | None, lead: tuple[int, ...], cell: tuple[int, int]
) -> str:
    """Describe the block of a cell, with its number."""
    tensor = face.tensor
    row, col = division.block(*cell)
    sizes = zip((row, col), (division.rows, division.cols), tensor.matrix_shape, strict=True)
    spans = [f"{at * step}:{min((at + 1) * step, size)}" for at, step, size in sizes]
    index = [*map(str, lead), *spans][-len(tensor.shape) :]
    part = f"{visible(tensor.name)}[{','.join(index)}]"
    what = say("max-of", "max of {what}", what=part) if how == "max" else say("mean-of", "mean of {what}", what=part)
    what += " = "
    if blocks is None:
        return what + ("…" if face.scale.palette.unicode else "...")
    value = blocks.grid[row][col]
    greatest = index_of(tensor, lead, *blocks.peaks[row][col])[len(lead) :]
    where = f"[{','.join(map(str, greatest))}]"
    if how == "max":
        return f"{what}{exact(value, tensor.dtype)}   {say('at', 'at {index}', index=where)}"
    return f"{what}{value:.6g}   {say('greatest-at', 'greatest at {index}', index=where)}"

"""All of a large matrix at once: blocks of its cells, each as one number or shade. Pure functions.

An overview is the picture of another, smaller tensor, whose values are those of the blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from lessons.results.result import Tensor, Window
from lessons.results.summaries import Blocks, How
from tui.drawings.grid import Face, index_of, layout
from tui.render.numbers import exact, number_format, visible

DIGITS = 7
"""Cells for the number of a block; whole numbers may need more."""

FEWEST = 6
"""Columns of numbers that make an overview; where fewer fit, shades say more."""


@dataclass(frozen=True, slots=True)
class BlockPlan:
    """How a matrix is divided: rows and columns of a block, and the cells for the number of each; 0 for shades."""

    rows: int
    cols: int
    digits: int

    def shape(self, matrix: tuple[int, int]) -> tuple[int, int]:
        """Rows and columns of blocks."""
        return -(-matrix[0] // self.rows), -(-matrix[1] // self.cols)

    def block(self, row: int, col: int) -> tuple[int, int]:
        """The block that a cell is in."""
        return row // self.rows, col // self.cols


def plan(face: Face, width: int, height: int, shades: bool | None = None) -> BlockPlan:
    """The division into the smallest blocks that all fit into this many cells.

    `shades` says whether the learner wants shades or numbers; None leaves it to how many numbers fit.
    """
    rows, cols = face.tensor.matrix_shape
    place = layout(face, width, height, 0, 0)
    gutter = 2 + (max(len(str(rows)), min(6, face.row_label_width)) if face.row_labels else 0)
    digits = max(DIGITS, face.numbers.width) if face.numbers.style == "integer" else DIGITS
    across = (width - gutter) // (digits + 2)
    if shades or (shades is None and across < min(cols, FEWEST)):
        digits, across = 0, (width - gutter) // 2
    return BlockPlan(_round(-(-rows // max(1, height - place.first))), _round(-(-cols // max(1, across))), digits)


def _round(least: int) -> int:
    """A size of blocks that is easy to reckon with: of the powers of two, and three steps between them, the next."""
    size = 1
    while size * 2 <= least:
        size *= 2
    steps = (size + part * size // 4 for part in range(5))
    return next(step for step in steps if step >= least)


def face_of(source: Face, division: BlockPlan, how: How, blocks: Blocks | None) -> Face:
    """The face of an overview. Without blocks it is that of one whose numbers have not come yet."""
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
        # Every head has numbers of the same width, so that nothing moves from one to the next.
        numbers=replace(numbers, width=max(division.digits, 1)),
        scale=replace(face.scale, least=least),
        shape=tensor.shape,
        shades=not division.digits,
    )


def bounds(tensor: Tensor, grids: Sequence[Blocks]) -> tuple[float | None, float | None, float | None]:
    """Least, greatest and least positive number of some overviews; those of the tensor while there are none.

    Between the greatest weight of a thousand tokens and most others lie powers of ten: their levels are by logarithm.
    """
    values = [value for blocks in grids for row in blocks.grid for value in row if isfinite(value)]
    if not values:
        return tensor.low, tensor.high, None
    above = [value for value in values if value > 0]
    return min(values), max(values), min(above) if tensor.kind == "weight" and above else None


def window_of(blocks: Blocks) -> Window:
    """The numbers of an overview as values of its tensor."""
    return Window(blocks.lead, 0, 0, blocks.grid)


def _labels(source: Face, division: BlockPlan) -> tuple[tuple[str, ...], ...]:
    """Where each block begins; where blocks are single rows or columns, their own labels."""
    tensor = source.tensor
    labels = list(tensor.labels) + [()] * (len(tensor.shape) - len(tensor.labels))
    for axis, step in ((-1, division.cols), (-2, division.rows)):
        if step > 1 and -axis <= len(tensor.shape):
            labels[axis] = tuple(map(str, range(0, tensor.shape[axis], step)))
    return tuple(labels)


def cell_of(matrix: tuple[int, int], division: BlockPlan, blocks: Blocks | None, row: int, col: int) -> tuple[int, int]:
    """The cell that stands for a block: its greatest, or its first while that is not known. The block is clamped."""
    down, across = division.shape(matrix)
    row, col = max(0, min(down - 1, row)), max(0, min(across - 1, col))
    return blocks.peaks[row][col] if blocks else (row * division.rows, col * division.cols)


def caption(division: BlockPlan, how: How, times: str) -> str:
    """What the numbers of an overview are."""
    return f"{how} of {division.rows}{times}{division.cols}"


def describe(
    face: Face, division: BlockPlan, how: How, blocks: Blocks | None, lead: tuple[int, ...], cell: tuple[int, int]
) -> str:
    """The block of a cell in words, with its number."""
    tensor = face.tensor
    row, col = division.block(*cell)
    sizes = zip((row, col), (division.rows, division.cols), tensor.matrix_shape, strict=True)
    spans = [f"{at * step}:{min((at + 1) * step, size)}" for at, step, size in sizes]
    index = [*map(str, lead), *spans][-len(tensor.shape) :]
    what = f"{how} of {visible(tensor.name)}[{','.join(index)}] = "
    if blocks is None:
        return what + ("…" if face.scale.palette.unicode else "...")
    value = blocks.grid[row][col]
    greatest = index_of(tensor, lead, *blocks.peaks[row][col])[len(lead) :]
    where = f"[{','.join(map(str, greatest))}]"
    if how == "max":
        return f"{what}{exact(value, tensor.dtype)}   at {where}"
    return f"{what}{value:.6g}   greatest at {where}"

"""The zoom level of a matrix: its cells, blocks that are each one number or shade, or all heads side by side.

An overview is drawn as a different, smaller tensor, whose values are those of the blocks.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isfinite, isnan
from typing import Literal

from rich.style import Style

from attn_tutor.lessons.render.numbers import exact, number_format, truncated, visible
from attn_tutor.lessons.results.result import Tensor, Window
from attn_tutor.lessons.results.summaries import Blocks, How, blocks_of, sampling
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.drawings.drawing_scene import DrawingScene, Face, GridLayout, index_of
from attn_tutor.tui.drawings.grid import draw, layout
from attn_tutor.tui.drawings.marks import Marked, Marks, background
from attn_tutor.tui.drawings.styled_line import Runs, StyledLine

say = Wording("matrix/zoom")

Level = Literal["cells", "blocks", "heads"]
Wanted = tuple[tuple[int, ...], int, int, How]
"""Leading indices, rows and columns of a block, and the statistic that stands for it."""

MOST_GRIDS = 64

LARGE = 100_000
"""The number of cells from which on a matrix opens on its overview: a screen shows less than a hundredth of them."""


def opening_level(tensor: Tensor) -> Level:
    """Return the zoom level on which a tensor opens: blocks if a screen shows next to nothing of its cells."""
    rows, cols = tensor.matrix_shape
    return "blocks" if rows * cols >= LARGE else "cells"


class Zoom:
    """The zoom level and the blocks that it shows.

    Methods take the scene of the cells: its cursor is the only one, whatever the level.
    """

    def __init__(self) -> None:
        self.level: Level = "cells"
        self.how: How = "max"
        self.shades: bool | None = None
        self._grids: OrderedDict[Wanted, Blocks] = OrderedDict()

    def unit(self) -> str:
        """Return what the cursor stands on in an overview."""
        return say("head", "head") if self.level == "heads" else say("block", "block")

    def clear(self) -> None:
        """Discard all blocks, because the values have changed."""
        self._grids.clear()

    def add(self, blocks: Blocks) -> None:
        """Store blocks that have arrived."""
        self._grids[blocks.lead, blocks.rows, blocks.cols, blocks.how] = blocks
        while len(self._grids) > MOST_GRIDS:
            self._grids.popitem(last=False)

    # Scenes -----------------------------------------------------------------------------------------------------

    def division(self, cells: DrawingScene) -> BlockPlan:
        """Return how the overview divides the matrix into blocks."""
        return divide(cells.face, cells.layout.width, cells.layout.height, self.shades)

    def thumbs(self, cells: DrawingScene) -> ThumbnailGrid | None:
        """Return the arrangement of all heads, None if there is only one or they do not fit."""
        several = bool(cells.lead) and cells.face.tensor.lead_shape[-1] > 1
        return arrange_heads(cells.face, cells.layout.width, cells.layout.height) if several else None

    def scene(self, cells: DrawingScene, marks: Marks) -> DrawingScene | Heads:
        """Return the scene to draw at this level."""
        if self.level == "heads" and (thumbs := self.thumbs(cells)):
            grids = {
                lead: found for lead in self._heads(cells) if (found := self._blocks(cells, thumbs.division, lead))
            }
            return scene_of(cells, thumbs, self.how, grids, _prefix(cells))
        if self.level == "cells":
            return cells
        division = self.division(cells)
        blocks = self._blocks(cells, division, cells.lead)
        face = face_of(cells.face, division, self.how, blocks)
        row, col = division.block(cells.row, cells.col)
        times = "×" if cells.palette.unicode else "x"
        return replace(
            cells,
            face=face,
            layout=layout(face, cells.layout.width, cells.layout.height, row, col),
            row=row,
            col=col,
            windows={0: window_of(blocks)} if blocks else {},
            caption=_prefix(cells) + caption(division, self.how, times, cells.face.tensor.matrix_shape),
            keys=(
                hint("matrix.overview", how_word("mean") if self.how == "max" else say("cells", "cells")),
                *([hint("matrix.zoom-out", say("heads", "heads"))] if self.thumbs(cells) else []),
                hint("matrix.shades", say("numbers", "numbers") if face.shades else say("shades", "shades")),
            ),
            marked=Marked(marks, cells.face.tensor.shape, division.rows, division.cols),
        )

    def missing(self, cells: DrawingScene) -> list[Wanted]:
        """Return the visible blocks that have not arrived."""
        if self.level == "heads" and (thumbs := self.thumbs(cells)):
            division, leads = thumbs.division, self._heads(cells)
        elif self.level == "cells":
            return []
        else:
            division, leads = self.division(cells), [cells.lead]
        return [self._key(division, lead) for lead in leads if self._blocks(cells, division, lead) is None]

    def describe(self, cells: DrawingScene, scene: DrawingScene | Heads) -> str:
        """Describe the block or head under the cursor."""
        if isinstance(scene, Heads):
            return describe_head(scene, self.how)
        division = self.division(cells)
        blocks = self._blocks(cells, division, cells.lead)
        return describe_block(cells.face, division, self.how, blocks, cells.lead, (cells.row, cells.col))

    # Cursor -----------------------------------------------------------------------------------------------------

    def cell(self, cells: DrawingScene, rows: int = 0, cols: int = 0) -> tuple[int, int]:
        """Return the cell that represents the block this many blocks away."""
        division = self.division(cells)
        row, col = division.block(cells.row, cells.col)
        blocks = self._blocks(cells, division, cells.lead)
        return cell_of(cells.face.tensor.matrix_shape, division, blocks, row + rows, col + cols)

    def corner(self, cells: DrawingScene) -> tuple[int, int]:
        """Return the first cell of the block under the cursor."""
        division = self.division(cells)
        row, col = division.block(cells.row, cells.col)
        return row * division.rows, col * division.cols

    def _heads(self, cells: DrawingScene) -> list[tuple[int, ...]]:
        return [(*cells.lead[:-1], head) for head in range(cells.face.tensor.lead_shape[-1])]

    def _key(self, division: BlockPlan, lead: tuple[int, ...]) -> Wanted:
        return lead, division.rows, division.cols, self.how

    def _blocks(self, cells: DrawingScene, division: BlockPlan, lead: tuple[int, ...]) -> Blocks | None:
        """Return the blocks if they have arrived or, for a small tensor, can be computed; else None."""
        key, tensor = self._key(division, lead), cells.face.tensor
        if key not in self._grids and tensor.values is not None:
            self.add(blocks_of(lead, _matrix(tensor, lead), division.rows, division.cols, self.how))
        return self._grids.get(key)


def _matrix(tensor: Tensor, lead: tuple[int, ...]) -> list[list[float]]:
    rows, cols = tensor.matrix_shape
    return [list(tensor.row(lead, row, 0, cols) or ()) for row in range(rows)]


def _prefix(cells: DrawingScene) -> str:
    return f"{cells.caption}, " if cells.caption else ""


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
    low, high, least = block_bounds(tensor, () if blocks is None else (blocks,))
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


def block_bounds(tensor: Tensor, grids: Sequence[Blocks]) -> tuple[float | None, float | None, float | None]:
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


def describe_block(
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


NARROWEST, LOWEST = 4, 2
"""The minimum columns and lines of a thumbnail."""


@dataclass(frozen=True, slots=True)
class ThumbnailGrid:
    """The arrangement of thumbnails: how many side by side, their columns and lines, and how they are divided."""

    across: int
    width: int
    height: int
    division: BlockPlan


@dataclass(frozen=True, slots=True)
class Heads:
    """Everything that the drawing of all heads depends on; `scene` is for the header and the leading axes above it."""

    scene: DrawingScene
    thumbs: ThumbnailGrid
    grids: Mapping[tuple[int, ...], Blocks]

    @property
    def layout(self) -> GridLayout:
        """The layout of the header and the leading axes."""
        return self.scene.layout

    def head_at(self, x: int, y: int) -> int | None:
        """Return the head whose thumbnail is at x and y, None if there is none."""
        tier, slot = (y - self.layout.labels) // (self.thumbs.height + 1), x // (self.thumbs.width + 1)
        head = tier * self.thumbs.across + slot
        inside = y >= self.layout.labels and slot < self.thumbs.across
        return head if inside and head < self.scene.face.tensor.lead_shape[-1] else None

    @property
    def title_at(self) -> tuple[int, int]:
        """The x and y at which the title of the chosen head begins."""
        tier, slot = divmod(self.scene.lead[-1], self.thumbs.across)
        return slot * (self.thumbs.width + 1) + 2, self.layout.labels + tier * (self.thumbs.height + 1)


def arrange_heads(face: Face, width: int, height: int) -> ThumbnailGrid | None:
    """Return the arrangement with the largest thumbnails, None if they do not all fit."""
    count = face.tensor.lead_shape[-1] if face.tensor.lead_shape else 0
    # The first title replaces the line of labels.
    lines = height - max(0, layout(face, width, height, 0, 0).labels)
    best: ThumbnailGrid | None = None
    for across in range(1, count + 1):
        down = -(-count // across)
        columns, rows = width // across - 1, lines // down - 1
        # A line is as high as two columns are wide.
        if (
            columns >= NARROWEST
            and rows >= LOWEST
            and (best is None or min(columns, 2 * rows) > min(best.width, 2 * best.height))
        ):
            best = ThumbnailGrid(across, columns, rows, _division(face.tensor, columns, rows))
    return best


def _division(tensor: Tensor, columns: int, lines: int) -> BlockPlan:
    rows, cols = tensor.matrix_shape
    return BlockPlan(-(-rows // lines), -(-cols // columns), 0)


def scene_of(
    scene: DrawingScene, thumbs: ThumbnailGrid, how: How, grids: Mapping[tuple[int, ...], Blocks], note: str = ""
) -> Heads:
    """Return the drawing of all heads of a scene's tensor, with the thumbnails that have arrived."""
    source, shown = scene.face, tuple(grids.values())
    face = face_of(source, thumbs.division, how, None)
    low, high, least = block_bounds(source.tensor, shown)
    # Use one scale for all heads, so that they can be compared.
    face = replace(
        face,
        tensor=replace(face.tensor, low=low, high=high),
        scale=replace(scene.palette.scale(face.tensor.kind, low, high), least=least),
    )
    times = "×" if scene.palette.unicode else "x"
    keys = (hint("matrix.overview", how_word("mean" if how == "max" else "max")),)
    return Heads(
        replace(
            scene, face=face, caption=note + caption(thumbs.division, how, times, source.tensor.matrix_shape), keys=keys
        ),
        thumbs,
        grids,
    )


def draw_heads(heads: Heads, y: int) -> Runs:
    """Return one line of the drawing."""
    scene, thumbs, layout = heads.scene, heads.thumbs, heads.scene.layout
    if y < layout.labels:
        return draw(scene, y)
    line = StyledLine()
    tier, inside = divmod(y - layout.labels, thumbs.height + 1)
    count = scene.face.tensor.lead_shape[-1]
    for head in range(tier * thumbs.across, min(count, (tier + 1) * thumbs.across)):
        x = (head - tier * thumbs.across) * (thumbs.width + 1)
        line.pad_to(x + 1)
        if inside == 0:
            line.add(*_title(heads, head))
        else:
            _draw_strip(heads, line, (*scene.lead[:-1], head), inside - 1)
    return line.runs(layout.width)


def _title(heads: Heads, head: int) -> tuple[str, Style | None]:
    scene = heads.scene
    axes = scene.face.tensor.axes
    axis = visible(axes[len(scene.lead) - 1]) if axes else ""
    text = f"{axis} {head}".strip()
    if len(text) > heads.thumbs.width - 2:
        text = str(head)
    if head == scene.lead[-1]:
        style = scene.palette.cursor if scene.focused else scene.palette.current
        return f"[{truncated(text, heads.thumbs.width - 2, '')}]", style
    return f" {text} ", None


def _draw_strip(heads: Heads, line: StyledLine, lead: tuple[int, ...], row: int) -> None:
    """Draw one line of a thumbnail."""
    down, across = heads.thumbs.division.shape(heads.scene.face.shape[-2:])  # type: ignore[arg-type]
    if row >= down:
        return
    blocks, scale = heads.grids.get(lead), heads.scene.face.scale
    for col in range(across):
        value = blocks.grid[row][col] if blocks else None
        look = scale.look(value)
        missing = "·" if scale.palette.unicode else "."
        glyph = missing if value is None else "!" if isnan(value) or value == inf else look.glyph
        line.add(glyph, background(look.style) if glyph == " " else look.style)


def describe_head(heads: Heads, how: How) -> str:
    """Describe the chosen head."""
    scene = heads.scene
    tensor = scene.face.tensor
    text = say(
        "heads-head",
        "{name}, {axis} {index} of {size}",
        name=visible(tensor.name),
        axis=visible(tensor.axes[len(scene.lead) - 1]) if tensor.axes else say("axis", "axis"),
        index=scene.lead[-1],
        size=tensor.lead_shape[-1],
    )
    if (blocks := heads.grids.get(scene.lead)) is None:
        return text
    low, high, _ = block_bounds(replace(tensor, low=None, high=None), (blocks,))
    if low is None:
        return text
    if how == "max":
        span = say("max-of-blocks", "max of its blocks: from {low:.4g} to {high:.4g}", low=low, high=high)
    else:
        span = say("mean-of-blocks", "mean of its blocks: from {low:.4g} to {high:.4g}", low=low, high=high)
    return f"{text}   {span}"

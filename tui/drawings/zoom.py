"""The zoom level of a matrix (cells, blocks, or all heads), and the blocks that have arrived for it."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import replace
from typing import Literal

from attn_tutor.lessons.results.result import Tensor
from attn_tutor.lessons.results.summaries import Blocks, How, blocks_of
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.drawings import heads, overview
from attn_tutor.tui.drawings.drawing_scene import Scene
from attn_tutor.tui.drawings.grid import layout
from attn_tutor.tui.drawings.heads import Heads, ThumbnailGrid
from attn_tutor.tui.drawings.marks import Marked, Marks
from attn_tutor.tui.drawings.overview import BlockPlan

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

    def division(self, cells: Scene) -> BlockPlan:
        """Return how the overview divides the matrix into blocks."""
        return overview.divide(cells.face, cells.layout.width, cells.layout.height, self.shades)

    def thumbs(self, cells: Scene) -> ThumbnailGrid | None:
        """Return the arrangement of all heads, None if there is only one or they do not fit."""
        several = bool(cells.lead) and cells.face.tensor.lead_shape[-1] > 1
        return heads.arrange(cells.face, cells.layout.width, cells.layout.height) if several else None

    def scene(self, cells: Scene, marks: Marks) -> Scene | Heads:
        """Return the scene to draw at this level."""
        if self.level == "heads" and (thumbs := self.thumbs(cells)):
            grids = {
                lead: found for lead in self._heads(cells) if (found := self._blocks(cells, thumbs.division, lead))
            }
            return heads.scene_of(cells, thumbs, self.how, grids, _prefix(cells))
        if self.level == "cells":
            return cells
        division = self.division(cells)
        blocks = self._blocks(cells, division, cells.lead)
        face = overview.face_of(cells.face, division, self.how, blocks)
        row, col = division.block(cells.row, cells.col)
        times = "×" if cells.palette.unicode else "x"
        return replace(
            cells,
            face=face,
            layout=layout(face, cells.layout.width, cells.layout.height, row, col),
            row=row,
            col=col,
            windows={0: overview.window_of(blocks)} if blocks else {},
            caption=_prefix(cells) + overview.caption(division, self.how, times, cells.face.tensor.matrix_shape),
            keys=(
                hint("matrix.overview", overview.how_word("mean") if self.how == "max" else say("cells", "cells")),
                *([hint("matrix.zoom-out", say("heads", "heads"))] if self.thumbs(cells) else []),
                hint("matrix.shades", say("numbers", "numbers") if face.shades else say("shades", "shades")),
            ),
            marked=Marked(marks, cells.face.tensor.shape, division.rows, division.cols),
        )

    def missing(self, cells: Scene) -> list[Wanted]:
        """Return the visible blocks that have not arrived."""
        if self.level == "heads" and (thumbs := self.thumbs(cells)):
            division, leads = thumbs.division, self._heads(cells)
        elif self.level == "cells":
            return []
        else:
            division, leads = self.division(cells), [cells.lead]
        return [self._key(division, lead) for lead in leads if self._blocks(cells, division, lead) is None]

    def describe(self, cells: Scene, scene: Scene | Heads) -> str:
        """Describe the block or head under the cursor."""
        if isinstance(scene, Heads):
            return heads.describe(scene, self.how)
        division = self.division(cells)
        blocks = self._blocks(cells, division, cells.lead)
        return overview.describe(cells.face, division, self.how, blocks, cells.lead, (cells.row, cells.col))

    # Cursor -----------------------------------------------------------------------------------------------------

    def cell(self, cells: Scene, rows: int = 0, cols: int = 0) -> tuple[int, int]:
        """Return the cell that represents the block this many blocks away."""
        division = self.division(cells)
        row, col = division.block(cells.row, cells.col)
        blocks = self._blocks(cells, division, cells.lead)
        return overview.cell_of(cells.face.tensor.matrix_shape, division, blocks, row + rows, col + cols)

    def corner(self, cells: Scene) -> tuple[int, int]:
        """Return the first cell of the block under the cursor."""
        division = self.division(cells)
        row, col = division.block(cells.row, cells.col)
        return row * division.rows, col * division.cols

    def _heads(self, cells: Scene) -> list[tuple[int, ...]]:
        return [(*cells.lead[:-1], head) for head in range(cells.face.tensor.lead_shape[-1])]

    def _key(self, division: BlockPlan, lead: tuple[int, ...]) -> Wanted:
        return lead, division.rows, division.cols, self.how

    def _blocks(self, cells: Scene, division: BlockPlan, lead: tuple[int, ...]) -> Blocks | None:
        """Return the blocks if they have arrived or, for a small tensor, can be computed; else None."""
        key, tensor = self._key(division, lead), cells.face.tensor
        if key not in self._grids and tensor.values is not None:
            self.add(blocks_of(lead, _matrix(tensor, lead), division.rows, division.cols, self.how))
        return self._grids.get(key)


def _matrix(tensor: Tensor, lead: tuple[int, ...]) -> list[list[float]]:
    rows, cols = tensor.matrix_shape
    return [list(tensor.row(lead, row, 0, cols) or ()) for row in range(rows)]


def _prefix(cells: Scene) -> str:
    return f"{cells.caption}, " if cells.caption else ""

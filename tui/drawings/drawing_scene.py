"""What a drawing of a tensor depends on: the tensor itself, where its parts are drawn, the cursor, and the values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.cells import cell_len

from attn_tutor.lessons.render.numbers import NumberFormat, number_format, visible
from attn_tutor.lessons.results.result import Tensor, Window
from attn_tutor.tui.drawings.marks import UNMARKED, Marked
from attn_tutor.tui.render.palette import Palette, Scale

TILE = 64
"""Rows and columns of a window that is requested from the worker."""

LABEL_WIDTH = 14
"""The maximum width of a label."""

NO_WINDOWS: Mapping[object, Window] = {}


@dataclass(frozen=True, slots=True)
class Face:
    """Everything about a drawing that depends on neither cursor nor size, computed once per tensor.

    Attributes:
        tensor: what is drawn.
        numbers, scale: how its values are formatted and colored.
        row_labels, col_labels: for every row and column; `..._width` is that of the widest, as far as it is drawn.
        shape: the shape that the header shows.
        shades: whether cells are two columns of shade, without digits.
        tall: the lines of a row of a matrix: one with its digits, the others filled with its colors or shades.
        least_label: cells that a row label keeps where columns need the room.
    """

    tensor: Tensor
    numbers: NumberFormat
    scale: Scale
    row_labels: tuple[str, ...]
    col_labels: tuple[str, ...]
    row_label_width: int
    col_label_width: int
    shape: tuple[int, ...]
    shades: bool = False
    tall: int = 1
    least_label: int = 4

    @property
    def least_period(self) -> int:
        """The minimum cells per column: a space, the digits, a glyph."""
        return 2 if self.shades else self.numbers.width + 2

    @property
    def wanted_period(self) -> int:
        """The preferred cells per column."""
        return 2 if self.shades else max(self.numbers.width + 3, self.col_label_width + 1)

    @classmethod
    def of(cls, tensor: Tensor, colors: Palette) -> Face:
        """Return the face of a tensor."""
        space = "␣" if colors.unicode else "_"
        rows, cols = tensor.matrix_shape
        dimensions = len(tensor.shape)
        row_labels = _labels(tensor, dimensions - 2, rows, space) if dimensions > 1 else ()
        col_labels = _labels(tensor, dimensions - 1, cols, space) if dimensions else ()
        return cls(
            tensor,
            number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high, tensor.values),
            colors.scale(tensor.kind, tensor.low, tensor.high),
            row_labels,
            col_labels,
            min(LABEL_WIDTH, max(map(cell_len, row_labels), default=0)),
            min(LABEL_WIDTH, max(map(cell_len, col_labels), default=0)),
            tensor.shape,
        )


@dataclass(frozen=True, slots=True)
class GridLayout:
    """Where each part of a tensor is drawn. The y of a line that is not drawn is -1.

    Attributes:
        width, height: of the widget.
        header, lead, labels, first, hint: the y of the header, of the line of the leading axes, of the column labels,
            of the first row and of the line that says how much more there is.
        gutter: cells left of the first column: a space, the row label, a space.
        period: cells that a column takes.
        top, left: the first row and column that are drawn.
        rows, cols: how many are drawn.
        tall: the lines of a row.
        rows_named, cols_named: whether there is room for the labels. If not, positions stand in their place.
    """

    width: int
    height: int
    header: int
    lead: int
    labels: int
    first: int
    hint: int
    gutter: int
    period: int
    top: int
    left: int
    rows: int
    cols: int
    tall: int = field(default=1, kw_only=True)
    rows_named: bool = field(default=True, kw_only=True)
    cols_named: bool = field(default=True, kw_only=True)

    def row_y(self, row: int) -> int:
        """Return the y of the digits of a row, -1 if it is not drawn."""
        if not self.top <= row < self.top + self.rows:
            return -1
        return self.first + (row - self.top) * self.tall + (self.tall - 1) // 2

    def cell_at(self, x: int, y: int) -> tuple[int, int] | None:
        """Return row and column of the cell at x and y, None if there is none."""
        row, col = (y - self.first) // self.tall, (x - self.gutter) // self.period
        if 0 <= row < self.rows and 0 <= col < self.cols and y < self.height:
            return self.top + row, self.left + col
        return None


@dataclass(frozen=True, slots=True)
class DrawingScene:
    """Everything that a drawing depends on.

    If something other than the tensor's values is drawn, `caption` says what. `keys` are hints to the keys that change
    the drawing.
    """

    face: Face
    layout: GridLayout
    palette: Palette
    lead: tuple[int, ...]
    row: int
    col: int
    note: str = ""
    focused: bool = True
    windows: Mapping[object, Window] = field(default_factory=lambda: NO_WINDOWS)
    caption: str = ""
    marked: Marked = UNMARKED
    keys: tuple[str, ...] = ()


def values_of(scene: DrawingScene, row: int) -> Sequence[float | None]:
    """Return the visible values of a row, None for those that have not arrived."""
    layout = scene.layout
    left, right = layout.left, layout.left + layout.cols
    if (known := scene.face.tensor.row(scene.lead, row, left, right)) is not None:
        return known
    values: list[float | None] = [None] * layout.cols
    first = [scene.face.tensor.window] if scene.face.tensor.window else []
    for window in (*first, *scene.windows.values()):
        if window.lead == scene.lead and 0 <= row - window.top < len(window.rows):
            part = window.rows[row - window.top]
            start, end = max(left, window.left), min(right, window.left + len(part))
            if start < end:
                values[start - left : end - left] = part[start - window.left : end - window.left]
    return values


def tiles_missing(scene: DrawingScene) -> list[tuple[int, int, int, int]]:
    """Return the tiles (top, left, height, width) that contain visible values which have not arrived."""
    rows, cols = scene.face.tensor.matrix_shape
    layout = scene.layout
    if scene.face.tensor.values is not None:
        return []
    tiles: dict[tuple[int, int, int, int], None] = {}
    for row in range(layout.top, layout.top + layout.rows):
        top = row - row % TILE
        for offset, value in enumerate(values_of(scene, row)):
            if value is None:
                left = (layout.left + offset) // TILE * TILE
                tiles[top, left, min(TILE, rows - top), min(TILE, cols - left)] = None
    return list(tiles)


def value_at(scene: DrawingScene) -> float | None:
    """Return the value under the cursor, None if it has not arrived."""
    return values_of(scene, scene.row)[scene.col - scene.layout.left]


def index_of(tensor: Tensor, lead: tuple[int, ...], row: int, col: int) -> tuple[int, ...]:
    """Return the full index of a cell, one number per dimension of the tensor."""
    return (*lead, row, col)[-len(tensor.shape) :] if tensor.shape else ()


def _labels(tensor: Tensor, axis: int, size: int, space: str) -> tuple[str, ...]:
    given = tensor.labels[axis] if axis < len(tensor.labels) else ()
    return tuple(visible(given[index], space) if index < len(given) else str(index) for index in range(size))

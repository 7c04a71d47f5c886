"""A tensor that a learner walks with a cursor.

The picture is made by pure functions: `layout` decides what fits, `draw` gives one line of it as runs of text and
style. The widget holds the state, and sends of each line only what differs from what is on the screen.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import rich.repr
from rich.cells import cell_len, set_cell_size
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from lessons.result import Tensor, Window
from tui.numbers import NumberFormat, exact, number_format, short, truncated, visible
from tui.palette import Look, Palette, Scale, palette
from tui.terminal import Terminal
from tui.widgets.drawn import Drawn, over

TILE = 64
"""Rows and columns of a window that is asked for."""

WINDOWS_KEPT = 32
"""Windows of one tensor that are remembered."""

LABEL_WIDTH = 14
"""A label is not drawn wider than this."""

NOTE_WIDTH = 12
"""Room that is kept for the note, so that the legend stays where it is when the note gets shorter."""

WHEEL_ROWS = 3

Runs = tuple[tuple[str, Style | None], ...]
"""One line: texts and their styles; None is the style of the widget."""

NO_WINDOWS: Mapping[object, Window] = {}


@dataclass(frozen=True, slots=True)
class Face:
    """What of a tensor's picture does not depend on cursor and size: made once for each tensor that is shown."""

    tensor: Tensor
    numbers: NumberFormat
    scale: Scale
    row_labels: tuple[str, ...]
    col_labels: tuple[str, ...]
    row_label_width: int
    col_label_width: int

    @classmethod
    def of(cls, tensor: Tensor, colours: Palette) -> Face:
        """The face of a tensor."""
        space = "␣" if colours.unicode else "_"
        rows, cols = tensor.matrix_shape
        dimensions = len(tensor.shape)
        row_labels = _labels(tensor, dimensions - 2, rows, space) if dimensions > 1 else ()
        col_labels = _labels(tensor, dimensions - 1, cols, space) if dimensions else ()
        return cls(
            tensor,
            number_format(tensor.dtype, tensor.kind, tensor.low, tensor.high, tensor.values),
            colours.scale(tensor.kind, tensor.low, tensor.high),
            row_labels,
            col_labels,
            min(LABEL_WIDTH, max(map(cell_len, row_labels), default=0)),
            min(LABEL_WIDTH, max(map(cell_len, col_labels), default=0)),
        )


@dataclass(frozen=True, slots=True)
class Layout:
    """What of a tensor is drawn where. A line that is not drawn has y = -1.

    Attributes:
        width, height: of the widget.
        header, lead, labels, first, hint: the y of the header, of the line of the leading axes, of the column labels,
            of the first row and of the line that says how much more there is.
        gutter: cells left of the first column: a space, the row label, a space.
        period: cells that a column takes.
        top, left: the first row and column that are drawn.
        rows, cols: how many are drawn.
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

    def row_y(self, row: int) -> int:
        """The y of a row, -1 if it is not drawn."""
        return self.first + row - self.top if self.top <= row < self.top + self.rows else -1

    def cell_at(self, x: int, y: int) -> tuple[int, int] | None:
        """Row and column of the cell there."""
        row, col = y - self.first, (x - self.gutter) // self.period
        if 0 <= row < self.rows and 0 <= col < self.cols and y < self.height:
            return self.top + row, self.left + col
        return None


@dataclass(frozen=True, slots=True)
class Scene:
    """All that a picture depends on."""

    face: Face
    layout: Layout
    palette: Palette
    lead: tuple[int, ...]
    row: int
    col: int
    note: str = ""
    focused: bool = True
    windows: Mapping[object, Window] = field(default_factory=lambda: NO_WINDOWS)


def layout(face: Face, width: int, height: int, row: int, col: int, top: int = 0, left: int = 0) -> Layout:
    """What is drawn in this many cells with the cursor there, `top` and `left` being what was drawn first before.

    What does not fit gives way in this order: row labels get shorter, columns get narrower, then rows and columns are
    left out; of a few lines, those go that help least.
    """
    rows, cols = face.tensor.matrix_shape
    period, gutter = _column_widths(face, width, cols)
    shown_cols = max(1, min(cols, (width - gutter) // period))

    y = 0
    header = lead = labels = hint = -1
    if height >= 2:
        header, y = y, y + 1
    if face.tensor.lead_shape and height >= 5:
        lead, y = y, y + 1
    if face.tensor.shape and height >= 3:
        labels, y = y, y + 1
    shown_rows = max(1, min(rows, height - y))
    if (shown_rows < rows or shown_cols < cols) and height >= 7:
        shown_rows = min(rows, height - y - 1)
        hint = y + shown_rows
    return Layout(
        width=width,
        height=height,
        header=header,
        lead=lead,
        labels=labels,
        first=y,
        hint=hint,
        gutter=gutter,
        period=period,
        top=_scrolled(top, shown_rows, rows, row),
        left=_scrolled(left, shown_cols, cols, col),
        rows=shown_rows,
        cols=shown_cols,
    )


def natural_size(face: Face) -> tuple[int, int]:
    """Columns and lines that show everything, without counting the axes in the header."""
    rows, cols = face.tensor.matrix_shape
    grid = face.row_label_width + 2 + cols * _period_wanted(face) + 1
    parts = [_name(face), *([text] if (text := _legend_text(face)) else [])]
    header = 2 + sum(map(cell_len, parts)) + 3 * (len(parts) - 1)
    lines = 1 + bool(face.tensor.lead_shape) + bool(face.tensor.shape) + rows
    return max(grid, header), lines


def draw(scene: Scene, y: int) -> Runs:
    """One line of the picture, exactly as wide as the layout."""
    place = scene.layout
    line = _Line()
    if y == place.header:
        _draw_header(scene, line)
    elif y == place.lead:
        _draw_lead(scene, line)
    elif y == place.labels:
        _draw_labels(scene, line)
    elif y == place.hint:
        _draw_hint(scene, line)
    elif place.first <= y < place.first + place.rows:
        _draw_row(scene, line, place.top + y - place.first)
    return line.runs(place.width)


def values_of(scene: Scene, row: int) -> Sequence[float | None]:
    """The values of a row's visible columns; None for those that are not here yet."""
    place = scene.layout
    left, right = place.left, place.left + place.cols
    if (known := scene.face.tensor.row(scene.lead, row, left, right)) is not None:
        return known
    values: list[float | None] = [None] * place.cols
    first = [scene.face.tensor.window] if scene.face.tensor.window else []
    for window in (*first, *scene.windows.values()):
        if window.lead == scene.lead and 0 <= row - window.top < len(window.rows):
            part = window.rows[row - window.top]
            start, end = max(left, window.left), min(right, window.left + len(part))
            if start < end:
                values[start - left : end - left] = part[start - window.left : end - window.left]
    return values


def tiles_missing(scene: Scene) -> list[tuple[int, int, int, int]]:
    """Top, left, height and width of the tiles that hold visible values which are not here yet."""
    rows, cols = scene.face.tensor.matrix_shape
    place = scene.layout
    if scene.face.tensor.values is not None:
        return []
    tiles: dict[tuple[int, int, int, int], None] = {}
    for row in range(place.top, place.top + place.rows):
        top = row - row % TILE
        for offset, value in enumerate(values_of(scene, row)):
            if value is None:
                left = (place.left + offset) // TILE * TILE
                tiles[top, left, min(TILE, rows - top), min(TILE, cols - left)] = None
    return list(tiles)


def value_at(scene: Scene) -> float | None:
    """The value under the cursor, if it is here."""
    return values_of(scene, scene.row)[scene.col - scene.layout.left]


def index_of(tensor: Tensor, lead: tuple[int, ...], row: int, col: int) -> tuple[int, ...]:
    """The full index of a cell, as Python would write it."""
    return (*lead, row, col)[-len(tensor.shape) :] if tensor.shape else ()


def describe(face: Face, lead: tuple[int, ...], row: int, col: int, value: float | None) -> str:
    """The cell in words, with its exact value."""
    tensor = face.tensor
    index = index_of(tensor, lead, row, col)
    subscript = f"[{','.join(map(str, index))}]" if index else ""
    shown = exact(value, tensor.dtype) if value is not None else ("…" if face.scale.palette.unicode else "...")
    parts = [f"{visible(tensor.name)}{subscript} = {shown}"]
    if len(tensor.shape) > 1:
        parts.append("row: " + _place(tensor, len(lead), face.row_labels[row], row))
    if tensor.shape:
        parts.append("column: " + _place(tensor, len(tensor.shape) - 1, face.col_labels[col], col))
    return "   ".join(parts)


class MatrixView(Drawn, can_focus=True):
    """A tensor as a matrix of digits with labelled rows and columns, of which a cursor points at one cell.

    Any tensor of 0 to 4 dimensions can be shown. Of a large one only what is visible is drawn and held; what is not
    here is asked for by `WindowWanted` and given by `add_window`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "move(-1,0)", "Up", show=False, id="matrix.up"),
        Binding("down", "move(1,0)", "Down", show=False, id="matrix.down"),
        Binding("left", "move(0,-1)", "Left", show=False, id="matrix.left"),
        Binding("right", "move(0,1)", "Right", show=False, id="matrix.right"),
        Binding("home", "edge('row',-1)", "First column", show=False, id="matrix.home"),
        Binding("end", "edge('row',1)", "Last column", show=False, id="matrix.end"),
        Binding("ctrl+home", "edge('matrix',-1)", "First cell", show=False, id="matrix.first"),
        Binding("ctrl+end", "edge('matrix',1)", "Last cell", show=False, id="matrix.last"),
        Binding("pageup", "page(-1)", "Page up", show=False, id="matrix.page-up"),
        Binding("pagedown", "page(1)", "Page down", show=False, id="matrix.page-down"),
        Binding("left_square_bracket,х", "lead(-1,-1)", "Previous head", show=False, id="matrix.head-previous"),
        Binding("right_square_bracket,ъ", "lead(-1,1)", "Next head", show=False, id="matrix.head-next"),
        Binding("left_curly_bracket,Х", "lead(0,-1)", "Previous batch", show=False, id="matrix.batch-previous"),
        Binding("right_curly_bracket,Ъ", "lead(0,1)", "Next batch", show=False, id="matrix.batch-next"),
    ]
    """
    | Key(s) | Description |
    | :- | :- |
    | up, down, left, right | Move the cursor by one cell. |
    | home, end | To the first or last column. |
    | ctrl+home, ctrl+end | To the first or last cell. |
    | pageup, pagedown | By as many rows as are visible. |
    | [, ] (х, ъ) | Previous or next index of the last leading axis: the head. |
    | {, } (Х, Ъ) | Previous or next index of the first leading axis: the batch. |
    """

    DEFAULT_CSS = """
    MatrixView {
        width: 1fr;
        height: 1fr;
    }
    """

    cursor: reactive[tuple[int, int]] = reactive((0, 0), repaint=False, init=False)
    """Row and column of the cursor; clamped."""

    lead: reactive[tuple[int, ...]] = reactive((), repaint=False, init=False)
    """Indices of the leading axes; clamped."""

    @rich.repr.auto
    class CursorMoved(Message):
        """Posted when the cell under the cursor is another, or its value is: by a move, `show` or `add_window`.

        Attributes:
            view: The matrix.
            tensor: The tensor that is shown.
            index: The full index of the cell: as many numbers as the tensor has dimensions.
            value: Its value, None if it is not here yet.
        """

        def __init__(self, view: MatrixView, tensor: Tensor, index: tuple[int, ...], value: float | None) -> None:
            super().__init__()
            self.view = view
            self.tensor = tensor
            self.index = index
            self.value = value

        @property
        def control(self) -> MatrixView:
            """Alias for `view`."""
            return self.view

        def can_replace(self, message: Message) -> bool:
            """Of a burst of moves only the last matters."""
            return isinstance(message, MatrixView.CursorMoved) and message.view is self.view

        def __rich_repr__(self) -> rich.repr.Result:
            yield "tensor", self.tensor.name
            yield "index", self.index
            yield "value", self.value

    @rich.repr.auto
    class WindowWanted(Message):
        """Posted when values are visible that are not here. Asked once for as long as they stay visible.

        Attributes:
            view: The matrix.
            tensor: The tensor that is shown.
            lead: Indices of the leading axes.
            top: First row.
            left: First column.
            height: Number of rows.
            width: Number of columns.
        """

        def __init__(
            self, view: MatrixView, tensor: Tensor, lead: tuple[int, ...], top: int, left: int, height: int, width: int
        ) -> None:
            super().__init__()
            self.view = view
            self.tensor = tensor
            self.lead = lead
            self.top = top
            self.left = left
            self.height = height
            self.width = width

        @property
        def control(self) -> MatrixView:
            """Alias for `view`."""
            return self.view

        def __rich_repr__(self) -> rich.repr.Result:
            yield "tensor", self.tensor.name
            yield "lead", self.lead
            yield "top", self.top
            yield "left", self.left
            yield "height", self.height
            yield "width", self.width

    def __init__(self, terminal: Terminal, *, id: str | None = None, classes: str | None = None) -> None:
        """Initialise the matrix.

        Args:
            terminal: What the terminal can do.
            id: The ID of the widget in the DOM.
            classes: The CSS classes of the widget.
        """
        super().__init__(id=id, classes=classes)
        self._palette = palette(terminal)
        self._face: Face | None = None
        self._note = ""
        self._windows: OrderedDict[object, Window] = OrderedDict()
        self._wanted: set[tuple[int, ...]] = set()
        self._corner = (0, 0)
        self._scene: Scene | None = None
        self._painted: dict[int, Runs] = {}

    @property
    def tensor(self) -> Tensor | None:
        """The tensor that is shown."""
        return self._face.tensor if self._face else None

    @property
    def index(self) -> tuple[int, ...]:
        """The full index of the cell under the cursor."""
        return index_of(self._face.tensor, self.lead, *self.cursor) if self._face else ()

    @property
    def value(self) -> float | None:
        """The value under the cursor, None if it is not here yet."""
        scene = self._scene or self._make_scene()
        return value_at(scene) if scene else None

    def show(self, tensor: Tensor | None, note: str = "") -> None:
        """Show another tensor, or the same with other values.

        Cursor and leading axes stay where they are if the shape is the same. Only lines that differ are repainted.

        Args:
            tensor: The tensor, or None for an empty matrix.
            note: What to say of it at the end of the header: "live, 12 ms", "recorded".
        """
        before = self.tensor
        same = tensor == before
        if same and note == self._note:
            return
        self._note = visible(note)
        if same:
            self._update(lines=None)
            return
        self._windows.clear()
        self._wanted.clear()
        if tensor is None:
            self._face = self._scene = None
            self.refresh()
            return
        self._face = Face.of(tensor, self._palette)
        if before is None or before.shape != tensor.shape:
            self._corner = (0, 0)
            self.set_reactive(MatrixView.lead, (0,) * len(tensor.lead_shape))
            self.set_reactive(MatrixView.cursor, (0, 0))
        self._update(lines=None)
        self._post_moved()

    def add_window(self, name: str, window: Window) -> None:
        """Take values that were asked for by `WindowWanted`.

        Args:
            name: Name of the tensor that they belong to; those of another are left.
            window: The values.
        """
        if self._face is None or name != self._face.tensor.name or len(window.lead) != len(self.lead):
            return
        before = self.value
        key = (window.lead, window.top, window.left)
        self._windows[key] = window
        self._windows.move_to_end(key)
        while len(self._windows) > WINDOWS_KEPT:
            self._windows.popitem(last=False)
        self._wanted.discard((*window.lead, window.top, window.left))
        self._update(lines=None)
        if before is None and self.value is not None:
            self._post_moved()

    def forget_wanted(self, lead: tuple[int, ...], top: int, left: int) -> None:
        """A window that was asked for will not come, so ask again at the next occasion."""
        self._wanted.discard((*lead, top, left))

    def go_to(self, index: Sequence[int]) -> None:
        """Put the cursor on a cell.

        Args:
            index: Full index of the cell; clamped.
        """
        if self._face is None:
            return
        dimensions = len(self._face.tensor.shape)
        row, col = (0, 0, *index)[-2:] if dimensions > 1 else (0, (*index, 0)[0])
        lead = self.validate_lead(tuple(index[: max(0, dimensions - 2)]))
        cursor = self.validate_cursor((row, col))
        if (lead, cursor) == (self.lead, self.cursor):
            return
        self.set_reactive(MatrixView.lead, lead)
        self.set_reactive(MatrixView.cursor, cursor)
        self._update(lines=None)
        self._post_moved()

    def describe(self) -> str:
        """The cell under the cursor in words, with its exact value. Plain text: it may hold what looks like markup."""
        return describe(self._face, self.lead, *self.cursor, self.value) if self._face else ""

    def natural_size(self) -> tuple[int, int]:
        """Columns and lines that show everything, without counting the axes in the header."""
        return natural_size(self._face) if self._face else (0, 0)

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """The natural width, for `width: auto`."""
        return min(self.natural_size()[0], container.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """The natural height, for `height: auto`."""
        return min(self.natural_size()[1], container.height)

    def render_line(self, y: int) -> Strip:
        """One line of the widget."""
        if self._scene and (self._scene.layout.width, self._scene.layout.height) != self.size:
            # Another size is painted before its event arrives. Painted right at once, it need not be painted again.
            self._scene = self._make_scene()
        runs: Runs = draw(self._scene, y) if self._scene else ((" " * self.size.width, None),)
        self._painted[y] = runs
        ground = self.ground
        return Strip([Segment(text, over(ground, style)) for text, style in runs], sum(cell_len(t) for t, _ in runs))

    def validate_cursor(self, cursor: tuple[int, int]) -> tuple[int, int]:
        """Keep the cursor in the matrix."""
        rows, cols = self._face.tensor.matrix_shape if self._face else (1, 1)
        return _clamp(cursor[0], rows), _clamp(cursor[1], cols)

    def validate_lead(self, lead: tuple[int, ...]) -> tuple[int, ...]:
        """Keep the leading indices in their axes."""
        sizes = self._face.tensor.lead_shape if self._face else ()
        padded = (*lead, *((0,) * len(sizes)))[: len(sizes)]
        return tuple(_clamp(index, size) for index, size in zip(padded, sizes, strict=True))

    def watch_cursor(self, before: tuple[int, int], after: tuple[int, int]) -> None:
        """Repaint the two lines and the labels that a move changes."""
        scene = self._scene
        if scene is None:
            return
        self._update(lines=(scene.layout.row_y(before[0]), scene.layout.row_y(after[0]), scene.layout.labels))
        self._post_moved()

    def watch_lead(self) -> None:
        """Repaint what is another in the other matrix."""
        self._update(lines=None)
        self._post_moved()

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Draw the cursor as active or passive."""
        super().watch_has_focus(_has_focus)
        # Textual repaints the whole widget by itself.
        self._update(lines=())

    def action_move(self, rows: int, cols: int) -> None:
        """Move the cursor."""
        row, col = self.cursor
        self.cursor = (row + rows, col + cols)

    def action_edge(self, axes: str, direction: int) -> None:
        """Move the cursor to the first or last column, or cell."""
        if self._face is None:
            return
        rows, cols = self._face.tensor.matrix_shape
        row, col = (rows - 1, cols - 1) if direction > 0 else (0, 0)
        self.cursor = (self.cursor[0] if axes == "row" else row, col)

    def action_page(self, direction: int) -> None:
        """Move cursor and view by as many rows as are visible."""
        if self._scene is None:
            return
        place = self._scene.layout
        rows = self._scene.face.tensor.matrix_shape[0]
        top = max(0, min(rows - place.rows, place.top + direction * place.rows))
        self._corner = (top, place.left)
        row, col = self.cursor
        self.cursor = (row + direction * place.rows, col)

    def action_lead(self, axis: int, step: int) -> None:
        """Change a leading index."""
        if self.lead:
            lead = list(self.lead)
            lead[axis] += step
            self.lead = tuple(lead)

    def on_resize(self) -> None:
        """Fit into another size."""
        self._update(lines=None)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the cell that was clicked."""
        offset = event.get_content_offset(self)
        if self._scene and offset and (cell := self._scene.layout.cell_at(*offset)):
            event.stop()
            self.cursor = cell

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move the cursor down, or right with shift."""
        self._wheel(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move the cursor up, or left with shift."""
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, direction: int) -> None:
        event.stop()
        event.prevent_default()
        self.action_move(*((0, direction) if event.shift else (WHEEL_ROWS * direction, 0)))

    def _make_scene(self) -> Scene | None:
        """The scene of the state as it is; of any size while there is none, so that values can be looked up."""
        if self._face is None:
            return None
        width, height = self.size if self.size else Size(80, 24)
        row, col = self.cursor
        place = layout(self._face, width, height, row, col, *self._corner)
        return Scene(self._face, place, self._palette, self.lead, row, col, self._note, self.has_focus, self._windows)

    def _update(self, lines: Iterable[int] | None) -> None:
        """Bring the screen up to date.

        Args:
            lines: Lines that may differ; None, or another layout than before, for any.
        """
        before, self._scene = self._scene, self._make_scene()
        scene = self._scene
        if scene is None or not self.size:
            return
        self._corner = (scene.layout.top, scene.layout.left)
        if lines is None or before is None or before.layout != scene.layout:
            lines = range(scene.layout.height)
        regions = [region for y in sorted(set(lines)) if y >= 0 and (region := self._changed(scene, y))]
        if regions:
            self.refresh(*regions)
        self._place_terminal_cursor()
        self._want_windows(scene)

    def _changed(self, scene: Scene, y: int) -> Region | None:
        """What has to be sent again of a line. Textual sends from the left edge on, so only the right end counts."""
        old, new = self._painted.get(y), draw(scene, y)
        width = scene.layout.width if old is None else differing_width(old, new)
        return Region(0, y, width, 1) if width else None

    def _want_windows(self, scene: Scene) -> None:
        place = scene.layout
        for top in range(place.top - place.top % TILE, place.top + place.rows, TILE):
            for left in range(place.left - place.left % TILE, place.left + place.cols, TILE):
                if (key := (scene.lead, top, left)) in self._windows:
                    self._windows.move_to_end(key)
        tiles = {(*scene.lead, *tile[:2]): tile for tile in tiles_missing(scene)}
        # What has gone out of sight may be asked for again: its answer may have been lost.
        self._wanted &= tiles.keys()
        for place_wanted, tile in tiles.items():
            if place_wanted not in self._wanted:
                self._wanted.add(place_wanted)
                self.post_message(self.WindowWanted(self, scene.face.tensor, scene.lead, *tile))

    def _post_moved(self) -> None:
        if self._face is not None:
            self.post_message(self.CursorMoved(self, self._face.tensor, self.index, self.value))

    def _place_terminal_cursor(self) -> None:
        """Put the terminal's own cursor on the cell: screen readers and input methods go by it."""
        scene = self._scene
        if scene is None or not self.has_focus or not self.is_mounted:
            return
        x, y = self.content_region.offset
        place = scene.layout
        # One cell for the mark left of the digits, what is left over in front of that.
        column = place.gutter + (scene.col - place.left + 1) * place.period - scene.face.numbers.width - 1
        self.app.cursor_position = Offset(x + min(column, place.width - 1), y + place.row_y(scene.row))


class _Line:
    """Collects the runs of a line."""

    def __init__(self) -> None:
        self._runs: list[tuple[str, Style | None]] = []
        self.width = 0

    def add(self, text: str, style: Style | None = None) -> None:
        """Append text; it joins what is before it if that has the same style."""
        if not text:
            return
        self.width += cell_len(text)
        if self._runs and self._runs[-1][1] == style:
            self._runs[-1] = (self._runs[-1][0] + text, style)
        else:
            self._runs.append((text, style))

    def pad_to(self, width: int) -> None:
        """Append spaces up to this column."""
        self.add(" " * (width - self.width))

    def add_last(self, character: str, width: int) -> None:
        """Append a character; at the right edge it takes the place of the space that is there."""
        if self.width >= width and self._runs and self._runs[-1][0].endswith(" "):
            text, style = self._runs.pop()
            self.width -= cell_len(text)
            self.add(text[:-1], style)
        self.add(character)

    def runs(self, width: int) -> Runs:
        """The line, cut or filled to a width."""
        self.pad_to(width)
        if self.width == width:
            return tuple(self._runs)
        cut: list[tuple[str, Style | None]] = []
        left = width
        for text, style in self._runs:
            if left <= 0:
                break
            part = text if cell_len(text) <= left else set_cell_size(text, left)
            cut.append((part, style))
            left -= cell_len(part)
        return tuple(cut)


def differing_width(old: Runs, new: Runs) -> int:
    """Cells from the left edge up to the last one in which two lines of the same width differ."""
    old_cells, new_cells = _cells(old), _cells(new)
    width = min(len(old_cells), len(new_cells))
    if len(old_cells) != len(new_cells):
        return max(len(old_cells), len(new_cells))
    while width and old_cells[width - 1] == new_cells[width - 1]:
        width -= 1
    return width


def _cells(runs: Runs) -> list[tuple[str, Style | None]]:
    """A line cell by cell; what has no width goes with the cell before it, the second half of a wide one is empty."""
    cells: list[tuple[str, Style | None]] = []
    for text, style in runs:
        for character in text:
            size = cell_len(character)
            if size == 0 and cells:
                # Find the cell that the mark stands on: behind a wide character comes its empty half.
                last = len(cells) - 1 if cells[-1][0] else len(cells) - 2
                cells[last] = (cells[last][0] + character, cells[last][1])
            else:
                cells.append((character, style))
                cells.extend([("", style)] * (size - 1))
    return cells


def _draw_header(scene: Scene, line: _Line) -> None:
    face, place, colours = scene.face, scene.layout, scene.palette
    name, shape = visible(face.tensor.name), _shape(face)
    more = [] if place.lead >= 0 else [_lead_text(face.tensor, scene.lead)] if scene.lead else []
    axes = _axes_text(face.tensor)
    legend = _legend(face)
    note = scene.note
    room = place.width - 1

    def width(left: str, with_legend: bool, with_note: bool) -> int:
        parts = [left]
        if with_legend and legend:
            parts.append("".join(text for text, _ in legend))
        if with_note and note:
            parts.append(note.ljust(NOTE_WIDTH))
        return cell_len(name) + sum(map(cell_len, parts)) + 3 * (len(parts) - 1)

    choices = (
        ("  ".join(["", shape, *more, *axes]), True, True),
        ("  ".join(["", shape, *more, *_axes_short(face)]), True, True),
        ("  ".join(["", shape, *more]), True, True),
        ("  ".join(["", shape, *more]), False, True),
        ("  ".join(["", *more]), False, True),
        ("  ".join(["", shape, *more]), False, False),
        ("  ".join(["", *more]), False, False),
    )
    left, with_legend, with_note = next((choice for choice in choices if width(*choice) <= room), choices[-1])
    line.add(" ")
    line.add(truncated(name, max(1, room - cell_len(left)), _ellipsis(colours)), colours.name)
    line.add(left)
    right = _Line()
    if with_legend:
        for text, style in legend:
            right.add(text, style)
    if with_note and note:
        right.add(("   " if right.width else "") + note.ljust(NOTE_WIDTH))
    line.pad_to(place.width - right.width)
    for text, style in right.runs(right.width):
        line.add(text, style)


def _draw_lead(scene: Scene, line: _Line) -> None:
    tensor, colours = scene.face.tensor, scene.palette
    line.add(" " + _lead_text(tensor, scene.lead), colours.name)
    keys = [f"[ ] {_axis(tensor, len(scene.lead) - 1) or 'axis'}"]
    if len(scene.lead) > 1:
        keys.append(f"{{ }} {_axis(tensor, 0) or 'axis'}")
    hint = "  ".join(keys)
    if line.width + 3 + cell_len(hint) < scene.layout.width:
        line.add("   " + hint, colours.muted)


def _draw_labels(scene: Scene, line: _Line) -> None:
    face, place, colours = scene.face, scene.layout, scene.palette
    cols = face.tensor.matrix_shape[1]
    before, after = ("‹", "›") if colours.unicode else ("<", ">")
    line.pad_to(place.gutter - 1)
    line.add(before if place.left else " ")
    for col in range(place.left, place.left + place.cols):
        label = truncated(face.col_labels[col], place.period - 1, _ellipsis(colours))
        line.add(" " * (place.period - 1 - cell_len(label)))
        line.add(label, colours.current if col == scene.col else None)
        line.add(" ")
    if place.left + place.cols < cols:
        line.add_last(after, place.width)


def _draw_row(scene: Scene, line: _Line, row: int) -> None:
    face, place, colours = scene.face, scene.layout, scene.palette
    current = row == scene.row
    label = truncated(face.row_labels[row], place.gutter - 2, _ellipsis(colours)) if face.row_labels else ""
    line.add(" " * (place.gutter - 1 - cell_len(label)))
    line.add(label, colours.current if current else None)
    line.add(" ")
    before, after = ("▐", "▌") if colours.unicode else ("[", "]")
    margin = " " * (place.period - face.numbers.width - 1)
    for offset, value in enumerate(values_of(scene, row)):
        look = face.scale.look(value)
        digits = face.numbers.text(value) if value is not None else _dot(colours).rjust(face.numbers.width)
        if not (current and place.left + offset == scene.col):
            line.add(margin + digits, look.style)
            line.add(look.glyph, look.style)
            continue
        mark = _mark_style(look, colours)
        line.add(margin[:-1], look.style)
        line.add(before, mark)
        line.add(digits, colours.cursor if scene.focused else look.style)
        line.add(after, mark)


def _draw_hint(scene: Scene, line: _Line) -> None:
    place = scene.layout
    rows, cols = scene.face.tensor.matrix_shape
    hidden = (
        (place.top, "above", "↑", "^"),
        (rows - place.top - place.rows, "below", "↓", "v"),
        (place.left, "left", "←", "<"),
        (cols - place.left - place.cols, "right", "→", ">"),
    )
    text = "  ".join(f"+{count} {where}" for count, where, _, _ in hidden if count)
    start = min(place.gutter + place.period - 1 - scene.face.numbers.width, place.width - cell_len(text))
    if start < 1:
        sign = 2 if scene.palette.unicode else 3
        text = " ".join(f"{side[sign]}{side[0]}" for side in hidden if side[0])
        start = 1
    line.pad_to(start)
    line.add(text, scene.palette.muted)


def _mark_style(look: Look, colours: Palette) -> Style | None:
    """The marks beside the digits: of the cursor's colour, on the background of the cell."""
    if not colours.coloured:
        return None
    return _on(colours.cursor, look.style)


@lru_cache(maxsize=64)
def _on(cursor: Style, cell: Style | None) -> Style:
    return Style(color=cursor.bgcolor, bgcolor=cell.bgcolor if cell else None)


def _column_widths(face: Face, width: int, cols: int) -> tuple[int, int]:
    """Cells that a column takes, and cells left of the first one."""
    least, wanted = _period_least(face), _period_wanted(face)
    label = face.row_label_width
    if label:
        label = min(label, max(3, width // 4))
        if 4 <= width - 2 - cols * least < label:
            label = width - 2 - cols * least
        label = max(0, min(label, width - 2 - least))
    gutter = label + 2 if label else 1
    period = min(wanted, (width - gutter) // cols)
    if period < least:
        # They do not all fit: then labels of the columns that do should be readable.
        period = max(least, min(face.col_label_width, 5) + 1)
    return max(1, min(period, max(least, width - gutter))), gutter


def _period_least(face: Face) -> int:
    return face.numbers.width + 2


def _period_wanted(face: Face) -> int:
    return max(face.numbers.width + 3, face.col_label_width + 1)


def _scrolled(start: int, shown: int, size: int, cursor: int) -> int:
    """The first of `shown` rows that are drawn: as before if the cursor is among them, else by half a page.

    A view that followed the cursor row by row would be sent as a whole for every key.
    """
    if not start <= cursor < start + shown:
        start = cursor - shown // 2
    return max(0, min(size - shown, start))


def _labels(tensor: Tensor, axis: int, size: int, space: str) -> tuple[str, ...]:
    given = tensor.labels[axis] if axis < len(tensor.labels) else ()
    return tuple(visible(given[place], space) if place < len(given) else str(place) for place in range(size))


def _axis(tensor: Tensor, axis: int) -> str:
    return visible(tensor.axes[axis]) if 0 <= axis < len(tensor.axes) else ""


def _place(tensor: Tensor, axis: int, label: str, place: int) -> str:
    where = f"{_axis(tensor, axis)} {place}".strip()
    return where if label == str(place) else f"{label} ({where})"


def _axes_text(tensor: Tensor) -> list[str]:
    dimensions = len(tensor.shape)
    names = [("rows", _axis(tensor, dimensions - 2))] if dimensions > 1 else []
    if dimensions:
        names.append(("columns", _axis(tensor, dimensions - 1)))
    text = "  ".join(f"{side}: {name}" for side, name in names if name)
    return [" " + text] if text else []


def _axes_short(face: Face) -> list[str]:
    names = [_axis(face.tensor, axis) for axis in range(len(face.tensor.shape))][-2:]
    return [_times(face.scale.palette).join(names)] if all(names) else []


def _lead_text(tensor: Tensor, lead: tuple[int, ...]) -> str:
    sizes = zip(lead, tensor.lead_shape, strict=True)
    return "  ".join(f"{_axis(tensor, axis) or 'axis'} {at} of {size}" for axis, (at, size) in enumerate(sizes))


def _shape(face: Face) -> str:
    return _times(face.scale.palette).join(map(str, face.tensor.shape)) or "scalar"


def _name(face: Face) -> str:
    return f"{visible(face.tensor.name)}  {_shape(face)}"


def _legend(face: Face) -> list[tuple[str, Style | None]]:
    """The bounds and the looks between them."""
    scale, tensor = face.scale, face.tensor
    if tensor.low is None or tensor.high is None:
        return []
    looks = scale.swatches()
    if scale.kind == "mask":
        bounds = dict.fromkeys((tensor.low, tensor.high))
        runs: list[tuple[str, Style | None]] = []
        for bound, look in zip(bounds, looks, strict=True):
            runs += [("  " if runs else "", None), (f" {short(bound, tensor.dtype)}{look.glyph}", look.style)]
        return runs
    swatches = [(look.glyph, look.style) for look in looks]
    if tensor.low == tensor.high:
        return [(short(tensor.low, tensor.dtype) + " ", None), *swatches]
    return [(short(tensor.low, tensor.dtype) + " ", None), *swatches, (" " + short(tensor.high, tensor.dtype), None)]


def _legend_text(face: Face) -> str:
    return "".join(text for text, _ in _legend(face))


def _ellipsis(colours: Palette) -> str:
    return "…" if colours.unicode else "~"


def _times(colours: Palette) -> str:
    return "×" if colours.unicode else "x"


def _dot(colours: Palette) -> str:
    return "·" if colours.unicode else "."


def _clamp(index: int, size: int) -> int:
    return max(0, min(size - 1, index))

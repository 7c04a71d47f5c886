"""A tensor that the learner explores with a cursor.

The drawings are pure functions (`tui.drawings`). The widget holds the state, and sends only the part of each line that
differs from the screen.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import ClassVar

import rich.repr
from rich.cells import cell_len
from rich.segment import Segment
from textual import events
from textual.binding import BindingType
from textual.geometry import Offset, Region, Size
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from attn_tutor.lessons.render.numbers import visible
from attn_tutor.lessons.results.result import Tensor, Window
from attn_tutor.lessons.results.summaries import Blocks, How, RowStats, row_stats
from attn_tutor.lessons.results.tensor_questions import BlocksQuestion, PartQuestion, RowQuestion, WindowQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint, then
from attn_tutor.tui.drawings import bars
from attn_tutor.tui.drawings.drawing import BARS, MATRIX, Drawing, drawing_of
from attn_tutor.tui.drawings.drawing_scene import TILE, DrawingScene, Face, index_of, tiles_missing, value_at
from attn_tutor.tui.drawings.grid import form_at, forms
from attn_tutor.tui.drawings.marks import NO_MARKS, UNMARKED, Marked, Marks
from attn_tutor.tui.drawings.styled_line import Runs, differing_width, over
from attn_tutor.tui.drawings.tensor_words import TOP, row_text
from attn_tutor.tui.drawings.zoom import Heads, Level, Zoom, draw_heads, opening_level
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.line_widget import LineWidget

say = Wording("screen/matrix")

MOST_WINDOWS = 32
"""The number of windows remembered per tensor."""

MOST_ROWS = 64
"""The number of rows per tensor whose statistics are remembered."""

WHEEL_ROWS = 3


class MatrixView(LineWidget, can_focus=True):
    """A tensor as a matrix of digits with labeled rows and columns, and a cursor on one cell.

    If its lesson asks for it, the tensor is drawn as bars or as memory (`Drawing`), with the same cursor, keys and
    messages. Tensors of 0 to 4 dimensions can be shown. Of a large tensor, only the visible part is drawn and held; the
    widget requests missing values with `Missing` and receives them through `add`. All of the tensor can be seen as an
    overview of blocks, on which a large one may open, and all heads side by side; even then the cursor is on a cell,
    the one that represents the current block.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("matrix")]

    DEFAULT_CSS = """
    MatrixView {
        width: 1fr;
        height: 1fr;
    }
    """

    cursor: reactive[tuple[int, int]] = reactive((0, 0), repaint=False, init=False)
    """Row and column of the cursor; clamped."""

    lead: reactive[tuple[int, ...]] = reactive((), repaint=False, init=False)
    """The indices of the leading axes; clamped."""

    @rich.repr.auto
    class CursorMoved(Message):
        """Posted when the cursor is on a different cell, or `describe` returns a different text.

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
            """Return whether the earlier message can be dropped: in a burst of moves, only the last one matters."""
            return isinstance(message, MatrixView.CursorMoved) and message.view is self.view

        def __rich_repr__(self) -> rich.repr.Result:
            yield "tensor", self.tensor.name
            yield "index", self.index
            yield "value", self.value

    @rich.repr.auto
    class Missing(Message):
        """Posted when something that is to be drawn has to be requested; `add` takes the reply.

        Attributes:
            view: The matrix.
            tensor: The tensor that is shown.
            question: What is asked about it: a window, blocks, or the statistics of a row.
        """

        def __init__(self, view: MatrixView, tensor: Tensor, question: PartQuestion) -> None:
            super().__init__()
            self.view = view
            self.tensor = tensor
            self.question = question

        @property
        def control(self) -> MatrixView:
            """Alias for `view`."""
            return self.view

        def __rich_repr__(self) -> rich.repr.Result:
            yield "question", self.question

    def __init__(
        self, terminal: Terminal, *, opens_far: bool = False, id: str | None = None, classes: str | None = None
    ) -> None:
        """Initialize the matrix.

        Args:
            terminal: What the terminal can do.
            opens_far: Whether a large matrix is first seen from afar, as an overview.
            id: The ID of the widget in the DOM.
            classes: The CSS classes of the widget.
        """
        super().__init__(id=id, classes=classes)
        self._palette = palette(terminal)
        self._opens_far = opens_far
        self._face: Face | None = None
        self._tall = 1
        self._drawing: Drawing = MATRIX
        self._blank = self._squeezed = False
        self._note = ""
        self._windows: OrderedDict[object, Window] = OrderedDict()
        self._asked: set[object] = set()
        self._zoom = Zoom()
        self._rows: OrderedDict[object, RowStats] = OrderedDict()
        self._statistics = False
        self._remark = ""
        self._caption = ""
        self._marks, self._marked = NO_MARKS, UNMARKED
        self._corner = (0, 0)
        self._cells: DrawingScene | None = None
        self._scene: DrawingScene | Heads | None = None
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
        """The value under the cursor, None if it has not arrived."""
        cells = self._cells or self._make_cells()
        return value_at(cells) if cells else None

    @property
    def overview(self) -> bool:
        """Whether blocks or heads are shown instead of cells."""
        return self._zoom.level != "cells"

    @property
    def hints(self) -> list[str]:
        """What the keys do now, for the line of keys."""
        if self._zoom.level == "cells":
            return [hint("matrix.move", self._drawing.unit())]
        return [hint("matrix.move", self._zoom.unit()), hint("matrix.enter-block")]

    def show(self, tensor: Tensor | None, note: str = "", *, blank: bool = False) -> None:
        """Show a different tensor, or new values of the same one.

        The cursor stays if the shape is the same, and the leading indices if the name is the same too: a text about a
        different tensor starts from its first matrix. Only lines that differ are repainted.

        Args:
            tensor: The tensor, or None for an empty matrix.
            note: What to say of it at the end of the header: "live, 12 ms", "recorded".
            blank: Show only where the numbers are, but neither the numbers nor anything that reveals them.
        """
        before = self.tensor
        same = tensor == before and blank == self._blank
        if same and note == self._note:
            return
        self._note, self._blank = visible(note), blank
        if same:
            self._update(lines=None)
            return
        self._windows.clear()
        self._asked.clear()
        self._rows.clear()
        self._zoom.clear()
        self._remark = ""
        if before is None or tensor is None or (before.name, before.shape) != (tensor.name, tensor.shape):
            self._marks, self._marked, self._caption = NO_MARKS, UNMARKED, ""
        if tensor is None:
            self._face = self._cells = self._scene = None
            self.refresh()
            return
        drawing, self._drawing = self._drawing, drawing_of(tensor)
        self._face = replace(Face.of(tensor, self._palette), tall=self._tall)
        if blank:
            # Treat all numbers as missing; the columns keep the width that they will have.
            hidden = replace(tensor, values=None, window=None, low=None, high=None)
            self._face = replace(self._face, tensor=hidden)
        if before is None or before.shape != tensor.shape or self._drawing is not drawing:
            self._corner = (0, 0)
            opens_far = self._opens_far and self._drawing is MATRIX and not blank
            self._zoom.level = opening_level(tensor) if opens_far else "cells"
            self._statistics = False
            self.set_reactive(MatrixView.lead, (0,) * len(tensor.lead_shape))
            self.set_reactive(MatrixView.cursor, (0, 0))
        elif before.name != tensor.name:
            self.set_reactive(MatrixView.lead, (0,) * len(tensor.lead_shape))
        self._update(lines=None)
        self._post_moved()

    def add(self, name: str, part: Window | Blocks | RowStats) -> None:
        """Take the reply to a question.

        Args:
            name: Name of the tensor that it belongs to; a reply about a different tensor is ignored.
            part: The reply.
        """
        match part:
            case Window():
                self.add_window(name, part)
            case Blocks():
                self.add_blocks(name, part)
            case RowStats():
                self.add_row(name, part)

    def add_window(self, name: str, window: Window) -> None:
        """Take values that a `WindowQuestion` has requested.

        Args:
            name: Name of the tensor that they belong to; a reply about a different tensor is ignored.
            window: The values.
        """
        if self._face is None or name != self._face.tensor.name or len(window.lead) != len(self.lead):
            return
        before = self.value
        key = (window.lead, window.top, window.left)
        self._windows[key] = window
        self._windows.move_to_end(key)
        while len(self._windows) > MOST_WINDOWS:
            self._windows.popitem(last=False)
        self._asked.discard(key)
        self._update(lines=None)
        if before is None and self.value is not None:
            self._post_moved()

    def add_blocks(self, name: str, blocks: Blocks) -> None:
        """Take blocks that a `BlocksQuestion` has requested.

        Args:
            name: Name of the tensor that they belong to; a reply about a different tensor is ignored.
            blocks: The blocks.
        """
        if self._face is None or name != self._face.tensor.name or len(blocks.lead) != len(self.lead):
            return
        self._zoom.add(blocks)
        self._asked.discard((blocks.lead, blocks.rows, blocks.cols, blocks.how))
        if self._cells and self._zoom.level == "heads" and self._zoom.missing(self._cells):
            # Drawn one at a time, every head would repaint the ones to its left and change the scale.
            return
        self._update(lines=None)
        self._post_moved()

    def add_row(self, name: str, stats: RowStats) -> None:
        """Take the statistics of a row that a `RowQuestion` has requested.

        Args:
            name: Name of the tensor that they belong to; a reply about a different tensor is ignored.
            stats: The statistics.
        """
        if self._face is None or name != self._face.tensor.name:
            return
        key = (stats.lead, stats.row)
        self._rows[key] = stats
        while len(self._rows) > MOST_ROWS:
            self._rows.popitem(last=False)
        self._asked.discard(key)
        if key == (self.lead, self.cursor[0]):
            self._post_moved()

    def forget(self, question: PartQuestion) -> None:
        """Forget what has been requested, so that it is requested again: no reply will come."""
        self._asked.discard(_key(question))

    def mark(self, marks: Marks) -> None:
        """Replace the marked cells. Nothing moves, and only lines that differ are repainted.

        Marks stay when new values of the same tensor are shown, and are removed with the tensor.

        Args:
            marks: Which cells, in which sense.
        """
        if self._face is None or marks == self._marks:
            return
        self._marks = marks
        self._marked = Marked(marks, self._face.tensor.shape)
        self._update(lines=None)

    def caption(self, text: str) -> None:
        """Set the caption, which says what is drawn if it is not the tensor's own values ("difference"); "" removes it.

        The caption is removed with the tensor.
        """
        if text != self._caption:
            self._caption = visible(text)
            self._update(lines=None)

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

    def describe(self, room: int = 80) -> str:
        """Describe the cell under the cursor with its exact value, or its block, head, or row.

        The text is plain: it may contain what looks like markup.

        Args:
            room: Columns for the statistics of a row, which say less where there are few.
        """
        face, cells = self._face, self._cells or self._make_cells()
        if face is None or cells is None or self._remark:
            return self._remark
        if self.overview:
            return self._zoom.describe(cells, self._scene or self._make_scene(cells))
        if self._statistics and (stats := self._row_stats(cells)):
            return row_text(face.tensor, stats, room, self._palette.unicode)
        return self._drawing.describe(face, self.lead, *self.cursor, self.value)

    @property
    def rows(self) -> int:
        """The rows of a matrix whose rows can be several lines high; 0 for other drawings."""
        return self._face.tensor.matrix_shape[0] if self._face is not None and self._drawing is MATRIX else 0

    def make_tall(self, lines: int) -> None:
        """Give each row of a matrix this many lines, where all rows fit then."""
        if lines == self._tall:
            return
        self._tall = lines
        if self._face is not None:
            self._face, self._cells, self._scene = replace(self._face, tall=lines), None, None
            self.refresh()

    def natural_size(self) -> tuple[int, int]:
        """Return the columns and lines that show everything, not counting the axes in the header."""
        return self._drawing.natural_size(self._face) if self._face else (0, 0)

    def forms(self) -> tuple[int, ...]:
        """Return the columns that show all of the tensor, from those of all digits to those of shades."""
        if self._face is None:
            return ()
        natural, shorter = self.natural_size()[0], [columns for _, columns in forms(self._face)]
        if self._drawing is not MATRIX:
            least = bars.least_width(self._face) if self._drawing is BARS else natural
            shorter = [least] * len(shorter)
        return natural, *(min(natural, columns) for columns in shorter)

    def lines_at(self, width: int) -> int:
        """Return the lines that show all rows at a width: one more where a line says that there are more columns."""
        if self._face is None:
            return 0
        lines = self.natural_size()[1]
        first = (0,) * len(self._face.tensor.lead_shape)
        return lines + int(self._drawing.layout(self._form(width), width, lines, 0, 0, at=first).hint >= 0)

    def squeeze(self, squeezed: bool) -> None:
        """Allow shades in place of digits where these do not fit, since the matrix stands beside others."""
        if squeezed != self._squeezed:
            self._squeezed = squeezed
            self._update(lines=None)

    def _form(self, width: int) -> Face:
        """Return the face in the form that suits a width."""
        assert self._face is not None
        return form_at(self._face, width, self._squeezed) if self._drawing is MATRIX else self._face

    def get_content_width(self, container: Size, viewport: Size) -> int:
        """Return the natural width, for `width: auto`."""
        return min(self.natural_size()[0], container.width)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:
        """Return the natural height, for `height: auto`."""
        return min(self.natural_size()[1], container.height)

    def render_line(self, y: int) -> Strip:
        """Render one line."""
        if self._scene and (self._scene.layout.width, self._scene.layout.height) != self.size:
            # A new size is painted before its resize event arrives, so nothing needs to be painted again.
            self._make_scenes()
        runs: Runs = self._draw(self._scene, y) if self._scene else ((" " * self.size.width, None),)
        self._painted[y] = runs
        ground = self.ground
        return Strip([Segment(text, over(ground, style)) for text, style in runs], sum(cell_len(t) for t, _ in runs))

    def validate_cursor(self, cursor: tuple[int, int]) -> tuple[int, int]:
        """Keep the cursor in the matrix."""
        rows, cols = self._face.tensor.matrix_shape if self._face else (1, 1)
        return _clamp(cursor[0], rows), _clamp(cursor[1], cols)

    def validate_lead(self, lead: tuple[int, ...]) -> tuple[int, ...]:
        """Keep the leading indices within their axes."""
        sizes = self._face.tensor.lead_shape if self._face else ()
        padded = (*lead, *((0,) * len(sizes)))[: len(sizes)]
        return tuple(_clamp(index, size) for index, size in zip(padded, sizes, strict=True))

    def watch_cursor(self, before: tuple[int, int], after: tuple[int, int]) -> None:
        """Repaint the two lines and the labels that a move changes."""
        self._remark = ""
        cells = self._cells
        if cells is None:
            return
        layout = cells.layout
        lines = (layout.row_y(before[0]), layout.row_y(after[0]), layout.labels)
        local = self._zoom.level == "cells" and self._drawing is MATRIX
        self._update(lines if local else None)
        self._post_moved()

    def watch_lead(self) -> None:
        """Repaint the lines that differ between the two matrices."""
        self._remark = ""
        self._update(lines=None)
        self._post_moved()

    def watch_has_focus(self, _has_focus: bool) -> None:
        """Draw the cursor as active or passive."""
        super().watch_has_focus(_has_focus)
        # Textual repaints the whole widget itself.
        self._update(lines=())

    def action_move(self, rows: int, cols: int) -> None:
        """Move the cursor."""
        cells, scene = self._cells, self._scene
        if cells and isinstance(scene, Heads):
            head = self.lead[-1] + cols + rows * scene.thumbs.across
            if 0 <= head < cells.face.tensor.lead_shape[-1]:
                self.lead = (*self.lead[:-1], head)
        elif cells and self.overview:
            self.cursor = self._zoom.cell(cells, rows, cols)
        else:
            self._step(rows, cols)

    def _step(self, down: int, right: int) -> None:
        """Move the cursor from cell to cell."""
        if self._face is not None:
            self.cursor = self._drawing.step(self._face.tensor, *self.cursor, down, right)

    def action_edge(self, axes: str, direction: int) -> None:
        """Move the cursor to the first or last column, or cell."""
        if self._face is None:
            return
        rows, cols = self._face.tensor.matrix_shape
        if isinstance(self._scene, Heads):
            self.lead = (*self.lead[:-1], direction * self._face.tensor.lead_shape[-1])
            return
        if self.overview:
            # Beyond the last block, take the last one.
            self.action_move(direction * rows if axes == "matrix" else 0, direction * cols)
            return
        row, col = (rows - 1, cols - 1) if direction > 0 else (0, 0)
        self.cursor = (self.cursor[0] if axes == "row" else row, col)

    def action_page(self, direction: int) -> None:
        """Move the cursor and the visible rows by one page."""
        if self._cells is None:
            return
        layout = self._cells.layout
        if self.overview:
            self.action_move(direction * layout.rows, 0)
            return
        last = self._drawing.lines(self._cells) - layout.rows
        self._corner = (max(0, min(last, layout.top + direction * layout.rows)), layout.left)
        self._step(direction * layout.rows, 0)

    def action_lead(self, axis: int, step: int) -> None:
        """Change a leading index."""
        if self.lead:
            lead = list(self.lead)
            lead[axis] += step
            self.lead = tuple(lead)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Leave Enter and Escape to other widgets while there is no block to zoom into and no overview to leave."""
        return self.overview if action in ("enter_block", "cells") else True

    def action_overview(self) -> None:
        """Cycle from cells to the maximum of each block, to the mean, and back."""
        if self._refuses():
            return
        if self._zoom.how == "max" and self.overview:
            self._look("mean", self._zoom.level)
        elif self._zoom.level == "blocks":
            self._look("max", "cells")
        elif self._zoom.level == "heads":
            self._look("max", "heads")
        elif self._fits():
            self._say(say("all-in-view", "The whole matrix is in view, so it needs no overview."))
        else:
            self._look("max", "blocks")

    def action_zoom_in(self) -> None:
        """Zoom from all heads to one, or from a block to its cells, with the cursor on the greatest of them."""
        if self._refuses() or self._cells is None or self._zoom.level == "cells":
            return
        if self._zoom.level == "heads":
            self._look(self._zoom.how, "cells" if self._fits() else "blocks")
            return
        self._corner = self._zoom.corner(self._cells)
        self.set_reactive(MatrixView.cursor, self._zoom.cell(self._cells))
        self._look(self._zoom.how, "cells")

    def action_enter_block(self) -> None:
        """Zoom in."""
        self.action_zoom_in()

    def action_cells(self) -> None:
        """Leave the overview; the cursor stays."""
        self._look(self._zoom.how, "cells")

    def action_zoom_out(self) -> None:
        """Zoom out from cells to blocks, or from blocks to all heads."""
        if self._refuses() or self._cells is None or self._zoom.level == "heads":
            return
        if self._zoom.level == "cells" and not self._fits():
            self._look(self._zoom.how, "blocks")
        elif self._zoom.thumbs(self._cells):
            self._look(self._zoom.how, "heads")
        else:
            self._say(say("farthest", "The whole tensor is in view. There is nothing further out."))

    def action_shades(self) -> None:
        """Switch between numbers and shades, which show more blocks."""
        if self._refuses():
            return
        if self._zoom.level == "blocks" and isinstance(self._scene, DrawingScene):
            self._zoom.shades = not self._scene.face.shades
            self._look(self._zoom.how, "blocks")
        else:
            keys = then("matrix.overview", "matrix.shades")
            in_cells = self._zoom.level == "cells"
            self._say(
                say("only-overviews", "Only an overview has shades. Press {keys}.", keys=keys) if in_cells else ""
            )

    def action_statistics(self) -> None:
        """Describe rows by their statistics, or cells by their values."""
        self._remark = ""
        self._statistics = not self._statistics
        if self.overview:
            self._statistics = True
            self._look(self._zoom.how, "cells")
        self._update(lines=())
        self._post_moved()

    def _look(self, how: How, level: Level) -> None:
        """Change the zoom level, and the statistic of its blocks."""
        self._remark = ""
        self._zoom.how, self._zoom.level = how, level
        self._update(lines=None)
        self._post_moved()

    def _say(self, remark: str) -> None:
        """Show a message in place of the cell's description until the cursor moves."""
        if remark and self._face is not None:
            self._remark = remark
            self._post_moved()

    def _refuses(self) -> bool:
        """Return whether there is no overview, because the tensor is not drawn as a matrix, and say so."""
        if self._drawing is not MATRIX:
            self._say(say("no-overview", "Only matrices have an overview."))
        return self._drawing is not MATRIX

    def _fits(self) -> bool:
        """Return whether all cells of the matrix are visible."""
        if self._cells is None:
            return True
        layout = self._cells.layout
        return (layout.rows, layout.cols) == self._cells.face.tensor.matrix_shape

    def on_resize(self) -> None:
        """Adapt to a new size."""
        self._update(lines=None)

    def on_click(self, event: events.Click) -> None:
        """Put the cursor on the clicked cell."""
        offset = event.get_content_offset(self)
        if not offset or self._scene is None or self._cells is None or event.chain > 1:
            # Leave the second click of a double click to others: the cursor is on the cell already.
            return
        if isinstance(self._scene, Heads):
            if (head := self._scene.head_at(*offset)) is not None:
                event.stop()
                self.lead = (*self.lead[:-1], head)
        elif cell := self._drawing.cell_at(self._scene, *offset):
            event.stop()
            if self._zoom.level == "cells":
                self.cursor = cell
            else:
                self.action_move(cell[0] - self._scene.row, cell[1] - self._scene.col)

    def on_mouse_scroll_down(self, event: events.MouseScrollDown) -> None:
        """Move the cursor down, or right with Shift."""
        self._wheel(event, 1)

    def on_mouse_scroll_up(self, event: events.MouseScrollUp) -> None:
        """Move the cursor up, or left with Shift."""
        self._wheel(event, -1)

    def _wheel(self, event: events.MouseEvent, direction: int) -> None:
        event.stop()
        event.prevent_default()
        self.action_move(*((0, direction) if event.shift else (WHEEL_ROWS * direction, 0)))

    def _make_scenes(self) -> None:
        """Compute the scene of the cells, and the scene to draw."""
        self._cells = self._make_cells()
        self._scene = self._make_scene(self._cells) if self._cells else None

    def _make_scene(self, cells: DrawingScene) -> DrawingScene | Heads:
        return self._zoom.scene(cells, self._marks)

    def _make_cells(self) -> DrawingScene | None:
        """Return the scene of the cells, of an arbitrary size before the first layout, so that values can be read."""
        if self._face is None:
            return None
        width, height = self.size if self.size else Size(80, 24)
        row, col = self.cursor
        face = self._form(width)
        layout = self._drawing.layout(face, width, height, row, col, *self._corner, self.lead)
        return DrawingScene(
            face,
            layout,
            self._palette,
            self.lead,
            row,
            col,
            self._note,
            self.has_focus,
            self._windows,
            self._caption,
            self._marked,
        )

    def _update(self, lines: Iterable[int] | None) -> None:
        """Repaint whatever has changed.

        Args:
            lines: Lines that may differ; None, or a layout that has changed, for all.
        """
        before = self._scene
        self._make_scenes()
        scene, cells = self._scene, self._cells
        if scene is None or cells is None or not self.size:
            return
        self._corner = (cells.layout.top, cells.layout.left)
        if lines is None or before is None or before.layout != scene.layout:
            lines = range(scene.layout.height)
        regions = [region for y in sorted(set(lines)) if y >= 0 and (region := self._changed(scene, y))]
        if regions:
            self.refresh(*regions)
        self._place_terminal_cursor()
        self._want(cells)

    def _changed(self, scene: DrawingScene | Heads, y: int) -> Region | None:
        """Return the part of a line that must be sent again; Textual sends lines from their left edge."""
        old, new = self._painted.get(y), self._draw(scene, y)
        width = scene.layout.width if old is None else differing_width(old, new)
        return Region(0, y, width, 1) if width else None

    def _want(self, cells: DrawingScene) -> None:
        """Request visible values that have not arrived."""
        if self._blank:
            return
        questions: list[PartQuestion] = []
        tensor = cells.face.tensor
        matrix = tensor.matrix_shape
        if self._zoom.level == "cells":
            layout = cells.layout
            for top in range(layout.top - layout.top % TILE, layout.top + layout.rows, TILE):
                for left in range(layout.left - layout.left % TILE, layout.left + layout.cols, TILE):
                    if (key := (cells.lead, top, left)) in self._windows:
                        self._windows.move_to_end(key)
            questions += [
                WindowQuestion(tensor.name, cells.lead, *tile, matrix=matrix) for tile in tiles_missing(cells)
            ]
            if self._statistics and self._row_stats(cells) is None:
                questions.append(RowQuestion(tensor.name, cells.lead, cells.row, TOP, matrix=matrix))
        questions += [BlocksQuestion(tensor.name, *blocks, matrix=matrix) for blocks in self._zoom.missing(cells)]
        # Request values again that were out of sight for a while: their reply may have been lost.
        self._asked &= set(map(_key, questions))
        for question in questions:
            if _key(question) not in self._asked:
                self._asked.add(_key(question))
                self.post_message(self.Missing(self, tensor, question))

    def _row_stats(self, cells: DrawingScene) -> RowStats | None:
        """Return the statistics of the cursor's row if they have arrived or can be computed here, else None."""
        tensor, cols = cells.face.tensor, cells.face.tensor.matrix_shape[1]
        if tensor.values is not None and (values := tensor.row(cells.lead, cells.row, 0, cols)) is not None:
            return row_stats(cells.lead, cells.row, values, TOP)
        return self._rows.get((cells.lead, cells.row))

    def _post_moved(self) -> None:
        if self._face is not None:
            self.post_message(self.CursorMoved(self, self._face.tensor, self.index, self.value))

    def _place_terminal_cursor(self) -> None:
        """Put the terminal's own cursor on the cell, for screen readers and input methods."""
        scene = self._scene
        if scene is None or not self.has_focus or not self.is_mounted:
            return
        x, y = scene.title_at if isinstance(scene, Heads) else self._drawing.cursor_at(scene)
        left, top = self.content_region.offset
        self.app.cursor_position = Offset(left + min(x, scene.layout.width - 1), top + y)

    def _draw(self, scene: DrawingScene | Heads, y: int) -> Runs:
        return draw_heads(scene, y) if isinstance(scene, Heads) else self._drawing.draw(scene, y)


def _clamp(index: int, size: int) -> int:
    return max(0, min(size - 1, index))


def _key(question: PartQuestion) -> object:
    """Return what identifies a request in its reply."""
    match question:
        case WindowQuestion():
            return question.lead, question.top, question.left
        case BlocksQuestion():
            return question.lead, question.rows, question.cols, question.how
        case RowQuestion():
            return question.lead, question.row

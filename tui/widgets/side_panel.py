"""The panel at the side of a step: the flow of the numbers, and below it what earlier steps have shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.geometry import Size
from textual.strip import Strip

from attn_tutor.lessons.results.flow import Flow
from attn_tutor.tui.drawings import bars, grid
from attn_tutor.tui.drawings.drawing import BARS, MATRIX, Drawing, drawing_of
from attn_tutor.tui.drawings.drawing_scene import DrawingScene, Face
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.render.step_layout import TALLEST
from attn_tutor.tui.state.shown_tensors import EarlierTensor
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.flow_chart import EMPTY, FlowChart
from attn_tutor.tui.widgets.line_widget import Box, LineWidget, set_height
from attn_tutor.tui.widgets.text import TextLine

NARROWEST, MOST_LINES = 16, 12
"""Columns that a matrix needs, and lines that it gets if it is larger."""

NOWHERE = -1
"""Row and column of a cursor that is on no cell."""


class EarlierMatrices(LineWidget):
    """Drawings of earlier tensors, one below the other."""

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._palette = palette(terminal)
        self._earlier: tuple[EarlierTensor, ...] = ()
        self._scenes: list[tuple[int, Drawing, DrawingScene]] = []
        self._drawn_for: Size | None = None

    def show(self, earlier: Sequence[EarlierTensor]) -> None:
        """Show different tensors."""
        if tuple(earlier) != self._earlier:
            self._earlier, self._drawn_for = tuple(earlier), None
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Render one line."""
        width = self.size.width
        if self._drawn_for != self.size:
            self._drawn_for, self._scenes = self.size, self._arranged(*self.size)
        for top, drawing, scene in self._scenes:
            if top <= y < top + scene.layout.height:
                runs = drawing.draw(scene, y - top)
                segments = [Segment(text, self.over(style)) for text, style in runs]
                return Strip(segments).adjust_cell_length(width, self.ground)
        return Strip.blank(width, self.ground)

    def lines_at(self, width: int) -> int:
        """Return the lines that the latest tensor takes at a width; 0 if there is none that fits."""
        fitting = self._fitting(width)
        return self._lines(fitting[0], width) if fitting else 0

    def _fitting(self, width: int) -> list[EarlierTensor]:
        """Return the tensors that can be drawn at a width: matrices in part, if need be."""
        return [each for each in self._earlier if self._least_width(each) <= width]

    def _arranged(self, width: int, height: int) -> list[tuple[int, Drawing, DrawingScene]]:
        """Return the drawings that fit, with the line at which each begins; rows are as high as there is room."""
        chosen: list[EarlierTensor] = []
        # The last has no empty line below it.
        left = height + 1
        for each in self._fitting(width):
            if (lines := self._lines(each, width) + 1) <= left:
                chosen.append(each)
                left -= lines
        rows = sum(self._rows(each, width) for each in chosen)
        tall = min(TALLEST, 1 + left // rows) if rows else 1
        scenes, top = [], 0
        for each in chosen:
            drawing, face = drawing_of(each.tensor), replace(self._face(each, width), tall=tall)
            lines = self._lines(each, width) + (tall - 1) * self._rows(each, width)
            lead = (0,) * len(each.tensor.lead_shape)
            layout = drawing.layout(face, width, lines, 0, 0, at=lead)
            scene = DrawingScene(face, layout, self._palette, lead, NOWHERE, NOWHERE, each.where, focused=False)
            scenes.append((top, drawing, scene))
            top += lines + 1
        return scenes

    def _face(self, each: EarlierTensor, width: int) -> Face:
        """Return the face of a tensor, with as many digits as fit."""
        face = Face.of(each.tensor, self._palette)
        return grid.form_at(face, width, shades=True) if drawing_of(each.tensor) is MATRIX else face

    def _least_width(self, each: EarlierTensor) -> int:
        drawing = drawing_of(each.tensor)
        if drawing is MATRIX:
            return NARROWEST
        face = Face.of(each.tensor, self._palette)
        return bars.least_width(face) if drawing is BARS else drawing.natural_size(face)[0]

    def _lines(self, each: EarlierTensor, width: int) -> int:
        """Return the lines of a drawing: of a large matrix only some, with one that says how much more there is."""
        face, drawing = self._face(each, width), drawing_of(each.tensor)
        lines = drawing.natural_size(face)[1]
        if drawing is not MATRIX:
            return lines
        return min(lines + int(not grid.cols_fit(face, width)), MOST_LINES)

    def _rows(self, each: EarlierTensor, width: int) -> int:
        """Return how many rows may be several lines high: those of a matrix that is shown whole."""
        if drawing_of(each.tensor) is not MATRIX or not grid.cols_fit(self._face(each, width), width):
            return 0
        return each.tensor.matrix_shape[0] if self._lines(each, width) < MOST_LINES else 0


class SidePanel(Box):
    """The flow of a step and earlier tensors, as much of both as fits. It has no cursor."""

    DEFAULT_CSS = """
    SidePanel {
        layout: vertical;
        height: 1fr;
        padding: 0 0 0 1;
    }
    """

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        self._flow = FlowChart(terminal, cursor=False, id="side-flow")
        self._flow.can_focus = False
        self._earlier = EarlierMatrices(terminal, id="side-earlier")
        self._title = TextLine(ellipsis=terminal.ellipsis, id="side-title")
        super().__init__(self._title, self._flow, self._earlier, id=id)

    @property
    def names(self) -> frozenset[str]:
        """The names in the flow."""
        return frozenset(box.name for box in self._flow.flow.boxes)

    def show_flow(self, flow: Flow, title: str = "") -> None:
        """Show a different flow, with a title that says of what."""
        self._title.set(Text(f" {title}", "dim"))
        if flow != self._flow.flow:
            self._flow.show(flow)
            self._arrange()

    def show_earlier(self, earlier: Sequence[EarlierTensor]) -> None:
        """Show different tensors below the flow."""
        self._earlier.show(earlier)
        self._arrange()

    def leave_step(self, *, same_lesson: bool) -> None:
        """Keep the flow, without what is lit, until that of the next step is known; in another lesson it goes."""
        flow = self._flow.flow if same_lesson else EMPTY
        self.show_flow(replace(flow, boxes=tuple(replace(box, shown=()) for box in flow.boxes), path=()))

    def on_resize(self, event: events.Resize) -> None:
        """Arrange the parts for the new size of the panel."""
        self._arrange()

    def _arrange(self) -> None:
        """Give the flow the lines that it needs, more where nothing stands below it, and the tensors the rest."""
        width, height = self.size.width - 1, self.size.height
        if width <= 0 or height <= 0:
            return
        least = self._earlier.lines_at(width)
        height -= 1
        flow = self._flow.lines_within(width, height - least - 1 if least else height, grow=not least)
        set_height(self._title, int(flow > 0))
        height += int(flow == 0)
        set_height(self._flow, flow)
        set_height(self._earlier, height - flow if least and height - flow >= least else 0)

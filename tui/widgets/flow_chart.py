"""The chart of a flow: boxes and arrows, with a cursor that moves from box to box."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip

from attn_tutor.lessons.results.flow import Flow, FlowBox
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import short_keys
from attn_tutor.tui.drawings import flow_drawing
from attn_tutor.tui.drawings.flow_drawing import DETAILS, Detail, FlowDrawing, FlowMarks
from attn_tutor.tui.render.palette import palette
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.line_widget import LineWidget

say = Wording("screen/flow-chart")

MARGIN = 1
"""Empty columns at the left."""

EMPTY = Flow((), ())


class FlowChart(LineWidget, can_focus=True):
    """A flow with as much detail as its room allows. It scrolls so that the chosen box is visible."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("flow")]

    DEFAULT_CSS = """
    FlowChart {
        width: 1fr;
        height: 1fr;
    }
    """

    class Chosen(Message):
        """Posted when the cursor has moved to a different box."""

    class Entered(Message):
        """Posted when the learner wants to see the matrix of the chosen box."""

    class Toggled(Message):
        """Posted when the learner opens the chosen box or, if it cannot be opened, closes the one around it."""

        def __init__(self, opened: tuple[str, ...]) -> None:
            self.opened = opened
            super().__init__()

    class Pointed(Message):
        """Posted when the learner answers with the chosen box."""

    class Left(Message):
        """Posted when the learner goes back to where they were."""

    def __init__(self, terminal: Terminal, *, cursor: bool = True, id: str | None = None) -> None:
        """Initialize the chart; without a cursor it scrolls to what is lit."""
        super().__init__(id=id)
        self._has_cursor = cursor
        self.answers = False
        """Whether the learner can answer with a box."""
        self._palette = palette(terminal)
        self._flow = EMPTY
        self._marks = FlowMarks()
        self._chosen = ""
        self._box_around = ""
        """The box that the learner has closed, until the flow without what is in it has come."""
        self._drawing: FlowDrawing | None = None
        # By columns and lines: a panel measures the flow before it gives it room, and whenever it is arranged again.
        self._fitted: dict[tuple[int, int], FlowDrawing] = {}
        self._drawn_for = Size(0, 0)
        self._top = self._left = 0
        self._detail: Detail | None = None

    # Contents ----------------------------------------------------------------------------------------------------

    @property
    def flow(self) -> Flow:
        """The flow that is shown."""
        return self._flow

    @property
    def box(self) -> FlowBox | None:
        """The box under the cursor, None if there is none."""
        return self._flow.box(self._chosen)

    def show(self, flow: Flow, chosen: str = "") -> None:
        """Show a flow, with the cursor on a box; on the same box as before if there is still such a box."""
        if flow == self._flow and not chosen:
            return
        current = frozenset(box.id for box in flow.boxes if box.shown)
        around = {box.id for box in flow.opened}
        # A box that was opened is replaced by those inside: the last of them gives its result.
        inside = [box.id for box in flow.boxes if box.parent == self._chosen] if self._chosen in around else []
        wanted = (chosen, self._chosen, self._box_around, *inside[-1:]) if self._has_cursor else ()
        self._box_around = ""
        known = [id for id in wanted if flow.box(id) is not None]
        shown = [box.id for box in flow.boxes if box.shown]
        last = [box.id for box in flow.boxes][-1:]
        self._flow, self._marks = flow, FlowMarks(current, frozenset(flow.path))
        self._chosen = (known or shown[-1:] or last or [""])[0]
        self._drawing = None
        self._fitted.clear()
        self.refresh()

    def choose(self, id: str) -> None:
        """Move the cursor to a box."""
        if id != self._chosen and self._flow.box(id) is not None:
            self._chosen = id
            self.refresh()
            self.post_message(self.Chosen())

    def natural_size(self, detail: Detail) -> tuple[int, int]:
        """Return the columns and lines that show everything with this much detail."""
        columns, lines = flow_drawing.draw(self._flow, detail, self._palette, self._marks).size
        return columns + MARGIN, lines

    def lines_within(self, width: int, height: int, *, grow: bool) -> int:
        """Return the lines of the flow with as much detail as fits, 0 without a flow; all of them with `grow`."""
        if not self._flow.boxes:
            return 0
        if grow:
            return height
        drawing = self._fitting(width - MARGIN, height)
        left_out = len(drawing.flow.boxes) < len(self._flow.boxes)
        return min(drawing.size[1] + 1 + int(left_out), height) if drawing.flow.boxes else 0

    def _fitting(self, width: int, height: int) -> FlowDrawing:
        """Return the drawing of the flow that fits, which is made once for each size."""
        if (width, height) not in self._fitted:
            self._fitted[width, height] = self._fit(width, height)
        return self._fitted[width, height]

    def _fit(self, width: int, height: int) -> FlowDrawing:
        """Draw the flow with as much detail as fits; without a cursor, what is far from the lit boxes gives way."""
        if self._has_cursor:
            return flow_drawing.fitting(self._flow, width, height, self._palette, self._marks)
        # An empty line separates it from what stands below, after one that says how many boxes are left out.
        drawing = flow_drawing.nearest_fitting(self._flow, width, height - 1, self._palette, self._marks)
        if len(drawing.flow.boxes) == len(self._flow.boxes):
            return drawing
        return flow_drawing.nearest_fitting(self._flow, width, height - 2, self._palette, self._marks)

    # Drawing -----------------------------------------------------------------------------------------------------

    def _prepared(self) -> FlowDrawing:
        """Return the drawing for the present size, scrolled to the chosen box."""
        if self._drawing is None or self._drawn_for != self.size:
            width, height = self.size
            if self._detail is None:
                self._drawing = self._fitting(width - MARGIN, height)
            else:
                self._drawing = flow_drawing.draw(self._flow, self._detail, self._palette, self._marks)
            self._drawn_for = self.size
        self._scroll(self._drawing)
        return self._drawing

    def _scroll(self, drawing: FlowDrawing) -> None:
        columns, lines = drawing.size
        width, height = self.size.width - MARGIN, self.size.height
        area = drawing.layout.rectangles.get(self._chosen)
        if area is not None:
            # One line above and below, so that the arrows are seen.
            self._top = min(max(self._top, area.y + area.height + 1 - height), max(0, area.y - 1))
            self._left = min(max(self._left, area.x + area.width - width), area.x)
        self._top = max(0, min(self._top, lines - height))
        self._left = max(0, min(self._left, columns - width))

    def render_line(self, y: int) -> Strip:
        """Render one line."""
        width = self.size.width
        if not self._flow.boxes or width <= MARGIN:
            return Strip.blank(width, self.ground)
        drawing, chosen = self._prepared(), self._chosen if self._has_cursor else ""
        more = len(self._flow.boxes) - len(drawing.flow.boxes)
        if more and y == drawing.size[1]:
            note = " " * MARGIN + say.count(
                "more-boxes",
                more,
                "{key} all of it, {count} more box",
                "{key} all of it, {count} more boxes",
                key=short_keys("tutor.flow"),
            )
            return Strip(self.pieces(Text(note, "dim"))).adjust_cell_length(width, self.ground)
        runs = drawing.line(y + self._top, self._left, width - MARGIN, chosen, focused=self.has_focus)
        segments = [Segment(" " * MARGIN, self.ground), *(Segment(text, self.over(style)) for text, style in runs)]
        return Strip(segments).adjust_cell_length(width, self.ground).simplify()

    # Keys and clicks ---------------------------------------------------------------------------------------------

    def action_move(self, down: int, right: int) -> None:
        """Move the cursor: up and down to the box in the next layer that is nearest, left and right within a layer."""
        if not self._flow.boxes:
            return
        layout = self._prepared().layout
        layers = layout.layers
        layer = next(number for number, ids in enumerate(layers) if self._chosen in ids)
        if right:
            index = layers[layer].index(self._chosen) + right
            if 0 <= index < len(layers[layer]):
                self.choose(layers[layer][index])
            return
        near = self._flow.targets(self._chosen) if down > 0 else self._flow.sources(self._chosen)
        above_or_below = [id for id in near if (self._layer_of(id) - layer) * down > 0]
        number = layer + down
        candidates = above_or_below or (list(layers[number]) if 0 <= number < len(layers) else [])
        if candidates:
            middle = layout.rectangles[self._chosen].middle
            self.choose(
                min(
                    candidates,
                    key=lambda id: (abs(self._layer_of(id) - layer), abs(layout.rectangles[id].middle - middle)),
                )
            )

    def _layer_of(self, id: str) -> int:
        return next(number for number, ids in enumerate(self._prepared().layout.layers) if id in ids)

    def action_edge(self, to: int) -> None:
        """Move the cursor to the first box, or to the last."""
        if self._flow.boxes:
            layers = self._prepared().layout.layers
            self.choose(layers[0][0] if to < 0 else layers[-1][-1])

    def action_matrix(self) -> None:
        """Ask for the matrix of the chosen box."""
        if self.box is not None:
            self.post_message(self.Entered())

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now; if not, its key keeps the meaning that it has elsewhere."""
        return self.answers if action == "point" else True

    def action_point(self) -> None:
        """Post that the learner answers with the chosen box."""
        self.post_message(self.Pointed())

    def action_open_close(self) -> None:
        """Open the chosen box; if it cannot be opened, close the one around it."""
        box = self.box
        if box is None:
            return
        opened = tuple(item.id for item in self._flow.opened)
        if box.opens:
            self.post_message(self.Toggled((*opened, box.id)))
        elif box.parent:
            # With it close the boxes inside of it.
            self._box_around = box.parent
            around = {item.id: item.parent for item in self._flow.opened}
            self.post_message(self.Toggled(tuple(id for id in opened if not _is_inside(id, box.parent, around))))

    def action_detail(self) -> None:
        """Draw the boxes with a different amount of detail, whether or not all of them fit then."""
        if self._flow.boxes:
            known = self._prepared().detail
            self._detail = DETAILS[(DETAILS.index(known) + 1) % len(DETAILS)]
            self._drawing = None
            self.refresh()

    def action_leave(self) -> None:
        """Go back to where the learner was."""
        self.post_message(self.Left())

    def on_click(self, event: events.Click) -> None:
        """Move the cursor to the box that was clicked; a second click shows its matrix."""
        if not self._flow.boxes:
            return
        drawing = self._prepared()
        x, y = event.x + self._left - MARGIN, event.y + self._top
        for id, area in drawing.layout.rectangles.items():
            if area.x <= x < area.x + area.width and area.y <= y < area.y + area.height:
                if id == self._chosen:
                    self.action_matrix()
                self.choose(id)

    def on_focus(self) -> None:
        """Draw the cursor as the one that keys move."""
        self.refresh()

    def on_blur(self) -> None:
        """Draw the cursor as one that keys do not move."""
        self.refresh()


def _is_inside(id: str, outer: str, around: dict[str, str]) -> bool:
    """Return whether an open box is `outer`, or inside of it."""
    while id in around:
        if id == outer:
            return True
        id = around[id]
    return False

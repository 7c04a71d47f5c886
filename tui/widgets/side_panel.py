"""The panel at the side of a step: the flow of the numbers, and below it what earlier steps have shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rich.text import Text
from textual import events

from attn_tutor.lessons.results.flow import Flow
from attn_tutor.tui.state.earlier_tensors import EarlierTensor
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.earlier_matrices import EarlierMatrices
from attn_tutor.tui.widgets.flow_chart import EMPTY, FlowChart
from attn_tutor.tui.widgets.line_widget import Box, set_height
from attn_tutor.tui.widgets.text_line import TextLine


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

"""Curves of numbers over the course of a training."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from textual.geometry import Region
from textual.strip import Strip

from attn_tutor.tui.drawings.curve import COLORS, Plot, arrange, draw
from attn_tutor.tui.drawings.styled_line import Runs, StyledLine, differing_width, over
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.line_widget import LineWidget


class Curves(LineWidget):
    """Some curves, side by side or stacked. A change repaints only the lines that differ."""

    DEFAULT_CSS = """
    Curves {
        width: 1fr;
    }
    """

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._unicode = terminal.unicode
        self._plots: tuple[Plot, ...] = ()
        self._painted: dict[int, Runs] = {}
        self._lines: tuple[Runs, ...] = ()
        self._drawn: object = None

    def show(self, plots: tuple[Plot, ...]) -> None:
        """Show these curves."""
        if plots == self._plots:
            return
        self._plots = plots
        if not self.size:
            # While the widget is hidden, there is nothing to compare with: what it drew before must not reappear.
            self.refresh()
        self._draw()
        for y, line in enumerate(self._lines):
            before = self._painted.get(y)
            wide = self.size.width if before is None else differing_width(before, line)
            if wide:
                self.refresh(Region(0, y, wide, 1))

    def _draw(self) -> None:
        """Draw all curves into the lines of the widget."""
        width, height = self.size
        self._drawn = (self._plots, self.size)
        slots = arrange(len(self._plots), width, height)
        curves = [
            draw(plot, slot.width, slot.height, self._unicode, COLORS[at % len(COLORS)])
            for at, (plot, slot) in enumerate(zip(self._plots, slots, strict=False))
        ]
        lines = []
        for y in range(height):
            line = StyledLine()
            for slot, curve in zip(slots, curves, strict=True):
                if slot.y <= y < slot.y + slot.height:
                    line.pad_to(slot.x)
                    for text, style in curve[y - slot.y]:
                        line.add(text, style)
            lines.append(line.runs(width))
        self._lines = tuple(lines)

    def render_line(self, y: int) -> Strip:
        """Render one line."""
        if self._drawn != (self._plots, self.size):
            # A new size is painted before its resize event arrives.
            self._draw()
        runs = self._lines[y] if y < len(self._lines) else ((" " * self.size.width, None),)
        self._painted[y] = runs
        ground = self.ground
        return Strip([Segment(text, over(ground, style)) for text, style in runs], sum(cell_len(t) for t, _ in runs))

"""What our own widgets share: they draw line by line, on the terminal's own colors where the theme is an ansi one."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.containers import Container
from textual.geometry import Region, Size
from textual.widget import Widget

from tui.drawings.styled_line import over


def settle(widget: Widget) -> None:
    """A widget has been laid out and painted: what it was marked for meanwhile need not be done."""
    widget._repaint_required = widget._layout_required = False
    widget._repaint_regions.clear()


class StableWidget(Widget):
    """A widget that is laid out and painted once when its size changes.

    Textual marks a resized widget as dirty and asks for another layout, although the layout that resized it has painted
    it already: each time the screen is sent twice, which over SSH is half of what a step costs.
    """

    def _size_updated(self, size: Size, virtual_size: Size, container_size: Size, layout: bool = True) -> bool:
        changed = super()._size_updated(size, virtual_size, container_size, layout)
        if changed:
            settle(self)
        return changed


class Box(StableWidget, Container):
    """A container that is laid out once."""

    @property
    def room(self) -> Size:
        """Its size; while it is hidden and has none, that of what it will fill: so it is arranged before it shows."""
        place: Widget = self
        while not place.size and isinstance(place.parent, Widget):
            place = place.parent
        return place.size


def set_height(widget: Widget, lines: int) -> None:
    """Give a widget this many lines, and hide it if there are none."""
    if widget.display != (lines > 0):
        widget.display = lines > 0
    if lines:
        widget.styles.height = lines


class LineWidget(StableWidget):
    """A widget that draws its lines from plain pieces of text and style."""

    DEFAULT_CSS = """
    LineWidget {
        background: $background;
        color: $foreground;

        &:ansi {
            background: ansi_default;
            color: ansi_default;
        }
    }
    """

    ALLOW_SELECT = False

    @property
    def ground(self) -> Style | None:
        """The style of empty cells. In an ansi theme there is none: a piece without a style costs no escape at all."""
        return None if self.app.native_ansi_color else self.rich_style

    def over(self, style: Style | None) -> Style | None:
        """A style on top of the ground."""
        return over(self.ground, style)

    def refresh_line(self, y: int) -> None:
        """Repaint one line."""
        self.refresh(Region(0, y, self.size.width, 1))

    def pieces(self, text: Text) -> list[Segment]:
        """One line of styled text."""
        if not text.spans:
            # Rich forgets the style of a text as a whole if no part of it has one.
            return [Segment(text.plain, self.over(self.app.console.get_style(text.style)))] if text.plain else []
        ground = self.ground
        return [
            Segment(piece, over(ground, style)) for piece, style, _ in text.render(self.app.console, end="") if piece
        ]

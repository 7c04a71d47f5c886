"""The base of our own widgets: they draw line by line, in an ANSI theme on the terminal's own colors."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.containers import Container
from textual.geometry import Region, Size
from textual.strip import Strip
from textual.widget import Widget

from attn_tutor.tui.drawings.styled_line import over


def settle(widget: Widget) -> None:
    """Discard the repaints and layouts that a widget has requested while it was being laid out and painted."""
    widget._repaint_required = widget._layout_required = False
    widget._repaint_regions.clear()


class StableWidget(Widget):
    """A widget that is laid out and painted once when its size changes.

    Textual marks a resized widget as dirty and requests a new layout, although the layout that resized it has painted
    it already. The screen would be sent twice each time, which over SSH is half of what a step costs.
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
        """The size of the container or, while it is hidden, the room of its nearest ancestor that has a size.

        This allows the content to be arranged before it is shown.
        """
        widget: Widget = self
        while not widget.size and isinstance(widget.parent, Widget):
            widget = widget.parent
        room = widget.size if widget is self else getattr(widget, "room", widget.size)
        assert isinstance(room, Size)
        return room


def set_height(widget: Widget, lines: int) -> None:
    """Set the height of a widget, and hide it if that is 0."""
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

    _painted_on: tuple[Style | None] | None = None

    @property
    def ground(self) -> Style | None:
        """The style of empty cells, None in an ANSI theme, where a piece without a style needs no escape sequence."""
        if self._painted_on is not None:
            return self._painted_on[0]
        return None if self.app.native_ansi_color else self.rich_style

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint some lines, all on one ground: to look it up takes longer than to paint most lines."""
        self._painted_on = (self.ground,)
        try:
            return super().render_lines(crop)
        finally:
            self._painted_on = None

    def over(self, style: Style | None) -> Style | None:
        """Return a style on top of the ground."""
        return over(self.ground, style)

    def refresh_line(self, y: int) -> None:
        """Repaint one line."""
        self.refresh(Region(0, y, self.size.width, 1))

    def pieces(self, text: Text) -> list[Segment]:
        """Return one line of styled text as segments."""
        if not text.spans:
            # Rich ignores the style of a whole text if no part of it has one.
            return [Segment(text.plain, self.over(self.app.console.get_style(text.style)))] if text.plain else []
        ground = self.ground
        return [
            Segment(piece, over(ground, style)) for piece, style, _ in text.render(self.app.console, end="") if piece
        ]

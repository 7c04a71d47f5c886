"""One line of text: the title, the description of the cell under the cursor, or the keys."""

from __future__ import annotations

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual.strip import Strip

from attn_tutor.lessons.render.numbers import truncated
from attn_tutor.tui.widgets.line_widget import LineWidget


class TextLine(LineWidget):
    """A line with one text at its left and one at its right end, repainted only if it changes."""

    DEFAULT_CSS = """
    TextLine {
        height: 1;
        width: 1fr;
    }
    """

    def __init__(self, left: str | Text = "", right: str = "", *, ellipsis: str = "…", id: str | None = None) -> None:
        super().__init__(id=id)
        self._left = _as_text(left)
        self._right = right
        self._ellipsis = ellipsis

    @property
    def text(self) -> str:
        """The text at the left end."""
        return self._left.plain

    def set(self, left: str | Text, right: str = "") -> None:
        """Set the texts, which are drawn as they are, without markup."""
        text = _as_text(left)
        # Rich considers texts equal that differ only in style.
        if (text, text.style, right) != (self._left, self._left.style, self._right):
            self._left, self._right = text, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        """Render the line; if it is too long, the right text is dropped first."""
        width = self.size.width
        base = self.ground
        left = self._left.copy()
        right = truncated(self._right, max(0, width - 1), self._ellipsis)
        if cell_len(right) + 3 + left.cell_len > width and left.cell_len:
            right = right if cell_len(right) < width // 2 else ""
        room = max(0, width - (cell_len(right) + 1 if right else 0))
        if left.cell_len > room:
            left.truncate(max(0, room - len(self._ellipsis)))
            left.append(self._ellipsis[:room])
        space = width - left.cell_len - cell_len(right)
        segments = [*self.pieces(left), Segment(" " * space, base)]
        if right:
            segments.append(Segment(right, base))
        return Strip(segments, width).simplify()


def _as_text(text: str | Text) -> Text:
    return text if isinstance(text, Text) else Text(text)

"""Text on the screen: one line, a pane of prose, code or output that scrolls, the help, and findings."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import ClassVar

from rich.cells import cell_len
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual.binding import BindingType
from textual.geometry import Size
from textual.strip import Strip

from attn_tutor.lessons.render.numbers import truncated
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import short_keys, then
from attn_tutor.tui.widgets.line_widget import LineWidget, set_height


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


say = Wording("screen/text-pane")

MORE = Style(dim=True)
CODE_START = re.compile(r" *(\d+  +)?")
"""What stands before the code of a line: its number, its indent."""
AFTER_TAB, AFTER_F4 = partial(then, "screen.pane", "text.scroll"), partial(then, "tutor.pane-anywhere", "text.scroll")
"""How to scroll a pane that lacks the focus: where Tab leads to it, and where only F4 does."""


class TextPane(LineWidget, can_focus=True):
    """Styled text, wrapped to the width of the widget, which scrolls and says when there is more below.

    It is drawn line by line, without scroll bars, and a new text repaints only the lines that differ.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("text")]

    DEFAULT_CSS = """
    TextPane {
        width: 1fr;
        height: 1fr;
    }
    """

    def __init__(
        self,
        *,
        indent: int = 1,
        ellipsis: str = "…",
        way: Callable[[], str] = AFTER_TAB,
        is_code: bool = False,
        id: str | None = None,
    ) -> None:
        """Initialize the pane.

        Args:
            indent: Empty columns at the left.
            ellipsis: What precedes the number of lines that are not shown.
            way: Says the keys that lead to them.
            is_code: Whether the rest of a line that is wrapped stands further in than its beginning.
            id: The ID of the widget in the DOM.
        """
        super().__init__(id=id)
        self._indent = indent
        self._ellipsis = ellipsis
        self._way = way
        self._is_code = is_code
        self._text = Text()
        self._lines: list[Text] = []
        self._laid_out = Size(0, 0)
        self._top = 0
        self._at_end = False

    @property
    def text(self) -> str:
        """The text without styles."""
        return self._text.plain

    def show(self, text: Text, at_end: bool = False, keep: bool = False) -> None:
        """Show a text from its top, from its end, or (`keep`) from the current scroll position.

        Only lines that differ are repainted.
        """
        if not self.size:
            # While the pane is hidden, there is nothing to compare with: what it drew before must not reappear.
            self.refresh()
        before = [self._line(y) for y in range(self.size.height)]
        self._text = text
        self._top, self._at_end = self._top if keep else 0, at_end
        self._layout_text()
        for y, old in enumerate(before):
            new = self._line(y)
            # Rich considers texts equal that differ only in style.
            if (old, old.style) != (new, new.style):
                self.refresh_line(y)

    @property
    def longer(self) -> bool:
        """Whether the text is longer than the pane."""
        return len(self._lines) > self.size.height

    def lines_at(self, width: int) -> int:
        """Return the number of lines that the text takes at a width."""
        return len(self._wrapped(width)) if self._text.plain else 0

    @property
    def widest(self) -> int:
        """The width of the longest line without wrapping, in columns, with the indent and one column at the right."""
        return max((line.cell_len for line in self._text.split("\n")), default=0) + self._indent + 1

    def _wrapped(self, width: int) -> list[Text]:
        room = max(8, width - self._indent - 1)
        return [part for line in self._wrapped_lines(room) for part in line]

    def _wrapped_lines(self, room: int) -> list[list[Text]]:
        """Return the lines of the text, each as the lines that it takes in so many columns."""
        wrap = wrapped_code if self._is_code else _wrapped_prose
        return [wrap(line, room, self.app.console) for line in self._text.split("\n", allow_blank=True)]

    def reveal(self, line: int, width: int, height: int, first: int | None = None) -> None:
        """Scroll so that a line of the text, counted from 0, is seen once the pane has this width and height.

        If it has to scroll, the line `first` above it comes to the top, or as much of what lies between as fits.
        """
        parts = self._wrapped_lines(max(8, width - self._indent - 1))
        above = sum(map(len, parts[:line]))
        last = above + len(parts[line]) - 1 if line < len(parts) else above
        # The last line of the pane says that there is more.
        if sum(map(len, parts)) > height and not self._top <= above <= last < self._top + height - 1:
            top = max(last - height + 2, 0 if first is None or first >= line else sum(map(len, parts[:first])))
            self._top = max(0, min(top, sum(map(len, parts)) - height))
            self.refresh()

    def _layout_text(self) -> None:
        self._laid_out = self.size
        self._lines = self._wrapped(self.size.width) if self._text.plain and self.size.width else []
        if self._at_end:
            # Also when the height of the widget changes later.
            self._top = len(self._lines)
        if self.size:
            self._top = max(0, min(self._top, len(self._lines) - self.size.height))

    def _line(self, y: int) -> Text:
        """Return a line of the widget: a line of the text, or at the bottom the remark that there is more."""
        below = len(self._lines) - self._top - self.size.height
        if y == self.size.height - 1 and below > 0:
            keys = short_keys("text.scroll") if self.has_focus else self._way()
            more = say.count(
                "more-lines", below + 1, "{count} more line: {keys}", "{count} more lines: {keys}", keys=keys
            )
            return Text(f"{self._ellipsis} {more}" if y else self._ellipsis, MORE)
        index = self._top + y
        return self._lines[index] if index < len(self._lines) else Text()

    def render_line(self, y: int) -> Strip:
        """Render one line."""
        width = self.size.width
        if self.size != self._laid_out:
            # A new size is painted before its resize event arrives, so nothing needs to be painted again.
            self._layout_text()
        segments = [Segment(" " * self._indent, self.ground), *self.pieces(self._line(y))]
        return Strip(segments).adjust_cell_length(width, self.ground).simplify()

    def action_scroll_lines(self, lines: int) -> None:
        """Scroll by lines."""
        top = max(0, min(self._top + lines, len(self._lines) - self.size.height))
        self._at_end = False
        if top != self._top:
            self._top = top
            self.refresh()

    def action_scroll_pages(self, pages: int) -> None:
        """Scroll by pages."""
        self.action_scroll_lines(pages * max(1, self.size.height - 2))


def _wrapped_prose(line: Text, room: int, console: Console) -> list[Text]:
    return list(line.wrap(console, room))


def wrapped_code(line: Text, room: int, console: Console) -> list[Text]:
    """Wrap a line of code to `room` columns; what follows stands two columns further in than the code before it."""
    if line.cell_len <= room:
        return [line]
    start = CODE_START.match(line.plain)
    margin = " " * min(room // 2, (start.end() if start else 0) + 2)
    first, rest = _split(line, room, console)
    found = [first]
    while rest.plain:
        part, rest = _split(rest, room - len(margin), console)
        found.append(Text(margin).append_text(part))
    return found


def _split(line: Text, room: int, console: Console) -> tuple[Text, Text]:
    """Return what fits into `room` columns, and the rest."""
    start = CODE_START.match(line.plain)
    end = len(line.wrap(console, room)[0].plain)
    if not line.plain[start.end() if start else 0 : end].strip():
        # A word that is longer than a line is cut.
        end = room
    rest = line[end:]
    return line[:end], rest[len(rest.plain) - len(rest.plain.lstrip(" ")) :]


MOST_LINES = 9
"""The most lines of the screen that findings take, so that the step below stays readable."""


class FindingsPane(TextPane, can_focus=False):
    """A text of a few lines that never takes the focus."""

    DEFAULT_CSS = """
    FindingsPane {
        display: none;
        height: 0;
        width: 1fr;
    }
    """

    def show_findings(self, text: Text | None) -> None:
        """Show a text, or nothing."""
        self.show(text or Text())
        self.fit()

    def on_resize(self) -> None:
        """Fit the new width of the screen."""
        self.fit()

    def fit(self) -> None:
        """Take as many lines as the text needs on this screen, and one to set it off from the step."""
        lines = self.lines_at(self.screen.size.width)
        set_height(self, min(lines + 1, MOST_LINES) if lines else 0)


PAGE_KEYS = {"down": 1, "pagedown": 1, "space": 1, "up": -1, "pageup": -1}
"""Keys that turn the pages of a long help, and by how many pages."""


class HelpPane(TextPane):
    """A text that is shown until the next key."""

    def toggle(self, topic: str, width: int, height: int) -> None:
        """Show the keys of a topic of `help_pages.PAGES` on a screen of this size, or hide the help."""
        from attn_tutor.tui.actions import help_pages

        if self.display:
            self.display = False
            return
        room = max(1, height - 3)
        text = help_pages.rendered(help_pages.page(topic), max(20, width - 2))
        self.show(Text(text + help_pages.any_key()))
        if self.lines_at(width) > room:
            self.show(Text(help_pages.scroll() + text))
        self.styles.height = min(self.lines_at(width), room)
        self.display = True

    def take_key(self, key: str) -> None:
        """Close the help, or turn its page if it is longer than the screen."""
        if self.longer and key in PAGE_KEYS:
            self.action_scroll_lines(PAGE_KEYS[key] * max(1, self.size.height - 2))
        else:
            self.display = False

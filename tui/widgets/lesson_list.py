"""The list of lessons on the course map."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.reactive import reactive
from textual.strip import Strip

from attn_tutor.lessons.render.numbers import truncated
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.render.palette import DIM
from attn_tutor.tui.widgets.line_widget import LineWidget

CURSOR = Style(reverse=True)
FIRST = Style(bold=True)


@dataclass(frozen=True, slots=True)
class LessonEntry:
    """One line: a glyph for the state, a text, and the state in words, the least important last, after a count."""

    glyph: str
    text: str
    words: tuple[str, ...] = ()
    count: str = ""
    strong: bool = False


def fitting_word(entry: LessonEntry, width: int) -> str:
    """Return the words at the right end of a line: without the last ones, or none, where they would cut the text off.

    The glyph says the same in short, and a title says it nowhere else. A count (`3/17`) stays.
    """
    words = list(entry.words)
    room = width - cell_len(f" {entry.glyph} {entry.text}")
    while words and cell_len(_listed(entry.count, words)) + 2 > room:
        words.pop()
    listed = _listed(entry.count, words)
    return f" {listed} " if listed else " "


def _listed(count: str, words: Sequence[str]) -> str:
    return ", ".join(filter(None, (count, *words)))


class LessonList(LineWidget, can_focus=True):
    """Lines with a cursor; the first line is "continue"."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("list")]

    cursor: reactive[int] = reactive(0, repaint=False, init=False)
    """The index of the line under the cursor; clamped."""

    class Moved(Message):
        """Posted when the cursor has moved to a different line."""

        def __init__(self, index: int) -> None:
            self.index = index
            super().__init__()

    class Chosen(Message):
        """Posted when the learner opens a line."""

        def __init__(self, index: int) -> None:
            self.index = index
            super().__init__()

    def __init__(self, *, ellipsis: str = "…", id: str | None = None) -> None:
        super().__init__(id=id)
        self._ellipsis = ellipsis
        self._entries: tuple[LessonEntry, ...] = ()

    def show(self, entries: tuple[LessonEntry, ...]) -> None:
        """Show these lines."""
        if entries != self._entries:
            self._entries = entries
            self.cursor = self.validate_cursor(self.cursor)
            self.refresh()

    def validate_cursor(self, cursor: int) -> int:
        """Keep the cursor on a line."""
        return max(0, min(cursor, len(self._entries) - 1))

    def watch_cursor(self, before: int, after: int) -> None:
        """Repaint the two lines that a move changes, or all after scrolling."""
        top = self._top(after)
        if top != self._top(before):
            self.refresh()
        else:
            self.refresh_line(before - top)
            self.refresh_line(after - top)
        self.post_message(self.Moved(after))

    def _top(self, cursor: int) -> int:
        """Return the first visible line, which is not 0 if the list is scrolled."""
        height = max(1, self.size.height)
        return max(0, min(cursor - height // 2, len(self._entries) - height))

    def render_line(self, y: int) -> Strip:
        """Render one line."""
        width = self.size.width
        base = self.ground
        index = y + self._top(self.cursor)
        if index >= len(self._entries):
            return Strip([Segment(" " * width, base)], width)
        entry = self._entries[index]
        left, word = self._fitted(index, width)
        text = left + " " * (width - cell_len(left) - cell_len(word))
        if index == self.cursor:
            return Strip([Segment(text + word, self.over(CURSOR))], width)
        segments = [Segment(text, self.over(FIRST if entry.strong else None)), Segment(word, self.over(DIM))]
        return Strip(segments, width).simplify()

    def _fitted(self, index: int, width: int) -> tuple[str, str]:
        """Return the left and the right part of a line, which together are at most `width` columns wide."""
        entry = self._entries[index]
        word = fitting_word(entry, width)
        return truncated(f" {entry.glyph} {entry.text}", max(0, width - cell_len(word)), self._ellipsis), word

    @property
    def page(self) -> int:
        """The lines that the keys for pages move the cursor by."""
        return 5

    def action_move(self, lines: int) -> None:
        """Move the cursor."""
        self.cursor += lines

    def action_turn(self, pages: int) -> None:
        """Move the cursor by whole pages."""
        self.cursor += pages * self.page

    def action_edge(self, to: int) -> None:
        """Move the cursor to the first line, or to the last."""
        self.cursor = 0 if to < 0 else len(self._entries) - 1

    def action_choose(self) -> None:
        """Open the line under the cursor."""
        if self._entries:
            self.post_message(self.Chosen(self.cursor))

    def on_click(self, event: events.Click) -> None:
        """Move the cursor with the first click, open the line with a second one."""
        index = event.y + self._top(self.cursor)
        if index < len(self._entries):
            if index == self.cursor:
                self.action_choose()
            self.cursor = index

"""The editor of an exercise: it indents, comments out, marks errors, and keeps the undo history."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import BindingType
from textual.document._history import EditHistory
from textual.strip import Strip
from textual.widgets.text_area import Location, Selection

from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.widgets.editor import Editor

LEVEL = 4
MARK = Style(bold=True, color="red")
CHECKPOINTS = 1000
"""The number of undo steps remembered per exercise."""

COMMENT = re.compile(r"^(\s*)# ?")


def indented(lines: list[str]) -> list[str]:
    """Indent lines by one level; empty ones stay empty."""
    return [" " * LEVEL + line if line.strip() else line for line in lines]


def dedented(lines: list[str]) -> list[str]:
    """Dedent lines by one level, as far as they have leading spaces."""
    return [line[min(LEVEL, len(line) - len(line.lstrip(" "))) :] for line in lines]


def commented(lines: list[str]) -> list[str]:
    """Comment lines out, or uncomment them if all of them are commented out."""
    full = [line for line in lines if line.strip()]
    if full and all(COMMENT.match(line) for line in full):
        return [COMMENT.sub(r"\1", line, count=1) for line in lines]
    edge = min((len(line) - len(line.lstrip()) for line in full), default=0)
    return [f"{line[:edge]}# {line[edge:]}" if line.strip() else line for line in lines]


def marked_in_sight(top: int, height: int, marked: int, cursor: int) -> int:
    """Return the first visible line for which a marked line is visible, and the line of the cursor if both fit."""
    first, last = min(marked, cursor), max(marked, cursor)
    if last - first < height:
        return max(0, min(top, first), last - height + 1)
    return top if top <= marked < top + height else max(0, marked - height // 2)


@dataclass(frozen=True, slots=True)
class _Left:
    """The state of an editor when its text was closed, to be resumed if the text is still the same."""

    text: str
    history: EditHistory
    selection: Selection


class CodeEditor(Editor):
    """The editor in which an answer is written."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("editor")]

    def __init__(self, *, unicode: bool = True, id: str | None = None) -> None:
        super().__init__("", language="python", show_line_numbers=True, soft_wrap=False, tab_behavior="indent", id=id)
        self._sign = "✗" if unicode else "x"
        self._marked: int | None = None
        self._opened = ""
        self._left: dict[str, _Left] = {}
        self.history = self._fresh()

    @staticmethod
    def _fresh() -> EditHistory:
        return EditHistory(max_checkpoints=CHECKPOINTS, checkpoint_timer=2.0, checkpoint_max_characters=100)

    def open(self, name: str, text: str) -> bool:
        """Show the text of this name. Returns whether it is unchanged since it was closed, so that undo continues."""
        if self._opened:
            self._left[self._opened] = _Left(self.text, self.history, self.selection)
        self._opened, self._marked = name, None
        before = self._left.pop(name, None)
        self.history = self._fresh()
        self.load_text(text)
        if before is None or before.text != text:
            return False
        self.history, self.selection = before.history, before.selection
        return True

    # The line of an error ----------------------------------------------------------------------------------------

    def mark(self, line: int | None) -> None:
        """Mark the number of a line, counted from 1; None removes the mark."""
        if line != self._marked:
            self._marked = line
            self._line_cache.clear()
            self.refresh()

    def show_marked(self) -> None:
        """Scroll to the marked line, and to the cursor, if they are out of sight; the cursor stays where it is."""
        if not self.size.height:
            return
        row = self.cursor_location[0]
        marked = row if self._marked is None else self._marked - 1
        top = marked_in_sight(self.scroll_offset.y, self.size.height, marked, row)
        if top != self.scroll_offset.y:
            self.scroll_to(y=top, animate=False)

    def _render_line(self, y: int) -> Strip:
        strip = super()._render_line(y)
        if self._marked is None or y + self.scroll_offset.y != self._marked - 1:
            return strip
        width = self.gutter_width
        if self._marked > self.document.line_count:
            return strip
        gutter = Segment(f"{self._marked:>{width - 2}}{self._sign} ", MARK)
        return Strip.join([Strip([gutter], width), strip.crop(width)])

    # Keys --------------------------------------------------------------------------------------------------------

    async def _on_key(self, event: events.Key) -> None:
        if event.key == "tab" and not self.selection.is_empty:
            event.stop()
            event.prevent_default()
            self._change(indented)

    def action_to_end(self, way: int) -> None:
        """Move the cursor to the end of the code, or with `way` -1 to its beginning."""
        self.move_cursor(self.document.end if way > 0 else (0, 0))

    def action_dedent(self) -> None:
        """Dedent the line of the cursor, or all selected lines, by one level."""
        self._change(dedented)

    def action_comment(self) -> None:
        """Comment out the line of the cursor, or all selected lines, or uncomment them."""
        self._change(commented)

    def action_delete_left(self) -> None:
        """Delete one level of indentation at the beginning of a line, elsewhere one character."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if not self.selection.is_empty or not column or before.strip(" "):
            super().action_delete_left()
            return
        self.delete((row, (column - 1) // LEVEL * LEVEL), (row, column), maintain_selection_offset=False)

    def _change(self, change: Callable[[list[str]], list[str]]) -> None:
        """Replace the selected lines; the selection stays."""
        selection = self.selection
        (top, _), (bottom, column) = sorted(selection)
        if bottom > top and column == 0:
            # The last line of the selection contains no selected character.
            bottom -= 1
        before = [self.document.get_line(row) for row in range(top, bottom + 1)]
        after = change(before)
        if after == before:
            return
        self.history.checkpoint()
        self.replace("\n".join(after), (top, 0), (bottom, len(before[-1])), maintain_selection_offset=False)

        def moved(location: Location) -> Location:
            row, column = location
            if not top <= row <= bottom or (column == 0 and not selection.is_empty):
                return location
            return row, max(0, column + len(after[row - top]) - len(before[row - top]))

        self.selection = Selection(moved(selection.start), moved(selection.end))
        self.history.checkpoint()

"""The editor of an exercise: it indents, comments out, marks the line of an error, and undoes what was done before."""

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

from tui.actions.bindings import bindings
from tui.widgets.editor import Editor

LEVEL = 4
MARK = Style(bold=True, color="red")
CHECKPOINTS = 1000
"""Steps back that are remembered, of each exercise."""

COMMENT = re.compile(r"^(\s*)# ?")


def indented(lines: list[str]) -> list[str]:
    """The lines one level further in; empty ones stay empty."""
    return [" " * LEVEL + line if line.strip() else line for line in lines]


def dedented(lines: list[str]) -> list[str]:
    """The lines one level further out, as far as they have blanks."""
    return [line[min(LEVEL, len(line) - len(line.lstrip(" "))) :] for line in lines]


def commented(lines: list[str]) -> list[str]:
    """The lines commented out; if all of them are, as code again."""
    full = [line for line in lines if line.strip()]
    if full and all(COMMENT.match(line) for line in full):
        return [COMMENT.sub(r"\1", line, count=1) for line in lines]
    edge = min((len(line) - len(line.lstrip()) for line in full), default=0)
    return [f"{line[:edge]}# {line[edge:]}" if line.strip() else line for line in lines]


@dataclass(frozen=True, slots=True)
class _Left:
    """How a text was left: to be gone on with, if nobody else has changed it."""

    text: str
    history: EditHistory
    selection: Selection


class CodeEditor(Editor):
    """Where an answer is written."""

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
        """Show the text of this name. Returns whether it is as it was left: what was done to it can be undone then."""
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
        """Mark a line, from 1, beside its number; None for no line."""
        if line != self._marked:
            self._marked = line
            self._line_cache.clear()
            self.refresh()

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

    def action_dedent(self) -> None:
        """The line of the cursor, or all that are selected, one level further out."""
        self._change(dedented)

    def action_comment(self) -> None:
        """Comment the line of the cursor out, or all that are selected; or have them as code again."""
        self._change(commented)

    def action_delete_left(self) -> None:
        """Of the blanks that a line begins with, as many as are one level."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        if not self.selection.is_empty or not column or before.strip(" "):
            super().action_delete_left()
            return
        self.delete((row, (column - 1) // LEVEL * LEVEL), (row, column), maintain_selection_offset=False)

    def _change(self, change: Callable[[list[str]], list[str]]) -> None:
        """Put other lines in the place of those that are selected; what is selected stays so."""
        selection = self.selection
        (top, _), (bottom, column) = sorted(selection)
        if bottom > top and column == 0:
            # Of the last line nothing is selected.
            bottom -= 1
        before = [self.document.get_line(row) for row in range(top, bottom + 1)]
        after = change(before)
        if after == before:
            return
        self.history.checkpoint()
        self.replace("\n".join(after), (top, 0), (bottom, len(before[-1])), maintain_selection_offset=False)

        def moved(place: Location) -> Location:
            row, column = place
            if not top <= row <= bottom or (column == 0 and not selection.is_empty):
                return place
            return row, max(0, column + len(after[row - top]) - len(before[row - top]))

        self.selection = Selection(moved(selection.start), moved(selection.end))
        self.history.checkpoint()

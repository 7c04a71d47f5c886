"""The what-if panel: rows of things to change, with the keys that change them."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import ClassVar

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.geometry import Size
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Input

from attn_tutor.lessons.format.knobs import Knob
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.render.numbers import truncated
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if import knobs
from attn_tutor.lessons.what_if.changes import UNCHANGED, ChangeError, ChangeHistory, Changes
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint, name_of
from attn_tutor.tui.state import what_if_rows
from attn_tutor.tui.state.what_if_rows import Spot, WhatIfRow
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.line_widget import Box, LineWidget, set_height
from attn_tutor.tui.widgets.search_line import SearchLine
from attn_tutor.tui.widgets.text import TextLine, TextPane

say = Wording("change/panel")

TITLE, DIM, CHOSEN = Style(bold=True, color="cyan"), Style(dim=True), Style(reverse=True)
STARTS = frozenset("0123456789.-")
LABEL_WIDTH = 32
FEWEST_ROWS = 2
"""Rows that are left of a list if a remark is to be shown whole: the chosen one, and how many more there are."""

MANY_ROWS = 16
"""Rows from which on the list says how to search it."""

HALF = 8
"""Lines below the title from which on the rows of a long list keep half of them beside a remark."""

FEWEST_LINES = 4
"""Lines below the title from which on a remark stands below the rows."""


def row_text(row: WhatIfRow, width: int, chosen: bool, unicode: bool) -> Text:
    """Return a row as exactly one line: a sign if it is changed, its name, its value, and the keys for it."""
    dots = "…" if unicode else "..."
    sign = ("•" if unicode else "*") if row.changed else " "
    label = truncated(row.label, min(LABEL_WIDTH, width // 2), dots)
    text = Text(f"{sign} ").append(label.ljust(min(LABEL_WIDTH, width // 2)))
    value = truncated(row.value, max(8, width // 3), dots)
    text.append("  ").append(f" {value} " if value else "", CHOSEN if chosen else Style(bold=row.changed))
    if chosen:
        text = Text.assemble((">", TITLE), text[1:]) if not row.changed else text
        if not value:
            text.append("   ", CHOSEN)
        room = width - text.cell_len - 3
        if room > 12:
            text.append("   " + truncated(row.hint, room, dots), DIM)
    if text.cell_len > width:
        text.truncate(width)
    return text


class Rows(LineWidget, can_focus=True):
    """The rows, one of which is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("rows")]

    class Turned(Message):
        """Posted when the chosen row is to be turned by one setting."""

        def __init__(self, by: int) -> None:
            self.by = by
            super().__init__()

    class Typing(Message):
        """Posted when a value for the chosen row is to be typed, starting with `text` (None: the current value)."""

        def __init__(self, text: str | None) -> None:
            self.text = text
            super().__init__()

    class PutBack(Message):
        """Posted when the change of the chosen row is to be undone."""

    def __init__(self, terminal: Terminal) -> None:
        super().__init__()
        self._terminal = terminal
        self.rows: Sequence[WhatIfRow] = ()
        self.chosen = 0

    @property
    def row(self) -> WhatIfRow | None:
        """The chosen row."""
        return self.rows[self.chosen] if self.rows else None

    def show(self, rows: Sequence[WhatIfRow]) -> None:
        """Show these rows; the same row stays chosen if it is still there."""
        before, old = self.row, self.rows
        self.rows = rows
        if before is not None:
            # The row of the cell under the cursor counts as the same row when the cursor moves.
            same = [
                index
                for index, row in enumerate(rows)
                if row.kind == before.kind and (row.label == before.label or row.kind == "spot")
            ]
            chosen = same[0] if same else min(self.chosen, max(0, len(rows) - 1))
            if len(rows) == len(old) and chosen == self.chosen:
                for index, (was, now) in enumerate(zip(old, rows, strict=True)):
                    if was != now:
                        self.refresh_line(index - self._first)
                return
            self.chosen = chosen
        self.refresh()

    @property
    def _first(self) -> int:
        """Return the first visible row."""
        height = self.size.height
        return max(0, min(self.chosen - height + 1, len(self.rows) - height))

    def choose(self, label: str) -> None:
        """Choose the row with this label, if there is one."""
        self.chosen = next((index for index, row in enumerate(self.rows) if row.label == label), self.chosen)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """Render one row; at the edges, the remark that there are more."""
        width, height = self.size
        first = self._first
        index = first + y
        if index >= len(self.rows):
            return Strip.blank(width, self.ground)
        below = len(self.rows) - first - height
        if y == height - 1 and below > 0 and index != self.chosen:
            said = say.count("more", below + 1, "{count} more: {key}", "{count} more: {key}", key=name_of("down"))
            search = f"   {hint('what-if.search')}" if len(self.rows) >= MANY_ROWS else ""
            more = Text(f"   {self._terminal.ellipsis} {said}{search}", DIM)
            return Strip(self.pieces(more)).adjust_cell_length(width, self.ground).simplify()
        chosen = index == self.chosen
        text = row_text(self.rows[index], max(10, width - 2), chosen and self.has_focus, self._terminal.unicode)
        return Strip(self.pieces(Text(" ").append_text(text))).adjust_cell_length(width, self.ground).simplify()

    def action_choose(self, step: int) -> None:
        """Choose a different row."""
        chosen = max(0, min(self.chosen + step, len(self.rows) - 1))
        if chosen != self.chosen:
            self.chosen = chosen
            self.refresh()

    def action_turn(self, by: int) -> None:
        """Turn the chosen row."""
        self.post_message(self.Turned(by))

    def action_type(self) -> None:
        """Ask for a value for the chosen row."""
        self.post_message(self.Typing(None))

    def action_put_back(self) -> None:
        """Undo the change of the chosen row."""
        self.post_message(self.PutBack())

    def on_key(self, event: events.Key) -> None:
        """Start typing a number, in a row that takes one."""
        row = self.row
        if row is None or row.kind == "new" or event.character is None:
            return
        # In the row of a cell, a minus begins a number; in the row of a knob, it turns it.
        if event.character in STARTS and (event.character != "-" or row.knob is None):
            event.stop()
            self.post_message(self.Typing(event.character))


class WhatIfPanel(Box):
    """Everything that may be changed at a step. Posts `Changed` with the new history of changes.

    It may stand `beside_older_text`, which does not know what the learner has changed; then the panel says so.
    """

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("what-if")]

    DEFAULT_CSS = """
    WhatIfPanel {
        layout: vertical;
        width: 1fr;
        height: auto;
    }
    WhatIfPanel Rows {
        height: 1fr;
    }
    WhatIfPanel TextPane {
        margin-top: 1;
    }
    WhatIfPanel > Input, WhatIfPanel > Input:focus {
        border: none;
        height: 1;
        padding: 0 1;
        background: $background;

        &:ansi {
            background: ansi_default;
        }
    }
    """

    class Changed(Message):
        """Posted when the changes differ; the current ones of the history apply from now on."""

        def __init__(self, history: ChangeHistory) -> None:
            self.history = history
            super().__init__()

    class AllListed(Message):
        """Posted when all rows are listed again, after a search."""

    class Closed(Message):
        """Posted when the learner closes the panel, which undoes all changes."""

    def __init__(self, terminal: Terminal, *, beside_older_text: bool = False, id: str | None = None) -> None:
        super().__init__(id=id)
        self._terminal = terminal
        self._beside_older_text = beside_older_text
        self._title = TextLine(ellipsis=terminal.ellipsis)
        self._second = TextLine(ellipsis=terminal.ellipsis)
        self._second.display = False
        self._search = SearchLine(ellipsis=terminal.ellipsis)
        self._rows = Rows(terminal)
        self._input = Input(compact=True, select_on_focus=False)
        self._input.display = False
        self._remark = TextPane(ellipsis=terminal.ellipsis)
        self._remark.display = False
        self._whole = False
        self._room = Size()
        self._lesson: Lesson | None = None
        self._step = ""
        self._knobs: tuple[Knob, ...] = ()
        self._all: tuple[WhatIfRow, ...] = ()
        self._spot: Spot | None = None
        self._asked_about = ""
        self.history = ChangeHistory()
        """The changes that were made, and those that can be undone or redone."""

    def compose(self) -> ComposeResult:
        """Yield the title, the line to search in, the rows, the line to type a value in, and the remark."""
        yield from (self._title, self._second, self._search, self._rows, self._input, self._remark)

    @property
    def typing(self) -> bool:
        """Whether a value is being typed."""
        return bool(self._input.display)

    @property
    def in_line(self) -> bool:
        """Whether a value is being typed, or words to search for."""
        return self.typing or self._search.typing

    @property
    def count(self) -> int:
        """How many rows there are, with those that a search has left out."""
        return len(self._all)

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys."""
        if self._search.typing:
            return self._search.hints
        if self.typing:
            return [hint("what-if-line.take"), hint("what-if.restore", say("leave", "leave it"))]
        leave = say("all", "list all") if self._search.words else ""
        return [hint("rows.choose"), hint("rows.type"), hint("what-if.restore", leave)]

    def show(self, lesson: Lesson, step: str, spot: Spot | None) -> None:
        """Show what may be changed at a step, and what has been changed; a line that was typed elsewhere is left."""
        if (lesson, step) != (self._lesson, self._step):
            self._input.display = False
            self._search.clear()
            self._knobs = knobs.relevant_to_step(lesson, step)
        self._lesson, self._step, self._spot = lesson, step, spot
        self._refresh()
        self._say("")

    def remark(self, text: Text, *, whole: bool = False) -> None:
        """Show what came of the changes below the rows: in the lines that these leave, or `whole` if possible."""
        self._remark.show(text, keep=text == self._remark.text)
        self._whole = whole
        self._arrange()

    def take_room(self, columns: int, lines: int) -> None:
        """Take this room, none with 0 lines: what the panel shows is arranged for it before it is painted."""
        set_height(self, lines)
        self._room = Size(columns, lines) - self.styles.gutter.totals
        self._arrange()

    def on_resize(self) -> None:
        """Share the new room between the rows and the remark."""
        self._room = self.size
        self._arrange()

    def _arrange(self) -> None:
        """Give the rows the lines that they need, and the remark the rest, of which it gets at least a few."""
        others = (self._second.display, self._search.display, self.typing)
        room = self._room.height - 1 - sum(map(int, others))
        self._remark.display = bool(self._remark.text) and room > FEWEST_LINES
        if self._remark.display:
            most = room // 2
            if self._whole and room < HALF:
                most = max(most, room - 1 - FEWEST_ROWS)
            wanted = min(self._remark.lines_at(self._room.width), most)
            rows = min(len(self._rows.rows), room - wanted - 1)
            set_height(self._rows, rows)
            set_height(self._remark, room - rows - 1)
        else:
            self._rows.styles.height = "1fr"

    def choose_spot(self, *, if_moved: bool = False) -> None:
        """Choose the row of the cell under the cursor, the first one if there is such a cell.

        With `if_moved`, the chosen row stays unless this is a different cell than at the last call: a learner who has
        gone to a different cell and comes back means that cell.
        """
        spot = self._spot.label if self._spot else ""
        if spot and not (if_moved and spot == self._asked_about):
            self._rows.choose(spot)
        self._asked_about = spot

    def set_spot(self, spot: Spot | None) -> None:
        """Take over the new cell under the cursor."""
        self._spot = spot
        self._refresh()

    def restore(self) -> None:
        """Undo all changes in one step, which can itself be undone."""
        self._do(UNCHANGED)

    def focus_rows(self) -> None:
        """Give the focus to the rows."""
        self._rows.focus(scroll_visible=False)

    def _refresh(self) -> None:
        if self._lesson is not None:
            self._all = what_if_rows.rows(self._lesson, self._step, self.history.current, self._spot, self._knobs)
            found = what_if_rows.having(self._lesson, self._all, self._search.words)
            self._rows.show(found)
            self._search.show_count(len(found), len(self._all))
            self._arrange()

    def _say(self, problem: str) -> None:
        """Show the title with what the changes mean, or what is wrong with a value, in two lines if it is long."""
        width = self._room.width - 1
        if problem:
            said = [Text(f" {line}", Style(bold=True)) for line in textwrap.wrap(problem, max(1, width - 1))]
            lines = [said[0], Text(" ").join(said[1:])]
        else:
            lines = [Text(f" {say('what-if', 'What if')} {self._terminal.ellipsis}", TITLE), Text()]
            if self.history.current != UNCHANGED:
                knobs = [row.knob for row in self._rows.rows if row.changed and row.knob]
                cautions = [knob.caution for knob in knobs if knob.caution]
                # Not in the text itself, which would move and be painted anew.
                before = say("text-is-older", "the text describes the code before your changes")
                older = [before] if self._beside_older_text else []
                remarks = ["; ".join([*cautions, *older]), ""]
                if lines[0].cell_len + cell_len(f"   ({remarks[0]})") > width:
                    remarks = ["; ".join(cautions), "; ".join(older)]
                for line, remark in zip(lines, remarks, strict=True):
                    line.append(f"{'   ' if line else ' '}({remark})" if remark else "", DIM)
        self._title.set(lines[0])
        self._second.set(lines[1])
        if self._second.display != bool(lines[1]):
            self._second.display = bool(lines[1])
            self._arrange()

    def _do(self, changes: Changes) -> None:
        self._go_to(self.history.do(changes))
        self._say("")

    def _go_to(self, history: ChangeHistory) -> None:
        """Show and post a history of changes."""
        before, self.history = self.history, history
        self._refresh()
        if history != before:
            self.post_message(self.Changed(history))

    def on_rows_turned(self, event: Rows.Turned) -> None:
        """Turn a knob."""
        event.stop()
        if self._lesson is not None and self._rows.row is not None:
            self._do(what_if_rows.turn(self._lesson, self.history.current, self._rows.row, event.by))

    def on_rows_put_back(self, event: Rows.PutBack) -> None:
        """Undo one change."""
        event.stop()
        if self._rows.row is not None:
            self._do(what_if_rows.restore(self.history.current, self._rows.row))

    def on_rows_typing(self, event: Rows.Typing) -> None:
        """Open the line to type in."""
        event.stop()
        row = self._rows.row
        if row is None:
            return
        if event.text is None and row.knob is not None and row.knob.choices:
            self.on_rows_turned(Rows.Turned(1))
            return
        self._input.value = event.text if event.text is not None else row.value if row.changed else ""
        if event.text is None and row.knob is not None:
            self._input.value = row.value
        self._input.placeholder = row.example or row.label
        self._input.cursor_position = len(self._input.value)
        if event.text is None:
            # What is typed replaces the value; an arrow key keeps it.
            self._input.select_all()
        set_height(self._input, 1)
        self._input.focus(scroll_visible=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the typed value, or say what is wrong with it and leave it there."""
        event.stop()
        row = self._rows.row
        if self._lesson is None or row is None:
            return
        if event.value.strip():
            try:
                changes = what_if_rows.set_value(
                    self._lesson, self._step, self.history.current, row, self._spot, event.value.strip()
                )
            except ChangeError as error:
                self._say(str(error))
                return
            self._do(changes)
            if row.kind == "new" and changes.cells:
                self._rows.choose(changes.cells[-1].label)
        self._end_typing()

    def on_input_blurred(self, event: Input.Blurred) -> None:
        """Leave the line when the learner goes on to another pane, but not when the terminal or the view is left."""
        event.stop()
        focused = self.screen.focused
        if focused is not None and focused is not self._input and self.parent in focused.ancestors:
            self._say("")
            self._input.display = False

    def on_search_line_typed(self, event: SearchLine.Typed) -> None:
        """List what has the words, and choose what has them best; without words, what was chosen stays so."""
        event.stop()
        self._refresh()
        if self._search.words:
            self._rows.chosen = 0
            self._rows.refresh()

    def on_search_line_moved(self, event: SearchLine.Moved) -> None:
        """Choose a different row."""
        event.stop()
        self._rows.action_choose(event.lines)

    def on_search_line_left(self, event: SearchLine.Left) -> None:
        """Go to the rows."""
        event.stop()
        self.focus_rows()
        self._refresh()

    def action_search(self) -> None:
        """Go to the line to search in."""
        self._search.open()
        self._arrange()

    def _end_typing(self) -> None:
        if self._input.display:
            self._input.display = False
            self.focus_rows()

    def action_undo(self) -> None:
        """Undo the last change."""
        self._go_to(self.history.undo())

    def action_redo(self) -> None:
        """Redo the change that was undone last."""
        self._go_to(self.history.redo())

    def action_escape(self) -> None:
        """Leave the line to type in, or else list all rows again, or else close the panel."""
        if self._input.display:
            self._say("")
            self._end_typing()
        elif self._search.clear():
            self._refresh()
            self.post_message(self.AllListed())
        else:
            self.post_message(self.Closed())

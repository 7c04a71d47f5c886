"""The options of a multiple choice: one is highlighted, and those that were tried say what is wrong with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip

from tui.actions.bindings import bindings
from tui.actions.layouts import twins
from tui.actions.table import ACTIONS
from tui.tty.terminal import Terminal
from tui.widgets.line_widget import LineWidget

CHOSEN, BOLD, DIM = Style(reverse=True), Style(bold=True), Style(dim=True)
INDENT = 6
"""Columns left of an option's text: the highlight, what became of it, its letter."""

LETTERS = [stroke.keys for stroke in ACTIONS["options.letter"].strokes]
CHARACTERS = {
    character: place for place, letter in enumerate(LETTERS) for character in (letter, *twins(letter), str(place + 1))
}
"""Which option a character means, on a keyboard of any layout."""

Wrap = Callable[[Text, int], Sequence[Text]]
"""Breaks a text into lines of at most so many columns."""


@dataclass(frozen=True, slots=True)
class OptionRow:
    """An option, and why it is wrong if it has been tried."""

    letter: str
    text: Text
    why: Text | None = None


def lines(
    options: Sequence[OptionRow], chosen: int, width: int, wrap: Wrap, unicode: bool = True
) -> list[tuple[int, Text]]:
    """All lines, each with the place of the option that it belongs to."""
    found: list[tuple[int, Text]] = []
    room = max(8, width - INDENT - 1)
    pointer, wrong = ("►", "✗") if unicode else (">", "x")
    for place, option in enumerate(options):
        here = place == chosen
        for count, line in enumerate(wrap(option.text, room)):
            start = Text(" " * INDENT)
            if count == 0:
                start = Text.assemble(
                    (pointer if here else " ", BOLD),
                    (wrong if option.why is not None else " ", BOLD),
                    " ",
                    (f"{option.letter})", CHOSEN if here else Style()),
                    " ",
                )
            found.append((place, start.append_text(line)))
        for line in wrap(option.why, room) if option.why is not None else ():
            found.append((place, Text(" " * INDENT).append_text(line)))
    return found


class Options(LineWidget, can_focus=True):
    """The options. It posts which one the learner takes, by what was pressed."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("options")]

    class Taken(Message):
        """The learner's answer: a letter or a digit."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._terminal = terminal
        self._options: Sequence[OptionRow] = ()
        self.chosen = 0
        """The place of the option that is highlighted."""
        self._known: dict[tuple[int, int], list[tuple[int, Text]]] = {}

    def show(self, options: Sequence[OptionRow]) -> None:
        """Show other options, or what became of these."""
        self._options = options
        self._known.clear()
        self.chosen = max(0, min(self.chosen, len(options) - 1))
        self.refresh()

    def lines_at(self, width: int) -> int:
        """How many lines they take at a width."""
        return len(self._lines(width))

    def _lines(self, width: int) -> list[tuple[int, Text]]:
        def wrap(text: Text, room: int) -> Sequence[Text]:
            return list(text.wrap(self.app.console, room))

        key = (width, self.chosen)
        if key not in self._known:
            # For every line that is drawn they are asked for again.
            self._known = {key: lines(self._options, self.chosen, width, wrap, self._terminal.unicode)}
        return self._known[key]

    def _top(self, found: Sequence[tuple[int, Text]]) -> int:
        """The first line that is drawn: all of the highlighted option is, or as much as there is room for."""
        height = max(1, self.size.height)
        mine = [y for y, (place, _) in enumerate(found) if place == self.chosen] or [0]
        # One line more, which says that there are others.
        top = min(mine[-1] + 2 - height, mine[0])
        return max(0, min(top, len(found) - height))

    def render_line(self, y: int) -> Strip:
        """One line; at the lower edge, that there are more."""
        width, height = self.size
        found = self._lines(width)
        top = self._top(found)
        text = found[top + y][1] if top + y < len(found) else Text()
        below = len(found) - top - height
        if below > 0 and y == height - 1 and found[top + y][0] != self.chosen:
            text = Text(f"   {self._terminal.ellipsis} {below + 1} more lines: down", DIM)
        return Strip(self.pieces(text)).adjust_cell_length(width, self.ground).simplify()

    def action_move(self, by: int) -> None:
        """Highlight another option."""
        chosen = max(0, min(self.chosen + by, len(self._options) - 1))
        if chosen != self.chosen:
            self.chosen = chosen
            self.refresh()

    def action_take(self) -> None:
        """Answer with the highlighted option."""
        if self._options:
            self.post_message(self.Taken(self._options[self.chosen].letter))

    def on_key(self, event: events.Key) -> None:
        """A letter answers, and so does a digit."""
        place = CHARACTERS.get((event.character or "").casefold(), len(self._options))
        if place < len(self._options):
            event.stop()
            event.prevent_default()
            digit = event.character is not None and event.character.isdecimal()
            self.post_message(self.Taken(str(place + 1) if digit else self._options[place].letter))

    def on_click(self, event: events.Click) -> None:
        """The first click highlights an option, a second one answers with it."""
        found = self._lines(self.size.width)
        y = event.y + self._top(found)
        if y < len(found):
            event.stop()
            if found[y][0] == self.chosen:
                self.action_take()
            else:
                self.chosen = found[y][0]
                self.refresh()

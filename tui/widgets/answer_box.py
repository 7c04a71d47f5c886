"""The answer box of a question: how to answer, the options or a line to type in, and the verdicts on the answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.strip import Strip
from textual.widgets import Input

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings, twins
from attn_tutor.tui.actions.hints import name_of
from attn_tutor.tui.actions.table import ACTIONS
from attn_tutor.tui.drawings.question_drawing import AnswerLines, QuestionText
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.line_widget import Box, LineWidget, set_height
from attn_tutor.tui.widgets.text import AFTER_F4, TextLine, TextPane

say = Wording("screen/options")

CHOSEN, BOLD, DIM = Style(reverse=True), Style(bold=True), Style(dim=True)
INDENT = 6
"""Columns to the left of an option's text: the highlight, the outcome, and the letter."""

LETTERS = [stroke.keys for stroke in ACTIONS["options.letter"].strokes]
CHARACTERS = {
    character: index for index, letter in enumerate(LETTERS) for character in (letter, *twins(letter), str(index + 1))
}
"""The option that each character stands for, on a keyboard of any layout."""

Wrap = Callable[[Text, int], Sequence[Text]]
"""Wraps a text into lines of at most the given number of columns."""


@dataclass(frozen=True, slots=True)
class OptionRow:
    """An option, and why it is wrong if it has been tried."""

    letter: str
    text: Text
    why: Text | None = None


def lines(
    options: Sequence[OptionRow], chosen: int, width: int, wrap: Wrap, unicode: bool = True
) -> list[tuple[int, Text]]:
    """Return all lines, each with the index of its option."""
    found: list[tuple[int, Text]] = []
    room = max(8, width - INDENT - 1)
    pointer, wrong = ("►", "✗") if unicode else (">", "x")
    for index, option in enumerate(options):
        here = index == chosen
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
            found.append((index, start.append_text(line)))
        for line in wrap(option.why, room) if option.why is not None else ():
            found.append((index, Text(" " * INDENT).append_text(line)))
    return found


class Options(LineWidget, can_focus=True):
    """The options. Posts `Taken` when the learner takes one."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("options")]

    class Taken(Message):
        """Posted when the learner takes an option, with the pressed letter or digit."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._terminal = terminal
        self._options: Sequence[OptionRow] = ()
        self.chosen = 0
        """The index of the highlighted option."""
        self._known: dict[tuple[int, int], list[tuple[int, Text]]] = {}

    def show(self, options: Sequence[OptionRow]) -> None:
        """Show options and the outcomes of those that were tried."""
        self._options = options
        self._known.clear()
        self.chosen = max(0, min(self.chosen, len(options) - 1))
        self.refresh()

    def lines_at(self, width: int) -> int:
        """Return the number of lines that the options take at a width."""
        return len(self._lines(width))

    def _lines(self, width: int) -> list[tuple[int, Text]]:
        def wrap(text: Text, room: int) -> Sequence[Text]:
            return list(text.wrap(self.app.console, room))

        key = (width, self.chosen)
        if key not in self._known:
            # Cached, since every drawn line needs them.
            self._known = {key: lines(self._options, self.chosen, width, wrap, self._terminal.unicode)}
        return self._known[key]

    def _top(self, found: Sequence[tuple[int, Text]]) -> int:
        """Return the first visible line, chosen so that the highlighted option is visible as far as it fits."""
        height = max(1, self.size.height)
        mine = [y for y, (index, _) in enumerate(found) if index == self.chosen] or [0]
        # One more line says that there are other options.
        top = min(mine[-1] + 2 - height, mine[0])
        return max(0, min(top, len(found) - height))

    def render_line(self, y: int) -> Strip:
        """Render one line; the last one says if there is more."""
        width, height = self.size
        found = self._lines(width)
        top = self._top(found)
        text = found[top + y][1] if top + y < len(found) else Text()
        below = len(found) - top - height
        if below > 0 and y == height - 1 and found[top + y][0] != self.chosen:
            more = say.count(
                "more-lines", below + 1, "{count} more line: {key}", "{count} more lines: {key}", key=name_of("down")
            )
            text = Text(f"   {self._terminal.ellipsis} {more}", DIM)
        return Strip(self.pieces(text)).adjust_cell_length(width, self.ground).simplify()

    def action_move(self, by: int) -> None:
        """Highlight a different option."""
        chosen = max(0, min(self.chosen + by, len(self._options) - 1))
        if chosen != self.chosen:
            self.chosen = chosen
            self.refresh()

    def action_take(self) -> None:
        """Answer with the highlighted option."""
        if self._options:
            self.post_message(self.Taken(self._options[self.chosen].letter))

    def on_key(self, event: events.Key) -> None:
        """Answer with the option of the pressed letter or digit."""
        index = CHARACTERS.get((event.character or "").casefold(), len(self._options))
        if index < len(self._options):
            event.stop()
            event.prevent_default()
            digit = event.character is not None and event.character.isdecimal()
            self.post_message(self.Taken(str(index + 1) if digit else self._options[index].letter))

    def on_click(self, event: events.Click) -> None:
        """Highlight an option with the first click, answer with a second one."""
        found = self._lines(self.size.width)
        y = event.y + self._top(found)
        if y < len(found):
            event.stop()
            if found[y][0] == self.chosen:
                self.action_take()
            else:
                self.chosen = found[y][0]
                self.refresh()


class AnswerBox(Box):
    """Form, options, entry line and word, stacked. Posts `Given` when the learner answers."""

    DEFAULT_CSS = """
    AnswerBox {
        layout: vertical;
    }

    AnswerBox #entry {
        layout: horizontal;
        height: 1;
    }

    AnswerBox #entry TextLine {
        width: 3;
    }

    AnswerBox Input, AnswerBox Input:focus {
        border: none;
        height: 1;
        width: 1fr;
        padding: 0;
        background: $background;

        &:ansi {
            background: ansi_default;
        }
    }
    """

    class Given(Message):
        """Posted when the learner answers, with the letter of an option or the typed text."""

        def __init__(self, text: str) -> None:
            self.text = text
            super().__init__()

    class Typed(Message):
        """Posted when the text in the entry line has changed."""

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self.form = TextPane(ellipsis=terminal.ellipsis, id="form")
        self.options = Options(terminal, id="options")
        self.line = Input(compact=True, select_on_focus=False, id="line")
        self.line.cursor_blink = False
        self.word = TextPane(ellipsis=terminal.ellipsis, way=AFTER_F4, id="word")
        self._entry = Box(TextLine(Text(" > ", BOLD)), self.line, id="entry")
        self._chooses = self._types = False

    def compose(self) -> ComposeResult:
        """Yield form, options, entry line, and word."""
        yield from (self.form, self.options, self._entry, self.word)

    def show(self, text: QuestionText) -> None:
        """Show the answer box of a question."""
        self._chooses = text.state.is_open and text.step.entry == "options"
        self._types = text.state.is_open and text.step.entry == "line"
        self.form.show(text.form)
        if text.options:
            self.options.show([OptionRow(*option) for option in text.options])
        self.word.show(text.judgement)

    def clear(self) -> None:
        """Empty the entry line and highlight the first option."""
        self.line.value = ""
        self.options.chosen = 0

    @property
    def first_pane(self) -> Options | Input | None:
        """Return the widget in which the learner answers, None if they answer elsewhere."""
        return self.options if self._chooses else self.line if self._types else None

    def lines_at(self, width: int) -> AnswerLines:
        """Return the lines that each part would like at a width in columns."""
        options = self.options.lines_at(width) if self._chooses else 0
        return AnswerLines(self.form.lines_at(width), options, int(self._types), self.word.lines_at(width))

    def give_lines(self, lines: AnswerLines) -> None:
        """Set the height of each part."""
        set_height(self.form, lines.form)
        set_height(self.options, lines.options)
        set_height(self._entry, lines.entry)
        set_height(self.word, lines.word)

    def on_options_taken(self, event: Options.Taken) -> None:
        """Pass on the option that was taken."""
        event.stop()
        self.post_message(self.Given(event.text))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Pass on the typed text."""
        event.stop()
        if event.value.strip():
            self.post_message(self.Given(event.value.strip()))

    def on_input_changed(self, event: Input.Changed) -> None:
        """Report that the learner is typing."""
        event.stop()
        self.post_message(self.Typed())

"""The answer box of a question: how to answer, the options or a line to type in, and the verdicts on the answers."""

from __future__ import annotations

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.message import Message
from textual.widgets import Input

from attn_tutor.lessons.format.lesson import ChoiceStep, PredictStep
from attn_tutor.tui.drawings.question_layout import AnswerLines
from attn_tutor.tui.drawings.question_text import QuestionText
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.line_widget import Box, set_height
from attn_tutor.tui.widgets.options import OptionRow, Options
from attn_tutor.tui.widgets.text_line import TextLine
from attn_tutor.tui.widgets.text_pane import AFTER_F4, TextPane

BOLD = Style(bold=True)


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
        self._chooses = text.state.is_open and isinstance(text.step, ChoiceStep)
        self._types = text.state.is_open and isinstance(text.step, PredictStep)
        self.form.show(text.form)
        if isinstance(text.step, ChoiceStep):
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

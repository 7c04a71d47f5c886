"""The line above a list in which words are typed: the list then has only what has them."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import Input

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.render.palette import BOLD, DIM
from attn_tutor.tui.widgets.line_widget import Box
from attn_tutor.tui.widgets.text import TextLine

say = Wording("screen/search")


class SearchLine(Box):
    """A line that is shown while words are typed, and as long as the list has only what has them."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("search")]

    DEFAULT_CSS = """
    SearchLine {
        layout: horizontal;
        height: 1;
    }
    SearchLine .label {
        width: 10;
    }
    SearchLine .count {
        width: 18;
    }
    SearchLine Input {
        width: 1fr;
    }
    """

    class Typed(Message):
        """Posted when the words are different ones."""

    class Left(Message):
        """Posted when the learner goes from the line to the list."""

    class Moved(Message):
        """Posted when the list is to move its cursor by some lines, while words are typed."""

        def __init__(self, lines: int) -> None:
            self.lines = lines
            super().__init__()

    def __init__(self, *, ellipsis: str = "…") -> None:
        super().__init__()
        self._label = TextLine(Text(f" {say('search', 'Search')} >", BOLD), ellipsis=ellipsis)
        self._count = TextLine(ellipsis=ellipsis)
        self._label.add_class("label")
        self._count.add_class("count")
        self._input = Input(compact=True, select_on_focus=False)
        self._input.cursor_blink = False
        self.display = False

    def compose(self) -> ComposeResult:
        """Yield the label, the words, and how much has them."""
        yield from (self._label, self._input, self._count)

    @property
    def words(self) -> str:
        """The words, "" for none."""
        return self._input.value.strip()

    @property
    def typing(self) -> bool:
        """Whether words are being typed."""
        return bool(self.display and self._input.has_focus)

    def open(self) -> None:
        """Show the line, and go to it."""
        self.display = True
        self._input.focus(scroll_visible=False)

    def show_count(self, found: int, count: int) -> None:
        """Say how many of all lines have the words."""
        self._count.set(
            Text(say("found", "{found} of {count}", found=found, count=count), DIM) if self.words else Text()
        )

    def clear(self) -> bool:
        """Forget the words, and hide the line; return whether there were some."""
        there = bool(self._input.value)
        self._input.value = ""
        self.display = False
        return there

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys."""
        return [hint("search.words"), hint("search.move"), hint("search.take"), hint("search.leave")]

    def on_input_changed(self, event: Input.Changed) -> None:
        """Post that the words are different ones."""
        event.stop()
        self.post_message(self.Typed())

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Go to the list; without words, the line is hidden."""
        event.stop()
        self.display = bool(self.words)
        self.post_message(self.Left())

    def on_input_blurred(self, event: Input.Blurred) -> None:
        """Hide the line if nothing is typed in it and the learner goes elsewhere."""
        event.stop()
        if self.screen.focused is not None and not self.words:
            self.display = False

    def action_move(self, lines: int) -> None:
        """Have the list move its cursor."""
        self.post_message(self.Moved(lines))

    def action_leave(self) -> None:
        """Forget the words, and go to the list."""
        self.clear()
        self.post_message(self.Left())

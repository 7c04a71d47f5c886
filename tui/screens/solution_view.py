"""The solution of an exercise, beside the learner's answer: a text to read. The learner's code stays as it is."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from tui.actions.bindings import bindings
from tui.actions.hints import hint, key_line
from tui.actions.naming import short_keys
from tui.tty.terminal import Terminal
from tui.widgets.line_widget import Box
from tui.widgets.text_pane import TextPane


class SolutionView(Box):
    """Why it works, the diff, the intermediates. Whoever gave up can take that back."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("solution")]

    class Left(Message):
        """The learner goes back to the exercise."""

    class TakenBack(Message):
        """The learner goes on with the exercise after all."""

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pane = TextPane(ellipsis=terminal.ellipsis, way=short_keys("text.scroll"), id="solved")
        self._gave_up = False

    def compose(self) -> ComposeResult:
        """One text."""
        yield self._pane

    def show(self, text: Text, *, gave_up: bool, keep: bool = False) -> None:
        """Show a solution; `gave_up`: that is why it is shown. `keep`: it stays scrolled to where it is."""
        self._gave_up = gave_up
        self._pane.show(text, keep=keep)

    def focus_active(self) -> None:
        """Give the keys to the text."""
        self._pane.focus(scroll_visible=False)

    @property
    def keys(self) -> str:
        """What keys do here."""
        take_back = ["solution.take-back"] if self._gave_up else []
        actions = ["text.scroll", "solution.leave", *take_back, "tutor.next", "tutor.map", "tutor.help"]
        return key_line([hint(action) for action in actions])

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Only who gave up can take it back."""
        return action != "take_back" or self._gave_up

    def action_leave(self) -> None:
        """Back to the exercise."""
        self.post_message(self.Left())

    def action_take_back(self) -> None:
        """Hide the solution again."""
        self.post_message(self.TakenBack())

"""The view of the solution of an exercise, compared with the learner's answer, which stays unchanged."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.message import Message

from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.actions.key_names import short_keys
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.line_widget import Box
from attn_tutor.tui.widgets.text_pane import TextPane


class SolutionView(Box):
    """The solution as a text: why it works, the diff, the intermediate results. Giving up can be undone here."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("solution")]

    class Left(Message):
        """Posted when the learner goes back to the exercise."""

    class TakenBack(Message):
        """Posted when the learner undoes giving up and continues with the exercise."""

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(id=id)
        self._pane = TextPane(ellipsis=terminal.ellipsis, way=partial(short_keys, "text.scroll"), id="solved")
        self._gave_up = False

    def compose(self) -> ComposeResult:
        """Compose the pane of the text."""
        yield self._pane

    def show(self, text: Text, *, gave_up: bool, keep: bool = False) -> None:
        """Show a solution; `gave_up` says that the learner gave up, `keep` that the scroll position stays."""
        self._gave_up = gave_up
        self._pane.show(text, keep=keep)

    def focus_active(self) -> None:
        """Focus the text."""
        self._pane.focus(scroll_visible=False)

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        take_back = ["solution.take-back"] if self._gave_up else []
        actions = ["text.scroll", "solution.leave", *take_back, "tutor.next", "tutor.map", "tutor.help"]
        return [hint(action) for action in actions]

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now: only a learner who gave up can undo that."""
        return action != "take_back" or self._gave_up

    def action_leave(self) -> None:
        """Go back to the exercise."""
        self.post_message(self.Left())

    def action_take_back(self) -> None:
        """Hide the solution, and undo giving up."""
        self.post_message(self.TakenBack())

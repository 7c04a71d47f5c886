"""The flow of a step beside its matrices, where there is room for it: it has no cursor, and shows what is lit."""

from __future__ import annotations

from dataclasses import replace

from textual.message import Message

from lessons.results.code_unit import CodeUnit
from lessons.results.flow import Flow
from lessons.results.tensor_questions import FlowQuestion
from tui.tty.terminal import Terminal
from tui.widgets.flow_chart import EMPTY, FlowChart


class FlowPanel(FlowChart, can_focus=False):
    """The flow of the step that a view shows."""

    class Wanted(Message):
        """Posted when the panel needs a flow."""

        def __init__(self, panel: FlowPanel, question: FlowQuestion) -> None:
            self.panel, self.question = panel, question
            super().__init__()

    class Changed(Message):
        """Posted when the panel shows a different flow."""

    def __init__(self, terminal: Terminal, *, id: str | None = None) -> None:
        super().__init__(terminal, cursor=False, id=id)
        self.display = False
        self._question: FlowQuestion | None = None
        self._lesson = ""

    @property
    def needs(self) -> tuple[int, int]:
        """The columns and lines that the flow takes at least; none if it is not known."""
        return self.natural_size("line") if self.flow.boxes else (0, 0)

    def ask(self, unit: CodeUnit | None, references: tuple[int, ...] = ()) -> None:
        """Ask for the flow of a step, and for the path of the explanation whose operands are given."""
        if unit is not None:
            self._question = FlowQuestion((), references, unit)
            self.post_message(self.Wanted(self, self._question))

    def show_reply(self, question: FlowQuestion, flow: Flow) -> bool:
        """Show the reply to a question, if it is the one that was asked last. Returns whether it is."""
        if question is not self._question:
            return False
        if flow != self.flow:
            self.show(flow)
            self.post_message(self.Changed())
        return True

    def leave_step(self, lesson: str) -> None:
        """Keep the flow of the step before, without what is lit, until the next one is known.

        The flow of a different lesson goes.
        """
        known, self._lesson, self._question = (self.flow if lesson == self._lesson else EMPTY), lesson, None
        self.show(replace(known, boxes=tuple(replace(box, shown=()) for box in known.boxes), path=()))

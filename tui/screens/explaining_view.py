"""What a step and the Python prompt have in common: matrices whose numbers explain themselves in a panel."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message

from lessons.results.code_unit import CodeUnit
from lessons.results.explanation import Explanation
from lessons.results.result import StepResult, Tensor
from lessons.results.tensor_questions import ExplainQuestion, FollowQuestion, PartQuestion
from tui.actions.bindings import bindings
from tui.tty.terminal import Terminal
from tui.widgets.explanation_pane import ExplanationPane
from tui.widgets.line_widget import Box
from tui.widgets.matrix import MatrixView
from tui.widgets.text_line import TextLine

MATRICES = 4


class ExplainingView(Box):
    """Matrices, and the panel of explanations. A view that is one says where these stand, and what else there is."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("number")]

    class PanesChanged(Message):
        """Another pane has the keys, or other panes are hidden."""

    class Asked(Message):
        """The learner wants to know how a number was made: a cell of a tensor, or an operand of an explanation."""

        def __init__(self, view: ExplainingView, question: ExplainQuestion | FollowQuestion) -> None:
            self.view, self.question = view, question
            super().__init__()

    class Missing(Message):
        """Something about a large tensor is wanted for a matrix."""

        def __init__(self, view: MatrixView, tensor: Tensor, question: PartQuestion) -> None:
            self.view, self.tensor, self.question = view, tensor, question
            super().__init__()

    def __init__(self, terminal: Terminal, names: str, *, most: int = MATRICES, id: str | None = None) -> None:
        """Initialise the view; `names` begins the IDs of its `most` matrices and of the line that reads a cell out."""
        super().__init__(id=id)
        self._terminal = terminal
        self._matrices = [MatrixView(terminal, id=f"{names}{index}") for index in range(most)]
        self._active = -1
        self._result = StepResult("")
        self._detail = TextLine(ellipsis=terminal.ellipsis, id=f"{names}-detail")
        self._explanation = ExplanationPane(terminal, id="explanation")
        self._explanation.display = False

    @property
    def result(self) -> StepResult:
        """The result that is shown: an answer about another one comes too late."""
        return self._result

    # What each view has of its own -------------------------------------------------------------------------------

    @property
    def unit(self) -> CodeUnit | None:
        """The step or the input whose numbers are shown, None if there are none."""
        raise NotImplementedError

    def focus_active(self) -> None:
        """Give the keys to the active pane."""
        raise NotImplementedError

    def move_pane(self, step: int) -> None:
        """Give the keys to the next pane, or with -1 to the one before."""
        raise NotImplementedError

    def next_pane(self) -> None:
        """Give the keys to the next pane."""
        self.move_pane(1)

    def _arrange(self) -> None:
        """Give every part its place."""
        raise NotImplementedError

    def _describe(self) -> None:
        """Read out the cell under the cursor, and say that the keys may have changed with the pane."""
        self._read_out()
        self.post_message(self.PanesChanged())

    def _read_out(self) -> None:
        """Read out the cell under the cursor, in a line of its own."""
        matrix = self._matrix
        self._detail.set(f" {matrix.describe(self.size.width - 2)}" if matrix is not None else "")

    def _light(self) -> None:
        """Light up the operands."""
        raise NotImplementedError

    def _focus_explanation(self) -> None:
        self._explanation.focus(scroll_visible=False)

    # Explanations ------------------------------------------------------------------------------------------------

    @property
    def explaining(self) -> bool:
        """Whether an explanation is open."""
        return self._explanation.explanation is not None

    @property
    def _matrix(self) -> MatrixView | None:
        """The active matrix."""
        return self._matrices[self._active] if self._active >= 0 else None

    def action_explain(self) -> None:
        """Ask how the number under the cursor was made."""
        view = self._matrix
        if self.unit and view is not None and view.tensor is not None:
            self.post_message(self.Asked(self, ExplainQuestion(view.tensor.name, view.index, self.unit)))

    def explain(self, explanation: Explanation, *, further: bool) -> None:
        """Show how a number was made; `further`: an operand of the one before."""
        following = self._explanation.display and self._matrix is not None and self._matrix.has_focus
        if further:
            self._explanation.go_on(explanation)
        else:
            self._explanation.show(explanation, str(self.unit))
        self._arrange()
        if not following or further:
            self._focus_explanation()

    def action_explain_back(self) -> None:
        """Back to the number before."""
        self._explanation.action_back()

    def _close_explanation(self) -> None:
        """Explain nothing any more."""
        if not self.explaining:
            return
        had_focus = self._explanation.has_focus
        self._explanation.clear()
        self._light()
        self._arrange()
        if had_focus:
            self.focus_active()

    def on_explanation_pane_follow(self, event: ExplanationPane.Follow) -> None:
        """Ask about an operand."""
        event.stop()
        if self.unit:
            self.post_message(self.Asked(self, FollowQuestion(event.operand.ref, self.unit)))

    def on_explanation_pane_changed(self, event: ExplanationPane.Changed) -> None:
        """Another number is explained."""
        event.stop()
        self._light()

    def on_explanation_pane_closed(self, event: ExplanationPane.Closed) -> None:
        """Back to the matrix."""
        event.stop()
        self._close_explanation()

    # Messages of the matrices ------------------------------------------------------------------------------------

    def on_matrix_view_cursor_moved(self, event: MatrixView.CursorMoved) -> None:
        """Read the cell out; an open explanation goes with the cursor."""
        event.stop()
        self._describe()
        if self.explaining and event.view.has_focus:
            self.action_explain()

    def on_matrix_view_missing(self, event: MatrixView.Missing) -> None:
        """Pass the question on, with the step or input that it belongs to."""
        event.stop()
        if self.unit:
            self.post_message(self.Missing(event.view, event.tensor, replace(event.question, unit=self.unit)))

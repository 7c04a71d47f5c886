"""The base of the views of steps and of the prompt: matrices in slots, and a panel that explains their numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType
from textual.message import Message
from textual.widget import Widget

from attn_tutor.lessons.render.numbers import truncated, visible
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import StepResult, Tensor
from attn_tutor.lessons.results.tensor_questions import ExplainQuestion, FlowQuestion, FollowQuestion, PartQuestion
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.render.step_layout import Arrangement
from attn_tutor.tui.screens.step_view import FlowSubject
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.explanation_pane import ExplanationPane
from attn_tutor.tui.widgets.line_widget import Box, set_height
from attn_tutor.tui.widgets.matrix import MatrixView
from attn_tutor.tui.widgets.text import TextLine


def fill_slot(view: MatrixView, lines: int, columns: int | None = None, offset: tuple[int, int] = (0, 0)) -> None:
    """Give a matrix its height and, if it stands beside others, its columns and its offset from where it would be.

    Args:
        view: the matrix.
        lines: its height; 0 hides it.
        columns: its width; None for all there are, with nothing beside it.
        offset: columns to the right and lines down, from where it stands without an offset.
    """
    view.styles.width = "1fr" if columns is None else columns
    view.styles.offset = offset
    set_height(view, lines)


def fill_slots(
    views: Sequence[MatrixView],
    lines: Sequence[int],
    tall: int,
    places: Sequence[tuple[int, int]] = (),
    widths: Sequence[int] = (),
    beside: tuple[int, int] = (0, 0),
) -> int:
    """Give matrices their slots, and return the lines down to the last of them.

    Args:
        views: the matrices, from top to bottom.
        lines: their heights; those without one are hidden.
        tall: lines of a row.
        places: x and y of the matrices that stand beside each other, counted from the first; none for a column.
        widths: the columns of these.
        beside: columns and lines of what comes before the matrices and stands to their left.
    """
    left, before = beside
    for index, view in enumerate(views):
        view.make_tall(tall)
        height = lines[index] if index < len(lines) else 0
        placed = index < len(places)
        x, y = places[index] if placed else (0, before - beside[1])
        fill_slot(view, height, widths[index] if placed else None, (left + x, y - before))
        before += height
    return before


say = Wording("screen/explaining")

MATRICES = 4
NAME_WIDTH = 12
"""The maximum width of a pane's name in the line of keys."""


class ExplainingView(Box):
    """A view with matrices and a panel of explanations. Subclasses arrange them and add panes of their own."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("number")]

    class PanesChanged(Message):
        """Posted when the focus has moved to a different pane, or when panes were shown or hidden."""

    class PathChanged(Message):
        """Posted when a different explanation is shown, or none any more."""

    class Asked(Message):
        """Posted when the learner asks how a cell of a tensor, or an operand of an explanation, was computed."""

        def __init__(self, view: ExplainingView, question: ExplainQuestion | FollowQuestion) -> None:
            self.view, self.question, self.closings = view, question, view.closings
            super().__init__()

        @property
        def is_outdated(self) -> bool:
            """Whether the explanations were closed since; the learner would not expect to see them again."""
            return self.closings != self.view.closings

    class Missing(Message):
        """Posted when a matrix needs a part of a large tensor that the view does not have."""

        def __init__(self, view: MatrixView, tensor: Tensor, question: PartQuestion) -> None:
            self.view, self.tensor, self.question = view, tensor, question
            super().__init__()

    def __init__(self, terminal: Terminal, names: str, *, most: int = MATRICES, id: str | None = None) -> None:
        """Initialize a view with `most` matrices; `names` is the prefix of their ids and that of the detail line."""
        super().__init__(id=id)
        self._terminal = terminal
        self._matrices = [MatrixView(terminal, opens_far=True, id=f"{names}{index}") for index in range(most)]
        self._active = -1
        self._step_names: Mapping[str, str] = {}
        self._result = StepResult("")
        self._detail = TextLine(ellipsis=terminal.ellipsis, id=f"{names}-detail")
        self._explanation = ExplanationPane(terminal, id="explanation")
        self._explanation.display = False
        self.closings = 0
        """How often the panel of explanations was closed."""

    @property
    def result(self) -> StepResult:
        """The result that is shown; a reply about a different result is too late."""
        return self._result

    @property
    def active_name(self) -> str:
        """The name of the tensor that has the focus, "" if none has it."""
        return self._result.tensors[self._active].name if 0 <= self._active < len(self._result.tensors) else ""

    # What subclasses define --------------------------------------------------------------------------------------

    @property
    def unit(self) -> CodeUnit | None:
        """The step or the prompt input whose numbers are shown, None if there are none."""
        raise NotImplementedError

    @property
    def _here(self) -> str:
        """The code whose lines need no name, in its form for people."""
        return str(self.unit)

    @property
    def title(self) -> str:
        """The text of the title line."""
        raise NotImplementedError

    def focus_active(self) -> None:
        """Focus the active pane."""
        raise NotImplementedError

    def move_pane(self, step: int) -> None:
        """Move the focus `step` panes on; -1 is the previous pane."""
        raise NotImplementedError

    def next_pane(self) -> None:
        """Move the focus to the next pane."""
        self.move_pane(1)

    def _arrange(self) -> None:
        """Arrange the parts of the view in its room."""
        raise NotImplementedError

    def _figure_parts(self) -> tuple[Widget, ...]:
        """Return the widgets beside or below the text, from top to bottom."""
        return tuple(self._matrices)

    def _place_matrices(self, layout: Arrangement, ranks: Sequence[int] = (), beside: tuple[int, int] = (0, 0)) -> None:
        """Give the matrices their heights and, where some stand beside others, their columns, lower ranks first.

        `beside` are the columns and lines of what comes before them and stands to their left.
        """
        places = layout.places(ranks) if layout.widths else ()
        for view in self._matrices:
            view.squeeze(bool(places))
        before = fill_slots(self._matrices, layout.matrices, layout.tall, places, layout.widths, beside)
        # The explanation follows the last of them; elsewhere it is docked.
        self._explanation.styles.offset = (0, layout.figure_lines - before if layout.wide else 0)

    def _pane_name(self, pane: int) -> str:
        """Return what the line of keys calls a pane: the name of its tensor."""
        tensor = self._matrices[pane].tensor if pane >= 0 else None
        return (
            truncated(visible(tensor.name), NAME_WIDTH, self._terminal.ellipsis)
            if tensor is not None
            else say("code", "code")
        )

    def _describe(self) -> None:
        """Show the cell under the cursor in the detail line, and post that the panes may have changed."""
        self._read_out()
        self.post_message(self.PanesChanged())

    def _read_out(self) -> None:
        """Show the cell under the cursor in the detail line."""
        matrix = self._matrix
        self._detail.set(f" {matrix.describe(self.size.width - 2)}" if matrix is not None else "")

    def _light(self) -> None:
        """Highlight the operands of the explanation."""
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
        """The active matrix, None if a different pane is active."""
        return self._matrices[self._active] if self._active >= 0 else None

    @property
    def flow_subject(self) -> FlowSubject | None:
        """What a flow can be shown of, None if nothing has run in the view."""
        if self.unit is None:
            return None
        tensor = self._matrix.tensor if self._matrix is not None else None
        question = FlowQuestion((), self._explanation.references, self.unit)
        return FlowSubject(self.title, question, tensor.name if tensor is not None else "")

    def action_explain(self) -> None:
        """Ask how the number under the cursor was computed."""
        view = self._matrix
        if self.unit and view is not None and view.tensor is not None:
            self.post_message(self.Asked(self, ExplainQuestion(view.tensor.name, view.index, self.unit)))

    def explain(self, explanation: Explanation, *, further: bool) -> None:
        """Show an explanation; with `further` it explains an operand of the current one."""
        following = self._explanation.display and self._matrix is not None and self._matrix.has_focus
        if further:
            self._explanation.go_on(explanation)
        else:
            self._explanation.show(explanation, self._here, self._step_names)
        self._arrange()
        if not following or further:
            self._focus_explanation()

    def action_explain_back(self) -> None:
        """Go back to the previous explanation."""
        self._explanation.action_back()

    def _close_explanation(self) -> None:
        """Close the panel of explanations and remove its highlights."""
        if not self.explaining:
            return
        self.closings += 1
        had_focus = self._explanation.has_focus
        self._explanation.clear()
        self._light()
        self._arrange()
        if had_focus:
            self.focus_active()

    def on_explanation_pane_follow(self, event: ExplanationPane.Follow) -> None:
        """Ask how an operand was computed."""
        event.stop()
        if self.unit:
            self.post_message(self.Asked(self, FollowQuestion(event.operand.ref, self.unit)))

    def on_explanation_pane_changed(self, event: ExplanationPane.Changed) -> None:
        """Highlight the operands of the explanation that the panel shows now."""
        event.stop()
        self._light()
        self.post_message(self.PathChanged())

    def on_explanation_pane_closed(self, event: ExplanationPane.Closed) -> None:
        """Close the panel and go back to the matrix."""
        event.stop()
        self._close_explanation()

    # Messages of the matrices ------------------------------------------------------------------------------------

    def on_matrix_view_cursor_moved(self, event: MatrixView.CursorMoved) -> None:
        """Show the cell in the detail line; let an open explanation follow the cursor."""
        event.stop()
        self._describe()
        if self.explaining and event.view.has_focus:
            self.action_explain()

    def on_matrix_view_missing(self, event: MatrixView.Missing) -> None:
        """Pass the request on, with the step or input that the tensor belongs to."""
        event.stop()
        if self.unit:
            self.post_message(self.Missing(event.view, event.tensor, replace(event.question, unit=self.unit)))

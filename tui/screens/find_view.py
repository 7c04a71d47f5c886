"""The view of a find: the learner explains numbers, and points at a cell, a row, or a box of the flow."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from textual.binding import BindingType

from attn_tutor.lessons.engine.questions import question_facts
from attn_tutor.lessons.format.lesson import Question
from attn_tutor.lessons.play.question import FindModel
from attn_tutor.lessons.play.question_state import pointed_cell
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.actions.bindings import bindings
from attn_tutor.tui.actions.hints import hint
from attn_tutor.tui.actions.key_names import short_keys
from attn_tutor.tui.screens.flow_subject import FlowSubject
from attn_tutor.tui.screens.question_view import QuestionView
from attn_tutor.tui.widgets.matrix import MatrixView

say = Wording("screen/find")


class FindView(QuestionView):
    """The view of a step of the kind `find`: enter explains as in a lesson, and a key of its own answers."""

    topic = "find"
    names = "find"

    _model: FindModel | None

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("find")]

    def _begin(self) -> None:
        """Put the cursor on the number at which explaining begins."""
        start = self._model.task.starting_cell if self._model is not None else None
        view = next((view for view in self._matrices if start and view.tensor and view.tensor.name == start[0]), None)
        if start is not None and view is not None:
            self._active = self._matrices.index(view)
            view.go_to(start[1])
        super()._begin()

    @property
    def flow_subject(self) -> FlowSubject | None:
        """What a flow can be shown of; if a box is to be found, the learner answers there."""
        subject = super().flow_subject
        if subject is None or not self._state.is_open or question_facts.target_of(self._question) != "box":
            return subject
        return replace(subject, point=self._give_answer)

    @property
    def _question(self) -> Question:
        assert self._step is not None
        return self._step

    def action_enter(self) -> None:
        """Ask how the number under the cursor was computed."""
        self.action_explain()

    def action_point(self) -> None:
        """Answer with what is under the cursor: an operand of the explanation, or a cell."""
        if not self._state.is_open:
            return
        if question_facts.target_of(self._question) == "box":
            self.say(
                say(
                    "answer-is-a-box",
                    "The answer is a box of the flow. Press {key} to open the flow.",
                    key=short_keys("tutor.flow"),
                )
            )
            return
        index = self._chosen_cell()
        if index is None:
            on = question_facts.pointed_name(self._question)
            # The line for remarks is hidden while an explanation is open.
            self.notify(
                say("answer-is-in", "The answer is in {name}. Move the cursor to a number there first.", name=on),
                markup=False,
            )
        else:
            self._give_answer(", ".join(map(str, index)))

    def _chosen_cell(self) -> tuple[int, ...] | None:
        """Return the cell of the tensor in question that is under the cursor, None if the cursor is elsewhere."""
        explanation, operand = self._explanation.explanation, self._explanation.operand
        if self._explanation.has_focus and explanation is not None:
            position = None if operand is None else explanation.operands.index(operand)
            return pointed_cell(self._question, explanation, position)
        view = self._matrix
        return view.index if view is not None and view.has_focus and view is self._pointed else None

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now; if not, its key keeps the meaning that it has elsewhere."""
        return self._state.is_open if action == "point" else super().check_action(action, parameters)

    @property
    def hints(self) -> list[str]:
        """The hints for the line of keys, the most important first."""
        if not self._state.is_open:
            return super().hints
        if question_facts.target_of(self._question) == "box":
            return [hint("tutor.flow"), *super().hints]
        on_target = isinstance(self.screen.focused, MatrixView) and self.screen.focused is self._pointed
        first = [hint("find.point")] if on_target or self._explanation.has_focus else []
        return [*first, *super().hints]

"""The learner's progress on a question: an immutable value that the question view shows and replaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from attn_tutor.lessons.engine.questions import answer_reading, question_facts
from attn_tutor.lessons.engine.questions.question_facts import Index
from attn_tutor.lessons.format.lesson import ExperimentStep, Question
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import Judgement, StepResult, WorkerError

if TYPE_CHECKING:
    from attn_tutor.lessons.learner.progress import Progress

Phase = Literal["open", "passed", "gave-up"]


@dataclass(frozen=True, slots=True)
class QuestionState:
    """The learner's progress on a question.

    Attributes:
        phase: whether it is open, or how it ended.
        answers: the answers of this visit, oldest first, each once with its judgement.
        answered_before: whether it was answered or given up at an earlier visit, so that its answers are unknown.
        hints: how many hints the learner has read.
        gives_up_next: whether the next request for a hint gives up, because all hints have been read.
        remark: a message that replaces the judgement.
    """

    phase: Phase = "open"
    answers: tuple[tuple[str, Judgement], ...] = ()
    answered_before: bool = False
    hints: int = 0
    gives_up_next: bool = False
    remark: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the question still has to be answered."""
        return self.phase == "open"

    def with_answer(self, text: str, judgement: Judgement) -> QuestionState:
        """Return the state after an answer, which moves to the end if it has been given before."""
        others = tuple(answer for answer in self.answers if answer[0] != text)
        return replace(self, answers=(*others, (text, judgement)), gives_up_next=False, remark="")


def state_at_opening(step: Question | ExperimentStep, progress: Progress) -> QuestionState:
    """Return the state in which a task opens: with what is known of earlier visits."""
    name, state = step.exercise, QuestionState(hints=min(progress.hints_used(step.exercise), len(step.hints)))
    passed = progress.passed(name)
    if passed or progress.gave_up(name):
        return replace(state, phase="passed" if passed else "gave-up", answered_before=True)
    return state


def pointed_cell(step: Question, explanation: Explanation, operand: int | None) -> Index | None:
    """Return the cell of the tensor in question that an explanation, or its operand at a position, is about.

    None if that is a cell of another tensor.
    """
    on = step.pointed_at
    # Explanations take the name in the code.
    names = {on, *(shown.expression for shown in step.show if shown.name == on)}
    if operand is None:
        return explanation.index if explanation.name in names else None
    if explanation.operands[operand].name in names:
        return explanation.operands[operand].index
    # A name in a loop, such as `x`, may stand for a row of what is shown.
    lit = (explanation.lit or {}).get(on, ())
    return lit[operand] if len(lit) == len(explanation.operands) else None


Pattern = tuple[int | None, ...]


def answer_cells(
    step: Question, result: StepResult, state: QuestionState
) -> tuple[tuple[Pattern, ...], tuple[Pattern, ...]]:
    """Return the cells that were wrong answers, and the right ones once they may be revealed; None is a whole row."""
    try:
        right = () if state.is_open else tuple(question_facts.right_cells(step, result))
        tried = [answer_reading.cell_of(step, result, text) for text, _ in state.answers]
    except WorkerError:
        return (), ()
    wrong = tuple(cell for cell in tried if cell is not None and cell not in right)
    if step.answer_form != "row":
        return wrong, right
    return _rows(wrong), _rows(right)


def _rows(cells: Sequence[Index]) -> tuple[Pattern, ...]:
    return tuple(dict.fromkeys((*cell[:-1], None) for cell in cells))

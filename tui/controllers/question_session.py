"""The view of a question connected with the progress: judges answers against the run, and records the outcomes."""

from __future__ import annotations

from typing import Self

from lessons.engine.questions.question_judging import judge
from lessons.format.lesson import Lesson, Question, Step
from lessons.learner import outcomes
from lessons.learner.progress import Progress
from lessons.play.purpose import Purpose
from lessons.play.step_content import StepContent
from lessons.results.result import WorkerError
from lessons.what_if.changes import ChangeHistory
from tui.screens.question_view import QuestionView
from tui.screens.step_view import QuietStepView, ViewContext
from tui.tty.terminal import Terminal


class QuestionSession(QuietStepView, QuestionView):
    """The view of a question step, which judges and records the learner's answers."""

    def __init__(self, terminal: Terminal, code_theme: str, progress: Progress, *, id: str | None = None) -> None:
        super().__init__(terminal, code_theme, id=id)
        self._progress = progress
        # Questions under review: they are asked again as if they had not been answered.
        self._under_review: set[str] = set()

    @classmethod
    def make(cls, context: ViewContext) -> Self:
        """Return a view that does not show a question yet."""
        return cls(context.terminal, context.code_theme, context.progress, id=cls.topic)

    def open_step(
        self,
        lesson: Lesson,
        step: Step,
        content: StepContent,
        history: ChangeHistory,
        purpose: Purpose = Purpose.WORK,
    ) -> None:
        """Show a question with the learner's progress, or without it for a review, and take the focus."""
        assert isinstance(step, Question)
        if purpose is Purpose.REVIEW:
            self._under_review.add(step.exercise)
            self._lesson = None
        self._show_question(lesson, step, content)
        self._go_to(self._first_pane())

    def show_result(self, content: StepContent) -> None:
        """Show the results of a run of the question that was opened last."""
        if self._lesson is not None and self._step is not None:
            self._show_question(self._lesson, self._step, content)

    def _show_question(self, lesson: Lesson, step: Question, content: StepContent) -> None:
        name = step.exercise
        if name in self._under_review:
            self.show_step(lesson, step, content.result, content.note, passed=False)
            return
        self.show_step(
            lesson,
            step,
            content.result,
            content.note,
            passed=self._progress.passed(name),
            hints_used=self._progress.hints_used(name),
            given_up=self._progress.gave_up(name),
        )

    def on_question_view_answered(self, event: QuestionView.Answered) -> None:
        """Judge an answer against the results of the run, and record the outcome."""
        event.stop()
        if self._lesson is None:
            return
        try:
            judgement = judge(event.step, self.result, event.text)
        except WorkerError as error:
            self.say(str(error))
            return
        more = outcomes.record(self._progress, self._lesson, event.step, event.text, judgement)
        if judgement.passed:
            self._under_review.discard(event.step.exercise)
        self.show_judgement(judgement, event.text)
        if more:
            self.notify(more, markup=False, timeout=10)

    def on_question_view_hint_used(self, event: QuestionView.HintUsed) -> None:
        """Record how many hints the learner has read."""
        event.stop()
        self._progress.use_hint(event.step.exercise, event.n)

    def on_question_view_gave_up(self, event: QuestionView.GaveUp) -> None:
        """Record that the learner has given up."""
        event.stop()
        self._under_review.discard(event.step.exercise)
        self._progress.give_up(event.step.exercise)

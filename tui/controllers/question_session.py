"""A question with what keeps its answers: it judges them by the run, and notes what becomes of them."""

from __future__ import annotations

from lessons.engine.question_judging import judge
from lessons.format.lesson import Lesson, Question
from lessons.learner import outcomes
from lessons.learner.progress import Progress
from lessons.results.result import StepResult, WorkerError
from tui.screens.question_view import QuestionView
from tui.tty.terminal import Terminal


class QuestionSession(QuestionView):
    """The question of a step, from its first sight to its answer."""

    def __init__(self, terminal: Terminal, code_theme: str, store: Progress, *, id: str | None = None) -> None:
        super().__init__(terminal, code_theme, id=id)
        self._store = store
        # Questions that are asked once more, without what is known of them.
        self._reviewed: set[str] = set()

    def review(self, step: Question) -> None:
        """Ask a question once more, from the beginning, when it is shown next."""
        self._reviewed.add(step.exercise)
        self._lesson = None

    def show_question(self, lesson: Lesson, step: Question, result: StepResult, note: str) -> None:
        """Show a question with results, and what the learner has done about it so far."""
        name = step.exercise
        if name in self._reviewed:
            self.show_step(lesson, step, result, note, passed=False)
            return
        self.show_step(
            lesson,
            step,
            result,
            note,
            passed=self._store.passed(name),
            hints_used=self._store.hints_used(name),
            given_up=self._store.gave_up(name),
        )

    def focus_answer(self) -> None:
        """Give the keys to where the learner begins."""
        self._go_to(self._first_pane())

    def on_question_view_answered(self, event: QuestionView.Answered) -> None:
        """Judge an answer by what the run gave, and keep it."""
        event.stop()
        if self._lesson is None:
            return
        try:
            judgement = judge(event.step, self.result, event.text)
        except WorkerError as error:
            self.say(str(error))
            return
        more = outcomes.record(self._store, self._lesson, event.step, event.text, judgement)
        if judgement.passed:
            self._reviewed.discard(event.step.exercise)
        self.show_judgement(judgement, event.text)
        if more:
            self.notify(more, markup=False, timeout=10)

    def on_question_view_hint_used(self, event: QuestionView.HintUsed) -> None:
        """Keep how many hints were read."""
        event.stop()
        self._store.use_hint(event.step.exercise, event.n)

    def on_question_view_gave_up(self, event: QuestionView.GaveUp) -> None:
        """Keep that the learner gave up."""
        event.stop()
        self._reviewed.discard(event.step.exercise)
        self._store.give_up(event.step.exercise)

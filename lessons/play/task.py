"""What questions and experiments have in common: hints, giving up, and how they end."""

from __future__ import annotations

from dataclasses import replace

from attn_tutor.lessons.format.lesson import ExperimentStep, Lesson, Question
from attn_tutor.lessons.play.learner_changes import LearnerChanges
from attn_tutor.lessons.play.learning import Learning
from attn_tutor.lessons.play.purpose import Purpose
from attn_tutor.lessons.play.question_state import QuestionState, state_at_opening
from attn_tutor.lessons.play.step import StepModel


class TaskModel(StepModel):
    """A question or an experiment.

    Attributes:
        task: the step.
        state: the learner's progress on it.
    """

    task: Question | ExperimentStep

    def __init__(
        self,
        learning: Learning,
        lesson: Lesson,
        step: Question | ExperimentStep,
        learner_changes: LearnerChanges,
        purpose: Purpose,
    ) -> None:
        super().__init__(learning, lesson, step, learner_changes, purpose)
        self.task = step
        if purpose is Purpose.REVIEW:
            learning.under_review.add(step.exercise)
        is_new = step.exercise in learning.under_review
        self.state = QuestionState() if is_new else state_at_opening(step, learning.progress)

    @property
    def offers(self) -> frozenset[str]:
        """As `StepModel.offers`; and while the task is open, a `hint` and to `give-up`."""
        return super().offers | ({"hint", "give-up"} if self.state.is_open else set())

    @property
    def has_hints(self) -> bool:
        """Whether there are hints that the learner has not read."""
        return self.state.hints < len(self.task.hints)

    @property
    def hints_read(self) -> tuple[str, ...]:
        """The hints that the learner has read."""
        return self.task.hints[: self.state.hints]

    def take_hint(self) -> bool:
        """Show one more hint; return False if there is none left."""
        if not self.has_hints:
            return False
        self.state = replace(self.state, hints=self.state.hints + 1)
        self._learning.progress.use_hint(self.task.exercise, self.state.hints)
        return True

    def give_up(self) -> bool:
        """Give up if that is asked for a second time; return whether the learner has given up."""
        if not self.state.gives_up_next:
            self.state = replace(self.state, gives_up_next=True)
            return False
        self._check_revealed()
        self._end()
        self.state = replace(self.state, phase="gave-up", gives_up_next=False, remark="")
        self._learning.progress.give_up(self.task.exercise)
        return True

    def go_on(self) -> None:
        """Forget a first request to give up, because the learner does something else."""
        self.state = replace(self.state, gives_up_next=False)

    def _check_revealed(self) -> None:
        """Raise `WorkerError` if what giving up reveals is not known yet."""

    def _end(self) -> None:
        """Record that the task is not under review any more."""
        self._learning.under_review.discard(self.task.exercise)

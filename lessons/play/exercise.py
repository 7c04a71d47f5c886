"""An exercise whose answer is code: drafts, checks, scratch runs, hints and the model answer."""

from __future__ import annotations

from typing import ClassVar

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.scratch_run import STEP
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson
from attn_tutor.lessons.learner import milestones, outcomes
from attn_tutor.lessons.learner.records import ArchivedCode
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.lessons.play.step import LearnerChanges, Learning, Runner, StepModel
from attn_tutor.lessons.results.result import Judgement, StepResult


class ExerciseModel(StepModel):
    """An exercise.

    Attributes:
        exercise: the step.
        help: the hints that the learner has read, and whether the model answer may be seen.
        drafts: the learner's code, and code that is offered in its place.
        code: the code with which the exercise was opened.
        judgement: what is shown of the last check, None before.
    """

    runner: ClassVar[Runner] = Runner.ON_REQUEST

    def __init__(
        self, learning: Learning, lesson: Lesson, step: ExerciseStep, learner_changes: LearnerChanges, purpose: Purpose
    ) -> None:
        super().__init__(learning, lesson, step, learner_changes, purpose)
        self.exercise, self.help, self.drafts = step, learning.help, learning.drafts
        if purpose is Purpose.REVIEW and self.help.begin_review(step):
            self.drafts.begin_again(step)
        self.help.open(step)
        self.code = self.drafts.open(step)
        self.judgement: Judgement | None = None

    @property
    def offers(self) -> frozenset[str]:
        """What a learner can do here now.

        To `write` code, `check` it, have a `scratch-run` of it, and read the `solution`, which may mean to give up; a
        `hint`, the `difference` that the last check has found, and to `take-back` giving up.
        """
        found = {"write", "check", "scratch-run", "solution"}
        if self.help.hints_left and not self.help.solution_is_open:
            found.add("hint")
        if self.judgement is not None and self.judgement.difference is not None:
            found.add("difference")
        if self.gave_up:
            found.add("take-back")
        return super().offers | found

    @property
    def passed(self) -> bool:
        """Whether the exercise has been passed, now or before."""
        return self._learning.progress.passed(self.exercise.exercise)

    @property
    def gave_up(self) -> bool:
        """Whether the learner has given up, now or before."""
        return self._learning.progress.gave_up(self.exercise.exercise)

    @property
    def skips_lesson(self) -> bool:
        """Whether this is the challenge of a lesson that lies ahead, all of which is behind whoever passes it."""
        first = milestones.first_open(self.lesson, self._learning.progress)
        return self.purpose is Purpose.CHALLENGE and first != self.step.id

    @property
    def hints_read(self) -> tuple[str, ...]:
        """The hints that the learner has read."""
        return self.exercise.hints[: self.help.hints]

    def offered(self, code: str) -> ArchivedCode | None:
        """Return what may take the place of the learner's code, as `Drafts.offered` finds it."""
        return self.drafts.offered(self.exercise.exercise, code)

    def save(self, code: str) -> None:
        """Save the learner's code, who thereby goes on: a first request to give up is forgotten."""
        self.help.gives_up_next = False
        self.drafts.save(self.exercise.exercise, code)

    def judged(self, code: str, judgement: Judgement) -> tuple[Judgement, str]:
        """Record a verdict about code, and return what is shown of it, and what follows in a sentence.

        Of a bug hunt, the first verdict tells the symptoms alone. A check that was stopped leaves the last judgement.
        """
        progress, step = self._learning.progress, self.exercise
        shown, held_back = outcomes.symptoms_of_first_check(progress, step, judgement)
        challenged = self.purpose is Purpose.CHALLENGE
        more = outcomes.record_outcome(progress, self.lesson, step, code, judgement, challenged=challenged) or held_back
        if judgement.passed:
            self.help.forget(step.exercise)
        if not judgement.stopped:
            self.judgement = shown
        return shown, more

    def scratch(self, run: Run) -> StepResult:
        """Return what is shown of a scratch run: of a bug hunt that was not checked, an exception without advice."""
        return outcomes.symptoms_of_first_run(
            self._learning.progress, self.exercise, run.result(STEP) or StepResult(STEP)
        )

"""An experiment: the learner changes the run, and each change is judged by what comes of it."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from attn_tutor.lessons.engine.questions import experiment_judging
from attn_tutor.lessons.format.lesson import ExperimentStep, Lesson
from attn_tutor.lessons.learner import outcomes
from attn_tutor.lessons.play.learner_changes import LearnerChanges
from attn_tutor.lessons.play.learning import Learning
from attn_tutor.lessons.play.purpose import Purpose
from attn_tutor.lessons.play.runner import Runner
from attn_tutor.lessons.play.step import StepModel
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.task import TaskModel
from attn_tutor.lessons.results.result import Judgement, StepResult
from attn_tutor.lessons.what_if import changes
from attn_tutor.lessons.what_if.changes import Changes


class ExperimentModel(TaskModel):
    """An experiment.

    Attributes:
        judgement: that of the changes that the experiment ran with last, None if there were none.
    """

    runner: ClassVar[Runner] = Runner.WITH_OWN_CHANGES
    task: ExperimentStep

    def __init__(
        self,
        learning: Learning,
        lesson: Lesson,
        step: ExperimentStep,
        learner_changes: LearnerChanges,
        purpose: Purpose,
    ) -> None:
        super().__init__(learning, lesson, step, learner_changes, purpose)
        self.judgement: Judgement | None = None
        self._judged: Changes | None = None

    def resume(self, earlier: StepModel) -> None:
        """Keep the judgement of the changes that still hold: they are no new attempt."""
        assert isinstance(earlier, ExperimentModel)
        self.judgement, self._judged = earlier.judgement, earlier._judged

    @property
    def before(self) -> StepResult:
        """The result before any change, which the task is about."""
        return self.content.base or self.content.result

    def take(self, content: StepContent) -> str:
        """Take over what has come of a run, and judge the changes that it ran with, once."""
        super().take(content)
        if content.changes == self._judged:
            return ""
        self._judged = content.changes
        self.go_on()
        self.judgement = None
        if not content.changes:
            return ""
        judgement = self.judgement = experiment_judging.judge(self.task, content.changes, content.result)
        if not experiment_judging.is_attempt(judgement):
            return ""
        lines = changes.as_lines(content.changes)
        more = outcomes.record(self._learning.progress, self.lesson, self.task, lines, judgement)
        if judgement.passed:
            self._end()
            self.state = replace(self.state, phase="passed", answered_before=False)
        return more

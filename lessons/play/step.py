"""A step that is read or run, and what steps of all kinds have in common."""

from __future__ import annotations

from typing import ClassVar

from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.play.learner_changes import LearnerChanges
from attn_tutor.lessons.play.learning import Learning
from attn_tutor.lessons.play.purpose import Purpose
from attn_tutor.lessons.play.runner import CHANGING, Runner
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.step_results import Runs
from attn_tutor.lessons.what_if.changes import UNCHANGED, ChangeHistory, Changes


class StepModel:
    """A step as a learner works on it.

    Attributes:
        runner: how the step gets its results.
        lesson, step: the step.
        purpose: why the learner has opened it.
        content: its result, as far as it is known.
    """

    runner: ClassVar[Runner] = Runner.WITH_CHANGES

    def __init__(
        self, learning: Learning, lesson: Lesson, step: Step, learner_changes: LearnerChanges, purpose: Purpose
    ) -> None:
        self._learning, self._learner_changes = learning, learner_changes
        self.lesson, self.step, self.purpose = lesson, step, purpose
        self.content = learning.results.at_once(lesson, step)

    def resume(self, earlier: StepModel) -> None:
        """Go on from an earlier visit to the same step; there is nothing to keep of a step that is read or run."""

    @property
    def history(self) -> ChangeHistory:
        """The learner's changes to the lesson, or to the step if it has its own."""
        own = self.runner is Runner.WITH_OWN_CHANGES
        return self._learner_changes.of(self.step.id) if own else self._learner_changes.lesson_history

    @history.setter
    def history(self, history: ChangeHistory) -> None:
        if self.runner is Runner.WITH_OWN_CHANGES:
            self._learner_changes.own[self.step.id] = history
        else:
            self._learner_changes.lesson_history = history

    @property
    def offers(self) -> frozenset[str]:
        """What a learner can do here now, besides looking, explaining and going on.

        To `run` the step, to `change` its numbers, and to open a `prompt` on it.
        """
        run = () if self.runner is Runner.ON_REQUEST else ("run",)
        return frozenset((*run, *(("change", "prompt") if self.runner in CHANGING else ())))

    @property
    def changes(self) -> Changes:
        """The learner's changes with which the step runs."""
        return self.history.current if self.runner in CHANGING else UNCHANGED

    def live(self, changes: Changes | None = None) -> Runs[StepContent]:
        """Have the lesson run up to the step, by default with the learner's changes. `take` takes what comes of it."""
        return self._learning.results.live(self.lesson, self.step, self.changes if changes is None else changes)

    def take(self, content: StepContent) -> str:
        """Take over what has come of a run; return what follows from it in a sentence, "" if nothing does."""
        self.content = content
        return ""

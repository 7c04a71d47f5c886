"""The learner's changes to the lesson that they are in, and to the steps there that have changes of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lessons.play.runner import RUNNERS, Runner
from lessons.what_if.changes import ChangeHistory

if TYPE_CHECKING:
    from lessons.format.lesson import Step


@dataclass(slots=True)
class LearnerChanges:
    """The learner's changes to one lesson: of all its steps together, and of each experiment by itself."""

    lesson_history: ChangeHistory = field(default_factory=ChangeHistory)
    _own_histories: dict[str, ChangeHistory] = field(default_factory=dict)

    def of(self, step: Step) -> ChangeHistory:
        """Return the changes that hold in a step."""
        if RUNNERS[step.kind] is Runner.WITH_OWN_CHANGES:
            return self._own_histories.get(step.id, ChangeHistory())
        return self.lesson_history

    def replace(self, step: Step, history: ChangeHistory) -> None:
        """Replace the changes that hold in a step."""
        if RUNNERS[step.kind] is Runner.WITH_OWN_CHANGES:
            self._own_histories[step.id] = history
        else:
            self.lesson_history = history

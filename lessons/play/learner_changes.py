"""The learner's changes to the lesson that they are in, and to the steps there that have changes of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

from attn_tutor.lessons.what_if.changes import ChangeHistory


@dataclass(slots=True)
class LearnerChanges:
    """The learner's changes to one lesson: of all its steps together, and by its id of each experiment by itself."""

    lesson_history: ChangeHistory = field(default_factory=ChangeHistory)
    own: dict[str, ChangeHistory] = field(default_factory=dict)

    def of(self, step: str) -> ChangeHistory:
        """Return the changes that hold in an experiment alone."""
        return self.own.get(step, ChangeHistory())

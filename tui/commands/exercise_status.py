"""The learner's progress on each exercise."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from attn_tutor.lessons.format.lesson import Course, Exercise
from attn_tutor.lessons.learner import review
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.texts.wording import Wording

say = Wording("command/status")


@dataclass(frozen=True, slots=True)
class ExerciseStatus:
    """The learner's progress on an exercise: `review` is the time of the next review, `due` whether it has come."""

    state: str
    passed: bool
    due: bool
    review: datetime | None

    @property
    def words(self) -> str:
        """Return the status in words, empty if there is nothing to say."""
        skipped = self.state == "skipped" and not self.passed
        words = (
            (self.passed, say("passed", "passed")),
            (skipped, say("skipped", "skipped")),
            (self.due, say("due", "due for review")),
        )
        return ", ".join(word for holds, word in words if holds)

    @property
    def document(self) -> dict[str, Any]:
        """Return the status as a part of a JSON document."""
        when = None if self.review is None else self.review.isoformat()
        return {"state": self.state, "passed": self.passed, "due": self.due, "review": when}


def exercise_statuses(course: Course, progress: Progress) -> dict[str, ExerciseStatus]:
    """Return how far the learner is with each exercise, by its id."""
    states, now = progress.states(), datetime.now(UTC)
    found = {}
    for lesson in course.lessons:
        for step in lesson.exercises:
            state, when = states.get((lesson.id, step.id), "new"), next_review(progress, step.exercise, step, now)
            passed = progress.passed(step.exercise)
            found[step.exercise] = ExerciseStatus(state, passed, when is not None and when <= now, when)
    return found


def next_review(progress: Progress, exercise: str, step: Exercise | None, now: datetime) -> datetime | None:
    """Return the time of an exercise's next review, None if there is none, as for a side step.

    `step` is the exercise as it stands in the course, None if it is not there any more.
    """
    if step is not None and step.side:
        return None
    return review.due_at(progress.attempts(exercise), progress.give_ups(exercise), now)

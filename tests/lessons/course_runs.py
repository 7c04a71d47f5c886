"""Shared runs of the lessons, for all tests that look at the results of the course."""

from __future__ import annotations

from lessons.engine.session import Session
from lessons.format.lesson import Lesson
from lessons.results.result import StepResult
from lessons.what_if.changes import UNCHANGED, Changes
from tests.course import EVERY_COURSE

Results = dict[str, StepResult]
"""The results of the steps of a lesson, by their ids."""


class CourseRuns:
    """The results of the lessons that ship; an unchanged lesson runs once, the first time that it is needed."""

    def __init__(self, worker: Session) -> None:
        self._worker = worker
        self._unchanged: dict[str, Results] = {}

    def __getitem__(self, lesson: str) -> Results:
        """Return the results of an unchanged lesson, by its id."""
        if lesson not in self._unchanged:
            self._unchanged[lesson] = self._run(EVERY_COURSE.lesson(lesson), UNCHANGED)
        return self._unchanged[lesson]

    def changed(self, lesson: Lesson, changes: Changes) -> Results:
        """Return the results of a lesson with a learner's changes, which may be none."""
        return self._run(lesson, changes) if changes else self[lesson.id]

    def _run(self, lesson: Lesson, changes: Changes) -> Results:
        run = self._worker.run(lesson, changes=changes)
        run.close()
        return {step.id: step for step in run.steps}

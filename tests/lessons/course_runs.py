"""Shared runs of the lessons, for all tests that look at the results of the course."""

from __future__ import annotations

from contextlib import closing

from lessons.engine.run import Run
from lessons.engine.session import Session
from lessons.format.lesson import FilledStep, Lesson
from lessons.results.code_unit import CodeUnit
from lessons.results.flow import Flow
from lessons.results.result import StepResult
from lessons.results.tensor_questions import FlowQuestion
from lessons.what_if.changes import Changes
from tests.course import EVERY_COURSE

Results = dict[str, StepResult]
"""The results of the steps of a lesson, by their ids."""


class CourseRuns:
    """The results of the lessons that ship; an unchanged lesson runs once, the first time that it is needed."""

    def __init__(self, worker: Session) -> None:
        self._worker = worker
        self._unchanged: dict[str, Results] = {}
        self._flows: dict[str, dict[str, Flow]] = {}

    def __getitem__(self, lesson: str) -> Results:
        """Return the results of an unchanged lesson, by its id."""
        if lesson not in self._unchanged:
            found = EVERY_COURSE.lesson(lesson)
            with closing(self._worker.run(found)) as run:
                self._flows[lesson] = flows_of(run, found)
            self._unchanged[lesson] = results_of(run)
        return self._unchanged[lesson]

    def flows(self, lesson: str) -> dict[str, Flow]:
        """Return the flow of each step of an unchanged lesson that shows tensors."""
        assert self[lesson]
        return self._flows[lesson]

    def changed(self, lesson: Lesson, changes: Changes) -> Results:
        """Return the results of a lesson with a learner's changes, which may be none."""
        if not changes:
            return self[lesson.id]
        with closing(self._worker.run(lesson, changes=changes)) as run:
            return results_of(run)


def flows_of(run: Run, lesson: Lesson) -> dict[str, Flow]:
    """Ask a run of a lesson for the flow of each step that may show tensors."""
    found = {}
    for step in lesson.steps:
        if isinstance(step, FilledStep):
            flow = run.ask(FlowQuestion((), (), CodeUnit.step(step.id)))
            assert isinstance(flow, Flow), (step.id, flow)
            found[step.id] = flow
    return found


def results_of(run: Run) -> Results:
    """Return the results of the steps of a run, by their ids."""
    return {step.id: step for step in run.steps}

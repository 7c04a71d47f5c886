"""Shared runs of the lessons, for all tests that look at the results of the course."""

from __future__ import annotations

import fcntl
import pickle
from contextlib import closing
from pathlib import Path

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import FilledStep, Lesson
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.results.tensor_questions import FlowQuestion
from attn_tutor.lessons.what_if.changes import Changes
from tests.course import EVERY_COURSE

Results = dict[str, StepResult]
"""The results of the steps of a lesson, by their ids."""


class CourseRuns:
    """The results of the lessons that ship; an unchanged lesson runs once, the first time that it is needed.

    Args:
        worker: runs the lessons.
        folder: keeps the results for all parallel test processes. The others wait for the one that runs a lesson.
    """

    def __init__(self, worker: Session, folder: Path) -> None:
        self._worker = worker
        self._folder = folder
        self._unchanged: dict[str, tuple[Results, dict[str, Flow]]] = {}

    def __getitem__(self, lesson: str) -> Results:
        """Return the results of an unchanged lesson, by its id."""
        return self._run_once(lesson)[0]

    def flows(self, lesson: str) -> dict[str, Flow]:
        """Return the flow of each step of an unchanged lesson that shows tensors."""
        return self._run_once(lesson)[1]

    def _run_once(self, lesson: str) -> tuple[Results, dict[str, Flow]]:
        if lesson not in self._unchanged:
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / f"{lesson}.pickle").open("a+b") as file:
                fcntl.flock(file, fcntl.LOCK_EX)
                file.seek(0)
                if kept := file.read():
                    self._unchanged[lesson] = pickle.loads(kept)
                else:
                    self._unchanged[lesson] = self._run(EVERY_COURSE.lesson(lesson))
                    file.write(pickle.dumps(self._unchanged[lesson]))
        return self._unchanged[lesson]

    def _run(self, lesson: Lesson) -> tuple[Results, dict[str, Flow]]:
        with closing(self._worker.run(lesson)) as run:
            flows = flows_of(run, lesson)
        return results_of(run), flows

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

"""The state that all parts of the dialogue share: the course, the learner's progress, and the session."""

from __future__ import annotations

from typing import NamedTuple

from lessons.format.lesson import Course, Lesson, Step
from lessons.learner.progress import Progress
from lessons.play import step_content
from lessons.play.drafts import Drafts
from lessons.play.exercise_help import ExerciseHelp
from lessons.play.recorded_results import RecordedResults
from lessons.play.step_content import StepContent
from lessons.play.step_results import TrainingReplays
from lessons.results.result import StepResult
from lessons.what_if.changes import UNCHANGED, Changes
from tui.plain.console import Console
from tui.plain.waiting_session import WaitingSession


class PlainState(NamedTuple):
    """The course, the learner's progress, the session that runs code, and what is known so far."""

    course: Course
    progress: Progress
    console: Console
    session: WaitingSession
    drafts: Drafts
    help: ExerciseHelp
    replays: TrainingReplays
    recorded: RecordedResults
    bases: dict[tuple[str, str], StepResult]
    """Results without changes, by lesson and step."""

    def at_once(self, lesson: Lesson, step: Step) -> StepContent:
        """Return what is known of a step before it has run."""
        return step_content.at_once(step, self.recorded.result(lesson, step.id))

    def live(self, lesson: Lesson, step: Step, changes: Changes = UNCHANGED) -> StepContent:
        """Run the lesson up to a step. Raises `WorkerError`, or `ChangeError` for a change that cannot be made."""
        base = self.bases.get((lesson.id, step.id))
        if base is None or not changes:
            run = self.session.run(lesson, step.id)
            base = self.bases[lesson.id, step.id] = run.result(step.id) or run.steps[-1]
        if changes:
            run = self.session.run(lesson, step.id, changes)
        result = run.result(step.id) or run.steps[-1]
        return step_content.of_run(result, base, self.recorded.result(lesson, step.id), changes)

"""The results of the steps of a lesson that its author is writing: none is recorded, and the last one is kept."""

from __future__ import annotations

from attn_tutor.lessons.format.lesson import Lesson, RunningStep, Step
from attn_tutor.lessons.play import step_content
from attn_tutor.lessons.play.recorded_results import NothingRecorded
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.step_results import Runs, StepResults
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.what_if.changes import UNCHANGED


class PreviewResults(StepResults):
    """The results of the steps. `prepare` runs a step before it is shown, so that nothing moves once it is."""

    def __init__(self) -> None:
        super().__init__(NothingRecorded())
        self._prepared: dict[str, StepResult] = {}

    def prepare(self, step: Step) -> Runs[None]:
        """Have a new version of a lesson run up to a step."""
        self._prepared.clear()
        if isinstance(step, RunningStep):
            run = yield UNCHANGED
            self._prepared[step.id] = run.result(step.id) or run.steps[-1]

    def unchanged(self, lesson: Lesson, step: Step) -> StepResult | None:
        """Return what the step has computed without changes, None if it has not run."""
        return self._bases.get((lesson.id, step.id))

    def at_once(self, lesson: Lesson, step: Step) -> StepContent:
        """Return what the step has computed just now, if anything."""
        found = self._prepared.pop(step.id, None)
        if found is None:
            return super().at_once(lesson, step)
        return step_content.of_run(found, found, None)

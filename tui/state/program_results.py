"""The results of the pages of a program of one's own, compared with those of the version before."""

from __future__ import annotations

from dataclasses import replace

from attn_tutor.lessons.engine.programs.program_session import ProgramRun
from attn_tutor.lessons.format.lesson import Lesson, RunStep, Step
from attn_tutor.lessons.play.recorded_results import NothingRecorded
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.step_results import Runs, StepResults
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes


class ProgramResults(StepResults):
    """The results of the pages. Those of the version before are kept to compare with."""

    def __init__(self) -> None:
        super().__init__(NothingRecorded())
        self._before: ProgramRun | None = None

    def compare_with(self, before: ProgramRun) -> None:
        """Compare what is shown with the results of an earlier version from now on."""
        if self._before is not None and self._before is not before:
            self._before.release()
        self._before = before
        self.forget()

    def live(self, lesson: Lesson, step: Step, changes: Changes = UNCHANGED) -> Runs[StepContent]:
        """Have the program run, if it has not just been run with these changes."""
        content = yield from super().live(lesson, step, changes)
        if changes or self._before is None or not isinstance(step, RunStep):
            return content
        tensors = self._before.tensors([shown.name for shown in step.show])
        return replace(content, base=replace(content.result, tensors=tuple(tensors)))

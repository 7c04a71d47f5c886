"""The results of the pages of a program of one's own, and what is kept of a learner beside it: nothing."""

from __future__ import annotations

from dataclasses import replace

from lessons.engine.programs.program_session import ProgramRun
from lessons.format.lesson import Lesson, RunStep, Step
from lessons.learner.progress import Progress
from lessons.play.step_content import StepContent
from lessons.play.step_results import Runs, StepResults
from lessons.results.result import StepResult
from lessons.what_if.changes import UNCHANGED, Changes


class NoProgress(Progress):
    """Progress that is in no file. What a learner does with a program of their own says nothing about the course."""

    def __init__(self) -> None:
        super().__init__(None)

    @property
    def problem(self) -> str | None:
        """None: nothing is to be saved."""
        return None

    @property
    def saved(self) -> bool:
        """True: nothing is to be saved."""
        return True


class ProgramResults(StepResults):
    """The results of the pages; there are no recorded ones. Those of the version before are kept to compare with."""

    def __init__(self) -> None:
        super().__init__()
        self._before: ProgramRun | None = None

    def recorded(self, lesson: Lesson, step: str) -> StepResult | None:
        """Return None: nobody has recorded a program of one's own."""
        return None

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


class FileResults(ProgramResults):
    """The results of the pages of a file of tensors."""

    def compare_with(self, before: ProgramRun) -> None:
        """Forget what was read: a file that is read again is not compared."""
        self.forget()

"""Results of steps: recorded ones at once, live ones when the worker has them, with changes or without."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lessons import record
from lessons.changes import UNCHANGED, Changes
from lessons.model import Lesson, Step
from lessons.result import StepResult
from tui.engine import Engine


@dataclass(frozen=True, slots=True)
class Shown:
    """A result, of what sort it is in a few words, and the result without changes if there are any."""

    result: StepResult
    note: str
    base: StepResult | None = None


class Results:
    """The results of all steps that were looked at."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._recorded: dict[str, dict[str, StepResult]] = {}
        self._bases: dict[tuple[str, str], StepResult] = {}

    def of(self, lesson: Lesson) -> dict[str, StepResult]:
        """The recorded results of a lesson, read once."""
        if lesson.id not in self._recorded:
            self._recorded[lesson.id] = record.load(lesson)
        return self._recorded[lesson.id]

    def at_once(self, lesson: Lesson, step: Step) -> Shown:
        """What can be shown before the step has run."""
        recorded = self.of(lesson).get(step.id)
        return Shown(recorded or StepResult(step.id), "recorded" if recorded else "not run yet")

    def forget(self) -> None:
        """Another lesson: what was run without changes is of no more use."""
        self._bases.clear()

    async def live(self, lesson: Lesson, step: Step, changes: Changes = UNCHANGED) -> Shown:
        """Run the lesson up to a step. Raises `WorkerError`, or `ChangeError` for a change that cannot be made."""
        base = self._bases.get((lesson.id, step.id))
        if base is None or not changes:
            run = await self._engine.run(lesson, step.id)
            base = self._bases[lesson.id, step.id] = run.result(step.id) or run.steps[-1]
        if changes:
            run = await self._engine.run(lesson, step.id, changes)
        result = run.result(step.id) or run.steps[-1]
        note = f"live, {result.seconds * 1000:.0f} ms"
        recorded = self.of(lesson).get(step.id)
        if result.error is not None and changes:
            # What the changed run did not come to is shown as it was.
            result = replace(base, stdout=result.stdout, error=result.error, notes=result.notes)
            note = "before the change"
        elif result.error is not None and recorded is not None:
            # What the run did not come to is shown as it was recorded.
            result = replace(recorded, stdout=result.stdout, error=result.error)
            note = "recorded"
        return Shown(result, note, base if changes else None)

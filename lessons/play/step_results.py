"""Results of steps: recorded ones at once, and live ones when the worker has them.

For trainings, snapshots: the recorded ones, until the learner has trained.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

from attn_tutor.lessons.engine import training
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.format.lesson import Lesson, Step, TrainStep
from attn_tutor.lessons.play import step_content
from attn_tutor.lessons.play.recorded_results import Recorded, RecordedResults
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.training_replay import TrainingReplay
from attn_tutor.lessons.results.result import StepResult, Training
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes

T = TypeVar("T")

Runs = Generator[Changes, Run, T]
"""Work that needs runs of a lesson up to a step: it yields the changes to run with, takes each run, and returns.

Whoever drives it waits in their own way, so the work is written once for those that block and those that must not.
"""


def finish(runs: Runs[T], run: Callable[[Changes], Run]) -> T:
    """Drive work that needs runs, with a function that waits for each, and return what it returns."""
    try:
        wanted = next(runs)
        while True:
            wanted = runs.send(run(wanted))
    except StopIteration as end:
        returned: T = end.value
        return returned


class StepResults:
    """The results of all steps that were shown."""

    def __init__(self, recorded: Recorded | None = None) -> None:
        self._recorded = recorded or RecordedResults()
        self._bases: dict[tuple[str, str], StepResult] = {}

    def at_once(self, lesson: Lesson, step: Step) -> StepContent:
        """Return what can be shown before the step has run."""
        return step_content.at_once(step, self.recorded(lesson, step.id))

    def recorded(self, lesson: Lesson, step: str) -> StepResult | None:
        """Return the recorded result of a step, None if there is none."""
        return self._recorded.result(lesson, step)

    def forget(self) -> None:
        """Discard the results without changes, because the lesson is a different one."""
        self._bases.clear()

    def live(self, lesson: Lesson, step: Step, changes: Changes = UNCHANGED) -> Runs[StepContent]:
        """Have the lesson run up to a step, first without changes if that is not known."""
        key = (lesson.id, step.id)
        if not changes or key not in self._bases:
            self._bases[key] = _result_of(step, (yield UNCHANGED))
        base = result = self._bases[key]
        if changes:
            result = _result_of(step, (yield changes))
        return step_content.of_run(result, base, self.recorded(lesson, step.id), changes)


def _result_of(step: Step, run: Run) -> StepResult:
    """Return the result of a step, or of the last one that a run reached."""
    return run.result(step.id) or run.steps[-1]


class TrainingReplays:
    """The replays of all trainings that were shown or run since the tutor was opened."""

    def __init__(self) -> None:
        self._recorded: dict[tuple[str, str], TrainingReplay] = {}
        # Keep the previous one too: the new one may end without a snapshot.
        self._own: dict[tuple[str, str, Changes], list[TrainingReplay]] = {}

    def of(self, lesson: Lesson, step: TrainStep, changes: Changes = UNCHANGED) -> TrainingReplay:
        """Return the learner's own training with these changes, else without any, else the recorded one."""
        for those in (changes, UNCHANGED):
            if own := self._own.get((lesson.id, step.id, those)):
                return own[-1]
        if (lesson.id, step.id) not in self._recorded:
            recorded = training.load_recorded(lesson, step)
            self._recorded[lesson.id, step.id] = TrainingReplay(recorded.snapshots, seconds=recorded.seconds)
        return self._recorded[lesson.id, step.id]

    def begin(self, lesson: Lesson, step: TrainStep, changes: Changes = UNCHANGED) -> TrainingReplay:
        """Start the replay of a new training, which replaces an earlier one with the same changes."""
        key = (lesson.id, step.id, changes)
        replay = TrainingReplay(state="starting", changes=changes)
        self._own[key] = [*self._own.get(key, [])[-1:], replay]
        return replay

    def end(self, replay: TrainingReplay, ended: Training) -> None:
        """End a training. If it has no snapshot, its replay is discarded."""
        replay.end(ended)
        if not replay.snapshots:
            for own in self._own.values():
                own[:] = [each for each in own if each is not replay]

    def last_duration(self, lesson: Lesson, step: TrainStep) -> float | None:
        """Return the seconds that the last training took, with any changes; None if there was none."""
        own = [replay for (*key, _), replays in self._own.items() if key == [lesson.id, step.id] for replay in replays]
        return next((replay.seconds for replay in reversed(own) if replay.state == "trained"), None)

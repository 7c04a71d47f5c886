"""How results come of runs, whoever waits for them."""

from __future__ import annotations

from typing import cast

import pytest

from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.play.recorded_results import NothingRecorded
from attn_tutor.lessons.play.step_results import StepResults, finish
from attn_tutor.lessons.results.result import Failure, StepResult, WorkerError
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes
from tests.lessons.lesson_builders import code_step, lesson_of

LESSON = lesson_of(
    code_step("one", "n = 2", prose="Look."),
    knobs=[{"kind": "number", "name": "n", "label": "N", "find": "n = 2", "replace": "n = {value}", "default": 2,
            "values": [1, 2, 4]}],
)  # fmt: skip
STEP = LESSON.steps[0]
ONE = UNCHANGED.with_knob(LESSON, "n", 1)


class Runs:
    """A worker that runs at once; what a run printed says with which changes it ran."""

    def __init__(self, error: Failure | None = None) -> None:
        self.asked: list[Changes] = []
        self.error = error

    def run(self, changes: Changes) -> Run:
        self.asked.append(changes)
        error = self.error if changes else None
        steps = (StepResult("one", stdout="changed" if changes else "as written", error=error),)

        class Ended:
            def __init__(self) -> None:
                self.steps = steps

            def result(self, step: str) -> StepResult | None:
                return steps[0]

        return cast(Run, Ended())


@pytest.fixture
def results() -> StepResults:
    return StepResults(NothingRecorded())


def test_without_changes_the_lesson_runs_each_time(results: StepResults) -> None:
    runs = Runs()
    for _ in range(2):
        content = finish(results.live(LESSON, STEP), runs.run)
        assert (content.result.stdout, content.base) == ("as written", None)
    assert runs.asked == [UNCHANGED, UNCHANGED]


def test_what_is_known_without_changes_is_not_run_again(results: StepResults) -> None:
    runs = Runs()
    for _ in range(2):
        content = finish(results.live(LESSON, STEP, ONE), runs.run)
        assert content.base is not None
        assert (content.result.stdout, content.base.stdout, content.changes) == ("changed", "as written", ONE)
    assert runs.asked == [UNCHANGED, ONE, ONE]
    results.forget()
    finish(results.live(LESSON, STEP, ONE), runs.run)
    assert runs.asked[3:] == [UNCHANGED, ONE]


def test_a_change_that_stops_the_lesson_leaves_the_numbers_of_before(results: StepResults) -> None:
    content = finish(results.live(LESSON, STEP, ONE), Runs(Failure("error", "No.")).run)
    assert content.result.error is not None
    assert content.note == "before the change"


def test_an_error_of_the_worker_reaches_whoever_waits(results: StepResults) -> None:
    def fails(_: Changes) -> Run:
        raise WorkerError("gone")

    with pytest.raises(WorkerError, match="gone"):
        finish(results.live(LESSON, STEP), fails)

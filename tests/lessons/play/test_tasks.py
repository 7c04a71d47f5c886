"""Questions and experiments: hints, giving up, what is recorded, and what changes lead to."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.kinds import model_of
from attn_tutor.lessons.play.step import Learning
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.task import ExperimentModel
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.what_if import changes
from attn_tutor.lessons.what_if.changes import UNCHANGED
from tests.lessons.experiment_builders import experiment, experiment_lesson

LESSON = experiment_lesson()
STEP = experiment(LESSON)
CHANGES = changes.read_lines(LESSON, "source[0] = 0")
RIGHT = STEP.condition(STEP.ways[0]).key
DONE = StepContent(StepResult("swap", text={"pair[0]:.0f": "0", "total:.0f": "20", RIGHT: "true"}), changes=CHANGES)


@pytest.fixture
def progress() -> Iterator[Progress]:
    progress = Progress(None)
    yield progress
    progress.close()


@pytest.fixture
def model(progress: Progress) -> ExperimentModel:
    found = model_of(Learning.begin(Course(lessons=(LESSON,)), progress), LESSON, STEP)
    assert isinstance(found, ExperimentModel)
    return found


def test_hints_are_recorded_until_there_are_none(model: ExperimentModel, progress: Progress) -> None:
    for number in range(1, len(STEP.hints) + 1):
        assert model.has_hints
        assert model.take_hint()
        assert (len(model.hints_read), progress.hints_used(STEP.exercise)) == (number, number)
    assert not model.take_hint()


def test_giving_up_is_to_be_asked_for_twice_in_a_row(model: ExperimentModel, progress: Progress) -> None:
    assert not model.give_up()
    model.go_on()
    assert not model.give_up()
    assert not progress.gave_up(STEP.exercise)
    assert model.give_up()
    assert progress.gave_up(STEP.exercise)
    assert not model.state.is_open


def test_changes_are_judged_once(model: ExperimentModel, progress: Progress) -> None:
    model.give_up()
    model.take(DONE)
    assert model.judgement is not None
    assert model.judgement.passed, model.judgement
    assert (model.state.phase, model.state.gives_up_next) == ("passed", False)
    model.take(DONE)
    assert len(progress.attempts(STEP.exercise)) == 1


def test_without_changes_there_is_nothing_to_judge(model: ExperimentModel, progress: Progress) -> None:
    model.take(DONE)
    model.take(replace(DONE, changes=UNCHANGED))
    assert model.judgement is None
    assert len(progress.attempts(STEP.exercise)) == 1


def test_changes_that_hold_when_the_experiment_is_opened_again_are_no_new_attempt(
    model: ExperimentModel, progress: Progress
) -> None:
    model.take(DONE)
    again = model_of(Learning.begin(Course(lessons=(LESSON,)), progress), LESSON, STEP)
    assert isinstance(again, ExperimentModel)
    again.resume(model)
    again.take(DONE)
    assert len(progress.attempts(STEP.exercise)) == 1
    assert (again.judgement, again.state.answered_before) == (model.judgement, True)

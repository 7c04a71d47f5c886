"""Recording an outcome: the attempt, and the consequences of passing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lessons.format.lesson import ExerciseStep
from lessons.learner import milestones, outcomes
from lessons.learner.progress import Progress
from lessons.results.result import Judgement, NamedMistake
from tests.course import COURSE, outline_of_course

LESSON, EXERCISE = COURSE.exercise("two-wide")
CHALLENGED = next(lesson for lesson in COURSE.lessons if lesson.challenge)
PASSED = Judgement("any", "passed", "All checks pass.")


@pytest.fixture
def progress() -> Iterator[Progress]:
    progress = Progress.open()
    yield progress
    progress.close()


def test_a_stopped_check_is_no_attempt(progress: Progress) -> None:
    stopped = Judgement("two-wide", "error", "Stopped by you.", stopped=True)
    assert outcomes.record(progress, LESSON, EXERCISE, "x", stopped) == ""
    assert progress.attempts("two-wide") == []


def test_a_failed_answer_is_recorded_with_its_mistakes(progress: Progress) -> None:
    mistakes = (NamedMistake("no-scale", "no scaling", "Scale."), NamedMistake("both", "both", "Two."))
    failed = Judgement("two-wide", "failed", "Not so.", mistakes=mistakes)
    assert outcomes.record(progress, LESSON, EXERCISE, "x", failed) == ""
    [attempt] = progress.attempts("two-wide")
    assert (attempt.code, attempt.verdict, attempt.mistakes, attempt.message) == (
        "x", "failed", ("no-scale", "both"), "Not so."
    )  # fmt: skip
    assert progress.state(LESSON.id, EXERCISE.id) == "new"


def test_a_passed_exercise_is_done(progress: Progress) -> None:
    assert isinstance(EXERCISE, ExerciseStep)
    assert not EXERCISE.challenge
    assert outcomes.record(progress, LESSON, EXERCISE, "y", PASSED) == ""
    assert [(each.code, each.message) for each in progress.attempts("two-wide")] == [("y", "All checks pass.")]
    assert progress.states() == {(LESSON.id, EXERCISE.id): "done"}


def test_a_passed_challenge_tests_out_of_the_lesson(progress: Progress) -> None:
    assert CHALLENGED.challenge is not None
    progress.visit(CHALLENGED.id, CHALLENGED.steps[1].id)
    said = outcomes.record(progress, CHALLENGED, CHALLENGED.challenge, "y", PASSED, challenged=True)
    left = len(CHALLENGED.steps) - 1
    assert said == f"You have tested out of this lesson: its other {left} steps are marked skipped."
    assert {progress.state(CHALLENGED.id, step.id) for step in CHALLENGED.steps} == {"done", "skipped"}
    assert milestones.tested_out(CHALLENGED, progress)
    assert milestones.state_of(CHALLENGED, progress) == ("done", "tested out")
    # The step where they were is behind them.
    assert progress.position() == (CHALLENGED.id, CHALLENGED.challenge.id)
    assert outcomes.record(progress, CHALLENGED, CHALLENGED.challenge, "y", PASSED, challenged=True) == ""


def test_the_challenge_of_another_lesson_leaves_the_learner_where_they_work(progress: Progress) -> None:
    assert CHALLENGED.challenge is not None
    other = next(lesson for lesson in COURSE.lessons if lesson is not CHALLENGED)
    progress.visit(other.id, other.steps[1].id)
    outcomes.record(progress, CHALLENGED, CHALLENGED.challenge, "y", PASSED, challenged=True)
    lesson, step = milestones.current_step(outline_of_course(), progress)
    assert (lesson.id, step) == (other.id, other.steps[1].id)


def test_a_challenge_met_on_the_way_tests_nobody_out(progress: Progress) -> None:
    """Also if an exercise before it was skipped; then the lesson is not done, and not tested out of."""
    assert CHALLENGED.challenge is not None
    skipped = next(step for step in CHALLENGED.exercises if step is not CHALLENGED.challenge)
    for step in CHALLENGED.steps:
        if step not in (skipped, CHALLENGED.challenge, CHALLENGED.steps[-1]):
            progress.set_state(CHALLENGED.id, step.id, "done")
    assert milestones.leave(progress, CHALLENGED, skipped)
    assert outcomes.record(progress, CHALLENGED, CHALLENGED.challenge, "y", PASSED) == ""
    last = CHALLENGED.steps[-1]
    assert last is not CHALLENGED.challenge
    assert progress.state(CHALLENGED.id, last.id) == "new"
    milestones.leave(progress, CHALLENGED, last)
    count = len(CHALLENGED.steps)
    assert milestones.state_of(CHALLENGED, progress) == ("skipped", f"{count - 1}/{count}, rest skipped")
    assert not milestones.tested_out(CHALLENGED, progress)
    progress.set_state(CHALLENGED.id, skipped.id, "done")
    assert milestones.state_of(CHALLENGED, progress) == ("done", "done")


def test_a_challenge_after_all_earlier_steps_skips_none(progress: Progress) -> None:
    challenge = CHALLENGED.challenge
    assert challenge is not None
    index = CHALLENGED.index(challenge.id)
    for step in CHALLENGED.steps[:index]:
        progress.set_state(CHALLENGED.id, step.id, "done")
    assert outcomes.record(progress, CHALLENGED, challenge, "y", PASSED, challenged=True) == ""
    assert {progress.state(CHALLENGED.id, step.id) for step in CHALLENGED.steps[index + 1 :]} <= {"new"}

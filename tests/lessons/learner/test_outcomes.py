"""Recording an outcome: the attempt, and the consequences of passing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lessons.format.lesson import ExerciseStep
from lessons.learner import outcomes
from lessons.learner.progress import Progress
from lessons.results.result import Judgement, NamedMistake
from tests.course import COURSE

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
    said = outcomes.record(progress, CHALLENGED, CHALLENGED.challenge, "y", PASSED)
    left = len(CHALLENGED.steps) - 1
    assert said == f"You have tested out of this lesson: its other {left} steps are marked skipped."
    assert {progress.state(CHALLENGED.id, step.id) for step in CHALLENGED.steps} == {"done", "skipped"}
    assert outcomes.record(progress, CHALLENGED, CHALLENGED.challenge, "y", PASSED) == ""


def test_a_challenge_after_all_earlier_steps_skips_none(progress: Progress) -> None:
    challenge = CHALLENGED.challenge
    assert challenge is not None
    index = CHALLENGED.index(challenge.id)
    for step in CHALLENGED.steps[:index]:
        progress.set_state(CHALLENGED.id, step.id, "done")
    assert outcomes.record(progress, CHALLENGED, challenge, "y", PASSED) == ""
    assert {progress.state(CHALLENGED.id, step.id) for step in CHALLENGED.steps[index + 1 :]} <= {"new"}

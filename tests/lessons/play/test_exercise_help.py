"""Which help a learner gets with an exercise, and what the progress records of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.exercise_help import ExerciseHelp
from tests.tui.learner import task

STEP = task("3.2")
NAME = STEP.exercise


@pytest.fixture
def progress() -> Iterator[Progress]:
    progress = Progress(None)
    yield progress
    progress.close()


@pytest.fixture
def help_(progress: Progress) -> ExerciseHelp:
    help_ = ExerciseHelp(progress)
    help_.open(STEP)
    return help_


def pass_exercise(progress: Progress) -> None:
    progress.add_attempt(NAME, STEP.solution, "passed")


def test_hints_come_first_and_are_recorded(help_: ExerciseHelp, progress: Progress) -> None:
    for number in range(1, len(STEP.hints) + 1):
        assert help_.next == "hint"
        help_.use_hint()
        assert progress.hints_used(NAME) == number
    assert help_.next == "give up"
    assert not help_.solution_is_open


def test_giving_up_opens_the_model_answer_until_it_is_taken_back(help_: ExerciseHelp, progress: Progress) -> None:
    help_.give_up("mine")
    assert (help_.next, help_.gave_up, progress.gave_up(NAME)) == ("solution", True, True)
    assert [archived.code for archived in progress.archived(NAME)] == ["mine"]
    help_.take_back_give_up()
    assert (help_.next, help_.gave_up, progress.gave_up(NAME)) == ("hint", False, False)


def test_a_passed_exercise_explains_itself(help_: ExerciseHelp, progress: Progress) -> None:
    assert not help_.begin_review(STEP)
    pass_exercise(progress)
    assert (help_.next, help_.gave_up) == ("why it works", False)


def test_an_exercise_under_review_starts_without_hints_and_without_the_model_answer(
    help_: ExerciseHelp, progress: Progress
) -> None:
    help_.use_hint()
    pass_exercise(progress)
    assert help_.begin_review(STEP)
    assert not help_.begin_review(STEP)
    help_.open(STEP)
    assert (help_.hints, help_.next, help_.solution_is_open) == (0, "hint", False)
    help_.give_up("mine")
    assert help_.gave_up
    help_.forget(NAME)
    assert (help_.under_review, help_.solution_is_open, help_.gave_up) == (False, True, False)


def test_opening_an_exercise_forgets_a_first_request_to_give_up(help_: ExerciseHelp) -> None:
    help_.gives_up_next = True
    help_.open(STEP)
    assert not help_.gives_up_next

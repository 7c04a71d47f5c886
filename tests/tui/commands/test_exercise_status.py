"""How far a learner is with each exercise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.tui.commands.exercise_status import ExerciseStatus, exercise_statuses
from tests.course import COURSE


@pytest.fixture
def progress() -> Iterator[Progress]:
    progress = Progress.open()
    yield progress
    progress.close()


@pytest.mark.parametrize(
    ("state", "passed", "due", "words"),
    [
        ("new", False, False, ""),
        ("seen", False, False, ""),
        ("done", True, False, "passed"),
        ("done", True, True, "passed, due for review"),
        ("skipped", False, False, "skipped"),
        ("skipped", False, True, "skipped, due for review"),
        # A skipped exercise can be passed, for example by a check of a file.
        ("skipped", True, False, "passed"),
    ],
)
def test_words(state: str, passed: bool, due: bool, words: str) -> None:
    assert ExerciseStatus(state, passed, due, None).words == words


def test_statuses(progress: Progress) -> None:
    progress.set_state("stacked-heads", "two-wide", "skipped")
    progress.give_up("two-wide")
    statuses = exercise_statuses(COURSE, progress)
    assert set(statuses) == {step.exercise for lesson in COURSE.lessons for step in lesson.exercises}
    assert statuses["same-numbers"] == ExerciseStatus("new", False, False, None)
    status = statuses["two-wide"]
    assert (status.state, status.passed, status.due) == ("skipped", False, False)
    assert status.review is not None
    assert status.document["review"] == status.review.isoformat()
    progress.take_back_give_up("two-wide")
    assert exercise_statuses(COURSE, progress)["two-wide"].review is None

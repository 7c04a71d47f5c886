"""A verdict gives one piece of advice: beside a mistake that an edit has found, an exception suggests no other edit."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.reading.own_edits import OwnEdits
from tests.exam.answer_exam import exercise_of

SEED = 5
MOST_EDITS, MOST_TRIED = 200, 5


def failing(worker: Session, exercise: ExerciseStep) -> Iterator[tuple[str, str]]:
    """Yield small edits of the model answer that end with an exception, each with the message as it is untried."""
    for edit in OwnEdits(exercise.solution, MOST_EDITS).repairs:
        judgement = worker.check(exercise, edit.code, SEED, diagnosis="none")
        if judgement.verdict == "error" and edit.kind in ("other-name", "transpose-missing", "sides-exchanged"):
            yield edit.code, judgement.message


@pytest.mark.slow
@pytest.mark.parametrize("name", ["next-state", "recurrent-encoder", "scaled-attention"])
def test_an_exception_suggests_nothing_beside_a_mistake_that_is_named(worker: Session, name: str) -> None:
    exercise = exercise_of(name)
    named = 0
    for code, untried in itertools.islice(failing(worker, exercise), MOST_TRIED):
        judgement = worker.check(exercise, code, SEED)
        if any(item.name for item in judgement.mistakes):
            named += 1
            assert judgement.message == untried, code
    assert named


def test_the_wrong_matrix_is_no_missing_transposition(worker: Session) -> None:
    exercise = exercise_of("next-state")
    code = exercise.solution.replace("state @ W_state", "state @ W_in")
    judgement = worker.check(exercise, code, SEED)
    assert [item.id for item in judgement.mistakes] == ["other-name"]
    assert "W_in.T" not in judgement.message

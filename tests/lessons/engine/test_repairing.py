"""A wrong answer whose mistake is found by undoing it."""

from __future__ import annotations

from typing import Any

import pytest

from lessons.engine import repairing
from lessons.engine.session import Session
from lessons.format.exercises import Variant
from tests.lessons.lesson_builders import ATTENTION, DOUBLED, attention_exercise, doubling_exercise

TIMES = ATTENTION.replace("weights @ values", "weights * values")
COUNTED = "def double(x):\n    i, step = 0, 1\n    while i < 2:\n        i += step\n    return i * x\n"
"""An answer of which a part can be replaced so that it does not end."""


def test_a_mistake_that_the_exercise_does_not_list_is_named_with_its_line(worker: Session) -> None:
    judgement = worker.check(attention_exercise(), TIMES, seed=1)
    [named] = judgement.mistakes
    assert (named.id, named.line, judgement.line) == ("place-by-place", 7, 7)
    assert "With a matrix product in `weights * values`, every check passes." in named.text


def test_an_exception_has_the_line_where_it_was_raised(worker: Session) -> None:
    source = ATTENTION.replace("queries @ keys.T", "(queries @ keys.T)[:, :2]")
    judgement = worker.check(attention_exercise(), source, seed=1)
    assert judgement.verdict == "error"
    [named] = judgement.mistakes
    assert (named.line, judgement.line) == (5, 7)


def test_an_accepted_answer_is_a_model_as_well(worker: Session) -> None:
    exercise = doubling_exercise()
    assert not worker.check(exercise, COUNTED.replace("i * x", "i - x"), seed=1).mistakes
    exercise = exercise.model_copy(update={"accepted": (Variant(name="counted", code=COUNTED),)})
    [named] = worker.check(exercise, COUNTED.replace("i * x", "i - x"), seed=1).mistakes
    assert (named.id, named.line) == ("operator", 5)


def test_copies_that_do_not_end_give_no_name(worker: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repairing, "WALL", 0.3)
    exercise = doubling_exercise().model_copy(update={"solution": COUNTED})
    wrong = COUNTED.replace("i, step = 0, 1", "i, step = 0, -1").replace("while i < 2", "while i > -2")
    assert not worker.check(exercise, wrong, seed=1).mistakes


@pytest.mark.parametrize("source", ["import os\nos._exit(0)", "x = 1"])
def test_nothing_is_tried_for_a_program_that_does_not_give_numbers(
    worker: Session, monkeypatch: pytest.MonkeyPatch, source: str
) -> None:
    def find(*_: Any) -> None:
        raise AssertionError

    monkeypatch.setattr(repairing, "find", find)
    assert not worker.check(doubling_exercise(), source, seed=1).passed


def test_a_proof_tries_no_repairs(worker: Session) -> None:
    assert not worker.check(attention_exercise(), TIMES, seed=1, diagnosis="mistakes").mistakes
    assert worker.check(doubling_exercise(), DOUBLED, seed=1).passed

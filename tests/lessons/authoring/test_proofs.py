"""What an author is promised of an exercise is proved by running it, and every broken promise is a finding."""

from __future__ import annotations

from typing import Any

import pytest

from lessons.authoring import proofs
from lessons.authoring.proofs import Proof
from lessons.engine.session import Session
from tests.lessons.lesson_builders import ATTENTION, attention_exercise, lesson_of


def proved(worker: Session, **fields: Any) -> Proof:
    exercise = attention_exercise(**fields)
    lesson = lesson_of(exercise.model_dump(by_alias=True))
    return proofs.prove(lesson, exercise, worker)


def problems(found: Proof) -> list[str]:
    return [finding.problem.removeprefix("exercise 'attending': ") for finding in found.findings]


def test_a_whole_exercise_keeps_every_promise(worker: Session) -> None:
    found = proved(worker)
    assert problems(found) == []
    assert (found.solution, found.seeds) == (10, 10)
    assert found.mistakes == {"columns": True, "no-scale": True, "no-transpose": True}
    assert found.accepted == {"queries scaled": True}
    assert len(found.cheats) == 7
    assert all(found.cheats.values())


def test_a_starter_that_passes(worker: Session) -> None:
    assert problems(proved(worker, starter=ATTENTION)) == [
        "the starter passes",
        "the cheat 'a patched comparison' passes",
        "the cheat 'deleting the checker' passes",
    ]


def test_a_solution_that_fails(worker: Session) -> None:
    check = {"name": "odd", "test": "got.weights.shape[0] == 5", "fail": "There are {got.weights.shape[0]} tokens."}
    found = proved(worker, checks=[check], mistakes=[{"id": "m", "name": "m", "why": "w", "code": "x = 1\n"}])
    assert 0 < found.solution < 10
    assert problems(found)[0].startswith("the model answer does not pass: failed, odd: There are")


def test_a_mistake_that_no_check_sees(worker: Session) -> None:
    check = {"name": "shape", "test": "got.weights.shape == want.weights.shape", "fail": "Another shape."}
    found = proved(worker, checks=[check])
    assert problems(found)[:2] == ["the mistake 'columns' passes", "the mistake 'no-scale' passes"]
    assert found.mistakes == {"columns": False, "no-scale": False, "no-transpose": True}


def test_a_mistake_that_cannot_be_made(worker: Session) -> None:
    mistake = {"id": "m", "name": "m", "why": "w", "edits": [{"find": "nowhere", "replace": ""}]}
    assert problems(proved(worker, mistakes=[mistake])) == ["the mistake 'm' cannot be made in the model answer"]


def test_two_mistakes_that_are_the_same(worker: Session) -> None:
    edits = [{"find": "dim=-1", "replace": "dim=0"}]
    again = [{"find": "dim=-1", "replace": "dim=-2"}]
    mistakes = [
        {"id": "one", "name": "one", "why": "w", "edits": edits},
        {"id": "two", "name": "two", "why": "w", "edits": again},
    ]
    assert problems(proved(worker, mistakes=mistakes)) == ["the mistake 'two' is named 'one'"]


def test_a_message_with_a_gap(worker: Session) -> None:
    check = {"name": "weights", "test": "close(got.weights, want.weights)", "fail": "They are {got.nothing}."}
    assert problems(proved(worker, checks=[check]))[0].endswith("has a gap: They are ….")


def test_a_right_answer_that_is_refused(worker: Session) -> None:
    accepted = [
        {"name": "rounded", "edits": {"find": "return weights, context", "replace": "return weights.round(), 0"}}
    ]
    found = proved(worker, accepted=accepted)
    assert found.accepted == {"rounded": False}
    assert problems(found)[0].startswith("'rounded' is refused: failed, weights: The first weights are")


def test_a_cheat_of_its_own(worker: Session) -> None:
    found = proved(worker, cheats=[{"name": "the answer itself", "code": ATTENTION}])
    assert problems(found) == ["the cheat 'the answer itself' passes"]


@pytest.mark.parametrize(("hint", "loose"), [("Write `context=weights@values` now.", True), ("Mix the values.", False)])
def test_a_hint_that_gives_the_answer_away(worker: Session, hint: str, loose: bool) -> None:
    found = problems(proved(worker, hints=["One.", "Two.", hint]))
    assert found == (["hint 3 holds a line of the model answer: context=weights@values"] if loose else [])

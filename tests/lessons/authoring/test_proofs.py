"""What an author relies on in an exercise is proved by running it, and every failure is a finding."""

from __future__ import annotations

from typing import Any

import pytest

from attn_tutor.lessons.authoring import proofs
from attn_tutor.lessons.authoring.proofs import Proof
from attn_tutor.lessons.engine.session import Session
from tests.lessons.lesson_builders import ATTENTION, attention_exercise, lesson_of


def prove(worker: Session, **fields: Any) -> Proof:
    exercise = attention_exercise(**fields)
    lesson = lesson_of(exercise.model_dump(by_alias=True))
    return proofs.prove_exercise(lesson, exercise, worker)


def problems(found: Proof) -> list[str]:
    return [finding.problem.removeprefix("exercise 'attending': ") for finding in found.findings]


def test_a_sound_exercise_has_no_findings(worker: Session) -> None:
    found = prove(worker)
    assert problems(found) == []
    assert (found.solution, found.seeds) == (10, 10)
    assert found.mistakes == {"columns": True, "no-scale": True, "no-transpose": True}
    assert found.accepted == {"queries scaled": True}
    assert len(found.cheats) == 7
    assert all(found.cheats.values())


def test_a_starter_that_passes_is_found(worker: Session) -> None:
    # That cheats which contain the starter pass too is no finding of its own.
    assert problems(prove(worker, starter=ATTENTION)) == ["the starter passes"]


def test_a_solution_that_fails_is_found(worker: Session) -> None:
    check = {"name": "odd", "test": "got.weights.shape[0] == 5", "fail": "There are {got.weights.shape[0]} tokens."}
    found = prove(worker, checks=[check], mistakes=[{"id": "m", "name": "m", "why": "w", "code": "x = 1\n"}])
    assert 0 < found.solution < 10
    assert problems(found)[0].startswith("the model answer does not pass: failed, odd: There are")


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"solution": ATTENTION + "\nraise ValueError('no')\n"},
            "the model answer does not run: ValueError: no (line ",
        ),
        (
            {"context": "context = 1 / 0"},
            "the hidden inputs cannot be made. The judge of this exercise failed: ZeroDivisionError: division by zero",
        ),
        (
            {"probe": "got = {'out': context.nothing}"},
            "the probe fails on the model answer: AttributeError: 'types.SimpleNamespace' object has no attribute",
        ),
        (
            {"checks": [{"name": "odd", "test": "got.nothing", "fail": "No."}]},
            "the model answer does not pass: odd: this could not be checked on what your code gave (AttributeError",
        ),
    ],
)
def test_an_exercise_that_cannot_be_judged_is_found(worker: Session, fields: dict[str, str], problem: str) -> None:
    found = prove(worker, **fields)
    assert found.solution == 0
    assert len(found.findings) == 1
    assert problems(found)[0].startswith(problem)


def test_a_mistake_that_passes_is_found(worker: Session) -> None:
    check = {"name": "shape", "test": "got.weights.shape == want.weights.shape", "fail": "Another shape."}
    found = prove(worker, checks=[check])
    assert problems(found)[:2] == ["the mistake 'columns' passes", "the mistake 'no-scale' passes"]
    assert found.mistakes == {"columns": False, "no-scale": False, "no-transpose": True}


def test_a_mistake_that_cannot_be_made_is_found(worker: Session) -> None:
    mistake = {"id": "m", "name": "m", "why": "w", "edits": [{"find": "nowhere", "replace": ""}]}
    assert problems(prove(worker, mistakes=[mistake])) == [
        "the mistake 'm' cannot be made in the model answer: 'nowhere' is not in it"
    ]


def test_an_attempt_that_fails_is_found(worker: Session) -> None:
    (problem,) = problems(prove(worker, attempt="mine = 1\nyours = nothing\n"))
    assert problem.startswith(
        "'attempt' fails on the model answer and the lesson's own values: NameError: name 'nothing'"
    )


def test_two_mistakes_with_the_same_effect_are_found(worker: Session) -> None:
    edits = [{"find": "dim=-1", "replace": "dim=0"}]
    again = [{"find": "dim=-1", "replace": "dim=-2"}]
    mistakes = [
        {"id": "one", "name": "one", "why": "w", "edits": edits},
        {"id": "two", "name": "two", "why": "w", "edits": again},
    ]
    assert problems(prove(worker, mistakes=mistakes)) == ["the mistake 'two' is named 'one'"]


def test_a_message_that_cannot_be_filled_is_found(worker: Session) -> None:
    check = {"name": "weights", "test": "close(got.weights, want.weights)", "fail": "They are {got.nothing}."}
    assert problems(prove(worker, checks=[check]))[0].endswith("has a gap: They are ….")


def test_a_right_answer_that_is_refused_is_found(worker: Session) -> None:
    accepted = [
        {"name": "rounded", "edits": {"find": "return weights, context", "replace": "return weights.round(), 0"}}
    ]
    found = prove(worker, accepted=accepted)
    assert found.accepted == {"rounded": False}
    assert problems(found)[0].startswith("'rounded' is refused: failed, weights: The first weights are")


def test_a_cheat_of_the_exercise_that_passes_is_found(worker: Session) -> None:
    found = prove(worker, cheats=[{"name": "the answer itself", "code": ATTENTION}])
    assert problems(found) == ["the cheat 'the answer itself' passes"]


@pytest.mark.parametrize(("hint", "loose"), [("Write `context=weights@values` now.", True), ("Mix the values.", False)])
def test_a_hint_that_gives_the_answer_away_is_found(worker: Session, hint: str, loose: bool) -> None:
    found = problems(prove(worker, hints=["One.", "Two.", hint]))
    assert found == (["hint 3 holds a line of the model answer: context = weights @ values"] if loose else [])

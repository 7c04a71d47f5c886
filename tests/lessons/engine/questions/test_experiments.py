"""Experiments are judged by what was changed and what came of it."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.authoring import proofs
from attn_tutor.lessons.engine.questions import answering, experiment_judging
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.what_if import changes
from attn_tutor.lessons.what_if.changes import ChangeError
from tests.lessons.experiment_builders import STEP, experiment, experiment_lesson

LESSON = experiment_lesson()


@pytest.mark.parametrize(
    ("text", "verdict", "mistake", "message"),
    [
        ("source[0] = 1", "passed", "", "Now it is 10, and the total 30. Sources decide."),
        ("make:source[0] = 1", "passed", "", "Now it is 10, and the total 30. Sources decide."),
        ("pair[0] = 1", "failed", "by-hand", "You wrote the result."),
        ("source[0] = 1\npair[1] = 50", "failed", "", "It is still 10."),
        ("source[0] = 2.5", "failed", "", "It is still 25."),
    ],
)
def test_the_first_way_that_matches_decides(
    worker: Session, text: str, verdict: str, mistake: str, message: str
) -> None:
    judgement = answering.judge(worker, LESSON, experiment(LESSON), text)
    assert (judgement.verdict, judgement.message) == (verdict, message)
    assert "".join(each.id for each in judgement.mistakes) == mistake
    assert not judgement.stopped


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Nothing is changed yet."),
        ("what is this", "'what is this' does not say which cell to change"),
        ("nowhere[0] = 1", "There is no variable 'nowhere'"),
    ],
)
def test_what_is_no_change_is_not_counted(worker: Session, text: str, message: str) -> None:
    judgement = answering.judge(worker, LESSON, experiment(LESSON), text)
    assert judgement.stopped
    assert judgement.message.startswith(message)


def test_one_way_is_shown_to_who_gives_up() -> None:
    assert experiment_judging.solution(experiment(LESSON)) == "source[0] = 0"


def test_changes_survive_as_lines() -> None:
    made = changes.read_lines(LESSON, "source[0] = 1\npair[1] = 2.5\n\n")
    assert changes.read_lines(LESSON, changes.as_lines(made)) == made
    assert changes.changed_names(made) == {"source", "pair"}
    with pytest.raises(ChangeError):
        changes.read_lines(LESSON, "source[0] 1")


def test_a_condition_that_cannot_be_computed_does_not_stop_the_run(worker: Session) -> None:
    run = worker.run(LESSON)
    run.close()
    result = run.steps[-1]
    assert result.error is None
    assert {tensor.name for tensor in result.tensors} == {"pair", "total"}


def test_proofs_of_ways(worker: Session) -> None:
    proof = proofs.prove_experiment(LESSON, experiment(LESSON), worker)
    assert (proof.solution, proof.seeds, proof.mistakes) == (1, 1, {"by-hand": True, "broken": False})
    (found,) = proof.findings
    assert found.problem == "exercise 'swap': 'source[0] = 9' is not told as a way (It is still 90.)"


def test_a_proof_of_another_way_is_found(worker: Session) -> None:
    right, by_hand, _ = STEP["ways"]
    ways = [right, by_hand | {"changed": []}, {**by_hand, "id": "twin", "proof": ["pair[0] = -1"]}]
    lesson = experiment_lesson(ways=ways)
    (found,) = proofs.prove_experiment(lesson, experiment(lesson), worker).findings
    assert found.problem == "exercise 'swap': 'pair[0] = -1' is told as 'by-hand'"


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"ways": STEP["ways"][1:]}, "no way is right"),
        ({"ways": [STEP["ways"][0], STEP["ways"][0]]}, "the id 'by-source' is used by two ways"),
        ({"ways": [{**STEP["ways"][0], "if": ""}]}, "a right way needs an effect"),
        ({"show": []}, "an experiment shows nothing"),
    ],
)
def test_complaints(fields: dict[str, object], problem: str) -> None:
    found = [each[1] for each in experiment(experiment_lesson(**fields)).complaints()]
    assert found == [problem]

"""The claims of a step are evaluated in a run of the lesson, right after that step."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

from attn_tutor.lessons.authoring import claims, proofs
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExperimentStep, Lesson, PredictStep
from attn_tutor.lessons.reading.loader import load_lesson
from tests.lessons.experiment_builders import STEP
from tests.lessons.lesson_builders import code_step, lesson_of
from tests.lessons.question_builders import point_question, predict_question


def complaints(lesson: Lesson, worker: Session) -> list[tuple[tuple[int | str, ...], str, str]]:
    with closing(claims.run_with_claims(lesson, worker)) as run:
        return list(claims.complaints(lesson, run))


def test_only_false_claims_are_found(worker: Session) -> None:
    lesson = lesson_of(
        code_step("one", "x = 1\n", claims=["x == 1", "x > 1"]),
        code_step("two", "x = 2\n", claims=["x == 1", "[x][0:1] == [2]"]),
        setup="import torch",
    )
    assert [(path, problem) for path, problem, _ in complaints(lesson, worker)] == [
        (("steps", 0, "claims", 1), "this is not true: x > 1"),
        (("steps", 1, "claims", 0), "this is not true: x == 1"),
    ]


def test_a_tensor_of_one_element_may_be_a_claim(worker: Session) -> None:
    code = "import torch\nx = torch.ones(3)\n"
    lesson = lesson_of(code_step("one", code, claims=["(x == 1).all()", "(x == 0).any()"]))
    assert [path[-1] for path, _, _ in complaints(lesson, worker)] == [1]


def test_a_claim_that_cannot_be_evaluated_is_found(worker: Session) -> None:
    lesson = lesson_of(code_step("one", "x = 1\n", claims=["y == 1"]))
    ((path, problem, _),) = complaints(lesson, worker)
    assert path == ("steps", 0, "claims", 0)
    assert problem.startswith("this cannot be computed: y == 1: NameError: name 'y' is not defined")


def test_an_expression_that_cannot_be_computed_is_found_where_it_stands(worker: Session) -> None:
    question = predict_question("number", code="y = 6")
    texts = lesson_of(code_step("one", "x = 1\n", prose="It is `{x[0]}`."))
    answers = lesson_of(question.model_dump(by_alias=True))
    cells = lesson_of(point_question(code="w = [1, 2]").model_dump(by_alias=True))
    found = [complaint for lesson in (texts, answers, cells) for complaint in complaints(lesson, worker)]
    assert [path for path, _, _ in found] == [("steps", 0, "prose", 1), ("steps", 0, "answer"), ("steps", 0, "cells")]
    assert found[0][1].startswith("this cannot be computed: {x[0]}: TypeError:")
    assert found[1][1].startswith("this cannot be computed: x: NameError:")


def test_what_does_not_run_is_found_at_its_line(worker: Session) -> None:
    setup = lesson_of(code_step("one", "x = 1\n"), setup="import math\nimport trch\n")
    code = lesson_of(code_step("one", "x = 1\n"), code_step("two", "y = 1\nz = w\n"))
    show = lesson_of(code_step("one", "x = 1\n", show=[{"name": "xs", "kind": "vector"}]))
    text = lesson_of(code_step("one", "x = 1\n", prose="Look.\nIt is `{y}`.\n"))
    found = [complaint for lesson in (setup, code, show, text) for complaint in complaints(lesson, worker)]
    assert [path for path, _, _ in found] == [
        ("setup", 2), ("steps", 1, "code", 2), ("steps", 0, "show", 0), ("steps", 0, "prose", 2)
    ]  # fmt: skip
    assert found[0][1].startswith("the setup does not run: ModuleNotFoundError")
    assert found[2][1].startswith("xs cannot be shown: NameError")


def test_what_does_not_run_is_told_once(tmp_path: Path, worker: Session) -> None:
    folder = tmp_path / "01-first"
    folder.mkdir()
    question = predict_question("number", code="y = 6").model_dump(by_alias=True)
    lesson = lesson_of(question | {"prose": "How many?"})
    text = json.dumps(lesson.model_dump(by_alias=True, include={"title", "goal", "steps"}))
    (folder / "lesson.yaml").write_text(text)
    lesson = load_lesson(folder)
    with closing(claims.run_with_claims(lesson, worker)) as run:
        (found,) = claims.findings(lesson, run)
        step = lesson.exercises[0]
        assert isinstance(step, PredictStep)
        assert proofs.prove_question(lesson, step, run).findings == [found]
    assert found.problem.startswith("this cannot be computed: x: NameError:")


def test_an_experiment_in_a_lesson_that_does_not_run_tells_what_keeps_it_from_running(
    tmp_path: Path, worker: Session
) -> None:
    folder = tmp_path / "01-first"
    folder.mkdir()
    before = code_step("one", "x = 1\n", prose="It is `{y}`.")
    lesson = lesson_of(before, code_step("made", "source = torch.tensor([1.0])\n"), STEP)
    text = json.dumps(lesson.model_dump(by_alias=True, include={"title", "goal", "steps"}))
    (folder / "lesson.yaml").write_text(text)
    lesson = load_lesson(folder)
    step = lesson.exercises[0]
    assert isinstance(step, ExperimentStep)
    with closing(claims.run_with_claims(lesson, worker)) as run:
        assert proofs.prove_experiment(lesson, step, worker).findings == list(claims.findings(lesson, run))


def test_a_question_with_claims_knows_its_own_answer(worker: Session) -> None:
    """A run that evaluates claims also serves to prove the questions of the lesson."""
    question = predict_question("number", code="x = 6", claims=["x == 6"])
    lesson = lesson_of(question.model_dump(by_alias=True))
    with closing(claims.run_with_claims(lesson, worker)) as run:
        assert list(claims.complaints(lesson, run)) == []
        proof = proofs.prove_question(lesson, question, run)
    assert (proof.findings, proof.solution) == ([], 1)


def test_claims_cost_a_learner_nothing(worker: Session) -> None:
    run = worker.run(lesson_of(code_step("one", "x = 1\n", claims=["y == 1"])))
    run.close()
    assert run.steps[0].error is None
    assert run.steps[0].text == {}


def test_findings_have_positions(tmp_path: Path, worker: Session) -> None:
    folder = tmp_path / "01-first"
    folder.mkdir()
    step = "  - {id: one, kind: run, title: One, prose: Look., code: x = 1,\n     claims: [x == 1, x == 2]}\n"
    (folder / "lesson.yaml").write_text(f"title: T\ngoal: G\nsteps:\n{step}")
    lesson = load_lesson(folder)
    with closing(claims.run_with_claims(lesson, worker)) as run:
        (found,) = claims.findings(lesson, run)
    assert (found.line, found.column, found.problem) == (5, 23, "this is not true: x == 2")

"""What is found by explaining is judged like other questions: cells, rows, boxes."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from attn_tutor.lessons.authoring import claims, proofs
from attn_tutor.lessons.engine.questions import answer_forms
from attn_tutor.lessons.engine.questions.answer_forms import judge
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import FindStep, Lesson
from tests.lessons.lesson_builders import code_step, lesson_of
from tests.lessons.question_builders import DEFAULTS, question, result_with, tensor

WORDS = ("a", "b", "c")


def find(target: str, **fields: Any) -> FindStep:
    """Build a step in which something is to be found in `w`, or in the flow."""
    more = {} if target == "box" else {"on": "w"}
    shown = [{"name": "w", "kind": "weight"}]
    step = question(kind="find", target=target, show=shown, answer="x", start="w[0, 0]", **more, **fields)
    assert isinstance(step, FindStep)
    return step


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1, 2", "So it is."),
        ("b, c", "So it is."),
        ("1, 0", "The row is right; look for another cell of it."),
        ("0, 0", "Not that corner."),
    ],
)
def test_a_cell(text: str, message: str) -> None:
    step = find("cell", wrong=[{"is": "y", "why": "Not that corner."}])
    right = [[row == 1 and col == 2 for col in range(3)] for row in range(3)]
    corner = [[row == col == 0 for col in range(3)] for row in range(3)]
    assert judge(step, result_with(tensor("w", WORDS, WORDS), x=right, y=corner), text).message == message


@pytest.mark.parametrize(
    ("text", "message"),
    [("1", "So it is."), ("b", "So it is."), ("1, 2", "So it is."), ("0", "Not this row. Look further down.")],
)
def test_a_row(text: str, message: str) -> None:
    result = result_with(tensor("w", WORDS, WORDS), x=[False, True, False])
    assert judge(find("row"), result, text).message == message


def test_the_right_row_is_named_when_the_learner_gives_up() -> None:
    result = result_with(tensor("w", WORDS, WORDS), x=[True, False, True])
    assert answer_forms.answer_text(find("row"), result) == "w[0] (a) or w[2] (c)"
    assert judge(find("row"), result, answer_forms.right_answer(find("row"), result)).passed


@pytest.mark.parametrize(
    ("text", "verdict", "message"),
    [
        ("scores", "passed", "So it is."),
        ("`scores` ", "passed", "So it is."),
        ("inputs", "failed", "Earlier."),
        ("weights", "failed", "Not this box. Follow the arrows, back or forth."),
        ("!", "error", "This cannot be read as the name of a box. "),
    ],
)
def test_a_box(text: str, verdict: str, message: str) -> None:
    step = find("box", wrong=[{"is": "y", "why": "Earlier."}])
    judgement = judge(step, result_with(x=["scores"], y=["inputs"]), text)
    assert (judgement.verdict, judgement.message[: len(message)]) == (verdict, message)


def lesson(**fields: Any) -> Lesson:
    code = "import torch\nw = torch.eye(3)\nv = w * 2\nu = torch.ones(3, 3)\n"
    shown = [{"name": name, "kind": "vector"} for name in "wvu"]
    return lesson_of(code_step("make", code, "w"), {"id": "made", "kind": "find", "show": shown} | DEFAULTS | fields)


@pytest.mark.parametrize(
    ("fields", "problems"),
    [
        ({"target": "cell", "on": "w", "answer": "w == w[1, 1]", "start": "v[1, 1]"}, []),
        (
            {"target": "cell", "on": "w", "answer": "w == w[1, 1]", "start": "u[1, 1]"},
            ["explaining u[1, 1] never leads to the right cell"],
        ),
        ({"target": "row", "on": "w", "answer": "[True, False, False]", "start": "v[0, 2]"}, []),
        ({"target": "box", "answer": "['w']", "wrong": [{"is": "['v']", "why": "No."}]}, []),
        ({"target": "box", "answer": "['z']"}, ["the flow has no box 'z'"]),
    ],
)
def test_lint_proves_that_it_can_be_found(worker: Session, fields: dict[str, Any], problems: list[str]) -> None:
    made = lesson(**fields)
    step = made.step("made")
    assert isinstance(step, FindStep)
    with closing(claims.run_with_claims(made, worker)) as run:
        proof = proofs.prove_question(made, step, run)
    assert [finding.problem.removeprefix("exercise 'made': ") for finding in proof.findings] == problems
    assert proof.solution == 1


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"target": "cell", "on": "z", "start": "w[0, 0]"}, "'z' is not shown in this step"),
        ({"target": "cell", "on": "w"}, "nothing says where explaining begins"),
        ({"target": "cell", "on": "w", "start": "w"}, "'w' is not a cell"),
        ({"target": "row", "on": "w", "start": "z[0]"}, "'z' is not shown in this step"),
        ({"target": "box", "on": "w"}, "a box is found in the flow, not in a tensor"),
    ],
)
def test_complaints(fields: dict[str, Any], problem: str) -> None:
    assert [found[1] for found in lesson(answer="['w']", **fields).step("made").complaints()] == [problem]

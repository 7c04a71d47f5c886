"""Exercises in one line: a starter with one gap, judged by what the filled function returns."""

from __future__ import annotations

from typing import Any

import pytest

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.reading import line_exercises
from tests.lessons.lesson_builders import lesson_of

STARTER = "import torch\n\n\ndef double(x):\n    twice = ...\n    return twice\n"


def data(**fields: Any) -> dict[str, Any]:
    """Return the data of an exercise in one line as a lesson file has it."""
    step = {
        "id": "double",
        "kind": "exercise",
        "form": "line",
        "exercise": "double",
        "title": "Double",
        "defines": ["double"],
        "prose": "Double it.",
        "starter": STARTER,
        "solution": STARTER.replace("...", "2 * x"),
        "context": 'context = {"x": torch.randn(2, 3)}',
        "hints": ["Ask.", "Point.", "Show."],
        "why": "Twice.",
        "mistakes": [{"id": "squared", "name": "squared", "why": "No.", "edits": [{"find": "2 *", "replace": "x *"}]}],
    } | fields
    line_exercises.fill_in_line(step)
    return step


def exercise(**fields: Any) -> ExerciseStep:
    step = lesson_of(data(**fields)).steps[0]
    assert isinstance(step, ExerciseStep)
    return step


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("x + x", "All checks pass."),
        ("...", "a tensor comes back: The gap is still open. Write an expression in place of the dots."),
        ("None", "a tensor comes back: Your function returns nothing. It should return a tensor of shape (2, 3)."),
        ("[x]", "a tensor comes back: Your function returns a `list`. It should return a tensor of shape (2, 3)."),
        ("2 * x.T", "the right shape: Your result has the shape (3, 2). It should have the shape (2, 3)."),
    ],
)
def test_what_the_function_returns_is_judged(worker: Session, expression: str, message: str) -> None:
    judgement = worker.check(exercise(), STARTER.replace("...", expression), 1, 1)
    assert judgement.message == message


def test_numbers_are_shown_beside_each_other(worker: Session) -> None:
    judgement = worker.check(exercise(), STARTER.replace("...", "3 * x"), 1, 1)
    assert judgement.message.startswith("the right numbers: Your first row of numbers begins with")


def test_a_second_call_shows_what_only_other_inputs_show(worker: Session) -> None:
    context = 'context = {"x": torch.rand(2, 3), "again": [torch.rand(3) * 1e-7 - 1]}'
    for expression, failed in [("2 * x", ""), ("2 * x.abs()", "the right numbers for other inputs")]:
        judgement = worker.check(exercise(context=context), STARTER.replace("...", expression), 1, 1)
        assert [check.name for check in judgement.checks if not check.passed] == [failed] * bool(failed)


def test_the_line_of_the_gap_is_to_blame_also_if_it_computes_nothing(worker: Session) -> None:
    unused = {
        "id": "unused",
        "name": "unused",
        "why": "No.",
        "edits": [{"find": "twice = 2 * x", "replace": "twice = x"}],
    }
    for filled in ("x", "x   # nothing"):
        judgement = worker.check(exercise(mistakes=[unused]), STARTER.replace("...", filled), 1, 1)
        assert [(item.id, item.line) for item in judgement.mistakes] == [("unused", 5)]
        assert judgement.line == 5


@pytest.mark.parametrize(
    ("answer", "line"),
    [
        (STARTER, 5),
        (STARTER.replace("...", "2 * x") + "\n\n", 5),
        (STARTER.replace("twice = ...", "pass"), 5),
        (STARTER.replace("...", "x\n    twice = 2 * twice"), None),
        (STARTER.replace("return twice", "return x"), None),
    ],
)
def test_the_line_of_the_gap_is_known_as_long_as_nothing_else_is_changed(answer: str, line: int | None) -> None:
    assert line_exercises.gap_line(STARTER, answer) == line


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"starter": STARTER.replace("...", "x")}, "a line to write needs one gap '...'"),
        ({"starter": STARTER + "# ..."}, "a line to write needs one gap '...'"),
        ({"solution": "def double(x):\n    return 2 * x\n"}, "it differs from the starter in more than its gap"),
    ],
)
def test_a_starter_has_one_gap(fields: dict[str, str], problem: str) -> None:
    assert [found[1] for found in exercise(**fields).complaints()] == [problem]


@pytest.mark.parametrize("name", ["later", "itself", "nowhere"])
def test_a_check_needs_one_above_it(name: str) -> None:
    checks = [
        {"name": "itself", "needs": name, "test": "True", "fail": "No."},
        {"name": "later", "needs": "itself", "test": "True", "fail": "No."},
    ]
    found = exercise(probe="got = {}", checks=checks).complaints()
    assert [each[1] for each in found] == [f"no earlier check is called '{name}'"]


def test_arguments_come_in_the_order_of_the_model_answer_whatever_an_answer_calls_them(worker: Session) -> None:
    starter = "def minus(one, other):\n    left = ...\n    return left\n"
    context = 'context = {"other": torch.ones(3), "one": torch.zeros(3)}'
    fields = {"defines": ["minus"], "starter": starter, "solution": starter.replace("...", "one - other")}
    step = exercise(**fields, context=context)
    assert line_exercises.has_shared_probe(step)
    assert worker.check(step, step.solution, 1, 1).passed
    assert worker.check(step, "def minus(a, b):\n    return -(b - a)\n", 1, 1).passed
    assert not worker.check(step, "def minus(a, b):\n    return b - a\n", 1, 1, diagnosis="none").passed


def test_an_exercise_with_checks_of_its_own_keeps_them() -> None:
    own = {"probe": "got = {}", "checks": [{"name": "never", "test": "False", "fail": "No."}]}
    assert [check.name for check in exercise(**own).checks] == ["never"]

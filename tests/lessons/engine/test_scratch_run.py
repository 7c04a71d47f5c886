"""A scratch run of an answer: its matrices, including those in its functions, and the explanations of numbers."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.engine import scratch_run
from attn_tutor.lessons.engine.run import Run
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.result import StepResult
from tests.lessons import run_questions
from tests.lessons.lesson_builders import ATTENTION, attention_exercise, code_step, lesson_of

SETUP = "import torch\ninputs = torch.arange(6.0).reshape(3, 2)\n"


@pytest.fixture
def lesson() -> Lesson:
    exercise = attention_exercise(attempt="weights, context = attention(inputs, inputs, inputs)")
    return lesson_of(code_step("one", "doubled = inputs * 2"), exercise.model_dump(by_alias=True), setup=SETUP)


def run_answer(worker: Session, lesson: Lesson, source: str) -> tuple[Run, StepResult]:
    _, exercise = lesson.steps
    assert exercise.kind == "exercise"
    shown, run = scratch_run.run(worker, lesson, exercise, source)
    assert shown.step(scratch_run.STEP).kind == "run"
    result = run.result(scratch_run.STEP)
    assert result is not None
    return run, result


def test_matrices_inside_functions_are_shown(worker: Session, lesson: Lesson) -> None:
    run, result = run_answer(worker, lesson, ATTENTION)
    assert result.error is None
    assert [tensor.name for tensor in result.tensors] == ["queries", "keys", "values", "scores", "weights", "context"]
    run.close()


def test_every_number_explains_itself(worker: Session, lesson: Lesson) -> None:
    run, _ = run_answer(worker, lesson, ATTENTION)
    found = run_questions.explain(run, scratch_run.STEP, "scores", (1, 2))
    assert isinstance(found, Explanation)
    assert (found.value, found.line) == (2 * 4 + 3 * 5, 5)
    run.close()


def test_variables_of_the_lesson_are_available(worker: Session, lesson: Lesson) -> None:
    run, result = run_answer(worker, lesson, f"{ATTENTION}\nhalf = doubled / 4\n")
    assert "half" in [tensor.name for tensor in result.tensors]
    run.close()


def test_an_exception_has_its_line_and_earlier_tensors_are_shown(worker: Session, lesson: Lesson) -> None:
    run, result = run_answer(worker, lesson, ATTENTION.replace("    return", "    boom\n    return"))
    assert result.error is not None
    assert result.error.line == 8
    assert "boom" in result.error.message
    assert "scores" in [tensor.name for tensor in result.tensors]
    run.close()


def test_a_gap_is_blamed_for_what_went_wrong_where_it_was_used(worker: Session, lesson: Lesson) -> None:
    run, result = run_answer(worker, lesson, ATTENTION.replace("queries @ keys.T", "..."))
    assert result.error is not None
    assert result.error.line == 5
    assert result.error.message.startswith("The gap is still open. Write code in place of the dots. (TypeError: ")
    run.close()


def test_a_gap_is_not_blamed_for_another_mistake(worker: Session, lesson: Lesson) -> None:
    source = ATTENTION.replace("queries @ keys.T", "...").replace("torch.softmax(scores", "boom(scores")
    run, result = run_answer(worker, lesson, source)
    assert result.error is not None
    assert result.error.line == 6
    assert "The gap" not in result.error.message
    run.close()


def test_the_page_says_that_a_gap_is_open(lesson: Lesson) -> None:
    _, exercise = lesson.steps
    assert exercise.kind == "exercise"
    for source, said in ((ATTENTION, False), (ATTENTION.replace("queries @ keys.T", "..."), True)):
        page = scratch_run.lesson_with(lesson, exercise, source).step(scratch_run.STEP)
        assert page.kind == "run"
        assert ("The gap in line 5 is still open." in page.prose) == said


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("a = 1\nb = ...", 2),
        ("def f(x):\n    return g(...) + x", 2),
        ("def f(x):\n    ...", 2),
        ("def f(x):\n    return x[..., 0]", None),
        ("def f(x: tuple[int, ...]) -> None:\n    pass", None),
        ("def f(x:", None),
    ],
)
def test_the_line_of_an_open_gap(source: str, line: int | None) -> None:
    assert scratch_run.open_gap(source) == line


def test_a_syntax_error_is_reported(worker: Session, lesson: Lesson) -> None:
    run, result = run_answer(worker, lesson, "def attention(:\n")
    assert result.error is not None
    assert result.error.message.startswith("This is not Python")
    run.close()


@pytest.mark.parametrize("code", ["import os\nos._exit(3)\n", "while True: pass\n"])
def test_a_program_that_does_not_end_is_reported(worker: Session, lesson: Lesson, code: str) -> None:
    _, exercise = lesson.steps
    assert exercise.kind == "exercise"
    quick = exercise.model_copy(update={"limits": exercise.limits.model_copy(update={"wall": 1})})
    _, run = scratch_run.run(worker, lesson, quick, code)
    result = run.result(scratch_run.STEP)
    assert result is not None
    assert result.error is not None
    assert not run.alive

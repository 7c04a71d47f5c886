"""Complaints about questions that only a run can reveal."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attn_tutor.lessons.engine.questions import answer_forms
from attn_tutor.lessons.format.lesson import Question
from attn_tutor.lessons.reading import recorded_outputs
from attn_tutor.lessons.reading.loader import load_lesson
from attn_tutor.lessons.results.result import Failure, StepResult
from tests.lessons.question_builders import choice_question, point_question, predict_question, result_with, tensor


def problems_of(step: Question, result: StepResult) -> list[str]:
    return [problem for _, problem in answer_forms.problems_of(step, result)]


def test_options_with_the_same_text_in_a_run_are_found() -> None:
    step = choice_question("{x}", "{y}")
    result = StepResult("made", text={"x": "6", "y": "6"})
    assert problems_of(step, result) == ["two options say the same"]


def test_wrong_answers_that_are_right_or_repeated_are_found() -> None:
    step = predict_question("number", within=0.001, wrong=[{"is": "y", "why": "First."}, {"is": "z", "why": "Second."}])
    assert problems_of(step, result_with(x=1, y=2, z=3)) == []
    assert problems_of(step, result_with(x=1, y=2, z=2)) == ["wrong answer 2 is one of those before it"]
    assert answer_forms.problems_of(step, result_with(x=1, y=1.00001, z=2)) == [
        (("wrong", 0, "is"), "wrong answer 1 is right")
    ]


@pytest.mark.parametrize(
    ("cells", "wrong", "problems"),
    [
        ([True, False], [False, True], []),
        ([False, False], [False, True], ["no cell is right"]),
        ([True, True], [False, False], ["every cell is right", "wrong answer 1 is no wrong cell"]),
        ([True, False], [True, False], ["wrong answer 1 is no wrong cell"]),
        ([True], [False, True], ["The cells of this question have another shape than what is shown."]),
        ([[True], [False]], [False, True], ["The cells of this question have another shape than what is shown."]),
        (3, [False, True], ["The cells of this question have another shape than what is shown."]),
    ],
)
def test_complaints_of_cells(cells: Any, wrong: Any, problems: list[str]) -> None:
    step = point_question(wrong=[{"is": "y", "why": "No."}])
    assert problems_of(step, result_with(tensor("w", ("a", "b")), x=cells, y=wrong)) == problems


def test_too_many_right_cells_are_found() -> None:
    cells = [[False] * 100 for _ in range(50)]
    cells[0][0] = True
    assert problems_of(point_question(), result_with(x=cells)) == ["w has more than 4096 cells"]


@pytest.mark.parametrize("asks", ["number", "shape", "order"])
@pytest.mark.parametrize("value", ["x", None, {"a": 1}, [[1, 2], 3]])
def test_facts_that_cannot_be_an_answer_are_found(asks: str, value: Any) -> None:
    [(path, problem)] = answer_forms.problems_of(predict_question(asks), result_with(x=value))
    assert path == ("answer",)
    assert problem.startswith("this does not give a")
    step = predict_question(asks, wrong=[{"is": "y", "why": "No."}])
    right = 1 if asks == "number" else [1]
    assert answer_forms.problems_of(step, result_with(x=right, y=value)) == [(("wrong", 0, "is"), problem)]


def test_a_failed_run_is_found() -> None:
    failed = StepResult("made", error=Failure("error", "NameError: no x.", 1))
    sentence = "The code of this question did not come to its end: NameError: no x."
    assert problems_of(predict_question("number"), failed) == [sentence]


def test_sound_questions_have_no_complaints() -> None:
    lesson = load_lesson(Path(__file__).parents[2] / "data" / "questions" / "course" / "01-questions", {})
    results = recorded_outputs.load(lesson)
    steps = [step for step in lesson.steps if isinstance(step, Question)]
    assert steps
    assert [problems_of(step, results[step.id]) for step in steps] == [[] for _ in steps]

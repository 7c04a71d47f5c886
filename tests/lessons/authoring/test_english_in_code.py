"""English in fields of templates and in the code of exercises, where translators cannot reach it."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.authoring import writing
from attn_tutor.lessons.authoring.writing import english_complaints, english_in, english_in_field
from attn_tutor.lessons.format.lesson import ExerciseStep
from tests.course import LESSONS
from tests.lessons.lesson_builders import code_step, doubling_exercise, lesson_of


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('"There is none" if got.wrong else "Too large."', ["There is none", "Too large."]),
        ('"missing" if got.wrong else numbers(got.x)', ["missing"]),
        ('" and ".join(names)', [" and "]),
        ('"rows " + str(2)', ["rows "]),
        ('f"of {count} tokens"', ["of ", " tokens"]),
        ('("is" if n == 1 else "are")', ["is", "are"]),
        ('", ".join(names)', []),
        ('"`" + name + "`"', []),
        ('"`self." + name', []),
        ('names["first row"]', []),
        ('got.kind == "not one"', []),
        ('beside(got.x, want.x, "context vectors")', []),
        ('beside(got.x, want.x, "weights", "For large scores")', ["For large scores"]),
        ('torch.einsum("qd,kd->qk", q, k)', []),
        ('x.to("float32"), getattr(x, "shape")', []),
        ('[name for name in ("mask", "tokens_seen")]', []),
        ("f'{x:.2f}'", []),
        ("x[0]", []),
    ],
)
def test_english_in_a_field(expression: str, expected: list[str]) -> None:
    assert english_in_field(expression) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('got = {"said": "it returns nothing"}', ["it returns nothing"]),
        ('if x is None:\n    told = f"a list of {len(x)} numbers"', ["a list of "]),
        ('got = {"kind": "none"}', []),
        ('def f(x):\n    """Return what is asked for."""\n    return x', []),
        ('words = "Your journey starts".split()', []),
        ('got = {"wrong mode": "out of memory" in str(error)}', []),
        ('x = torch.einsum("b n d, d e -> b n e", x, w)', []),
    ],
)
def test_english_in_code(code: str, expected: list[str]) -> None:
    assert english_in(code) == expected


def exercise_that_speaks() -> ExerciseStep:
    data = doubling_exercise().model_dump(by_alias=True)
    data["prose"] = 'It is {"very large" if x else "small"}.'
    data["checks"] = [
        {
            "name": "all",
            "test": "got.said == want.said and print('not so good')",
            "fail": [{"if": "'is it' if got else 0", "say": "{'so it is' + got.said}"}, {"say": "No."}],
        }
    ]
    data["probe"] = "got = {'said': 'it is so'}"
    return ExerciseStep.model_validate(data)


def test_every_string_is_found_where_it_stands() -> None:
    assert [(path, problem.split("'")[1]) for path, problem, _ in english_complaints(exercise_that_speaks())] == [
        (("prose",), "very large"),
        (("prose",), "small"),
        (("checks", 0, "fail", 0, "say"), "so it is"),
        (("checks", 0, "fail", 0, "if"), "is it"),
        (("checks", 0, "test"), "not so good"),
        (("probe",), "it is so"),
    ]


def test_only_lessons_that_were_rewritten_must_keep_the_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    lesson = lesson_of(code_step("one", "x = 1\n", prose='It is {"very large" if x else 0}.'))
    found = (("steps", 0, "prose"), "'very large' stands in a field, where it cannot be translated")
    assert found not in [(path, problem) for path, problem, _ in writing.complaints(lesson)]
    monkeypatch.setattr(writing, "REWRITTEN", {lesson.id})
    assert found in [(path, problem) for path, problem, _ in writing.complaints(lesson)]


def test_no_code_of_a_lesson_says_anything_in_english() -> None:
    assert [found for lesson in LESSONS for step in lesson.steps for found in english_complaints(step)] == []

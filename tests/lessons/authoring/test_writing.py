"""The rules of writing: a text that breaks one is found, and a text that follows them is not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from attn_tutor.lessons.authoring import writing
from attn_tutor.lessons.format.lesson import ExerciseStep, Lesson
from attn_tutor.lessons.reading.findings import Finding
from attn_tutor.lessons.reading.folders import COURSE
from attn_tutor.lessons.reading.loader import load_lesson
from tests.course import LESSONS
from tests.lessons.lesson_builders import Fields, code_step, doubling_exercise, lesson_of, text_step

LAST = text_step("remember", "Doubling is adding.")


def question(**fields: Any) -> Fields:
    options = [{"text": "2", "why": "Yes.", "right": True}, {"text": "3", "why": "No."}]
    asked = {"kind": "choice", "id": "asked", "exercise": "asked", "title": "How many", "prose": "How many?"}
    rest = {"options": options, "why": "So it is.", "hints": ["Count.", "Count on.", "Count up."]}
    return asked | rest | fields


def challenge(**fields: Any) -> Fields:
    return doubling_exercise().model_dump(by_alias=True) | {"challenge": True} | fields


def good_lesson(*steps: Fields, **fields: Any) -> Lesson:
    """Build a lesson without a fault apart from those of the given steps and fields."""
    goal = {"goal": "You will be able to double.", "constants": {"2": "an answer", "3": "another"}}
    return lesson_of(*steps, challenge(), question(), LAST, **goal | fields)


def problems(lesson: Lesson) -> list[tuple[tuple[int | str, ...], str]]:
    return [(path, problem) for path, problem, _ in writing.complaints(lesson)]


def test_nothing_is_found_in_a_good_lesson() -> None:
    assert (
        problems(good_lesson(code_step("one", "x = 1\n", prose="It is `{x}`, 0 or 1, in `float 16` and float32.")))
        == []
    )


def test_example_of_a_key_is_a_number_of_the_step_or_a_knob() -> None:
    shown = {"show": [{"name": "x", "kind": "vector", "axes": ["n"]}]}
    step = code_step("one", "x = 1\n", prose="Press {key:explain x[0]} or {key:change y}, then {key:run}.", **shown)
    assert [problem for _, problem in problems(good_lesson(step))] == [
        "'{key:change y}' names nothing that the step shows"
    ]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_the_course_follows_the_rules(lesson: Lesson) -> None:
    assert list(map(str, writing.findings(lesson))) == []


@pytest.mark.parametrize(
    ("prose", "problem"),
    [
        ("word " * 96 + "end.", "97 words; at most 95 are read"),
        ("It is 0.2379, not `0.24` or {x:.2f}.", "the number 0.2379 is typed"),
        ("It is 7 or 12.", "the number 12, 7 is typed"),
        ("A `backquote.", "a backquote is left open"),
        ("A *star.", "a star is left open"),
        ("Two  spaces.", "spaces are left over"),
        ("No end", "the text does not end like a sentence"),
    ],
)
def test_problems_of_a_text(prose: str, problem: str) -> None:
    assert problems(good_lesson(code_step("one", "x = 1\n", prose=prose))) == [(("steps", 0, "prose"), problem)]


def test_a_number_may_be_a_constant_of_the_lesson() -> None:
    declared = {"2014": "a paper", "2": "an answer", "3": "another"}
    assert problems(good_lesson(text_step("one", "It was in 2014."), constants=declared)) == []
    assert problems(good_lesson(text_step("one", "It was in 2015."), constants=declared)) != []


def test_a_task_may_be_longer() -> None:
    assert problems(lesson_of(challenge(prose="word " * 99 + "end."), question(), LAST, **fields())) == []
    (found,) = problems(lesson_of(challenge(prose="word " * 125 + "end."), question(), LAST, **fields()))
    assert found == (("steps", 0, "prose"), "126 words; at most 125 are read")


def fields() -> Fields:
    return {"goal": "You will be able to double.", "constants": {"2": "an answer", "3": "another"}}


def test_all_feedback_on_an_answer_counts() -> None:
    wrong = question(
        hints=["Count 7.", "Count on.", "Count up."],
        options=[{"text": "5", "why": "Yes 6.", "right": True}, {"text": "3", "why": "No."}],
        why="So 8.",
    )
    found = [path for path, _ in problems(lesson_of(challenge(), wrong, LAST, **fields()))]
    assert found == [
        ("steps", 1, "why"),
        ("steps", 1, "hints", 0),
        ("steps", 1, "options", 0, "text"),
        ("steps", 1, "options", 0, "why"),
    ]


def test_problems_of_titles() -> None:
    long, stopped = text_step("one", "A.") | {"title": "x" * 41}, text_step("two", "B.") | {"title": "Stop."}
    assert problems(good_lesson(long, stopped)) == [
        (("steps", 0, "title"), "the title is longer than 40 characters"),
        (("steps", 1, "title"), "a title has no full stop"),
    ]


def test_problems_of_code() -> None:
    lesson = good_lesson(
        code_step("one", "x = 1\n" * 15, prose="Many."), code_step("two", f"x = '{'y' * 80}'\n", prose="Wide.")
    )
    assert problems(lesson) == [
        (("steps", 0, "code"), "15 lines of code do not fit on a screen"),
        (("steps", 1, "code"), "a line of the code is too wide"),
    ]


def test_three_texts_in_a_row_are_found() -> None:
    texts = [text_step(f"text-{number}", "A text.") for number in range(3)]
    assert problems(good_lesson(*texts)) == [(("steps", 2), "3 steps in a row have nothing but text")]
    assert problems(good_lesson(*texts[:2], code_step("one", "x = 1\n"), texts[2])) == []


def test_problems_of_the_structure() -> None:
    assert [problem for _, problem in problems(lesson_of(text_step("one", "A.")))] == [
        "the goal does not say what one will be able to do",
        "the lesson does not end with what to remember",
        "the lesson has no challenge",
        "the lesson asks nothing",
    ]
    assert problems(lesson_of(challenge(challenge=False), question(challenge=True), LAST, **fields())) == [
        (("steps",), "the challenge is a question")
    ]


def test_findings_have_positions(tmp_path: Path) -> None:
    folder = tmp_path / "01-first"
    folder.mkdir()
    text = "title: T\ngoal: You will be able to see.\nsteps:\n  - {id: one, kind: read, title: One, prose: It is 7.}\n"
    (folder / "lesson.yaml").write_text(text)
    found = list(writing.findings(load_lesson(folder)))
    assert found[-1] == Finding(
        str(folder / "lesson.yaml"),
        4,
        46,
        "the number 7 is typed",
        "Let the run fill it in, or add it to 'constants' with its source.",
    )


def test_the_course_is_what_was_looked_at() -> None:
    assert LESSONS[0].folder.startswith(str(COURSE))
    assert sum(isinstance(step, ExerciseStep) for lesson in LESSONS for step in lesson.steps) > 20

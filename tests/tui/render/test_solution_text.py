"""An answer beside the model answer, as text."""

from __future__ import annotations

from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.results.result import AnswerComparison, Intermediate
from attn_tutor.tui.render import exercise_text

EXERCISE = ExerciseStep.model_construct(
    title="Task",
    exercise="task",
    why="Both hold `the same`, √2·2.",
    starter="a = 1\n",
    solution="a = 2\n",
    hints=("x",) * 3,
)
COMPARED = AnswerComparison(
    (Intermediate("scores", 3, (6, 6), "s", 5), Intermediate("weights", None, ())),
    (
        Intermediate("", None, (6, 2), "queries / 2", 6),
        Intermediate("", None, (12, 2), "queries / 2", 6),
        Intermediate("own", 7, (6, 2)),
    ),
)


def test_the_diff_marks_whose_line_it_is() -> None:
    text = exercise_text.code_diff("a = 1\nb = 2\n\n", "a = 1\nc = 3\n")
    assert text.plain.split("\n") == ["  a = 1", "- b = 2", "+ c = 3"]
    assert {
        text.plain[span.start] for span in text.spans if span.style in (exercise_text.YOURS, exercise_text.MODEL)
    } == {"-", "+"}


def test_the_diff_contains_all_lines_of_both() -> None:
    same = "\n".join(f"x{index} = {index}" for index in range(30))
    text = exercise_text.code_diff(f"{same}\nend\n", f"{same}\nfinish\n")
    assert text.plain.count("\n") == 31


def test_the_same_code() -> None:
    assert exercise_text.code_diff("a\n\n", "a\n").plain == "They are the same.\n  a"


def test_no_code() -> None:
    assert exercise_text.code_diff("", "a\n").plain.split("\n") == ["-", "+ a"]


def test_intermediates() -> None:
    assert exercise_text.intermediates(COMPARED).plain.split("\n") == [
        "= scores (6×6): yours s, line 5, equal",
        "+ weights (one number): not in yours",
        # An intermediate that was produced twice is listed once.
        "- queries / 2, line 6 (6×2): only in yours",
        "- own, line 7 (6×2): only in yours",
    ]
    assert exercise_text.intermediates(AnswerComparison(())).plain.startswith("Neither")


def test_the_full_text() -> None:
    text = exercise_text.solution(EXERCISE, EXERCISE.starter, COMPARED).plain
    assert text.startswith("Why it works\nBoth hold the same, √2·2.")
    assert "- a = 1\n+ a = 2" in text
    assert "= scores" in text
    text = exercise_text.solution(EXERCISE, "", "comparing…", gave_up=True).plain
    assert text.startswith("Why the model answer works")
    assert text.endswith("Intermediate results\ncomparing…")


def test_ascii() -> None:
    assert exercise_text.solution(EXERCISE, EXERCISE.starter, COMPARED, unicode=False).plain.isascii()

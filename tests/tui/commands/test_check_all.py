"""Answers that passed are judged again; the command itself is tested in test_cli."""

from __future__ import annotations

from lessons.format.lesson import Course, ExerciseStep
from lessons.reading.loader import load_course
from lessons.results.result import Judgement
from tui.commands import check_all

COURSE = load_course()


class Judge:
    """Passes `right`."""

    def check(self, exercise: ExerciseStep, source: str) -> Judgement:
        verdict, message = ("passed", "All checks pass.") if source == "right" else ("failed", "Not \x1b so.")
        return Judgement(exercise.exercise, verdict, message, seconds=1.25)  # type: ignore[arg-type]


def test_check_again() -> None:
    passed = {"two-wide": "right", "same-numbers": "wrong", "of-old": "right"}
    found = list(check_all.check_again(COURSE, passed, Judge()))  # type: ignore[arg-type]
    assert [exercise.exercise for exercise, _ in found] == ["same-numbers", "two-wide"]
    lines = [line for exercise, judgement in found for line in check_all.checked(exercise, judgement)]
    assert lines == [
        f"not passed    1.25 s  same-numbers             {found[0][0].title}",
        " " * 22 + "Not \ufffd so.",
        f"passed        1.25 s  two-wide                 {found[1][0].title}",
    ]
    assert check_all.gone(COURSE, passed) == ["of-old"]
    assert check_all.gone(Course(lessons=()), passed) == ["of-old", "same-numbers", "two-wide"]
    judgements = [judgement for _, judgement in found]
    assert list(check_all.summary(judgements, [])) == ["1 of 2 still pass."]
    assert list(check_all.summary([], [])) == ["You have not passed any exercise yet."]

"""The verb `check-all`: answers that passed are judged again."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.format.lesson import Course, ExerciseStep
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.results.result import Judgement
from attn_tutor.tui.commands.verbs import check_all
from tests.course import COURSE
from tests.tui.commands.command_line import Command, WarmSession, document, task


def test_check_all(command: Command) -> None:
    assert command("check-all") == (0, "You have not passed any exercises yet.\n", "")
    assert document(command("check-all", "--json")) == {"exercises": [], "gone": []}
    progress = Progress.open()
    wide = task("two-wide")
    same = task("same-numbers")
    progress.add_attempt("two-wide", "old", "passed")
    progress.add_attempt("two-wide", wide.solution, "passed")
    progress.add_attempt("two-wide", "later", "failed")
    progress.add_attempt("same-numbers", same.solution, "passed")
    progress.add_attempt("of-old", "x = 1", "passed")
    progress.add_attempt("never-passed", "x = 1", "failed")
    before = progress.export()
    progress.close()

    status, out, err = command("check-all")
    assert (status, err) == (0, "")
    lines = out.splitlines()
    assert [(line.split()[0], line.split()[2:4]) for line in lines[:2]] == [
        ("passed", ["s", "same-numbers"]),
        ("passed", ["s", "two-wide"]),
    ]
    assert lines[2:] == [
        "gone                  of-old                   This exercise is no longer in the course.",
        "2 of 2 still pass.",
    ]
    data = document(command("check-all", "--json"))
    assert [(item["exercise"], item["verdict"]) for item in data["exercises"]] == [
        ("same-numbers", "passed"),
        ("two-wide", "passed"),
    ]
    assert data["gone"] == ["of-old"]

    progress = Progress.open()
    # No attempt is recorded.
    assert progress.export() == before
    progress.add_attempt("same-numbers", "x = 1", "passed")
    progress.close()
    status, out, err = command("check-all")
    assert (status, err) == (1, "")
    assert out.startswith("not passed ")
    assert " " * 22 + "Your code does not define" in out
    assert out.endswith("\n1 of 2 still passes.\n")
    assert [item["passed"] for item in document(command("check-all", "--json"), 1)["exercises"]] == [False, True]


def test_check_all_without_any_exercise_of_the_course(command: Command) -> None:
    progress = Progress.open()
    progress.add_attempt("of-old", "x = 1", "passed")
    progress.close()
    status, out, err = command("check-all")
    assert (status, err) == (0, "")
    assert out.count("\n") == 1
    assert out.startswith("gone ")


def test_check_all_prints_each_verdict_as_it_arrives(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    progress = Progress.open()
    for name in ("same-numbers", "two-wide"):
        progress.add_attempt(name, "x", "passed")
    progress.close()
    seen: list[str] = []
    monkeypatch.setattr("attn_tutor.tui.commands.output.print_now", lambda lines: seen.extend(lines))

    def check(self: WarmSession, exercise: ExerciseStep, source: str, seed: int | None = None) -> Judgement:
        seen.append(f"check {exercise.exercise}")
        return Judgement(exercise.exercise, "passed", "All checks pass.", seconds=0.5)

    monkeypatch.setattr(WarmSession, "check", check)
    assert command("check-all")[0] == 0
    assert [line.split()[0] for line in seen] == ["check", "passed", "check", "passed"]


class Judge:
    """A session whose checks pass the code `right`."""

    def check(self, exercise: ExerciseStep, source: str, seed: int | None = None) -> Judgement:
        verdict, message = ("passed", "All checks pass.") if source == "right" else ("failed", "Not so.")
        return Judgement(exercise.exercise, verdict, message, seconds=1.25)  # type: ignore[arg-type]


def test_check_again() -> None:
    passed = {"two-wide": "right", "same-numbers": "wrong", "of-old": "right"}
    found = list(check_all.check_again(COURSE, passed, Judge()))  # type: ignore[arg-type]
    assert [exercise.exercise for exercise, _ in found] == ["same-numbers", "two-wide"]
    lines = [line for exercise, judgement in found for line in check_all.verdict_lines(exercise, judgement)]
    assert lines == [
        f"not passed    1.25 s  same-numbers             {found[0][0].title}",
        " " * 22 + "Not so.",
        f"passed        1.25 s  two-wide                 {found[1][0].title}",
    ]
    assert check_all.missing_exercises(COURSE, passed) == ["of-old"]
    assert check_all.missing_exercises(Course(lessons=()), passed) == ["of-old", "same-numbers", "two-wide"]
    judgements = [judgement for _, judgement in found]
    assert list(check_all.summary(judgements, [])) == ["1 of 2 still passes."]
    assert list(check_all.summary([], [])) == ["You have not passed any exercises yet."]

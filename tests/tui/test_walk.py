"""Lessons of the course on a real terminal; `make exam` walks through all of them."""

from __future__ import annotations

import shutil

import pytest

from attn_tutor.lessons.format.lesson import ExerciseStep, RunningStep
from tests import walk
from tests.course import COURSE

WALKED = [COURSE.lesson(name) for name in ("why-attention", "attention-classes", "gpt2-size", "induction")]
"""Lessons with all kinds of steps, with the smallest tensors and the largest."""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
def test_every_step_draws_what_it_shows() -> None:
    assert walk.walk(WALKED) == []


def test_all_kinds_of_steps_are_walked() -> None:
    walked, course = (
        {step.kind for lesson in lessons for step in lesson.steps} for lessons in (WALKED, COURSE.lessons)
    )
    assert walked == course


def test_problems_of_a_step_are_found() -> None:
    lesson = COURSE.lesson("one-query")
    run, exercise = lesson.step("scores"), lesson.exercises[-1]
    assert isinstance(run, RunningStep)
    assert isinstance(exercise, ExerciseStep)
    good = ["title", "rule", "prose", "code", f" {run.show[0].name}  6", "  0.1  0.2", "keys"]
    assert list(walk.problems(run, good)) == []
    assert list(walk.problems(run, [*good[:4], "something", "  0.1", "keys"])) == ["shows none of scores"]
    assert list(walk.problems(run, [*good, "This step did not finish: x", ""])) == ["shows 'This step did not finish'"]
    assert list(walk.problems(run, [*good[:3], "", "", f" {run.show[0].name} 0.1", ""])) == ["shows nearly nothing"]
    assert list(walk.problems(exercise, [*good[:3], "a", "b", "c", "keys"])) == ["shows no line of the starter"]

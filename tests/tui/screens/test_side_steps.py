"""Journeys along the main path of a lesson, and aside from it."""

from __future__ import annotations

import pytest

from attn_tutor.lessons.format.lesson import Course
from attn_tutor.tui.screens.map_view import MapView
from attn_tutor.tui.widgets.text import TextPane
from tests.course import use_course
from tests.lessons.lesson_builders import code_step, doubling_exercise, lesson_of, text_step
from tests.tui.learner import tutor

LESSON = lesson_of(
    text_step("why", "Why?"),
    doubling_exercise().model_dump(by_alias=True),
    code_step("floats", "x = 1.5", title="How floats round", side=True),
    doubling_exercise().model_dump(by_alias=True)
    | {"id": "again", "exercise": "again", "title": "Once more", "side": True},
    text_step("remember", "Remember."),
)
STEP_2, ASIDE, ASIDE_AGAIN = "lesson 1   step 2 of 3", "lesson 1   side step 2a", "lesson 1   side step 2b"


@pytest.fixture(autouse=True)
def course(monkeypatch: pytest.MonkeyPatch) -> None:
    use_course(monkeypatch, Course(lessons=(LESSON,)))


async def test_aside_and_back_to_the_main_path() -> None:
    async with tutor(size=(120, 40)) as learner:
        await learner.press("enter")
        await learner.sees("lesson 1   step 1 of 3", lambda: learner.view_has_keys)
        assert "side step" not in learner.keys
        # There is nothing aside here.
        await learner.press("i", "n")
        await learner.sees(STEP_2, lambda: "i side step: How floats round" in learner.keys)
        rule = learner.lines[1]
        await learner.press("i")
        await learner.sees(ASIDE, "How floats round", lambda: learner.view_has_keys)
        assert "side step" not in learner.keys
        assert learner.lines[1] == rule
        await learner.press("i", "n")
        await learner.sees(ASIDE_AGAIN, "Once more", lambda: learner.view_has_keys)
        await learner.press("b")
        await learner.sees(ASIDE)
        await learner.press("b")
        await learner.sees(STEP_2, lambda: learner.view_has_keys)
        await learner.press("b")
        await learner.sees("lesson 1   step 1 of 3")
        await learner.press("n", "n")
        await learner.sees("lesson 1   step 3 of 3", "exercise skipped")
        await learner.press("b")
        await learner.sees(STEP_2)


async def test_side_steps_do_not_count_and_the_learner_continues_at_one() -> None:
    async with tutor() as learner:
        await learner.press("enter", "n", "i", "m")
        await learner.sees("course map", "Continue: 1. How floats round", "1/3")
        assert "and 2 side steps, off the main path" in learner.app.query_one("#about", TextPane).text
        await learner.press("enter")
        await learner.sees(ASIDE, lambda: learner.view_has_keys)
        # Nothing is said of an exercise that is left aside, but its main step is passed over.
        await learner.press("n")
        await learner.sees(ASIDE_AGAIN, lambda: learner.view_has_keys)
        await learner.press("n")
        await learner.sees("step 3 of 3", "exercise skipped", lambda: learner.view_has_keys)
        await learner.press("n")
        await learner.sees("course map", "2/3, rest skipped", lambda: learner.app.query_one(MapView).list.has_focus)
        assert learner.progress.state("made", "again") == "seen"

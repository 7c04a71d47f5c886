"""The view of a step, and the learner's changes there, which it posts as plain data."""

from __future__ import annotations

import re
from pathlib import Path

from textual.app import App, ComposeResult

from attn_tutor import tui
from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.kinds import model_of
from attn_tutor.lessons.play.step import LearnerChanges, Learning
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.lessons.what_if.changes import UNCHANGED, ChangeHistory
from attn_tutor.tui.screens.lesson_view import LessonView
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.text import TextPane
from tests.lessons.lesson_builders import code_step, lesson_of
from tests.tui.fake_session import FakeSession
from tests.tui.learner import tutor

LESSON = lesson_of(
    code_step("one", "x = 1\nn = 2", "x"),
    knobs=[{"kind": "number", "name": "n", "label": "N", "find": "n = 2", "replace": "n = {value}", "default": 2,
            "values": [1, 2, 4]}],
)  # fmt: skip
ONE, FOUR = (UNCHANGED.with_knob(LESSON, "n", value) for value in (1, 4))


class LessonApp(App[None]):
    """An app with the view alone, which keeps the posted messages."""

    CSS_PATH = Path(tui.__file__).parent / "app.tcss"

    def __init__(self, history: ChangeHistory) -> None:
        super().__init__()
        self.theme = "ansi-dark"
        self.view = LessonView(Terminal(depth="16"), "ansi_dark", id="lesson")
        self.history = history
        self.posted: list[LessonView.Changed] = []

    def compose(self) -> ComposeResult:
        yield self.view

    def on_mount(self) -> None:
        learning = Learning.begin(Course(lessons=(LESSON,)), Progress(None))
        model = model_of(learning, LESSON, LESSON.step("one"), LearnerChanges(self.history))
        model.content = StepContent(StepResult("one"))
        self.view.open_step(model)

    def on_lesson_view_changed(self, event: LessonView.Changed) -> None:
        self.posted.append(event)

    @property
    def code(self) -> str:
        return self.view.query_one("#code", TextPane).text


async def test_a_result_is_shown_with_the_code_that_produced_it() -> None:
    """A run may end after the learner has made further changes, which its code does not have."""
    app = LessonApp(ChangeHistory().do(ONE))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("w", "right", "right")
        await pilot.pause()
        assert app.posted[-1].history.current == FOUR
        result = StepResult("one")
        app.view.show_result(StepContent(result, base=result, changes=ONE))
        assert "n = 1" in app.code
        app.view.show_result(StepContent(result, base=result, changes=FOUR))
        assert "n = 4" in app.code


async def test_changes_are_posted_as_a_new_history() -> None:
    before = ChangeHistory().do(ONE)
    app = LessonApp(before)
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.press("w", "right", "right")
        await pilot.pause()
        assert [(event.lesson, event.history.current) for event in app.posted] == [(LESSON, UNCHANGED), (LESSON, FOUR)]
        # The history that the view was given is unchanged: its owner hears of changes by messages alone.
        assert before == ChangeHistory().do(ONE)
        assert app.posted[-1].history.undo().undo().current == ONE
        await pilot.press("escape")
        await pilot.pause()
        assert app.posted[-1].history.current == UNCHANGED


async def test_the_tutor_owns_the_changes_of_a_lesson() -> None:
    """Changes apply to the next step of the lesson too, and end with the lesson."""
    async with tutor(FakeSession()) as learner:
        await learner.goes_to("all-queries", "weights")
        await learner.sees("live, 2 ms")
        await learner.press("w", "9", "enter")
        steps = learner.app.parts.steps
        await learner.sees("what if", lambda: steps.changes.cells)
        await learner.press("n")
        await learner.sees("what if", lambda: steps.changes.cells)
        await learner.goes_to("attention-classes", "v1")
        assert not steps.changes


async def test_a_matrix_beside_text_has_fewer_digits_rather_than_fewer_columns() -> None:
    async with tutor(FakeSession(), size=(160, 50)) as learner:
        await learner.goes_to("one-query", "trace")
        await learner.sees("turns  6×7", "▐0.14▌", "sum2", lambda: not re.search(r"\+\d+ (right|below)", learner.text))


async def test_code_in_part_shows_the_line_that_made_the_matrix() -> None:
    async with tutor() as learner:
        await learner.goes_to("key-value-cache", "by-hand")
        await learner.sees("context  6×4", "whole  6×4", "9  context = torch.stack")
        assert "1  keys, values" not in learner.text


async def test_a_step_with_more_matrices_follows_one_whose_explanation_is_open() -> None:
    """It ended the tutor."""
    async with tutor() as learner:
        await learner.goes_to("one-query", "scores")
        await learner.sees("live, 2 ms")
        await learner.press("enter")
        await learner.sees("scores[0] = ")
        await learner.goes_to("one-query", "softmax")
        await learner.sees("weights  6", "exps  6", "live, 2 ms")

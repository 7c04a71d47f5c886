"""Whether steps fit on the smallest screen: laid out as a learner gets them, but without a terminal, and measured."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from textual.app import App, ComposeResult
from textual.css.query import NoMatches
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from lessons.authoring import recordings
from lessons.format.lesson import ExerciseStep, Lesson, Question, Step
from lessons.reading import loader
from lessons.reading.yaml_nodes import Finding, locate, place
from lessons.results.result import StepResult
from lessons.what_if.changes import ChangeHistory
from tui.screens.exercise_view import ExerciseView
from tui.screens.lesson_view import LessonView
from tui.screens.question_view import QuestionView
from tui.state.step_results import ShownResult
from tui.tty.terminal import Terminal
from tui.widgets.matrix import MatrixView
from tui.widgets.text_line import TextLine
from tui.widgets.text_pane import TextPane

SMALLEST = (80, 24)
TEXTS = {"lesson": "#prose", "question": "#question", "exercise": "#task"}
"""The pane of each view that holds the text."""


class _Bench(App[None]):
    """The views of steps on a screen of the tutor's shape."""

    CSS_PATH = Path(__file__).parents[1] / "app.tcss"

    def __init__(self) -> None:
        super().__init__()
        terminal = Terminal(depth="16")
        self.lesson_view = LessonView(terminal, "ansi_dark", id="lesson")
        self.question_view = QuestionView(terminal, "ansi_dark", id="question-view")
        self.exercise_view = ExerciseView(terminal, id="exercise-view")
        self.views = ContentSwitcher(
            self.lesson_view, self.question_view, self.exercise_view, id="views", initial="lesson"
        )

    def compose(self) -> ComposeResult:
        yield from (TextLine(id="title"), TextLine(id="rule"), self.views, TextLine(id="keys"))

    def show(self, lesson: Lesson, step: Step, result: StepResult) -> tuple[Widget, str]:
        """Show a step; returns its view, and what finds the pane of its text."""
        if isinstance(step, ExerciseStep):
            self.views.current = "exercise-view"
            self.exercise_view.show_step(step, step.starter, 0)
            return self.exercise_view, TEXTS["exercise"]
        if isinstance(step, Question):
            self.views.current = "question-view"
            self.question_view.show_step(lesson, step, result, "", passed=False)
            return self.question_view, TEXTS["question"]
        self.views.current = "lesson"
        self.lesson_view.open_step(lesson, step, ShownResult(result), ChangeHistory())
        return self.lesson_view, TEXTS["lesson"]


def findings(lessons: Sequence[Lesson]) -> list[Finding]:
    """Steps whose text has to be scrolled more than once, or hides the rest; their results are the recorded ones."""
    return asyncio.run(_measure(lessons))


async def _measure(lessons: Sequence[Lesson]) -> list[Finding]:
    found: list[Finding] = []
    app = _Bench()
    async with app.run_test(size=SMALLEST) as pilot:
        for lesson in lessons:
            results = recordings.load(lesson)
            root = loader.nodes(lesson)
            for position, step in enumerate(lesson.steps):
                view, text = app.show(lesson, step, results.get(step.id, StepResult(step.id)))
                # Until all messages are handled; without the 0 Textual also waits for the processor to be idle.
                await pilot.pause(0)
                for field, problem, remedy in _of_view(view, text):
                    where = place(locate(root, ("steps", position, field))[1].start_mark)
                    found.append(Finding(*where, problem, remedy))
    return found


def _of_view(view: Widget, text: str) -> Iterator[tuple[str, str, str]]:
    width, height = SMALLEST
    try:
        pane = view.query_one(text, TextPane)
    except NoMatches:
        return
    lines, room = pane.lines_at(pane.size.width or width), pane.size.height
    # A line of each screenful says that there is more.
    if lines > room and lines > 2 * (room - 1):
        problem = f"on {width} by {height} its {lines} lines of text get a place of {room}"
        yield "prose", problem, "Shorten the text, or what stands below it."
    matrices = [matrix for matrix in view.query(MatrixView) if matrix.tensor is not None]
    if matrices and not any(matrix.display and matrix.size.height >= min(3, _lines(matrix)) for matrix in matrices):
        yield "show", f"on {width} by {height} nothing is seen of its matrices", "Shorten text, or options."


def _lines(matrix: MatrixView) -> int:
    return matrix.natural_size()[1]

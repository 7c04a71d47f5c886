"""Whether steps fit on the smallest screen: laid out as for a learner, but without a terminal, and measured."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from pathlib import Path

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widget import Widget
from textual.widgets import ContentSwitcher

from lessons.engine.session import Session
from lessons.format.lesson import Lesson, Step
from lessons.learner.progress import Progress
from lessons.reading import loader, recorded_outputs
from lessons.reading.findings import Finding
from lessons.reading.yaml_nodes import locate, position_of
from lessons.results.result import StepResult
from lessons.what_if.changes import ChangeHistory
from tui.controllers.step_kinds import make_views
from tui.screens.step_view import StepView, ViewContext
from tui.state.async_session import AsyncSession
from tui.state.step_results import StepContent, TrainingReplays
from tui.tty.terminal import Terminal
from tui.widgets.matrix import MatrixView
from tui.widgets.text_line import TextLine

SMALLEST = (80, 24)


class _Bench(App[None]):
    """An app with the views of steps, laid out as in the tutor."""

    CSS_PATH = Path(__file__).parents[1] / "app.tcss"

    def __init__(self) -> None:
        super().__init__()
        # This starts no worker: a session does so when it is first asked for something.
        self.async_session, self.progress = AsyncSession(Session()), Progress(None)
        context = ViewContext(Terminal(depth="16"), "ansi_dark", self.async_session, self.progress, TrainingReplays())
        self.step_views = make_views(context)
        self.views = ContentSwitcher(*map(_widget, dict.fromkeys(self.step_views.values())), id="views")

    def compose(self) -> ComposeResult:
        yield from (TextLine(id="title"), TextLine(id="rule"), self.views, TextLine(id="keys"))

    def show(self, lesson: Lesson, step: Step, result: StepResult) -> StepView:
        """Show a step and return its view."""
        view = self.step_views[step.kind]
        self.views.current = view.id
        view.open_step(lesson, step, StepContent(result), ChangeHistory())
        return view

    def on_unmount(self) -> None:
        self.async_session.close()
        self.progress.close()


def _widget(view: StepView) -> Widget:
    assert isinstance(view, Widget)
    return view


def findings(lessons: Sequence[Lesson]) -> list[Finding]:
    """Return the steps whose recorded results make the text scroll more than once, or hide the rest."""
    return asyncio.run(_measure(lessons))


async def _measure(lessons: Sequence[Lesson]) -> list[Finding]:
    found: list[Finding] = []
    app = _Bench()
    async with app.run_test(size=SMALLEST) as pilot:
        for lesson in lessons:
            results = recorded_outputs.load(lesson)
            root = loader.read_nodes(lesson)
            for position, step in enumerate(lesson.steps):
                view = app.show(lesson, step, results.get(step.id, StepResult(step.id)))
                await _lay_out(view, pilot)
                for field, problem, remedy in _of_view(view):
                    where = position_of(locate(root, ("steps", position, field))[1].start_mark)
                    found.append(Finding(*where, problem, remedy))
    return found


async def _lay_out(view: StepView, pilot: Pilot[None]) -> None:
    """Wait until the layout of a view stands still.

    A pause without a length would wait until this process computes nothing, which other threads may not let it.
    """
    before = None
    while (sizes := [widget.size for widget in _widget(view).query("*")]) != before:
        before = sizes
        await pilot.pause(0)


def _of_view(view: StepView) -> Iterator[tuple[str, str, str]]:
    width, height = SMALLEST
    pane = view.text_pane
    lines, room = pane.lines_at(pane.size.width or width), pane.size.height
    # One line of each screenful says that there is more.
    if lines > room and lines > 2 * (room - 1):
        problem = f"on {width} by {height} its {lines} lines of text get a place of {room}"
        yield "prose", problem, "Shorten the text, or what stands below it."
    matrices = [matrix for matrix in _widget(view).query(MatrixView) if matrix.tensor is not None]
    if matrices and not any(matrix.display and matrix.size.height >= min(3, _lines(matrix)) for matrix in matrices):
        yield "show", f"on {width} by {height} nothing is seen of its matrices", "Shorten text, or options."


def _lines(matrix: MatrixView) -> int:
    return matrix.natural_size()[1]

"""Whether steps fit on a small screen and fill a large one: laid out as for a learner, and measured."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

from textual.app import App, ComposeResult
from textual.screen import Screen
from textual.strip import Strip
from textual.widget import Widget

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format.lesson import Course, Lesson, Step
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.kinds import model_of
from attn_tutor.lessons.play.recorded_results import RecordedResults
from attn_tutor.lessons.play.step import Learning
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import Finding
from attn_tutor.lessons.reading.yaml_nodes import locate, position_of
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.result import StepResult
from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.controllers import side_controller
from attn_tutor.tui.controllers.assembly import make_views
from attn_tutor.tui.screens.step_view import StepView, ViewContext
from attn_tutor.tui.state.async_session import AsyncSession
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.flow_chart import EMPTY
from attn_tutor.tui.widgets.matrix import MatrixView
from attn_tutor.tui.widgets.side_panel import SidePanel
from attn_tutor.tui.widgets.text import TextLine
from attn_tutor.tui.widgets.view_switcher import Middle, ViewSwitcher

SMALLEST, LARGE = (80, 24), (160, 48)

NOTHING_RAN: Mapping[str, Sequence[StepResult]] = {}

MOST_BLANK = 1 / 3
"""The largest part of the rows of a large screen that may be blank."""


class _Unpainted(Screen[None]):
    """A screen that is laid out, and painted when somebody looks at it."""

    def _compositor_refresh(self) -> None:
        self._dirty_widgets.clear()


class _Bench(App[None]):
    """An app with the views of steps, laid out as in the tutor."""

    CSS_PATH = Path(__file__).parents[1] / "app.tcss"
    HORIZONTAL_BREAKPOINTS = TutorApp.HORIZONTAL_BREAKPOINTS

    def __init__(self) -> None:
        super().__init__()
        # This starts no worker: a session does so when it is first asked for something.
        self.async_session, self.progress = AsyncSession(Session()), Progress(None)
        context = ViewContext(Terminal(depth="16"), "ansi_dark", self.async_session, self.progress)
        self._learning = Learning.begin(Course(lessons=()), self.progress)
        self.step_views = make_views(context)
        self.views = ViewSwitcher(*map(_widget, dict.fromkeys(self.step_views.values())), id="views")
        self.side = SidePanel(context.terminal, id="side")
        self.middle = Middle(self.views, self.side, id="middle")

    def get_default_screen(self) -> Screen[None]:
        """Return the screen on which nothing is painted until it is looked at."""
        return _Unpainted(id="_default")

    def compose(self) -> ComposeResult:
        yield from (TextLine(id="title"), TextLine(id="rule"), self.middle, TextLine(id="keys"))

    def show(self, lesson: Lesson, step: Step, result: StepResult) -> StepView:
        """Show a step and return its view."""
        view = self.step_views[step.kind]
        self.views.current = view.id
        model = model_of(self._learning, lesson, step)
        model.content = StepContent(result)
        view.open_step(model)
        return view

    def on_unmount(self) -> None:
        self.async_session.close()
        self.progress.close()


def largest(flows: Iterable[Flow]) -> Flow:
    """Return the flow that the tutor shows: the first that is worth a look, else the largest."""
    found = EMPTY
    for flow in flows:
        if len(flow.boxes) > len(found.boxes):
            found = flow
        if len(found.boxes) >= side_controller.ENOUGH:
            break
    return found


Problems = Callable[[_Bench, StepView], Iterator[tuple[str, str, str]]]


def _widget(view: StepView) -> Widget:
    assert isinstance(view, Widget)
    return view


Runs = Mapping[str, Sequence[StepResult]]
"""The results of a run by the id of its lesson, for lessons that nobody has recorded."""


class _Results(RecordedResults):
    """The recorded results of lessons; those of a run where there are none."""

    def __init__(self, runs: Runs) -> None:
        super().__init__()
        self._runs = runs

    def of(self, lesson: Lesson) -> dict[str, StepResult]:
        """Return the results of a lesson by step."""
        return super().of(lesson) or {result.id: result for result in self._runs.get(lesson.id, ())}


def is_recorded(lesson: Lesson) -> bool:
    """Return whether a lesson has recorded results to lay out."""
    return bool(RecordedResults().of(lesson))


def findings(lessons: Sequence[Lesson], runs: Runs = NOTHING_RAN) -> list[Finding]:
    """Return the steps whose results make the text scroll more than once, or hide the rest."""
    return asyncio.run(_measure(lessons, SMALLEST, _unfit, _Results(runs), {}))


def blank(lessons: Sequence[Lesson], flows: Mapping[tuple[str, str], Flow]) -> list[Finding]:
    """Return the steps that leave too much of a large screen blank.

    Args:
        lessons: the lessons.
        flows: the flow of each step, by the ids of lesson and step, as after a run of the whole lesson.
    """
    return asyncio.run(_measure(lessons, LARGE, _blank, RecordedResults(), flows))


async def _measure(
    lessons: Sequence[Lesson],
    size: tuple[int, int],
    problems: Problems,
    recorded: RecordedResults,
    flows: Mapping[tuple[str, str], Flow],
) -> list[Finding]:
    found: list[Finding] = []
    app = _Bench()
    async with app.run_test(size=size):
        for before, lesson in pairwise([None, *lessons]):
            assert lesson is not None
            results = recorded.of(lesson)
            root = loader.read_nodes(lesson)
            for position, step in enumerate(lesson.steps):
                view = app.show(lesson, step, results.get(step.id, StepResult(step.id)))
                beside = side_controller.steps_with_flow(lesson, position)
                app.side.show_flow(largest(flows.get((lesson.id, id), EMPTY) for id in beside))
                side_controller.show_earlier(app.side, view, lesson, position, recorded.result, before)
                await _lay_out(app)
                for field, problem, remedy in problems(app, view):
                    where = position_of(locate(root, ("steps", position, field))[1].start_mark)
                    found.append(Finding(*where, problem, remedy))
    return found


async def _lay_out(app: _Bench) -> None:
    """Wait until the layout of the screen stands still.

    A pilot's pause would send each widget a message, which takes longer than the layout. So does asking each widget for
    its size, so what is asked is where all that are displayed have been put.
    """
    loop = asyncio.get_running_loop()
    before = None
    while (regions := {widget: at.region for widget, at in app.screen._compositor.full_map.items()}) != before:
        before = regions
        while loop._ready:  # type: ignore[attr-defined]
            await asyncio.sleep(0)
        app.screen._on_timer_update()


def _unfit(app: _Bench, view: StepView) -> Iterator[tuple[str, str, str]]:
    """Yield field, problem and remedy of what does not fit."""
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


def _blank(app: _Bench, view: StepView) -> Iterator[tuple[str, str, str]]:
    """Yield field, problem and remedy if too many rows are blank."""
    rows = LARGE[1]
    most = int(MOST_BLANK * rows)
    # To paint a whole screen takes longer than to lay it out, and for most steps a few widgets settle the matter.
    if _fills_all_but(most, app):
        return
    # There is no public way to read painted lines.
    painted = app.screen._compositor.render_strips()[app.middle.region.y : app.middle.region.bottom]
    blank = sum(map(_is_blank, painted))
    if blank > most:
        problem = f"on {LARGE[0]} by {rows} {blank} of {rows} rows are blank"
        yield "prose", problem, "Show more: a tensor, more of the code, or a step whose numbers flow from others."


def _fills_all_but(most: int, app: _Bench) -> bool:
    """Return whether some of the widgets without children, the highest first, leave no more than so many rows blank."""
    blank = set(app.middle.region.line_range)
    shown = app.screen._compositor.visible_widgets.items()
    leaves = [(widget, region, region.intersection(clip)) for widget, (region, clip) in shown if not widget.children]
    for widget, region, seen in sorted(leaves, key=lambda leaf: leaf[2].height, reverse=True):
        if len(blank) <= most:
            break
        if not blank.isdisjoint(seen.line_range):
            lines = widget.render_lines(seen.translate(-region.offset))
            blank -= {y for y, line in zip(seen.line_range, lines, strict=True) if not _is_blank(line)}
    return len(blank) <= most


def _is_blank(line: Strip) -> bool:
    """Return whether a line has neither text nor a background of its own."""
    return not line.text.strip() and len({segment.style and segment.style.bgcolor for segment in line}) <= 1


def _lines(matrix: MatrixView) -> int:
    return matrix.natural_size()[1]

"""A learner who uses an open tutor, for tests of journeys."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import cast

from textual.pilot import Pilot
from textual.widgets import TextArea

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.format import main_path
from attn_tutor.lessons.format.lesson import ExerciseStep
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.course_path import Purpose
from attn_tutor.tui.app import TutorApp
from attn_tutor.tui.render.prose import rich_text
from attn_tutor.tui.screens.lesson_view import LessonView
from attn_tutor.tui.screens.training_view import TrainingView
from attn_tutor.tui.screens.workbench import Workbench
from attn_tutor.tui.sources.course_source import CourseSource
from attn_tutor.tui.tty.terminal import Terminal
from attn_tutor.tui.widgets.text import TextPane
from tests.course import COURSE
from tests.tui.commands.command_line import WarmSession
from tests.tui.fake_session import FakeSession
from tests.tui.painted import painted_lines, painted_strips

SSH = Terminal(depth="16")
"""The terminal that tests draw for."""


def with_typed(code: str, keys: str) -> str:
    """Return code with text typed at the initial cursor position, after the last line that is not empty."""
    body = code.rstrip("\n")
    return body + keys + code[len(body) :]


def task(number: str) -> ExerciseStep:
    """Return the exercise of this number or id whose answer is code."""
    exercise = COURSE.exercise(number)[1]
    assert isinstance(exercise, ExerciseStep)
    return exercise


def position_text(lesson: str, step: str) -> str:
    """Return the text in the title that says where the learner is."""
    found = COURSE.lesson(lesson)
    return main_path.position_of(found.steps, step)


def position_text_near(lesson: str, step: str, steps: int) -> str:
    """Return the text in the title for a learner who went some steps on from a main step, or back."""
    found = COURSE.lesson(lesson)
    return position_text(lesson, found.main_steps[found.main_steps.index(found.step(step)) + steps].id)


def done_text(lesson: str, steps: int) -> str:
    """Return the text on the map that says how many steps of a lesson are done."""
    return f"{steps}/{len(COURSE.lesson(lesson).main_steps)}"


def task_start(exercise: ExerciseStep) -> str:
    """Return the first characters of a task as they are painted."""
    return rich_text(exercise.prose).plain[:20]


class Learner:
    """A learner who presses keys and looks at the screen."""

    def __init__(self, app: TutorApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def lines(self) -> list[str]:
        """The painted lines."""
        return painted_lines(self.app)

    @property
    def text(self) -> str:
        return "\n".join(self.lines)

    @property
    def keys(self) -> str:
        """The line of keys, at the bottom."""
        return self.lines[-1].strip()

    @property
    def focus(self) -> str | None:
        """The id of the focused widget."""
        return self.app.focused.id if self.app.focused else None

    @property
    def verdict(self) -> str:
        """The full text of the pane for verdicts."""
        return self.app.query_one("#verdict", TextPane).text

    def styled(self, what: str, *, reverse: bool = False, underline: bool = False) -> list[str]:
        """Return the pieces of lines with this text that are drawn in reverse or underlined."""
        strips = [strip for strip in painted_strips(self.app) if what in strip.text]
        styles = [(segment.text.strip(), segment.style) for strip in strips for segment in strip if segment.style]
        return [
            text
            for text, style in styles
            if text and (style.reverse or not reverse) and (style.underline or not underline)
        ]

    def dimmed(self, what: str) -> bool:
        """Return whether all of the line with this text is dimmed."""
        strips = painted_strips(self.app)
        [line] = [strip for strip in strips if what in strip.text]
        return all(segment.style and segment.style.dim for segment in line if segment.text.strip())

    @property
    def code(self) -> str:
        """The code in the editor."""
        return self.workbench.writing.code

    @property
    def progress(self) -> Progress:
        """The learner's progress."""
        return self.app.state.learning.progress

    @property
    def lesson_view(self) -> LessonView:
        """The view of steps that are read or run."""
        return self.app.query_one("#lesson", LessonView)

    @property
    def training_view(self) -> TrainingView:
        """The view of steps that train."""
        return self.app.query_one(TrainingView)

    @property
    def workbench(self) -> Workbench:
        """The view of exercises."""
        return self.app.query_one(Workbench)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)

    async def sees(self, *what: str | Callable[[], object], seconds: float = 60) -> None:
        """Wait until all of these texts are on the screen, and all of these conditions hold."""
        for each in what:
            try:
                async with asyncio.timeout(seconds):
                    while not (each() if callable(each) else each in self.text):
                        await self.pilot.pause()
            except TimeoutError:
                raise AssertionError(f"{each!r} does not come; the screen shows\n{self.text}") from None

    async def resizes(self, columns: int, lines: int) -> None:
        """Resize the terminal, and wait until all lines are painted."""
        await self.pilot.resize_terminal(columns, lines)
        await self.sees(lambda: len(self.lines) == lines)

    def opens(self, lesson: str, index: int, *, purpose: Purpose = Purpose.WORK) -> None:
        """Open a step directly, without the keys that lead there."""
        self.app.parts.steps.open(self.app.source.lesson(lesson), index, purpose=purpose)

    @property
    def view_has_keys(self) -> bool:
        """Whether the current view has the focus."""
        return self.app.query_one(f"#{self.app.frame.view_id}").has_focus_within

    async def goes_to(self, lesson: str, step: str) -> None:
        """Open a step directly, and wait until it is shown."""
        found = COURSE.lesson(lesson)
        self.opens(lesson, found.index(step))
        await self.sees(f"lesson {found.number}   {position_text(lesson, step)}", lambda: self.view_has_keys)
        await self.sees(lambda: self.focus == "task" or found.step(step).kind != "exercise")
        await self.pilot.pause()

    async def is_answered(self) -> None:
        """Wait until everything that was asked of the worker has been answered, and the answers are painted."""
        session, before = self.app.state.async_session, None
        while before != (before := self.lines):
            # Each thread does one thing after the other, so this is done last.
            for thread in (session._jobs, session._questions):
                await asyncio.wrap_future(thread.submit(int))
            await self.pilot.pause()

    async def writes(self, code: str) -> None:
        """Replace the code in the editor, as by one paste."""
        editor = self.app.query_one("#editor", TextArea)
        editor.replace(code, (0, 0), editor.document.end)
        await self.pilot.pause()


@asynccontextmanager
async def tutor(
    session: Session | WarmSession | None = None, size: tuple[int, int] = (80, 24), terminal: Terminal = SSH
) -> AsyncIterator[Learner]:
    """Open a tutor, by default with a fake session that replies at once."""
    app = TutorApp(terminal, CourseSource(session=cast(Session, session) or FakeSession()))
    try:
        async with app.run_test(size=size, notifications=True) as pilot:
            learner = Learner(app, pilot)
            await learner.sees(app.assembled.is_set, "course map")
            yield learner
    finally:
        app.close()

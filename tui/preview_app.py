"""The app for authors: a lesson as learners will see it, read again each time one of its files is saved."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

from textual import work
from textual.app import ComposeResult

from lessons.authoring import axis_complaints
from lessons.authoring.previewed_course import PreviewedCourse, Version
from lessons.format.lesson import Course, Lesson
from lessons.play.learning import Learning
from lessons.reading import outlining
from lessons.reading.course_outline import CourseOutline
from lessons.reading.findings import Finding, LessonError
from lessons.results.clean_text import printable
from lessons.results.result import WorkerError
from lessons.texts.wording import Wording
from tui.app import TutorApp
from tui.controllers import startup
from tui.controllers.frame import MAP
from tui.controllers.learning_state import LearningState, MapState
from tui.render import finding_text
from tui.screens.lesson_view import LessonView
from tui.state.async_session import AsyncSession
from tui.state.preview_results import PreviewResults
from tui.state.program_results import NoProgress
from tui.tty.terminal import Terminal
from tui.widgets.findings_pane import FindingsPane

if TYPE_CHECKING:
    from lessons.engine.session import Session

say = Wording("screen/preview")

EVERY = 0.2
"""Seconds between looks at the files; two looks that agree find them saved."""

PATIENCE = 3.0
"""Seconds that the version before stays while a new one runs; code that takes longer is seen at work."""

MOST_FINDINGS = 3
"""The most findings that are shown above the step."""


class LatestCourse:
    """The course as it was read last, for all who hold this in place of a course."""

    def __init__(self, course: Course) -> None:
        self.now = course

    def __getattr__(self, name: str) -> Any:
        """Return what the course has now."""
        return getattr(self.now, name)


class PreviewApp(TutorApp):
    """The tutor with what an author is writing. Nothing of it is kept."""

    def __init__(
        self,
        terminal: Terminal,
        previewed: PreviewedCourse,
        version: Version,
        index: int = 0,
        session: Session | None = None,
    ) -> None:
        """Initialize; the step at this position of the lesson is opened first."""
        super().__init__(terminal, session)
        self._previewed, self._version, self._first = previewed, version, index
        self._latest = LatestCourse(version.course)
        self._seen = self._judged = previewed.fingerprint()
        self.findings = FindingsPane(ellipsis=terminal.ellipsis, id="findings")

    def compose(self) -> ComposeResult:
        """Compose the screen, with what is wrong above the views."""
        for widget in super().compose():
            if widget is self.frame.middle:
                yield self.findings
            yield widget

    def read(self) -> MapState:
        """Return the lessons, and progress that is in no file."""
        return MapState(outlining.outline(self._version.course), lambda: self._version.course, NoProgress())

    def add_session(self, shown: MapState) -> LearningState:
        """Return the course as it is read last, and results that are all made here and now."""
        from lessons.engine.session import Session

        async_session = AsyncSession(self._session or Session(nice=startup.NICE))
        course = cast(Course, self._latest)
        return LearningState(Learning.begin(course, shown.progress, PreviewResults()), async_session)

    def map_title(self, outline: CourseOutline) -> str:
        """Return the title of the course, or the name of the file if it is in none."""
        return outline.title or printable(self._previewed.path.name)

    def look_for_courses(self) -> None:  # type: ignore[override]
        """Show no other courses: an author has come for this one."""

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now: there is no progress to be exported."""
        return False if action == "export" else super().check_action(action, parameters)

    def _show_first(self, shown: MapState | str) -> None:
        super()._show_first(shown)
        self.begin()

    @work(exclusive=True, group="open")
    async def begin(self) -> None:
        """Open the step that the author has named; hold the keys until then. Then look at the files."""
        with self.input_held():
            await self.assembled.wait()
        steps = self.parts.steps
        opened, arrived = steps.on_open, steps.on_result

        def on_open() -> None:
            opened()
            self._show_findings()

        def on_result() -> None:
            arrived()
            self._show_findings()

        steps.on_open, steps.on_result = on_open, on_result
        self._note()
        steps.open(self._version.lesson, self._first)
        self.set_interval(EVERY, self._look)
        file = printable(self._previewed.path.name)
        self.frame.notify(say("begin", "A preview: {file} is read again each time you save it.", file=file), timeout=5)

    # Reading it again ------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Read the files again if one of them was saved: two looks in a row have to agree."""
        found = self._previewed.fingerprint()
        settled, self._seen = found == self._seen, found
        if settled and found != self._judged:
            self._judged = found
            self.read_again()

    @work(exclusive=True, group="again", exit_on_error=False)
    async def read_again(self) -> None:
        """Read the files, and show the step as it is now, or what is wrong."""
        version = await asyncio.to_thread(self._previewed.read)
        steps = self.parts.steps
        before = steps.lesson
        lesson, index = version.place_of(before, steps.step.id)
        if lesson != before:
            results = self.state.learning.results
            assert isinstance(results, PreviewResults)
            try:
                # While it runs, the version before stays.
                async with asyncio.timeout(PATIENCE):
                    step = lesson.steps[index]
                    await self.state.async_session.finish(lesson, step.id, results.prepare(step))
            except TimeoutError:
                # The step runs again once it is open, and can be stopped there.
                pass
            except WorkerError as error:
                self.frame.problem = str(error)
        self._version, self._latest.now = version, version.course
        self.map.replace(outlining.outline(version.course))
        self._note()
        if lesson != before:
            self._open_again(lesson, index)
        else:
            self._show_findings()
            self.frame.show_title()

    def _open_again(self, lesson: Lesson, index: int) -> None:
        """Open a step of a new version with the focus where it was; on the map, only list the lessons again."""
        if self.frame.main_view_id == MAP:
            self.map.show()
            return
        view = self.parts.steps.view
        if isinstance(view, LessonView):
            view.prefer(view.active_name)
        self.parts.steps.open(lesson, index)
        if isinstance(view, LessonView):
            view.prefer("")

    def _note(self) -> None:
        """Say in the title that this is a preview, and whether it is of an older version."""
        self.frame.note = say("preview", "preview") if self._version.is_new else say("older", "older version")

    def _show_findings(self) -> None:
        """Show what keeps the files from being read, or what lint would find in the step."""
        version, steps = self._version, self.parts.steps
        position = self._previewed.shown_position
        if version.findings:
            self.findings.show_findings(finding_text.unreadable(version, position, MOST_FINDINGS))
        elif steps.lesson == version.lesson and (found := (*self._wrong_axes(), *version.remarks_on(steps.index))):
            self.findings.show_findings(finding_text.remarks(found, position))
        else:
            self.findings.show_findings(None)

    def _wrong_axes(self) -> tuple[Finding, ...]:
        """Return where the step's axes and labels do not fit what it has computed; nothing before it has run."""
        steps, results = self.parts.steps, self.state.learning.results
        assert isinstance(results, PreviewResults)
        result = results.unchanged(steps.lesson, steps.step)
        if result is None:
            return ()
        try:
            return tuple(axis_complaints.findings_in_step(steps.lesson, steps.index, result.tensors))
        except LessonError:
            # Saved again meanwhile, and about to be read.
            return ()

    def on_resize(self) -> None:
        """Draw the lines of the frame and the findings for the new width of the screen."""
        super().on_resize()
        self.call_later(self.findings.fit)

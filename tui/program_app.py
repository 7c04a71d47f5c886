"""The app for a program of one's own: its named tensors as pages, without a course and without progress."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

from textual import work
from textual.binding import BindingType

from lessons.engine.programs import program_session
from lessons.engine.programs.first_difference import lead_to_first
from lessons.engine.programs.program_session import ProgramRun, ProgramSession
from lessons.engine.running_program import OwnProgram
from lessons.format.lesson import Course
from lessons.play.learning import Learning
from lessons.play.purpose import Purpose
from lessons.reading.course_outline import CourseOutline, LessonOutline, StepOutline
from lessons.results.result import Failure, WorkerError
from lessons.results.tensor_questions import Refusal
from lessons.texts.wording import Wording
from tui.actions.bindings import bindings
from tui.app import TutorApp
from tui.controllers.frame import MAP
from tui.controllers.learning_state import LearningState, MapState
from tui.screens.program_map import ProgramMap
from tui.state import program_calls, program_rows, program_words
from tui.state.async_session import AsyncSession
from tui.state.program_course import course_of
from tui.state.program_results import NoProgress, ProgramResults
from tui.state.saved_program import SavedProgram
from tui.tty.terminal import Terminal

if TYPE_CHECKING:
    from tui.screens.map_view import MapView
    from tui.state.tensor_rows import TensorRow

say = Wording("screen/program")

EVERY = 0.2
"""Seconds between looks at the files of the program; two looks that agree find it saved."""

OF_COURSE = frozenset({"glossary", "side_step", "jump_back", "export"})
"""The actions that need a course."""


class ProgramApp(TutorApp):
    """The tutor with a program in place of the course. With `watch`, the program runs again when a file is saved."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("program")]

    def __init__(self, terminal: Terminal, session: ProgramSession, *, watch: bool = False) -> None:
        self.program_session = session
        super().__init__(terminal, session)
        self._watch = watch
        self._saved = SavedProgram(session.program)
        self._shown = self.opened
        self.frame.map_title, self.frame.has_course = say("tensors", "tensors"), False

    def make_map(self) -> MapView:
        """Return the list of the program's tensors."""
        self.tensor_list = ProgramMap(self.terminal, id=MAP)
        return self.tensor_list

    def look_for_courses(self) -> None:  # type: ignore[override]
        """Show no courses: there is none here."""

    @property
    def opened(self) -> ProgramRun:
        """The run that the pages were made from."""
        opened = self.program_session.opened
        assert opened is not None
        return opened

    def read(self) -> MapState:
        """Return the pages, and progress that is in no file."""
        self.tensor_list.list_tensors(self.rows())
        return MapState(outline(self.opened), self._course, NoProgress())

    def map_title(self, outline: CourseOutline) -> str:
        """Return the name of the file."""
        return outline.title

    def rows(self) -> tuple[TensorRow, ...]:
        """Return the tensors for the list of them."""
        return tuple(program_rows.rows_of(self.opened))

    def _course(self) -> Course:
        return course_of(self.program_session)

    def add_session(self, shown: MapState) -> LearningState:
        """Return the program as a course of one lesson."""
        async_session = AsyncSession(self.program_session)
        return LearningState(Learning.begin(self._course(), shown.progress, self.results()), async_session)

    def results(self) -> ProgramResults:
        """Return the results of the pages."""
        return ProgramResults()

    def _show_first(self, shown: MapState | str) -> None:
        super()._show_first(shown)
        self.show_first_page()
        if self._watch:
            self.set_interval(EVERY, self._look)

    def show_first_page(self) -> None:
        """Open the page at which the learner starts."""
        index = program_session.first_page(self.opened)
        self.open_when_made("", self.opened.lesson.steps[index].id)

    @work(exclusive=True, group="open")
    async def open_when_made(
        self, lesson_id: str, step: str, purpose: Purpose = Purpose.WORK, *, name: str = ""
    ) -> None:
        """Open a page as soon as the views are assembled, at the tensor of this name; hold the keys until then."""
        with self.input_held():
            await self.assembled.wait()
        lesson = self.opened.lesson
        self._open(lesson.index(step), name)

    def _open(self, index: int, name: str = "") -> None:
        """Open a page, at the tensor of this name."""
        from tui.screens.lesson_view import LessonView

        view = self.parts.step_views["run"]
        assert isinstance(view, LessonView)
        view.prefer(name)
        self.parts.steps.open(self.opened.lesson, index)

    def on_map_view_open(self, event: MapView.Open) -> None:
        """Open the page of the tensor that was chosen, at this tensor."""
        event.prevent_default()
        if (row := self.tensor_list.row) is not None:
            self.open_when_made("", row.page, name=row.name)

    def on_map_view_selected(self, event: MapView.Selected) -> None:
        """Describe the tensor under the cursor, and update the keys, which depend on whether names are sought."""
        event.prevent_default()
        self.map.describe(event.lesson)
        self.frame.show_keys()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Return whether an action applies now: none that needs a course."""
        if action == "call":
            return self.assembled.is_set() and self.parts.steps.is_visible
        return False if action in OF_COURSE else super().check_action(action, parameters)

    def action_next(self) -> None:
        """Go on to the next page, after the last one to the list of tensors."""
        self._turn(1)

    def action_previous(self) -> None:
        """Go back to the previous page."""
        self._turn(-1)

    def _turn(self, by: int) -> None:
        steps = self.parts.steps
        if not steps.is_visible or not steps.may_leave():
            return
        index = steps.index + by
        if index >= len(steps.lesson.steps):
            steps.leave()
        elif index >= 0:
            steps.open(steps.lesson, index)

    # The call of a function that a page shows ------------------------------------------------------------------------

    def action_call(self, which: program_calls.Which) -> None:
        """Show another call of the function that the page is about."""
        if self.parts.steps.may_leave():
            self._choose_call(which)

    @work(exclusive=True, group="again", exit_on_error=False)
    async def _choose_call(self, which: program_calls.Which) -> None:
        steps, before = self.parts.steps, self.opened
        groups = before.groups
        choose = partial(program_calls.choose, self.program_session, steps.step.id, which)
        index = await self.state.async_session.work(choose)
        if isinstance(index, Refusal):
            self.frame.notify(index.reason, timeout=5)
            return
        self.state.learning.results.forget()
        self.tensor_list.list_tensors(self.rows())
        self.map.replace(outline(self.opened))
        same = program_calls.are_alike(groups, self.opened.groups)
        steps.open(self.opened.lesson, index, history=steps.history if same else None)

    # Running it again ------------------------------------------------------------------------------------------------

    def _look(self) -> None:
        """Run the program again if one of its files was saved."""
        if not self.assembled.is_set():
            return
        if self._saved.changed(self.opened.whole.imported, self.program_session.began):
            self.run_again()
        elif self._saved.vanished():
            gone = say("gone", "{file} is gone. What you see stays as it is.", file=self._saved.name)
            self.frame.notify(gone, "warning", timeout=10)

    def action_rerun(self) -> None:
        """Read the file and run the program again."""
        if self.parts.steps.is_visible:
            self.run_again()

    @work(exclusive=True, group="again", exit_on_error=False)
    async def run_again(self) -> None:
        """Run the program as its file is now; show what has changed, from the first tensor that differs."""
        program = self._saved.read(self.program_session.program)
        if program is None:
            self.frame.notify(say("unreadable", "{file} cannot be read.", file=self._saved.name), "warning")
            return
        self.frame.notify(self.said_while_running(), timeout=2)
        try:
            error, changed = await self.state.async_session.work(partial(self._run, program, self._shown))
        except WorkerError as failure:
            self.frame.problem = str(failure)
            self.frame.show_title()
            return
        self.frame.note = say("older", "older version") if error is not None else ""
        if error is not None:
            self.frame.show_title()
            self.frame.notify(program_words.unrun(self._saved.name, error), "error", timeout=15)
            return
        self._show_again(changed)

    def _run(self, program: OwnProgram, before: ProgramRun) -> tuple[Failure | None, str]:
        """Run a program in a thread, and compare it with a run before.

        Returns the failure of one that came to nothing, as while it is being written: then the pages stay. Otherwise
        returns the first tensor that differs, "" if none does.
        """
        earlier = self.opened
        error = self.program_session.open_again(program, before)
        if earlier is not before:
            # A newer save came before it was shown.
            earlier.release()
        return error, "" if error is not None else lead_to_first(self.program_session, before)

    def _show_again(self, changed: str) -> None:
        """Show the pages of the new version, at its error or at the first tensor that differs."""
        results = self.state.learning.results
        assert isinstance(results, ProgramResults)
        results.compare_with(self._shown)
        self._shown = self.opened
        self.tensor_list.list_tensors(self.rows())
        self.map.replace(outline(self.opened))
        lesson = self.opened.lesson
        labels = {shown.name: index for index, step in enumerate(lesson.steps) for shown in getattr(step, "show", ())}
        if self.opened.whole.error is not None:
            index = program_session.first_page(self.opened)
        else:
            index = labels.get(changed, min(self.parts.steps.index, len(lesson.steps) - 1))
        self._open(index, changed)
        self.frame.notify(self.said_again(changed), timeout=10)

    def said_while_running(self) -> str:
        """Say that the program runs again."""
        return say("again", "Running {file} again.", file=self._saved.name)

    def said_again(self, changed: str) -> str:
        """Say what running the program again has changed, from the first tensor that differs; "" if none does."""
        return program_words.difference(self.opened, changed)


def outline(run: ProgramRun) -> CourseOutline:
    """Return the pages of a program as the one lesson of a course."""
    steps = tuple(StepOutline(step.id, step.title, step.noun, is_exercise=False) for step in run.lesson.steps)
    return CourseOutline((LessonOutline(run.lesson.id, 0, run.lesson.name, "", None, steps),), run.lesson.name)

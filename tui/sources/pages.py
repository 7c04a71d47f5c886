"""Tensors on pages, in place of the lessons of a course: what a program and a file of tensors have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from attn_tutor.lessons.engine.programs import program_session
from attn_tutor.lessons.engine.programs.first_difference import lead_to_first
from attn_tutor.lessons.engine.programs.program_lesson import Group
from attn_tutor.lessons.engine.programs.program_session import ProgramRun, ProgramSession
from attn_tutor.lessons.engine.running_program import OwnProgram
from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.step_results import StepResults
from attn_tutor.lessons.reading.course_outline import CourseOutline, LessonOutline, StepOutline
from attn_tutor.lessons.results.result import Failure, WorkerError
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.sources.source import Call, Look, News, Notice, StepPosition
from attn_tutor.tui.state import program_calls, program_words
from attn_tutor.tui.state.async_session import AsyncSession
from attn_tutor.tui.state.program_calls import Which
from attn_tutor.tui.state.saved_program import SavedProgram
from attn_tutor.tui.state.tensor_rows import TensorRow

say = Wording("screen/program")


class Pages(ABC):
    """The pages of a session as they are shown; a thread may be at work on newer ones.

    Attributes:
        lessons: the pages, as one lesson.
        rows: the tensors on them.
        shown: the run that they were made from.
        computes: whether the tensors were computed, by functions that have calls.
    """

    course = folder = findings = greeting = edited = None
    runs_whole = True
    computes: bool

    def __init__(self, session: ProgramSession, *, watched: bool = False) -> None:
        """Initialize; `watched` has the program run again as soon as one of its files is saved."""
        self._session, self.watched = session, watched
        self._saved = SavedProgram(session.program)
        self.shown = self.opened
        self.note = ""
        self._show()

    @property
    def opened(self) -> ProgramRun:
        """The run that the newest pages were made from."""
        opened = self._session.opened
        assert opened is not None
        return opened

    def _show(self) -> None:
        """Have the newest pages shown from now on."""
        lesson = self.opened.lesson
        self.lessons, self.rows = (lesson,), tuple(self._rows())
        steps = tuple(StepOutline(step.id, step.title, step.noun, is_exercise=False) for step in lesson.steps)
        self.outline = CourseOutline((LessonOutline(lesson.id, 0, lesson.name, "", None, steps),), lesson.name)

    @abstractmethod
    def _rows(self) -> Iterator[TensorRow]:
        """Yield the tensors of the newest pages."""

    @property
    @abstractmethod
    def start(self) -> StepPosition | None:
        """The page that is opened first, None if that is the list of tensors."""

    @property
    @abstractmethod
    def map_name(self) -> str:
        """What the title line calls the list of tensors."""

    @property
    def title(self) -> str:
        """The name of the file."""
        return self.outline.title

    def lesson(self, name: str) -> Lesson:
        """Return the pages, whatever they are called."""
        return self.lessons[0]

    @property
    def again(self) -> Pages:
        """The pages, which are read again."""
        return self

    def read(self) -> Progress:
        """Return progress of which nothing is kept: it says nothing about the course."""
        return Progress.unkept()

    def open_session(self) -> ProgramSession:
        """Return the session."""
        return self._session

    def load(self) -> StepResults:
        """Return the results of the pages."""
        self._results = self._make_results()
        return self._results

    @abstractmethod
    def _make_results(self) -> StepResults:
        """Return the results of the pages, of which none is recorded."""

    # The call of a function that a page shows ------------------------------------------------------------------------

    async def choose_call(self, session: AsyncSession, page: str, which: Which) -> Call | Refusal:
        """Show another call of the function that a page is about; return where, or why there is none."""
        groups = self.opened.groups
        index = await session.work(partial(self.choose, page, which))
        if isinstance(index, Refusal):
            return index
        self._results.forget()
        return self.show_call(index, groups)

    def choose(self, page: str, which: Which | int) -> int | Refusal:
        """Choose another call of the function of a page, in a thread; return its page, or why there is none."""
        return program_calls.choose(self._session, page, which)

    def show_call(self, index: int, before: Sequence[Group]) -> Call:
        """Have the call shown that was chosen; `before` are the groups of the pages of before."""
        self._show()
        return Call(StepPosition(self.lessons[0], index), program_calls.are_alike(before, self.opened.groups))

    # Reading it again ------------------------------------------------------------------------------------------------

    def look(self) -> Look:
        """Look at the files of the program; two looks that agree find one saved."""
        if self._saved.changed(self.opened.whole.imported, self._session.began):
            return Look(saved=True)
        if not self._saved.vanished():
            return Look(saved=False)
        gone = say("gone", "{file} is gone. What you see stays as it is.", file=self._saved.name)
        return Look(saved=False, said=Notice(gone, "warning", 10))

    async def read_again(
        self, session: AsyncSession, here: Callable[[], tuple[Lesson, Step]], tell: Callable[[Notice], None]
    ) -> News:
        """Run the program as its file is now; what has changed is shown from the first tensor that differs."""
        program = self.program_now()
        if program is None:
            return News(said=Notice(self.unreadable, "warning"))
        tell(Notice(self._said_meanwhile, seconds=2))
        before = self.shown
        try:
            failure, changed = await session.work(partial(self.run_again, program, before))
        except WorkerError as error:
            return News(problem=str(error))
        self.note = say("older", "older version") if failure is not None else ""
        if failure is not None:
            return News(said=Notice(self.unrun(failure), "error", 15))
        self._compare_with(before)
        lesson, step = here()
        place = self.show_new(changed, lesson.index(step.id))
        return News(place, leaves_map=True, said=Notice(self.said_after(changed), seconds=10))

    @property
    def unreadable(self) -> str:
        """Says that the file of the program cannot be read."""
        return say("unreadable", "{file} cannot be read.", file=self._saved.name)

    def unrun(self, failure: Failure) -> str:
        """Say why a new version of the program came to nothing."""
        return program_words.unrun(self._saved.name, failure)

    def program_now(self) -> OwnProgram | None:
        """Return the program as its file is now, None if that cannot be read."""
        return self._saved.read(self._session.program)

    def run_again(self, program: OwnProgram, before: ProgramRun) -> tuple[Failure | None, str]:
        """Run a program in a thread, and compare it with a run before. Raises `WorkerError`.

        Returns the failure of one that came to nothing, as while it is being written: then the pages stay. Otherwise
        returns the first tensor that differs, "" if none does.
        """
        earlier = self.opened
        failure = self._session.open_again(program, before)
        if earlier is not before:
            # A newer save came before it was shown.
            earlier.release()
        return failure, "" if failure is not None else lead_to_first(self._session, before)

    def show_new(self, changed: str, index: int) -> StepPosition:
        """Have the new version shown; return where: at its error, or at the first tensor that differs.

        If none does, that is the page at the index of before, if there is still one.
        """
        self.shown = self.opened
        self._show()
        lesson = self.lessons[0]
        pages = {shown.name: index for index, step in enumerate(lesson.steps) for shown in getattr(step, "show", ())}
        if self.opened.whole.error is not None:
            index = program_session.first_page(self.opened)
        else:
            index = pages.get(changed, min(index, len(lesson.steps) - 1))
        return StepPosition(lesson, index, changed)

    @property
    @abstractmethod
    def _said_meanwhile(self) -> str:
        """What is said while it is read."""

    @abstractmethod
    def said_after(self, changed: str) -> str:
        """Say what reading it again has changed, from the first tensor that differs; "" if none does."""

    @abstractmethod
    def _compare_with(self, before: ProgramRun) -> None:
        """Have the results of an earlier version compared with those that are shown from now on."""

"""Tensors on pages, in place of the lessons of a course: of a program of one's own, or of a file of tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from attn_tutor.lessons.format.lesson import Lesson, Step
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play.recorded_results import NothingRecorded
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.step_results import Runs, StepResults
from attn_tutor.lessons.programs.engine.first_difference import lead_to_first
from attn_tutor.lessons.programs.engine.pages import TensorGroup
from attn_tutor.lessons.programs.engine.session import ProgramRun, ProgramSession, first_page
from attn_tutor.lessons.programs.engine.tensor_file import TensorFileSession
from attn_tutor.lessons.programs.render.tensor_file_text import size
from attn_tutor.lessons.programs.results.program_result import OwnProgram
from attn_tutor.lessons.reading.course_outline import CourseOutline, LessonOutline, StepOutline
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.results.result import Failure, WorkerError
from attn_tutor.lessons.results.tensor_questions import Refusal
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import UNCHANGED, Changes
from attn_tutor.tui.programs import program_tensors
from attn_tutor.tui.programs.program_tensors import rows_of_file
from attn_tutor.tui.programs.saved_program import SavedProgram
from attn_tutor.tui.sources.source import FilesLook, News, Notice, ShownCall, StepPosition, TensorRow, Which
from attn_tutor.tui.state.async_session import AsyncSession


class ProgramResults(StepResults):
    """The results of the pages. Those of the version before are kept to compare with."""

    def __init__(self) -> None:
        super().__init__(NothingRecorded())
        self._before: ProgramRun | None = None

    def compare_with(self, before: ProgramRun) -> None:
        """Compare what is shown with the results of an earlier version from now on."""
        if self._before is not None and self._before is not before:
            self._before.release()
        self._before = before
        self.forget()

    def live(self, lesson: Lesson, step: Step, changes: Changes = UNCHANGED) -> Runs[StepContent]:
        """Have the program run, if it has not just been run with these changes."""
        content = yield from super().live(lesson, step, changes)
        if changes or self._before is None or not step.runs:
            return content
        tensors = self._before.tensors([shown.name for shown in step.shown_at_first])
        return replace(content, base=replace(content.result, tensors=tuple(tensors)))


say = Wording("screen/program")


def difference_words(run: ProgramRun, changed: str) -> str:
    """Say what a new version of a program has changed."""
    if run.whole.error is not None:
        return run.whole.error.message
    if not changed:
        return say("same", "It ran again. No named tensor has other values than before.")
    item = next(item for item in run.whole.named if item.label == changed)
    if item.line is None:
        return say("differs", "The first tensor that differs is {name}.", name=changed)
    if 0 < item.call < item.count:
        return say(
            "differs-in-call",
            "The first tensor that differs is {name}, line {line}, in call {call} of {count}.",
            name=changed,
            line=item.line,
            call=item.call,
            count=item.count,
        )
    return say("differs-at", "The first tensor that differs is {name}, line {line}.", name=changed, line=item.line)


def unrun_words(file: str, error: Failure) -> str:
    """Say why a new version of a program came to nothing."""
    where = file if error.line is None else say("at", "{file}, line {line}", file=file, line=error.line)
    return say("unrun", "{where}: {message} What you see is the version before.", where=where, message=error.message)


class PagesSource(ABC):
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
    def again(self) -> PagesSource:
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

    async def choose_call(self, session: AsyncSession, page: str, which: Which) -> ShownCall | Refusal:
        """Show another call of the function that a page is about; return where, or why there is none."""
        groups = self.opened.groups
        index = await session.work(partial(self.choose, page, which))
        if isinstance(index, Refusal):
            return index
        self._results.forget()
        return self.show_call(index, groups)

    def choose(self, page: str, which: Which | int) -> int | Refusal:
        """Choose another call of the function of a page, in a thread; return its page, or why there is none."""
        return program_tensors.choose_call(self._session, page, which)

    def show_call(self, index: int, before: Sequence[TensorGroup]) -> ShownCall:
        """Have the call shown that was chosen; `before` are the groups of the pages of before."""
        self._show()
        return ShownCall(StepPosition(self.lessons[0], index), program_tensors.are_alike(before, self.opened.groups))

    # Reading it again ------------------------------------------------------------------------------------------------

    def look(self) -> FilesLook:
        """Look at the files of the program; two looks that agree find one saved."""
        if self._saved.changed(self.opened.whole.imported, self._session.began):
            return FilesLook(saved=True)
        if not self._saved.vanished():
            return FilesLook(saved=False)
        gone = say("gone", "{file} is gone. What you see stays as it is.", file=self._saved.name)
        return FilesLook(saved=False, said=Notice(gone, "warning", 10))

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
        return unrun_words(self._saved.name, failure)

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
        pages = {shown.name: index for index, step in enumerate(lesson.steps) for shown in step.shown_at_first}
        if self.opened.whole.error is not None:
            index = first_page(self.opened)
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


class ProgramSource(PagesSource):
    """A program that has run."""

    computes = True

    @property
    def map_name(self) -> str:
        """What the title line calls the list of tensors."""
        return say("tensors", "tensors")

    def _rows(self) -> Iterator[TensorRow]:
        return program_tensors.rows_of(self.opened)

    @property
    def start(self) -> StepPosition:
        """The page where the program has failed, or else the first."""
        return StepPosition(self.lessons[0], first_page(self.opened))

    def _make_results(self) -> ProgramResults:
        self._compared = ProgramResults()
        return self._compared

    def _compare_with(self, before: ProgramRun) -> None:
        self._compared.compare_with(before)

    @property
    def _said_meanwhile(self) -> str:
        return say("again", "Running {file} again.", file=self._saved.name)

    def said_after(self, changed: str) -> str:
        """Say what running the program again has changed."""
        return difference_words(self.opened, changed)


class TensorFileSource(PagesSource):
    """A file of tensors."""

    computes = False

    def __init__(self, session: TensorFileSession, name: str = "") -> None:
        """Initialize; the page with the tensor `name` is opened first, or else the list."""
        self._file, self._first = session, name
        super().__init__(session)

    @property
    def map_name(self) -> str:
        """The kind of the file, its size, and how many tensors are in it."""
        found = self._file.found
        count = len(found.tensors) + found.more_tensors
        facts = say.count("tensor-file-tensors", count, "{count} tensor", "{count} tensors")
        return f"{found.kind}, {size(found.size)}, {facts}"

    def _rows(self) -> Iterator[TensorRow]:
        return rows_of_file(self._file)

    @property
    def start(self) -> StepPosition | None:
        """The page of the tensor that was asked for."""
        page, name = self._file.pages.page_of(self._first)
        return StepPosition(self.lessons[0], self.lessons[0].index(page), name) if page else None

    def _make_results(self) -> StepResults:
        return StepResults(NothingRecorded())

    def _compare_with(self, before: ProgramRun) -> None:
        self._results.forget()

    @property
    def _said_meanwhile(self) -> str:
        return say("reading", "Reading {file} again.", file=printable(self._file.path.name))

    def said_after(self, changed: str) -> str:
        """Say that the file was read again."""
        return say("tensor-file-again", "The list of the file was read again.")

"""What an author is writing as a source: a lesson as learners will see it, read again when a file is saved."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from attn_tutor.lessons.authoring import axis_complaints
from attn_tutor.lessons.authoring.previewed_course import Fingerprint, PreviewedCourse, Version
from attn_tutor.lessons.format.lesson import Course, Lesson, Step
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.play import step_content
from attn_tutor.lessons.play.recorded_results import NothingRecorded
from attn_tutor.lessons.play.step_content import StepContent
from attn_tutor.lessons.play.step_results import Runs, StepResults
from attn_tutor.lessons.reading import loader
from attn_tutor.lessons.reading.findings import Finding, LessonError
from attn_tutor.lessons.results.clean_text import printable
from attn_tutor.lessons.results.result import StepResult, WorkerError
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.changes import UNCHANGED
from attn_tutor.tui.render import finding_text
from attn_tutor.tui.sources import course_source
from attn_tutor.tui.sources.source import FilesLook, News, Notice, StepPosition
from attn_tutor.tui.state.async_session import AsyncSession

if TYPE_CHECKING:
    from attn_tutor.lessons.engine.session import Session


class PreviewResults(StepResults):
    """The results of the steps. `prepare` runs a step before it is shown, so that nothing moves once it is."""

    def __init__(self) -> None:
        super().__init__(NothingRecorded())
        self._prepared: dict[str, StepResult] = {}

    def prepare(self, step: Step) -> Runs[None]:
        """Have a new version of a lesson run up to a step."""
        self._prepared.clear()
        if step.runs:
            run = yield UNCHANGED
            self._prepared[step.id] = run.result(step.id) or run.steps[-1]

    def unchanged(self, lesson: Lesson, step: Step) -> StepResult | None:
        """Return what the step has computed without changes, None if it has not run."""
        return self._bases.get((lesson.id, step.id))

    def at_once(self, lesson: Lesson, step: Step) -> StepContent:
        """Return what the step has computed just now, if anything."""
        found = self._prepared.pop(step.id, None)
        if found is None:
            return super().at_once(lesson, step)
        return step_content.of_run(found, found, None)


say = Wording("screen/preview")

PATIENCE = 3.0
"""Seconds that the version before stays while a new one runs; code that takes longer is seen at work."""

MOST_FINDINGS = 3
"""The most findings that are shown above the step."""


class DraftSource:
    """What an author is writing. Nothing of it is kept.

    Attributes:
        version: the files as they were read last.
        outline: the lessons, as the map needs them.
    """

    rows = folder = choose_call = None
    computes = watched = True
    runs_whole = False

    def __init__(
        self, previewed: PreviewedCourse, version: Version, index: int = 0, session: Session | None = None
    ) -> None:
        """Initialize; the step at this position of the lesson is opened first."""
        self.previewed = previewed
        self.show(version)
        self.start = StepPosition(version.lesson, index)
        self._session = session
        self._seen = self._judged = previewed.fingerprint()
        self.map_name = course_source.map_name()

    # What there is to show -------------------------------------------------------------------------------------------

    def show(self, version: Version) -> None:
        """Have another version shown from now on."""
        self.version, self.outline = version, loader.outline_of(version.course)

    @property
    def course(self) -> Course:
        """The course as it was read last."""
        return self.version.course

    @property
    def title(self) -> str:
        """The title of the course, or the name of the file if it is in none."""
        return self.course.title or self._file

    @property
    def _file(self) -> str:
        return printable(self.previewed.path.name)

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """The lessons of the course."""
        return self.course.lessons

    def lesson(self, name: str) -> Lesson:
        """Return a lesson by its id. Raises `KeyError` if there is none."""
        return self.course.lesson(name)

    # What is kept of it ----------------------------------------------------------------------------------------------

    def read(self) -> Progress:
        """Return progress of which nothing is kept."""
        return Progress.unkept()

    def open_session(self) -> Session:
        """Return the session, whose worker is not started yet."""
        from attn_tutor.lessons.engine.session import Session

        return self._session or Session(nice=course_source.NICE)

    def load(self) -> PreviewResults:
        """Return results that are all made here and now."""
        self._results = PreviewResults()
        return self._results

    # Reading it again ------------------------------------------------------------------------------------------------

    @property
    def again(self) -> DraftSource:
        """The files, which are read again."""
        return self

    @property
    def edited(self) -> DraftSource:
        """The files, which are being written."""
        return self

    @property
    def greeting(self) -> Notice:
        """Says what happens when a file is saved."""
        text = say("begin", "A preview: {file} is read again each time you save it.", file=self._file)
        return Notice(text, seconds=5)

    @property
    def note(self) -> str:
        """Says that this is a preview, or that it is one of an older version."""
        return say("preview", "preview") if self.version.is_new else say("older", "older version")

    def look(self) -> FilesLook:
        """Look at the files: two looks in a row have to agree."""
        found = self.previewed.fingerprint()
        settled, self._seen = found == self._seen, found
        return FilesLook(settled and self._is_new(found))

    def was_saved(self) -> bool:
        """Return whether a file was saved since it was last read."""
        return self._is_new(self.previewed.fingerprint())

    def _is_new(self, found: Fingerprint) -> bool:
        before, self._judged = self._judged, found
        return found != before

    async def read_again(
        self, session: AsyncSession, here: Callable[[], tuple[Lesson, Step]], tell: Callable[[Notice], None]
    ) -> News:
        """Read the files, and run the step as it is now before it is shown."""
        version = await asyncio.to_thread(self.previewed.read)
        before, step = here()
        lesson, index = version.place_of(before, step.id)
        problem = ""
        if lesson != before:
            try:
                # While it runs, the version before stays.
                async with asyncio.timeout(PATIENCE):
                    now = lesson.steps[index]
                    await session.finish(lesson, now.id, self._results.prepare(now))
            except TimeoutError:
                # The step runs again once it is open, and can be stopped there.
                pass
            except WorkerError as error:
                problem = str(error)
        self.show(version)
        return News(StepPosition(lesson, index, None) if lesson != before else None, problem=problem)

    def read_now(self, lesson: Lesson, step: Step) -> StepPosition | None:
        """Read the files again. Returns the place of a step of before, None if its lesson is the same."""
        version = self.previewed.read()
        self.show(version)
        now, index = version.place_of(lesson, step.id)
        return StepPosition(now, index) if now != lesson else None

    def report(self) -> Iterator[str]:
        """Yield what keeps the files from being read, and what else lint would find in the lesson."""
        version = self.version
        remarks = tuple(finding for _, finding in version.remarks)
        for finding in version.findings or remarks:
            yield f"{self.previewed.shown_position(finding)}: {finding_text.sentence(finding)}"
        if version.is_older:
            yield say("mend", "You are still at the last version that could be read. Mend it, and press Enter.")

    def findings(self, lesson: Lesson, index: int) -> Text | None:
        """Return what keeps the files from being read, or what lint would find in a step."""
        version, position = self.version, self.previewed.shown_position
        if version.findings:
            return finding_text.unreadable(version, position, MOST_FINDINGS)
        if lesson != version.lesson:
            return None
        found = (*self._wrong_axes(lesson, index), *version.remarks_on(index))
        return finding_text.remarks(found, position) if found else None

    def _wrong_axes(self, lesson: Lesson, index: int) -> tuple[Finding, ...]:
        """Return where a step's axes and labels do not fit what it has computed; nothing before it has run."""
        result = self._results.unchanged(lesson, lesson.steps[index])
        if result is None:
            return ()
        try:
            return tuple(axis_complaints.findings_in_step(lesson, index, result.tensors))
        except LessonError:
            # Saved again meanwhile, and about to be read.
            return ()

"""A course as a source: it is read in two parts, because the first paint needs only what the map shows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from attn_tutor.lessons.reading.folders import FIRST, CourseFolder
from attn_tutor.lessons.texts.wording import Wording

if TYPE_CHECKING:  # what a thread imports when it is needed
    from collections.abc import Callable

    from attn_tutor.lessons.engine.session import Session
    from attn_tutor.lessons.format.lesson import Course, Lesson
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.play.step_results import StepResults
    from attn_tutor.lessons.reading.course_outline import CourseOutline

say = Wording("screen/startup")

NICE = 10
"""The niceness of the worker, so that the screen stays responsive while it computes."""


def map_name() -> str:
    """Return what the title line calls the map of lessons."""
    return say("course-map", "course map")


class CourseSource:
    """A course, with what is kept of its learner."""

    rows = start = choose_call = findings = again = edited = None
    computes = True
    course: Course

    def __init__(
        self, folder: CourseFolder = FIRST, session: Session | None = None, course: Course | None = None
    ) -> None:
        """Initialize; without a session, a new one is made once it is needed, and without a course, it is loaded."""
        self.folder, self._session = folder, session
        self._load: Callable[[], Course] | None = None
        if course is not None:
            self.course = course
        self.map_name = map_name()

    @property
    def title(self) -> str:
        """The tutor's name, or that of another course than the first."""
        return "attn-tutor" if self.folder == FIRST else self.outline.title

    @cached_property
    def outline(self) -> CourseOutline:
        """The lessons, as the map needs them; known before the course is loaded if it was read."""
        from attn_tutor.lessons.reading import loader

        return loader.outline_of(self.course)

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """The lessons, once they are loaded."""
        return self.course.lessons

    def lesson(self, name: str) -> Lesson:
        """Return a lesson by its id. Raises `KeyError` if there is none."""
        return self.course.lesson(name)

    def read(self) -> Progress | str:
        """Read the outline and the learner's progress; or return an error message."""
        from attn_tutor.lessons.learner.progress import Progress
        from attn_tutor.lessons.learner.renames import renames_of
        from attn_tutor.lessons.reading import kept_course
        from attn_tutor.lessons.reading.findings import LessonError

        folder = self.folder
        try:
            self.outline, self._load = kept_course.load_outline(folder)
        except LessonError as error:
            return say("cannot-read", "The course cannot be read:\n{findings}", findings=error)
        renames = renames_of(self.outline)
        return Progress.open(
            state_folder=folder.state_folder, renames=renames, background=True, course=folder.export_id
        )

    def open_session(self) -> Session:
        """Return the session, whose worker is not started yet."""
        from attn_tutor.lessons.engine.session import Session

        return self._session or Session(nice=NICE)

    def load(self) -> StepResults:
        """Load the course, if it is not there. Returns its recorded results."""
        from attn_tutor.lessons.play.step_results import StepResults

        if self._load is not None:
            self.course = self._load()
        return StepResults()

"""The work that a thread does at the start: first what the map needs, then the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lessons.texts.wording import Wording
from tui.controllers.learning_state import LearningState, MapState

if TYPE_CHECKING:
    from lessons.engine.session import Session
    from lessons.reading.folders import CourseFolder
    from tui.state.course_entries import CourseEntry

say = Wording("screen/startup")

NICE = 10
"""The niceness of the worker, so that the screen stays responsive while it computes."""


def read(course: CourseFolder) -> MapState | str:
    """Read what the map shows: the outline of a course, and the learner's progress; or return an error message."""
    from lessons.learner.progress import Progress
    from lessons.learner.renames import renames_of
    from lessons.reading import kept_course
    from lessons.reading.findings import LessonError

    try:
        outline, load_course = kept_course.load_outline(course)
    except LessonError as error:
        return say("cannot-read", "The course cannot be read:\n{findings}", findings=error)
    progress = Progress.open(
        state_folder=course.state_folder, renames=renames_of(outline), background=True, course=course.export_id
    )
    return MapState(outline, load_course, progress)


def add_session(state: MapState, session: Session | None) -> LearningState:
    """Return the course and a session, by default a new one, whose worker is not started yet."""
    from lessons.engine.session import Session
    from lessons.play.learning import Learning
    from tui.state.async_session import AsyncSession

    async_session = AsyncSession(session or Session(nice=NICE))
    return LearningState(Learning.begin(state.load_course(), state.progress), async_session)


def other_courses(course: CourseFolder) -> tuple[CourseEntry, ...]:
    """Return the courses other than this one, with the learner's progress."""
    from tui.state import course_entries

    return tuple(course_entries.entries(but=course))


def import_views() -> None:
    """Import the modules of the views and controllers, so that assembling them does not block the event loop."""
    from tui.controllers import assembly  # noqa: F401

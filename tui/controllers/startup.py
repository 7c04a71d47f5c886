"""The work that threads do after the first paint."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attn_tutor.tui.controllers.frame import LearningState

if TYPE_CHECKING:
    from attn_tutor.lessons.learner.progress import Progress
    from attn_tutor.lessons.reading.folders import CourseFolder
    from attn_tutor.tui.sources.source import Source
    from attn_tutor.tui.state.course_entries import CourseEntry


def load(source: Source, progress: Progress) -> LearningState:
    """Load what the map does not need of a source; its worker is not started yet."""
    from attn_tutor.lessons.play.step import Learning
    from attn_tutor.tui.state.async_session import AsyncSession

    results = source.load()
    return LearningState(Learning.begin(source, progress, results), AsyncSession(source.open_session()))


def other_courses(course: CourseFolder) -> tuple[CourseEntry, ...]:
    """Return the courses other than this one, with the learner's progress."""
    from attn_tutor.tui.state import course_entries

    return tuple(course_entries.entries(but=course))


def import_views() -> None:
    """Import the modules of the views and controllers, so that assembling them does not block the event loop."""
    from attn_tutor.tui.controllers import assembly  # noqa: F401

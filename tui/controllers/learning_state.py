"""The state that all controllers share: what the learner works with, and the session that runs code."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the first paint needs this module before the others are loaded
    from collections.abc import Callable

    from lessons.format.lesson import Course
    from lessons.learner.progress import Progress
    from lessons.play.learning import Learning
    from lessons.reading.course_outline import CourseOutline
    from tui.state.async_session import AsyncSession


class MapState(NamedTuple):
    """What the map shows: the outline of the course, and the learner's progress; `load_course` returns all of it."""

    outline: CourseOutline
    load_course: Callable[[], Course]
    progress: Progress


class LearningState(NamedTuple):
    """What the learner works with, and the session that runs code."""

    learning: Learning
    async_session: AsyncSession

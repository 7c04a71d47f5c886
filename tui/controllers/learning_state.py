"""The state that all controllers share: the course, the learner's progress, and the session that runs code."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:  # the first paint needs this module before the others are loaded
    from collections.abc import Callable

    from lessons.format.lesson import Course
    from lessons.learner.progress import Progress
    from lessons.play.step_results import StepResults, TrainingReplays
    from lessons.reading.course_outline import CourseOutline
    from tui.state.async_session import AsyncSession


class MapState(NamedTuple):
    """What the map shows: the outline of the course, and the learner's progress; `load_course` returns all of it."""

    outline: CourseOutline
    load_course: Callable[[], Course]
    progress: Progress


class LearningState(NamedTuple):
    """The course, the learner's progress, the session that runs code, and the results that are known so far."""

    course: Course
    progress: Progress
    async_session: AsyncSession
    results: StepResults
    replays: TrainingReplays

"""What follows the first paint in a thread of its own: reading course and progress, and importing the views."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lessons.engine.session import Session
    from lessons.format.lesson import Course
    from lessons.learner.progress import Progress
    from tui.state.async_session import AsyncSession
    from tui.state.step_results import StepResults, TrainingReplays

NICE = 10


class LearningState(NamedTuple):
    """The course, what the learner has done, and what runs code."""

    course: Course
    store: Progress
    engine: AsyncSession
    results: StepResults
    replays: TrainingReplays


def read(session: Session | None) -> LearningState | str:
    """Read the course and the learner's progress; return a text for the author if the course cannot be read."""
    from lessons.engine.session import Session
    from lessons.learner.progress import Progress
    from lessons.reading.loader import LessonError, load_course
    from tui.state.async_session import AsyncSession
    from tui.state.step_results import StepResults, TrainingReplays

    try:
        course = load_course()
    except LessonError as error:
        return f"The course cannot be read:\n{error}"
    engine = AsyncSession(session or Session(nice=NICE))
    return LearningState(course, Progress.open(background=True), engine, StepResults(engine), TrainingReplays())


def import_views() -> None:
    """Have the modules of views and controllers imported."""
    from tui.controllers import assembly  # noqa: F401

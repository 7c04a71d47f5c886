"""The work that a thread does after the first paint: reading course and progress, and importing the views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tui.controllers.learning_state import LearningState

if TYPE_CHECKING:
    from lessons.engine.session import Session

NICE = 10
"""The niceness of the worker, so that the screen stays responsive while it computes."""


def read(session: Session | None) -> LearningState | str:
    """Read the course and the learner's progress; return an error message if the course cannot be read."""
    from lessons.engine.session import Session
    from lessons.learner.progress import Progress
    from lessons.reading import kept_course
    from lessons.reading.findings import LessonError
    from tui.state.async_session import AsyncSession
    from tui.state.step_results import StepResults, TrainingReplays

    try:
        course = kept_course.load_course()
    except LessonError as error:
        return f"The course cannot be read:\n{error}"
    async_session = AsyncSession(session or Session(nice=NICE))
    return LearningState(
        course, Progress.open(background=True), async_session, StepResults(async_session), TrainingReplays()
    )


def import_views() -> None:
    """Import the modules of the views and controllers, so that assembling them does not block the event loop."""
    from tui.controllers import assembly  # noqa: F401

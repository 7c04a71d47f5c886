"""A program in the place of a course."""

from __future__ import annotations

from typing import cast

from lessons.engine.programs.program_session import ProgramSession
from lessons.format.lesson import Course, Lesson


class ProgramCourse:
    """The program in the place of a course: its one lesson is another one after each save, for all who hold this."""

    def __init__(self, session: ProgramSession) -> None:
        self._session = session

    @property
    def lessons(self) -> tuple[Lesson, ...]:
        """The pages of the program as it ran last."""
        return (self._session.opened.lesson,) if self._session.opened is not None else ()

    def lesson(self, name: str) -> Lesson:
        """Return the pages, whatever they are called."""
        return self.lessons[0]


def course_of(session: ProgramSession) -> Course:
    """Return the program of a session as a course, for those who only ask it for lessons."""
    return cast(Course, ProgramCourse(session))

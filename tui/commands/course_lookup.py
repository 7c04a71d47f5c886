"""Look up in the course what the command line names."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from lessons.format.lesson import Course, Exercise, Lesson
from lessons.reading import kept_course
from lessons.reading.findings import LessonError
from tui.commands.errors import UsageError
from tui.tty.exit_codes import ExitCode

if TYPE_CHECKING:
    from lessons.reading.glossary import Glossary


def read_course() -> Course:
    """Read the course. Ends the program if that fails, after printing the findings as `file:line:column: sentence`."""
    try:
        return kept_course.load_course()
    except LessonError as error:
        print(error, file=sys.stderr)
        raise SystemExit(ExitCode.FAILURE) from None


def read_glossary() -> Glossary:
    """Read the glossary. Ends the program if that fails, after printing the findings."""
    from lessons.reading import translating  # it reads YAML, which takes a while to load

    try:
        return translating.load_glossary()
    except LessonError as error:
        print(error, file=sys.stderr)
        raise SystemExit(ExitCode.FAILURE) from None


def find_lesson(course: Course, name: str) -> Lesson:
    """Return the lesson of this id or number. Raises `UsageError`."""
    try:
        return course.lesson(name)
    except KeyError:
        known = ", ".join(lesson.id for lesson in course.lessons)
        raise UsageError(f"there is no lesson '{name}'. The lessons: {known}") from None


def find_exercise(course: Course, name: str) -> tuple[Lesson, Exercise]:
    """Return the exercise of this id or number, and its lesson. Raises `UsageError`."""
    try:
        return course.exercise(name)
    except KeyError:
        known = ", ".join(step.exercise for each in course.lessons for step in each.exercises)
        raise UsageError(f"there is no exercise '{name}'. The exercises: {known}") from None

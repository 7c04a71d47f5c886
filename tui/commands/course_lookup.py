"""Look up in the course what the command line names."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from attn_tutor.lessons.format.lesson import Course, Exercise, FilledStep, Lesson
from attn_tutor.lessons.reading import kept_course
from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import CourseFolder, option_about
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.chosen_course import allowed_course
from attn_tutor.tui.commands.output import UsageError
from attn_tutor.tui.tty.exit_codes import ExitCode

if TYPE_CHECKING:
    from attn_tutor.lessons.reading.glossary import Glossary

say = Wording("command/lookup")


def read_course(options: argparse.Namespace | None) -> Course:
    """Read the course that the command line asks for.

    Ends the program if that fails, after printing the findings as `file:line:column: sentence`. Raises `CommandError`.
    """
    return open_course(allowed_course(options))


def open_course(found: CourseFolder) -> Course:
    """Read a course. Ends the program if that fails, after printing the findings."""
    try:
        return kept_course.load_course(found)
    except LessonError as error:
        print(error, file=sys.stderr)
        raise SystemExit(ExitCode.FAILURE) from None


def read_glossary(course: Course) -> Glossary:
    """Read the glossary of a course. Ends the program if that fails, after printing the findings."""
    from attn_tutor.lessons.reading import course_texts  # it reads YAML, which takes a while to load

    try:
        return course_texts.load_glossary(course)
    except LessonError as error:
        print(error, file=sys.stderr)
        raise SystemExit(ExitCode.FAILURE) from None


def find_lesson(course: Course, name: str) -> Lesson:
    """Return the lesson of this id or number. Raises `UsageError`."""
    try:
        return course.lesson(name)
    except KeyError:
        known = ", ".join(lesson.id for lesson in course.lessons)
        raise UsageError(
            say("no-lesson", "There is no lesson '{name}'. The lessons are: {known}", name=name, known=known)
        ) from None


def find_exercise(course: Course, name: str) -> tuple[Lesson, Exercise]:
    """Return the exercise of this id or number, and its lesson. Raises `UsageError`."""
    try:
        return course.exercise(name)
    except KeyError:
        raise UsageError(no_exercise(course, name)) from None


def no_exercise(course: Course, name: str) -> str:
    """Say that the course has no exercise of this id or number."""
    return say(
        "no-exercise",
        "There is no exercise '{name}'. Run 'attn-tutor list{course}' to see all of them.",
        name=name,
        course=option_about(course),
    )


def no_running_step(lesson: Lesson, name: str, running: Iterable[FilledStep]) -> str:
    """Say that a lesson has no step of this id that runs code, and which steps do."""
    return say(
        "no-running-step",
        "Lesson '{lesson}' has no step '{step}' that runs code. The steps that do are: {known}",
        lesson=lesson.id,
        step=name,
        known=", ".join(step.id for step in running),
    )

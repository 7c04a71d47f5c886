"""The course that the command line asks for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from attn_tutor.lessons.reading.findings import LessonError
from attn_tutor.lessons.reading.folders import FIRST, CourseFolder
from attn_tutor.tui.commands.output import UsageError
from attn_tutor.tui.tty.exit_codes import ExitCode

if TYPE_CHECKING:
    import argparse


def allowed_course(options: argparse.Namespace | None) -> CourseFolder:
    """Return the course that the command line asks for, after asking whether it may run, if that is not known.

    Raises `CommandError` if it may not, and what `chosen_course` raises.
    """
    return allow(chosen_course(options))


def allow(found: CourseFolder) -> CourseFolder:
    """Return a course after asking whether it may run, if that is not known. Raises `CommandError` if it may not."""
    if found.source not in ("built-in", "folder"):
        from attn_tutor.tui.commands import course_consent

        course_consent.ensure_allowed(found)
    return found


def chosen_course(options: argparse.Namespace | None) -> CourseFolder:
    """Return the course that the command line asks for, or else the first one.

    Ends the program if the folder of a course says nothing that can be read, after printing the findings. Raises
    `UsageError`.
    """
    name = getattr(options, "course", None)
    if name is None:
        return FIRST
    from attn_tutor.lessons.courses import course_list  # it reads YAML, which takes a while to load

    try:
        return course_list.find(name)
    except course_list.NoCourse as error:
        raise UsageError(str(error)) from None
    except LessonError as error:
        print(error, file=sys.stderr)
        raise SystemExit(ExitCode.FAILURE) from None

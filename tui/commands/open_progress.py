"""The learner's progress, as commands open it, and what they say if it cannot be saved or read."""

from __future__ import annotations

from attn_tutor.lessons.format.lesson import Course
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.renames import UNCHANGED, renames_of
from attn_tutor.lessons.reading.folders import CourseFolder
from attn_tutor.tui.commands.output import CommandError, print_error
from attn_tutor.tui.state.unsaved_progress import farewell


def open_progress(of: Course | CourseFolder) -> Progress:
    """Open the learner's progress with a course. If its file cannot be used, say so; it is then kept in memory only."""
    progress = open_to_record(of)
    _say_problem(progress)
    return progress


def open_to_record(of: Course | CourseFolder) -> Progress:
    """Open the learner's progress with a course for a command that says at its end what could not be saved."""
    renames = renames_of(of) if isinstance(of, Course) else UNCHANGED
    return Progress.open(state_folder=of.state_folder, renames=renames, course=of.export_id)


def open_to_read(of: Course | CourseFolder) -> Progress:
    """Open the learner's progress with a course for a command that is about all of it.

    Raises `CommandError` if it cannot be read: to go on would be to say that there is none.
    """
    progress = open_to_record(of)
    if not progress.is_known:
        progress.close()
    # It may be known by now.
    if not progress.is_known:
        raise CommandError(progress.problem)
    _say_problem(progress)
    return progress


def _say_problem(progress: Progress) -> None:
    if progress.problem:
        print_error(progress.problem)


def say_unsaved(progress: Progress, course: str = "") -> bool:
    """Say of closed progress what could not be saved, or what is wrong otherwise; return whether anything is lost."""
    ending = farewell(progress, course)
    if message := ending.message or progress.problem:
        print_error(message)
    return ending.is_lost

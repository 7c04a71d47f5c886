"""The learner's progress, as commands open it."""

from __future__ import annotations

from lessons.format.lesson import Course
from lessons.learner.progress import Progress
from lessons.learner.renames import UNCHANGED, renames_of
from lessons.reading.folders import CourseFolder
from tui.commands.output import print_error


def open_progress(of: Course | CourseFolder) -> Progress:
    """Open the learner's progress with a course. If its file cannot be used, say so; it is then kept in memory only."""
    renames = renames_of(of) if isinstance(of, Course) else UNCHANGED
    progress = Progress.open(state_folder=of.state_folder, renames=renames, course=of.export_id)
    if progress.problem:
        print_error(progress.problem)
    return progress

"""The learner's progress, as commands open it."""

from __future__ import annotations

from lessons.learner.progress import Progress
from tui.commands.output import print_error


def open_progress() -> Progress:
    """Open the learner's progress. If its file cannot be used, say so; it is then kept in memory only."""
    progress = Progress.open()
    if progress.problem:
        print_error(progress.problem)
    return progress

"""A dialogue on standard input and output, from its start to its end."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from io import StringIO, TextIOWrapper
from typing import TYPE_CHECKING

from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.learner.progress import Progress
from attn_tutor.lessons.learner.renames import renames_of
from attn_tutor.lessons.reading.folders import option_about
from attn_tutor.tui.plain.console import SENTENCES, Console
from attn_tutor.tui.plain.dialogue import Dialogue
from attn_tutor.tui.sources.course_source import CourseSource
from attn_tutor.tui.state.unsaved_progress import farewell

if TYPE_CHECKING:
    from attn_tutor.lessons.format.lesson import Course
    from attn_tutor.lessons.reading.folders import CourseFolder


@dataclass(frozen=True, slots=True)
class Ended:
    """How a dialogue ended.

    Attributes:
        next_course: the course to go on with, if any.
        is_lost: whether something that the learner did could not be kept anywhere.
    """

    next_course: CourseFolder | None
    is_lost: bool


def talk(folder: CourseFolder, course: Course, columns: int | None, *, unicode: bool) -> Ended:
    """Talk with a learner about a course until they quit; return how that ended. See `converse`."""
    progress = _progress_with(course)
    try:
        source = CourseSource(folder, Session(), course)
        ended = converse(lambda console: Dialogue(source, progress, console), columns, unicode=unicode)
    finally:
        progress.close()
        ending = farewell(progress, option_about(course))
        # The reader may be gone.
        with suppress(OSError):
            if ending.message:
                print(ending.message, file=sys.stderr)
    return Ended(ended.next_course, ending.is_lost)


def _progress_with(course: Course) -> Progress:
    return Progress.open(state_folder=course.state_folder, renames=renames_of(course), course=course.export_id)


def converse(make: Callable[[Console], Dialogue], columns: int | None, *, unicode: bool) -> Dialogue:
    """Talk with a learner until they quit, the input ends, or nobody reads any more; return how the dialogue ended.

    Args:
        make: makes the dialogue.
        columns: the width of a line; None: COLUMNS, or else that of the terminal, or else 80.
        unicode: whether characters that are not ASCII may be written.
    """
    # It may be closed.
    given = sys.stdin or StringIO()
    if isinstance(given, TextIOWrapper) and given.errors != "replace":
        # Bytes that are no text are no reason to end. This cannot be said after the first line of an earlier dialogue.
        given.reconfigure(errors="replace")
    # No line reaches the last column, where some terminals wrap.
    width = columns or shutil.get_terminal_size().columns - 1
    console = Console(given, sys.stdout, width, unicode=unicode)
    console.sentences = os.environ.get(SENTENCES, "") not in ("", "0")
    dialogue = make(console)
    try:
        with console.interrupts.installed():
            dialogue.begin()
            dialogue.listen()
    finally:
        dialogue.close()
    return dialogue

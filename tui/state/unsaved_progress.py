"""What becomes of progress that could not be saved: at the end it is written to another file."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from lessons.texts.wording import Wording

if TYPE_CHECKING:
    from lessons.learner.progress import Progress

say = Wording("screen/unsaved")


def farewell(progress: Progress, earlier: Path | None = None, course: str = "") -> str:
    """Export progress and code if they could not be saved; return the message to print on exit, "" if there is none.

    `course` is what a command about the course ends with.
    """
    from lessons.learner.exports import export_to_temporary_file

    if progress.saved:
        return ""
    try:
        file = export_to_temporary_file(progress, earlier)
        where = say(
            "written-instead",
            "It was written to another file instead. To bring it back, run: attn-tutor import {file}{course}",
            file=shlex.quote(str(file)),
            course=course,
        )
    except OSError as error:
        where = say("not-written-either", "It could not be written to another file either: {reason}", reason=error)
    return f"{progress.problem}\n{where}"

"""What becomes of progress that could not be saved, as is said when the tutor or a command ends."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING

from attn_tutor.lessons.texts.wording import Wording

if TYPE_CHECKING:
    from attn_tutor.lessons.learner.progress import Progress

say = Wording("screen/unsaved")


@dataclass(frozen=True, slots=True)
class Farewell:
    """What is said at the end.

    Attributes:
        message: what could not be saved, where it is instead, and what to do; "" if everything was saved.
        is_lost: whether it is nowhere.
    """

    message: str = ""
    is_lost: bool = False


def farewell(progress: Progress, course: str = "") -> Farewell:
    """Return what is said of closed progress. What is kept nowhere else yet is exported.

    `course` is what a command about the course ends with.
    """
    if progress.saved:
        return Farewell()
    if progress.is_kept:
        return Farewell(progress.problem or "")
    from attn_tutor.lessons.learner.exports import export_to_temporary_file

    try:
        file = export_to_temporary_file(progress)
    except OSError as error:
        lost = say("lost", "It could not be kept anywhere else either, and is lost: {reason}.", reason=error.strerror)
        return Farewell(f"{progress.file_problem}\n{lost}", is_lost=True)
    where = say(
        "written-instead",
        "It was written to another file instead. To bring it back, run: attn-tutor import {file}{course}",
        file=shlex.quote(str(file)),
        course=course,
    )
    return Farewell(f"{progress.file_problem}\n{where}")

"""The verb `export`: the learner's progress, or what they take home, in a file."""

from __future__ import annotations

import argparse
import json
import re
from contextlib import closing, suppress

from attn_tutor.lessons.files import open_regular
from attn_tutor.lessons.learner.tables import FORMAT
from attn_tutor.lessons.reading.folders import CourseFolder
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands import files
from attn_tutor.tui.commands.chosen_course import chosen_course
from attn_tutor.tui.commands.open_progress import open_to_read
from attn_tutor.tui.commands.output import UsageError
from attn_tutor.tui.tty.exit_codes import ExitCode

HEAD = 256
"""Bytes in which an exported file says what it is."""


def _write_progress(file: str, course: CourseFolder, *, force: bool = False) -> ExitCode:
    """Write progress with a course, and code, to a file, or to standard output for `-`. Raises `UsageError`.

    An earlier export is replaced, so that a script may save to one file again and again; any other file with something
    in it only with `force`.
    """
    force = force or _may_be_replaced(file)
    files.check_free(file, force=force)
    with closing(open_to_read(course)) as progress:
        text = json.dumps(progress.export(), indent=1) + "\n"
    files.write_new(file, text, force=force)
    return ExitCode.OK


def _may_be_replaced(file: str) -> bool:
    """Return whether a file is an earlier export, or empty."""
    with suppress(OSError, ValueError):
        with open_regular(file) as opened:
            head = opened.read(HEAD)
        return not head or re.match(rb'\{\s*"format":\s*"' + re.escape(FORMAT.encode()) + rb'"', head) is not None
    return False


say = Wording("command/export")

PROGRESS = "progress"
TAKEN_HOME = ("module", "markdown", "notebook", "html")
"""The words for what a learner takes home. A file of that name is written with its folder: `./module`."""
MATRIX = "matrix"


def run(options: argparse.Namespace) -> ExitCode:
    """Write the file that is asked for."""
    word, rest = options.what, options.rest
    if word != MATRIX and (options.step or options.tensor):
        raise UsageError(say("no-matrix", "--step and --tensor are for: attn-tutor export matrix"))
    if word in TAKEN_HOME:
        from attn_tutor.tui.commands import take_home

        return take_home.write_work(word, rest, options)
    if word == MATRIX:
        from attn_tutor.tui.commands import take_home

        return take_home.write_matrix(rest, options)

    files = rest if word == PROGRESS and rest else [word, *rest]
    if len(files) > 1:
        raise UsageError(
            say(
                "unknown-kind",
                "'{word}' cannot be exported. These can: {known}. Alone it is the file for your progress.",
                word=word,
                known=", ".join((PROGRESS, *TAKEN_HOME, MATRIX)),
            )
        )
    if options.lesson:
        raise UsageError(say("no-choice", "Progress is exported as a whole, without --lesson."))
    if options.all:
        raise UsageError(say("no-all", "Progress is what you did, and always exported as a whole, without --all."))
    return _write_progress(files[0], chosen_course(options), force=options.force)

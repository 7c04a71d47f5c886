"""The verb `export`: the learner's progress, or what they take home, in a file."""

from __future__ import annotations

import argparse

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.chosen_course import chosen_course
from attn_tutor.tui.commands.errors import UsageError
from attn_tutor.tui.tty.exit_codes import ExitCode

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

        return take_home.run(word, rest, options)
    if word == MATRIX:
        from attn_tutor.tui.commands import take_matrix

        return take_matrix.run(rest, options)
    from attn_tutor.tui.commands import export_progress

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
    return export_progress.write(files[0], chosen_course(options), force=options.force)

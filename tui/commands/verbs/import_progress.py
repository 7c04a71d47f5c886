"""The verb `import`: take in progress that was exported."""

from __future__ import annotations

import argparse
from contextlib import closing

from attn_tutor.lessons.learner import exports
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.commands.chosen_course import chosen_course
from attn_tutor.tui.commands.files import read_file
from attn_tutor.tui.commands.open_progress import open_to_record
from attn_tutor.tui.commands.output import CommandError, UsageError, print_error
from attn_tutor.tui.tty.exit_codes import ExitCode

say = Wording("command/import")


def run(options: argparse.Namespace) -> ExitCode:
    """Merge the file into the learner's progress."""
    data = exports.decode(read_file(options.file))
    with closing(open_to_record(chosen_course(options))) as progress:
        try:
            progress.restore(data)
        except ValueError as error:
            raise UsageError(_refused(options.file, error)) from None
    if not progress.saved:
        raise CommandError(f"{progress.file_problem} {say('nothing', 'Nothing was imported.')}")
    if progress.problem:
        print_error(progress.problem)
    return ExitCode.OK


def _refused(file: str, error: ValueError) -> str:
    """Say that a file cannot be imported, and why."""
    if file == "-":
        return say("input-refused", "Standard input cannot be imported. {reason}", reason=error)
    return say("refused", "{file} cannot be imported. {reason}", file=file, reason=error)

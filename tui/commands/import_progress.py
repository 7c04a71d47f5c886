"""The verb `import`: take in progress that was exported."""

from __future__ import annotations

import argparse
import json
from contextlib import closing

from lessons.texts.wording import Wording
from tui.commands.errors import CommandError, UsageError
from tui.commands.files import read_file
from tui.commands.open_progress import open_progress
from tui.tty.exit_codes import ExitCode

say = Wording("command/import")


def run(options: argparse.Namespace) -> ExitCode:
    """Merge the file into the learner's progress."""
    content = read_file(options.file)
    try:
        data = json.loads(content)
        with closing(open_progress()) as progress:
            progress.restore(data)
            problem = progress.problem
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(_not_an_export(options.file, error)) from None
    if problem:
        raise CommandError(problem)
    return ExitCode.OK


def _not_an_export(file: str, error: Exception) -> str:
    """Say that a file cannot be imported."""
    if file == "-":
        return say(
            "input-not-an-export", "Standard input is not what 'attn-tutor export' has written: {reason}.", reason=error
        )
    return say(
        "not-an-export", "{file} is not a file that 'attn-tutor export' has written: {reason}.", file=file, reason=error
    )

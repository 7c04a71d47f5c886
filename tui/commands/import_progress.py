"""The verb `import`: take in progress that was exported."""

from __future__ import annotations

import argparse
import json
from contextlib import closing

from tui.commands.errors import CommandError, UsageError
from tui.commands.files import read_file
from tui.commands.open_progress import open_progress
from tui.tty.exit_codes import ExitCode


def run(options: argparse.Namespace) -> ExitCode:
    """Merge the file into the learner's progress."""
    content = read_file(options.file)
    try:
        data = json.loads(content)
        with closing(open_progress()) as progress:
            progress.restore(data)
            problem = progress.problem
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UsageError(f"{options.file} is not an export of attn-tutor ({error})") from None
    if problem:
        raise CommandError(problem)
    return ExitCode.OK

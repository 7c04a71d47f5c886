"""The export of the learner's progress and code: a file for `attn-tutor import`."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from pathlib import Path

from lessons.reading.folders import CourseFolder
from lessons.texts.wording import Wording
from tui.commands.errors import UsageError
from tui.commands.files import is_pipe_on_disk
from tui.commands.open_progress import open_progress
from tui.tty.exit_codes import ExitCode

say = Wording("command/export")


def write(file: str, course: CourseFolder) -> ExitCode:
    """Write progress with a course, and code, to a file, or to standard output for `-`. Raises `UsageError`."""
    with closing(open_progress(course)) as progress:
        text = json.dumps(progress.export(), indent=1) + "\n"
    if file == "-":
        sys.stdout.write(text)
        return ExitCode.OK
    try:
        if Path(file).exists() and is_pipe_on_disk(file):
            raise UsageError(say("pipe", "{file} is a pipe. Name a file, or - for standard output.", file=file))
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(
            say("cannot-write", "{file} cannot be written: {reason}.", file=file, reason=error.strerror)
        ) from None
    return ExitCode.OK

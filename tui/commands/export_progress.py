"""The export of the learner's progress and code: a file for `attn-tutor import`."""

from __future__ import annotations

import json
import re
from contextlib import closing, suppress

from attn_tutor.lessons.files.regular_file import open_regular
from attn_tutor.lessons.learner.tables import FORMAT
from attn_tutor.lessons.reading.folders import CourseFolder
from attn_tutor.tui.commands import new_file
from attn_tutor.tui.commands.open_progress import open_to_read
from attn_tutor.tui.tty.exit_codes import ExitCode

HEAD = 256
"""Bytes in which an exported file says what it is."""


def write(file: str, course: CourseFolder, *, force: bool = False) -> ExitCode:
    """Write progress with a course, and code, to a file, or to standard output for `-`. Raises `UsageError`.

    An earlier export is replaced, so that a script may save to one file again and again; any other file with something
    in it only with `force`.
    """
    force = force or _may_be_replaced(file)
    new_file.check_free(file, force=force)
    with closing(open_to_read(course)) as progress:
        text = json.dumps(progress.export(), indent=1) + "\n"
    new_file.write(file, text, force=force)
    return ExitCode.OK


def _may_be_replaced(file: str) -> bool:
    """Return whether a file is an earlier export, or empty."""
    with suppress(OSError, ValueError):
        with open_regular(file) as opened:
            head = opened.read(HEAD)
        return not head or re.match(rb'\{\s*"format":\s*"' + re.escape(FORMAT.encode()) + rb'"', head) is not None
    return False

"""The program in which the learner reads long texts: $PAGER, or less."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Iterable

from attn_tutor.lessons.results.clean_text import clean

USUAL = "less"


def show(lines: Iterable[str]) -> bool:
    """Show lines in the learner's pager; return False, with nothing shown, where nobody reads or there is none."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    try:
        command = shlex.split(os.environ.get("PAGER") or USUAL)
        # In its secure mode, less starts no other programs.
        environ = {"LESS": "F", **os.environ, "LESSSECURE": "1"}
        text = clean("\n".join(lines)).encode(sys.stdout.encoding or "utf-8", "backslashreplace")
        return subprocess.run(command, input=text, env=environ, check=False).returncode == 0
    except (OSError, ValueError):
        return False

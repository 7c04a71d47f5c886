"""A tutor whose line is lost ends, even if it hangs."""

from __future__ import annotations

import os
import subprocess
import sys

STUCK = """
import os, threading
from tui.tty import hangup_guard

hangup_guard.GRACE = 0.1
hangup_guard.guard()
os.write(1, b"ready")
threading.Event().wait()
"""


def test_a_stuck_program_ends_when_its_terminal_hangs_up() -> None:
    ours, theirs = os.openpty()
    process = subprocess.Popen([sys.executable, "-c", STUCK], stdin=theirs, stdout=theirs, start_new_session=True)
    os.close(theirs)
    assert os.read(ours, 100).startswith(b"ready")
    os.close(ours)
    # Shells report this status for a program that SIGHUP has ended.
    assert process.wait(timeout=30) == 129

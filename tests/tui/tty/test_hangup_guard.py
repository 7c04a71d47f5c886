"""A tutor whose line is lost ends, even if it hangs."""

from __future__ import annotations

import os
import select
import subprocess
import sys

STUCK = """
import os, signal, subprocess, sys, threading
from tui.tty import hangup_guard

hangup_guard.GRACE = 0.1
hangup_guard.guard()
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
os.kill(child.pid, signal.SIGSTOP)
os.write(1, b"%d ready" % child.pid)
threading.Event().wait()
"""


def test_a_stuck_program_and_its_stopped_child_end_when_its_terminal_hangs_up() -> None:
    ours, theirs = os.openpty()
    process = subprocess.Popen([sys.executable, "-c", STUCK], stdin=theirs, stdout=theirs, start_new_session=True)
    os.close(theirs)
    said = os.read(ours, 100)
    child = int(said.split()[0])
    assert said.endswith(b"ready")
    # It can be read from when the process has ended.
    descriptor = os.pidfd_open(child)
    os.close(ours)
    # Shells report this status for a program that SIGHUP has ended.
    assert process.wait(timeout=30) == 129
    assert select.select([descriptor], [], [], 30)[0], "the child is still there"
    os.close(descriptor)

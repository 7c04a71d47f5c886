"""A tutor whose line is lost, or that gets a signal, ends even if it hangs."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import ExitStack

import pytest

STUCK = """
import os, signal, subprocess, sys, threading
from attn_tutor.tui.tty import signals

signals.GRACE = 0.1
signals.guard_against_hangup()
signal.signal(signal.SIGTERM, lambda number, _: signals.end_soon(number))
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
os.kill(child.pid, signal.SIGSTOP)
os.write(1, b"%d ready" % child.pid)
threading.Event().wait()
"""


@pytest.mark.parametrize("way", ["SIGHUP", "SIGTERM"])
def test_a_stuck_program_and_its_stopped_child_end(way: str) -> None:
    """Its terminal hangs up, or it gets a signal."""
    ours, theirs = os.openpty()
    process = subprocess.Popen([sys.executable, "-c", STUCK, way], stdin=theirs, stdout=theirs, start_new_session=True)
    with ExitStack() as at_end:
        at_end.callback(process.wait)
        at_end.callback(process.kill)
        terminal = at_end.enter_context(open(ours, "rb", 0))
        os.close(theirs)
        said = os.read(ours, 100)
        child = int(said.split()[0])
        assert said.endswith(b"ready")
        # It can be read from when the process has ended.
        ended = at_end.enter_context(open(os.pidfd_open(child), "rb", 0))
        if way == "SIGHUP":
            terminal.close()
        else:
            process.send_signal(signal.SIGTERM)
        # Shells report this status for a program that a signal has ended.
        assert process.wait(timeout=30) == 128 + signal.Signals[way]
        assert select.select([ended], [], [], 30)[0], "the child is still there"

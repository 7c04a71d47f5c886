"""The last resort when the line is lost: the tutor ends even if its event loop cannot."""

from __future__ import annotations

import os
import select
import signal
import threading
import time

from tui.tty.exit_codes import ended_by

GRACE = 5.0
"""Seconds for an orderly end. Drafts and attempts are on disk by then; the worker ends with its parent."""


def guard(terminal: int = 0) -> None:
    """Watch a terminal from a thread; some time after it has hung up, end this process.

    A lost line sends SIGHUP, which the event loop answers. But the loop may be waiting for the terminal itself, to
    which nothing can be written any more: then nobody answers, and the process would stay for ever.
    """
    threading.Thread(target=_wait, args=(terminal,), name="lifeline", daemon=True).start()


def _wait(terminal: int) -> None:
    poll = select.poll()
    # For nothing but the end of it, which is always reported: the thread sleeps until then.
    poll.register(terminal, 0)
    ended = any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll())
    if ended:
        time.sleep(GRACE)
        os._exit(ended_by(signal.SIGHUP))

"""Signals: handlers for a while, and the last resort when one comes, or the connection is lost: to end the tutor."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue

from attn_tutor.tui.tty.exit_codes import ended_by

Handler = Callable[[int, object], None]

ENDING = (signal.SIGHUP, signal.SIGTERM, signal.SIGQUIT, signal.SIGXCPU, signal.SIGUSR1, signal.SIGUSR2)
"""Signals that end a program, such as those by which a scheduler announces that its time is up."""


@contextmanager
def handled(handlers: Mapping[signal.Signals, Handler]) -> Iterator[None]:
    """Install signal handlers temporarily."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


GRACE = 5.0
"""Seconds for an orderly shutdown. Drafts and attempts are on disk by then; the worker ends with its parent."""


# A queue that a signal handler may put something into, whatever it has interrupted.
_signals: SimpleQueue[int] = SimpleQueue()


def guard_against_hangup(terminal: int = 0) -> None:
    """Watch a terminal from a thread, and end this process some time after the terminal has hung up, or `end_soon`.

    A lost connection sends SIGHUP, which the event loop handles. But the loop may be blocked writing to that very
    terminal. Then nothing would handle the signal, and the process would stay forever.
    """
    threading.Thread(target=_wait_for_hangup, args=(terminal,), name="hangup-guard", daemon=True).start()
    threading.Thread(target=lambda: _end(_signals.get()), name="end-guard", daemon=True).start()


def end_soon(signal_number: int) -> None:
    """Have the guard end this process some time after a signal, unless it ends by itself. A handler may call this."""
    _signals.put(signal_number)


def _wait_for_hangup(terminal: int) -> None:
    poll = select.poll()
    # Poll for the hangup only, which is always reported: the thread sleeps until then.
    poll.register(terminal, 0)
    if any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll()):
        _end(signal.SIGHUP)


def _end(signal_number: int) -> None:
    time.sleep(GRACE)
    # They end by themselves when this process is gone, unless something has stopped them.
    for child in _children():
        with suppress(OSError):
            os.kill(child, signal.SIGKILL)
    os._exit(ended_by(signal_number))


def _children() -> list[int]:
    """Return the process ids of the children of this process; none where the system does not list them."""
    found: list[int] = []
    for listed in Path("/proc/self/task").glob("*/children"):
        with suppress(OSError):
            found += map(int, listed.read_text().split())
    return found

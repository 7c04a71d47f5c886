"""Ctrl+C while a program of one's own runs for the first time: what it has done so far can be looked at."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from attn_tutor.lessons.engine.session import Session
from attn_tutor.tui.tty.signal_handlers import handled


@contextmanager
def interruptible(session: Session) -> Iterator[None]:
    """Have the first Ctrl+C interrupt the program that runs in this context, as Python would, and the second this one.

    Where no program runs yet, the first one does what the second does.
    """
    heard = False

    def handle(*_: object) -> None:
        nonlocal heard
        if heard or not session.interrupt():
            raise KeyboardInterrupt
        heard = True

    with handled({signal.SIGINT: handle}):
        yield

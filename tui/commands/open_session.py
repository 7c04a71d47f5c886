"""The session of the worker, as commands open it, and Ctrl+C while it runs a program for the first time."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

from attn_tutor.lessons.engine import session as session_module
from attn_tutor.lessons.engine.session import Session
from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.tui.commands.output import CommandError
from attn_tutor.tui.tty.signals import handled


@contextmanager
def open_session(*, limited: bool = True) -> Iterator[session_module.Session]:
    """Provide a session and close it afterwards. A failure of the worker becomes the failure of the command.

    Without `limited`, no limits hold for what it runs.
    """
    session = session_module.Session() if limited else session_module.Session(limited=False)
    try:
        yield session
    except WorkerError as error:
        raise CommandError(str(error)) from None
    finally:
        session.close()


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

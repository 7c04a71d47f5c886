"""The session of the worker, as commands open it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from attn_tutor.lessons.engine import session as session_module
from attn_tutor.lessons.results.result import WorkerError
from attn_tutor.tui.commands.errors import CommandError


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

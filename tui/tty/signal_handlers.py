"""Handlers of signals for a while."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

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

"""Ctrl+C: it is heard where something can be stopped, and kept until then everywhere else."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupts:
    """The interrupts of one dialogue.

    Progress is written between the commands, so Ctrl+C raises nothing there: it would leave half of a write undone.
    """

    def __init__(self) -> None:
        self._heard = False
        self._missed = False

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Handle Ctrl+C until the block ends. A thread other than the first one cannot, and leaves it as it is."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _handle(self, *_: object) -> None:
        if self._heard:
            raise KeyboardInterrupt
        self._missed = True

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Have Ctrl+C raise `KeyboardInterrupt` inside the block, also if it was pressed just before."""
        self._heard = True
        try:
            if self.take_missed():
                raise KeyboardInterrupt
            yield
        finally:
            self._heard = False

    def take_missed(self) -> bool:
        """Return whether Ctrl+C was pressed where nothing raised, and forget it."""
        missed, self._missed = self._missed, False
        return missed

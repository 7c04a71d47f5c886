"""Output to the terminal: only what it does not show yet, and no more often than a slow line can carry."""

from __future__ import annotations

import shutil
import threading
from time import monotonic
from typing import IO
from weakref import WeakSet

from attn_tutor.tui.tty.pace import Pace
from attn_tutor.tui.tty.pending_output import PendingOutput


class TerminalWriter(threading.Thread):
    """Writes to the terminal in a thread, so that a slow line keeps nobody waiting.

    The terminal is sent the difference to the newest screen, so what is painted while the thread waits costs nothing.
    After the connection is lost, all output is discarded.
    """

    def __init__(self, file: IO[str], pace: Pace | None = None) -> None:
        super().__init__(daemon=True, name="terminal-writer")
        self._file = file
        self._pace = pace or PACE
        self._changed = threading.Condition()
        self._output = PendingOutput(*shutil.get_terminal_size())
        self._waits = False
        self._ends = False
        self._is_lost = False
        _writers.add(self)

    def write(self, text: str) -> None:
        """Write text with escape sequences, as much of it as makes a difference. Returns at once."""
        with self._changed:
            if not self._is_lost:
                self._output.add(text)
                self._waits = True
                self._changed.notify()

    def resize(self, columns: int, lines: int) -> None:
        """Note the size of the terminal, for which whoever writes will paint the screen again if it is a new one."""
        with self._changed:
            if not self._output.resize(columns, lines):
                self._waits = True
                self._changed.notify()

    def isatty(self) -> bool:
        """Return that this is a terminal, which Textual asks."""
        return True

    def fileno(self) -> int:
        """Return the file descriptor of the terminal."""
        return self._file.fileno()

    def flush(self) -> None:
        """Do nothing: the thread flushes what it writes."""

    def stop(self) -> None:
        """Write what is left, and end the thread."""
        with self._changed:
            self._ends = True
            self._changed.notify()
        self.join()

    def run(self) -> None:
        """Write until told to stop."""
        try:
            while (output := self._next()) is not None:
                self._file.write(output)
                self._file.flush()
        except OSError:
            with self._changed:
                self._is_lost = True

    def _next(self) -> str | None:
        """Return the next output as soon as it may be sent, None at the end."""
        with self._changed:
            while True:
                now = monotonic()
                delay = 0.0 if self._output.is_urgent or self._ends else self._pace.delay(now)
                if self._waits and delay:
                    self._changed.wait(delay)
                elif self._waits:
                    self._waits = False
                    if output := self._output.take():
                        self._pace.sent(len(output.encode(errors="replace")), now)
                        return output
                elif self._ends:
                    return None
                else:
                    self._changed.wait()


PACE = Pace()
"""The pace of this process's terminal: input is noted here, and output asks here."""

_writers: WeakSet[TerminalWriter] = WeakSet()


def resize_terminal(columns: int, lines: int) -> None:
    """Note the size of this process's terminal, whenever the terminal reports one."""
    for writer in tuple(_writers):
        writer.resize(columns, lines)

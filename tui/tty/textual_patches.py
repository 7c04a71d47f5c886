"""What Textual does not forgive a terminal: odd or late bytes on the way in, and a line that is lost on the way out."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterable
from functools import partial
from time import monotonic

from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.drivers import linux_driver
from textual.drivers._writer_thread import WriterThread
from textual.message import Message

PATIENCE = 1.0
"""Seconds that the rest of a key may take to arrive: a slow line delivers an escape sequence in pieces."""


class ForgivingWriter(WriterThread):
    """Writes to the terminal. When the line is lost, what else is written goes nowhere.

    Textual's own would end, and whoever writes after that would wait for ever.
    """

    def run(self) -> None:
        """Write until told to stop."""
        try:
            super().run()
        except OSError:
            while self._queue.get() is not None:
                pass


def forgiving_decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """A decoder that reads anything.

    A single byte on standard input that is no UTF-8 (a Latin-1 terminal, a mouse report of an old kind after
    reattaching) would end Textual's input thread, and the program with it.
    """
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


class PatientParser(XTermParser):
    """Reads keys from a line that delivers them in pieces.

    Textual takes an escape sequence for single keys if its next character is 0.1 seconds late: half an arrow types a
    letter, and a paste whose end mark comes in two pieces never ends. Only a lone escape is a key in itself.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._recent = ""
        self._pasting = False
        self._fed_at = monotonic()

    def feed(self, data: str) -> Iterable[Message]:
        """Read what has arrived."""
        self._fed_at = monotonic()
        recent = self._recent + data
        begin, end = recent.rfind(BRACKETED_PASTE_START), recent.rfind(BRACKETED_PASTE_END)
        if begin != end:
            self._pasting = begin > end
        # Enough to recognize a mark of which only the last character is still to come.
        self._recent = recent[1 - len(BRACKETED_PASTE_START) :]
        return super().feed(data)

    def tick(self) -> Iterable[Message]:
        """Take what has arrived for keys if nothing is to be expected any more."""
        late = monotonic() - self._fed_at
        if self._pasting or (late < PATIENCE and not self._recent.endswith("\x1b")):
            return ()
        return super().tick()


def forgive() -> None:
    """Have Textual use these."""
    setattr(linux_driver, "XTermParser", PatientParser)  # noqa: B010 - not an attribute of ours
    setattr(linux_driver, "getincrementaldecoder", forgiving_decoder)  # noqa: B010
    setattr(linux_driver, "WriterThread", ForgivingWriter)  # noqa: B010

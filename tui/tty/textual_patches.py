"""What Textual does not forgive a terminal: odd bytes on the way in, and a line that is lost on the way out."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from functools import partial

from textual.drivers import linux_driver
from textual.drivers._writer_thread import WriterThread


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


def forgive() -> None:
    """Have Textual use these."""
    setattr(linux_driver, "getincrementaldecoder", forgiving_decoder)  # noqa: B010 - not an attribute of ours
    setattr(linux_driver, "WriterThread", ForgivingWriter)  # noqa: B010

"""Patches of Textual: for odd or late bytes of input, and for output over a slow or lost line."""

from __future__ import annotations

import asyncio
import codecs
import os
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from time import monotonic

from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.constants import ESCAPE_DELAY
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key, Paste
from textual.message import Message

from attn_tutor.tui.tty.terminal_writer import PACE, TerminalWriter

PATIENCE = 1.0
"""Seconds that the rest of a key may take to arrive: a slow line delivers escape sequences in pieces."""

PASTE_PATIENCE = 30.0
"""Seconds that the rest of a paste may take. A paste without an end would take all keys for text.

If the rest comes later than that, it is taken for keys. Until then, ctrl+c alone ends a paste that has come to a halt.
"""

MOST_PASTED = 1024 * 1024
"""The most characters that are taken from a paste; an answer has less."""

ESCAPE = "\x1b"
INTERRUPTS = ("\x03", "\x1b[99;5u")
"""What terminals send for ctrl+c."""

_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""All control characters but tabs and the ends of lines."""


def tolerant_decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """Return a decoder that accepts any bytes.

    A single byte on standard input that is not UTF-8 (from a Latin-1 terminal, or an old mouse report after
    reattaching) would end Textual's input thread, and the program with it.
    """
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


class PatientParser(XTermParser):
    """Reads keys from a line that delivers them in pieces, and may deliver anything.

    Textual interprets an escape sequence as single keys if its next character is 0.1 seconds late: half of an arrow key
    types a letter. Only a lone escape is a key by itself. And an escape in a paste ends it for Textual, which takes the
    rest for keys. So Textual sees no pastes: everything between their marks is text.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._begun = ""
        """The beginning of a mark, perhaps: what comes next tells."""
        self._taken = ""
        """The beginning of a mark that was taken for keys, because nothing came for a while; "" since more came."""
        self._pasted: list[str] | None = None
        """What came of a paste so far, None outside of one."""
        self._room = MOST_PASTED
        self._fed_at = monotonic()
        self._has_looked = True
        """Whether the line has been looked at since something arrived."""

    def feed(self, data: str) -> Iterable[Message]:
        """Process what has arrived."""
        now, before = monotonic(), self._fed_at
        self._fed_at, self._has_looked = now, False
        PACE.heard(data, now)
        if not data:
            yield from self._end_paste()
            yield from super().feed(data)
            return
        if self._pasted is not None and data in INTERRUPTS and now - before >= PATIENCE:
            yield from self._end_paste()
            return
        # Of the mark of a paste that took long in the middle, the beginning was taken for keys. The paste is none.
        late = self._taken if (self._taken + data).startswith(BRACKETED_PASTE_START) else ""
        text, self._begun, self._taken = late + self._begun + data, "", ""
        while text:
            mark = BRACKETED_PASTE_START if self._pasted is None else BRACKETED_PASTE_END
            within, found, text = text.partition(mark)
            if not found:
                begun = _begun(within, mark)
                within, self._begun = within[: len(within) - begun], within[len(within) - begun :]
            if self._pasted is None:
                yield from super().feed(within) if within else ()
            else:
                self._take(within)
            if found and self._pasted is None:
                yield from self._end_key()
                self._pasted = []
            elif found:
                yield from self._end_paste()

    def tick(self) -> Iterable[Message]:
        """Interpret what has arrived, if nothing else is expected.

        The driver calls this whenever it has looked for input, also right after it has fed what it found. Only by the
        next call it has looked again: on a busy machine the rest of a key may have waited there all the time.
        """
        if not self._has_looked:
            self._has_looked = True
            return
        late = monotonic() - self._fed_at
        if self._pasted is not None:
            if late >= PASTE_PATIENCE:
                yield from self._end_paste()
        elif late >= (ESCAPE_DELAY if self._begun == ESCAPE else PATIENCE):
            if self._begun:
                self._taken, self._begun = self._begun, ""
                yield from super().feed(self._taken)
            yield from self._end_key()

    def _take(self, text: str) -> None:
        """Add to the paste, without control characters: they are no text, and could command the terminal."""
        assert self._pasted is not None
        self._pasted.append(_CONTROL.sub("", text)[: self._room])
        self._room -= len(self._pasted[-1])

    def _end_paste(self) -> Iterable[Message]:
        if self._pasted is not None:
            text, self._pasted, self._room, self._begun = "".join(self._pasted), None, MOST_PASTED, ""
            yield Paste(text)

    def _end_key(self) -> Iterable[Message]:
        """Have Textual take what it has of a sequence as it is."""
        if self._timeout_time is not None:
            self._timeout_time = 0.0
            yield from super().tick()

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        """Return the keys of a sequence, none if its numbers name no characters: Textual's input thread would end."""
        try:
            return [*super()._sequence_to_key_events(sequence, alt)]
        except (ValueError, OverflowError):
            return []


def _begun(text: str, mark: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a mark."""
    return next(length for length in range(len(mark) - 1, -1, -1) if text.endswith(mark[:length]))


def sigcont_application(driver: LinuxDriver, *_: object) -> None:
    """Set up the terminal again after the program was stopped, in whatever way, once what it was doing is done.

    The signal may come in the middle of a paint, whose locks would never be free again for what is painted here.
    """
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        _set_up_again(driver)
    else:
        loop.call_soon_threadsafe(_set_up_again, driver)


def _set_up_again(driver: LinuxDriver) -> None:
    """Set up the terminal again.

    Textual expects to have left its mode before. After a signal that cannot be handled (SIGSTOP), or if the program was
    not stopped at all, it would start a second thread that reads keys, and take the terminal in its mode for the one
    to go back to at the end.
    """
    if not driver._auto_restart:
        return
    with suppress(OSError):
        if os.tcgetpgrp(driver.fileno) != os.getpgrp():
            # In the background it may not touch the terminal, and is told again when it comes back.
            return
    if not driver._must_signal_resume:
        driver.suspend_application_mode()
        driver._must_signal_resume = True
    driver.resume_application_mode()


def apply_patches() -> None:
    """Make Textual use these patches."""
    setattr(linux_driver, "XTermParser", PatientParser)  # noqa: B010 - not an attribute of ours
    setattr(linux_driver, "getincrementaldecoder", tolerant_decoder)  # noqa: B010
    setattr(linux_driver, "WriterThread", TerminalWriter)  # noqa: B010
    setattr(LinuxDriver, "_sigcont_application", sigcont_application)  # noqa: B010

"""Patches of Textual: for odd or late bytes of input, and for output over a slow or lost line."""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from time import monotonic

from textual._xterm_parser import BRACKETED_PASTE_END, BRACKETED_PASTE_START, XTermParser
from textual.drivers import linux_driver
from textual.drivers.linux_driver import LinuxDriver
from textual.events import Key
from textual.message import Message

from tui.tty.terminal_writer import PACE, TerminalWriter

PATIENCE = 1.0
"""Seconds that the rest of a key may take to arrive: a slow line delivers escape sequences in pieces."""


def tolerant_decoder(encoding: str) -> Callable[[], codecs.IncrementalDecoder]:
    """Return a decoder that accepts any bytes.

    A single byte on standard input that is not UTF-8 (from a Latin-1 terminal, or an old mouse report after
    reattaching) would end Textual's input thread, and the program with it.
    """
    return partial(codecs.getincrementaldecoder(encoding), errors="replace")


class PatientParser(XTermParser):
    """Reads keys from a line that delivers them in pieces, and may deliver anything.

    Textual interprets an escape sequence as single keys if its next character is 0.1 seconds late: half of an arrow key
    types a letter, and a paste whose end mark arrives in two pieces never ends. Only a lone escape is a key by itself.
    """

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._recent = ""
        self._pasting = False
        self._fed_at = monotonic()

    def feed(self, data: str) -> Iterable[Message]:
        """Process what has arrived."""
        self._fed_at = monotonic()
        PACE.heard(data, self._fed_at)
        recent = self._recent + data
        begin, end = recent.rfind(BRACKETED_PASTE_START), recent.rfind(BRACKETED_PASTE_END)
        if begin != end:
            self._pasting = begin > end
        # Enough to recognize an end mark that lacks only its last character.
        self._recent = recent[1 - len(BRACKETED_PASTE_START) :]
        return super().feed(data)

    def _sequence_to_key_events(self, sequence: str, alt: bool = False) -> Iterable[Key]:
        """Return the keys of a sequence, none if its numbers name no characters: Textual's input thread would end."""
        try:
            return [*super()._sequence_to_key_events(sequence, alt)]
        except (ValueError, OverflowError):
            return []

    def tick(self) -> Iterable[Message]:
        """Interpret what has arrived as keys if nothing else is expected."""
        late = monotonic() - self._fed_at
        if self._pasting or (late < PATIENCE and not self._recent.endswith("\x1b")):
            return ()
        return super().tick()


def sigcont_application(driver: LinuxDriver, *_: object) -> None:
    """Set up the terminal again after the program was stopped, in whatever way.

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

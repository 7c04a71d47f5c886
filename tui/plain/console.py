"""Standard input and output as a dialogue uses them: whole lines, no cursor, no colors; and Ctrl+C."""

from __future__ import annotations

import signal
import textwrap
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.tui.tty.terminal import encodable


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


say = Wording("plain/console")

NARROWEST = 20

PROMPT = "> "

SENTENCES = "ATTN_TUTOR_SENTENCES"
"""The environment variable that has matrices printed in sentences."""

KEPT_SPACE = "\u00a0"
"""A space at which no line is broken, such as that between a label and its number."""


class Console:
    """The two streams of a dialogue.

    Attributes:
        width: the columns of a line.
        unicode: whether characters that are not ASCII may be written.
        sentences: whether matrices are printed in sentences, not as tables.
    """

    def __init__(
        self, given: TextIO, out: TextIO, width: int, *, unicode: bool = True, interrupts: Interrupts | None = None
    ) -> None:
        self._given, self._out = given, out
        self.width, self.unicode = max(NARROWEST, width), unicode
        self.interrupts = interrupts or Interrupts()
        self.sentences = False
        # A script does not see what it types, but whoever reads the log wants to.
        self._echoes = not given.isatty()

    @property
    def is_terminal(self) -> bool:
        """Whether a person at a terminal types and reads."""
        return self._given.isatty() and self._out.isatty()

    def write(self, lines: Iterable[str]) -> None:
        """Write lines as they come. Ctrl+C ends a long list of them. Raises `BrokenPipeError` if nobody reads."""
        self.interrupts.take_missed()
        for line in lines:
            self.write_line(line)
            if self.interrupts.take_missed():
                self.write([say("cut", "Stopped.")])
                return

    def write_line(self, line: str) -> None:
        """Write a line, and leave Ctrl+C to whoever waits meanwhile. Raises `BrokenPipeError` if nobody reads."""
        print(self._encodable(line.rstrip()), file=self._out, flush=True)

    def wrapped(self, text: str) -> Iterator[str]:
        """Yield a sentence in lines that fit, none of which ends at a `KEPT_SPACE`."""
        for line in textwrap.wrap(text, self.width):
            yield line.replace(KEPT_SPACE, " ")

    def ask(self, prompt: str = PROMPT) -> str | None:
        """Return the next line of input without its end; None at the end of the input.

        Raises `KeyboardInterrupt` for Ctrl+C.
        """
        with self.interrupts.heard():
            print(self._encodable(prompt), end="", file=self._out, flush=True)
            line = self._given.readline()
        if not line:
            self.end_line()
            return None
        line = line.rstrip("\r\n")
        if self._echoes:
            self.write([line])
        return line

    def ask_until(self, end: str, prompt: str) -> tuple[list[str], bool]:
        """Return the lines up to one that is `end`, and whether that came; the input may end before."""
        lines: list[str] = []
        while (line := self.ask(prompt)) is not None:
            if line.strip() == end:
                return lines, True
            lines.append(line)
        return lines, False

    def end_line(self) -> None:
        """End the line of a prompt that got no input."""
        with suppress(OSError):
            print(file=self._out, flush=True)

    def _encodable(self, line: str) -> str:
        """Return a line without characters that the output lacks; these become ASCII, or else escapes."""
        return encodable(line, self._out.encoding if self.unicode else "ascii")

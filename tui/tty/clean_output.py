"""The one exit to standard output and standard error: text that holds nothing that a terminal would obey.

Whoever prints, in whatever way, prints through here: verbs, the dialogue, error messages, warnings, a traceback. What
goes into a pipe is clean as well, since a pipe may lead to a terminal.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TextIO, cast

from attn_tutor.lessons.results.clean_text import clean

PLAIN = "\x1b[0m"


@dataclass(frozen=True, slots=True)
class Colored:
    """A line to print in a color, which is the sequence that a terminal is sent before it."""

    color: str
    text: str


class CleanOutput:
    """A stream of text in which only the tutor's own commands reach a terminal; all else is that of another stream."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        # Rich, which writes its own colors, has made its texts harmless before, and asks for the stream by this name.
        self.rich_proxied_file = stream

    def write(self, text: str) -> int:
        """Write a text. What the encoding lacks becomes a question mark rather than an error."""
        encoding, shown = self.stream.encoding or "utf-8", clean(text)
        if shown is not text:
            shown = shown.encode(encoding, "replace").decode(encoding)
        self.stream.write(shown)
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        """Return what else the stream can do."""
        return getattr(self.stream, name)


@contextmanager
def installed() -> Iterator[None]:
    """Clean everything that is printed within the body."""
    before = sys.stdout, sys.stderr
    # A stream that is closed is None.
    sys.stdout, sys.stderr = (cast(TextIO, stream and CleanOutput(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def command(sequence: str) -> None:
    """Send the terminal behind standard output a command of our own."""
    (sys.stdout.stream if isinstance(sys.stdout, CleanOutput) else sys.stdout).write(sequence)

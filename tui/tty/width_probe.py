"""How wide a terminal draws characters, asked of the terminal itself.

It is told to write a character at the start of the line, and asked where the cursor is then.
"""

from __future__ import annotations

import os
import re
import select
import termios
import time
import tty
from collections.abc import Iterator
from contextlib import contextmanager

DRAWN = "·×•…–—←↑→↓√≈─━│┃┏┛├┼╋╭╯▀█▌▏▒▓■▲▶▼●◐░▐↺✓✗►␣"
"""Characters that the tutor draws in one column. Fonts for East Asian languages may make many of them twice as wide."""

SECONDS = 2.0
"""How long the terminal may take to answer, over whatever line it is at the end of."""

_ASK = b"\x1b[6n"
_REPLY = re.compile(rb"\x1b\[(\d+);(\d+)R")
_CLEAR = b"\r\x1b[K"


def measure_widths(terminal: int, characters: str = DRAWN, seconds: float = SECONDS) -> dict[str, int] | None:
    """Return how many columns the terminal takes for each character; None if it does not say.

    `terminal` is a descriptor of it, for reading and writing; how it is set stays as it was. What was typed meanwhile
    is lost. Raises `OSError` if it is no terminal.
    """
    try:
        with _unbuffered(terminal):
            # One question first: a terminal that does not know it gets no more, whose replies could come late.
            if len(_ask(terminal, _ASK, 1, seconds)) != 1:
                return None
            text = b"".join(b"\r" + character.encode() + _ASK for character in characters) + _CLEAR
            columns = _ask(terminal, text, len(characters), seconds)
    except termios.error as error:
        raise OSError(*error.args) from None
    if len(columns) != len(characters):
        return None
    return {character: column - 1 for character, column in zip(characters, columns, strict=True)}


@contextmanager
def _unbuffered(terminal: int) -> Iterator[None]:
    """Have keys and replies come at once and unseen within the body."""
    before = termios.tcgetattr(terminal)
    try:
        tty.setcbreak(terminal, termios.TCSANOW)
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSANOW, before)


def _ask(terminal: int, text: bytes, replies: int, seconds: float) -> list[int]:
    """Write a text, and return the columns, from 1, of so many replies, or of those that come in time."""
    os.write(terminal, text)
    deadline = time.monotonic() + seconds
    got = b""
    while len(found := _REPLY.findall(got)) < replies:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([terminal], [], [], left)[0]:
            break
        part = os.read(terminal, 4096)
        if not part:
            break
        got += part
    return [int(column) for _, column in found]

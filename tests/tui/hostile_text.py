"""Text that commands a terminal, and what a terminal was sent: whose commands are in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from textual.drivers.headless_driver import HeadlessDriver

MARK = "31337"
"""A number that none of the tutor's own sequences contains."""

COMMANDS = {
    "clipboard": "\x1b]52;c;MzEzMzc=\x07",
    "title": f"\x1b]0;{MARK}\x1b\\",
    "link": f"\x1b]8;;file:///{MARK}\x1b\\",
    "color": "\x1b[31337m",
    "concealed": "\x1b[8m",
    "erasure": "\x1b[2J\x1b[H",
    "answer": "\x1b[6n\x1b[c\x1bP$q31337\x1b\\",
    "eight bits": "\x9b31337m\x9d52;c;MzEzMzc=\x9c",
    "backspaces": "\x08\x08\x08",
    "form feed and vertical tab": "\x0c\x0b",
    "bell and enquiry": "\x07\x05",
    "charset": "\x0e\x0f",
    "deletion": "\x7f",
    "overwriting": "\r",
    "right to left": "\u202e31337\u2066",
    "invisible": "\u200b\u2060\ufeff\u00ad\U000e0041",
    "separators": "\u2028\u2029\x85",
    "lone surrogate": "\udc9b31337m",
}
"""Characters of different kinds that a file may contain, by what they do."""

EVERY_COMMAND = "".join(COMMANDS.values())

OF_A_LINE = "".join(
    text
    for name, text in COMMANDS.items()
    if name not in ("overwriting", "separators", "form feed and vertical tab", "lone surrogate")
)
"""Those that are in a line of a text file in UTF-8, and leave it one line."""

OF_A_PATH = OF_A_LINE.replace("/", "")
"""Those that the name of a file may have."""

OWN = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    # A terminal adds one return, and the screen begins lines with another.
    r"|\r{0,2}\n"
    # Colors and attributes.
    r"|\x1b\[(?:(?:\d|2[1-9]|[349]\d|10[0-7]|[34]8;5;\d{1,3}|[34]8;2;\d{1,3};\d{1,3};\d{1,3})(?:;|(?=m)))*m"
    # Where the cursor goes, and to erase the rest of a row.
    r"|\x1b\[(?:\d{0,3}(?:;\d{1,3})?H|\d{0,3}[BCD]|K)"
    # Modes at the start and at the end, and questions about them; frames.
    r"|\x1b\[\?(?:7|25|10(?:00|02|03|04|06|15|16|49)|2004|2026|2031|2048)(?:[hl]|\$p)"
    r"|\x1b\[(?:>\d*|<|=\d+;\d|\?)u|\x1b\]22;[a-z]*\x07"
)
"""The sequences that the tutor may send a terminal."""


def foreign(sent: str) -> list[str]:
    """Return what is in sent text that the tutor itself has not written: commands, and characters that turn lines."""
    return [*_foreign(sent)]


def _foreign(sent: str) -> Iterator[str]:
    at = 0
    while at < len(sent):
        piece = OWN.match(sent, at)
        if piece is None:
            yield repr(sent[at : at + 20])
            at += 1
            continue
        if piece["text"]:
            yield from (repr(character) for character in piece["text"] if not _is_shown(character))
        at = piece.end()


def _is_shown(character: str) -> bool:
    return character.isprintable() or character in "\u00a0\u202f\u3000"


class RecordingDriver(HeadlessDriver):
    """A driver without a terminal, to which Textual sends what it paints. A test says what becomes of that."""

    @property
    def is_headless(self) -> bool:
        """Say that there is a terminal, so that Textual paints."""
        return False

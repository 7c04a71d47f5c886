"""Output to the terminal: only what it does not show yet, and no more often than a slow line can carry.

Nothing tells how fast a line is. A terminal at the other end of one takes all that it is sent, and shows it later: keys
that are held would be answered long after they are released.
"""

from __future__ import annotations

import re
import shutil
import threading
from time import monotonic
from typing import IO
from weakref import WeakSet

from attn_tutor.tui.tty.glyph_screen import (
    PLAIN,
    Cursor,
    GlyphScreen,
    Style,
    difference,
    move_to,
    style_after,
    style_change,
)

RATE = 4000
"""Bytes a second that even a slow line carries. While keys arrive, no more is sent on average."""

CREDIT = 1000
"""Bytes that may be sent beyond the rate after a pause."""

REST = 0.2
"""Seconds without input before or after a key that is not held. Then the screen is painted whatever it costs."""

ONE_KEY = 12
"""Characters of the longest usual key. More than that in one read are keys that a line has delivered together."""


class Pace:
    """Says how long the next paint has to wait. All times are seconds of one clock."""

    def __init__(self) -> None:
        self._input_at = float("-inf")
        self._is_held = False
        self._credit = float(CREDIT)
        self._counted_at = 0.0

    def heard(self, text: str, now: float) -> None:
        """Note the input that has arrived in one read."""
        self._is_held = now - self._input_at < REST or len(text) > ONE_KEY
        self._input_at = now

    def sent(self, size: int, now: float) -> None:
        """Note that bytes have been sent."""
        self._count(now)
        self._credit -= size

    def delay(self, now: float) -> float:
        """Return the seconds to wait before the screen is painted; 0 if it may be painted at once."""
        self._count(now)
        return max(0.0, min(-self._credit / RATE, self._input_at + REST - now)) if self._is_held else 0.0

    def _count(self, now: float) -> None:
        self._credit = min(CREDIT, self._credit + RATE * max(0.0, now - self._counted_at))
        self._counted_at = now


PIECE = re.compile(
    r"(?P<text>[^\x00-\x1f\x7f-\x9f]+)"
    r"|\x1b\[(?P<style>[\d;]*)m"
    r"|\x1b\[(?P<row>\d*);(?P<column>\d*)H"
    r"|(?P<end>\r?\n)"
    r"|(?P<frame>\x1b\[\?2026[hl])"
    # Modes of keyboard, mouse and cursor, queries, title, clipboard, bell: what is on the screen stays.
    r"|(?P<aside>\x1b\[(?:\?(?!47[hl]|104[79][hl]|[356][hl])[\d;]+(?:[hl]|\$p)|[<>=][\d;]*u|[\d;]*[nct])"
    r"|\x1b\](?:[012]|22|52);[^\x07\x1b]*(?:\x07|\x1b\\)|\x07)"
)

FRAME = ("\x1b[?2026h", "\x1b[?2026l")
"""What tells a terminal to show all of a frame at once."""


class PendingOutput:
    """The screen that a terminal of this size shows, and the one that it is to show."""

    def __init__(self, columns: int, lines: int) -> None:
        self._size = (columns, lines)
        self._first = ""
        self._has_frames = False
        self._cursor: Cursor | None = None
        self._style: Style = PLAIN
        self._shown, self._wanted = GlyphScreen(columns, lines), GlyphScreen(columns, lines)

    @property
    def is_urgent(self) -> bool:
        """Whether there is something other than a screen to send, for which others may wait."""
        return bool(self._first)

    def resize(self, columns: int, lines: int) -> bool:
        """Set the size of the terminal, and return whether it is a new one.

        Nothing is known of what the terminal shows then: it may have cut off or rearranged that, even if the size is
        what it was.
        """
        is_new = (columns, lines) != self._size
        self._size = (columns, lines)
        self._shown, wanted = GlyphScreen(*self._size), GlyphScreen(*self._size)
        wanted.overlay(self._wanted)
        self._wanted = wanted
        return is_new

    def add(self, text: str) -> None:
        """Add text with escape sequences. What is not known is passed on as it is, after what came before."""
        style: Style | None = PLAIN
        at = 0
        while at < len(text):
            piece = PIECE.match(text, at)
            before = style or PLAIN
            style = self._draw(piece, before) if piece is not None else None
            if piece is None or style is None:
                self._pass_on(style_change(PLAIN, before) + text[at:])
                return
            at = piece.end()

    def take(self) -> str:
        """Return what the terminal has to be sent, and take it for shown."""
        painted, self._style = difference(self._shown, self._wanted, self._style)
        self._shown.overlay(self._wanted)
        if painted and self._cursor is not None:
            painted += move_to(self._cursor)
        if painted and self._has_frames:
            painted = painted.join(FRAME)
        output = self._first + painted
        self._first = ""
        return output

    def _draw(self, piece: re.Match[str], style: Style) -> Style | None:
        """Draw a piece of output in a style, and return the style after it; None if it cannot be drawn."""
        if piece["text"] is not None:
            if self._cursor is None:
                return None
            self._cursor = self._wanted.draw(self._cursor, piece["text"], style)
        elif piece["style"] is not None:
            return style_after(style, piece["style"])
        elif piece["row"] is not None:
            self._cursor = int(piece["row"] or 1) - 1, int(piece["column"] or 1) - 1
        elif piece["end"] is not None:
            # Where that leads depends on the terminal; Textual always says where it goes on.
            self._cursor = None
        elif piece["frame"] is not None:
            self._has_frames = True
        else:
            self._first += piece["aside"]
        return style

    def _pass_on(self, text: str) -> None:
        before = self.take() + (move_to(self._cursor) if self._cursor else "") + style_change(self._style, PLAIN)
        self._first = f"{before}{text}\x1b[m"
        self._style = PLAIN
        self._clear()

    def _clear(self) -> None:
        self._shown, self._wanted = GlyphScreen(*self._size), GlyphScreen(*self._size)
        self._cursor = None


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

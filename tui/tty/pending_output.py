"""Output that has not been sent yet: text with escape sequences comes in, what makes a difference goes out."""

from __future__ import annotations

import re

from attn_tutor.tui.tty.glyph_screen import Cursor, GlyphScreen, difference, move_to
from attn_tutor.tui.tty.styles import PLAIN, Style, style_after, style_change

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

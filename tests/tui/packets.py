"""The bytes that a terminal sends, in packets of any size, for tests without a terminal."""

from __future__ import annotations

import codecs

from textual._xterm_parser import XTermParser
from textual.app import App

BACKSPACE, CTRL_C, DELETE, ENTER, TAB = b"\x7f", b"\x03", b"\x1b[3~", b"\r", b"\t"
LEFT, RIGHT, UP, DOWN, HOME, END = b"\x1b[D", b"\x1b[C", b"\x1b[A", b"\x1b[B", b"\x1b[H", b"\x1b[F"
F2, F5, F8, F12 = b"\x1bOQ", b"\x1b[15~", b"\x1b[19~", b"\x1b[24~"


def pasted(text: str) -> bytes:
    """Return what a terminal sends when this text is pasted."""
    return b"\x1b[200~" + text.encode() + b"\x1b[201~"


class Line:
    """A terminal line to an app, which reads bytes as Textual's driver does."""

    def __init__(self, app: App[None]) -> None:
        self._app = app
        self._decode = codecs.getincrementaldecoder("utf-8")().decode
        self._parser = XTermParser()

    def read(self, packet: bytes) -> None:
        """Pass on to the app what one read of this packet gives, without waiting for it to take effect."""
        text = self._decode(packet)
        # An incomplete letter gives no text yet, and the parser would take "" for the end.
        for event in self._parser.feed(text) if text else ():
            event.set_sender(self._app)
            self._app.post_message(event)

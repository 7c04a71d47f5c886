"""The lines that an app under test has painted on the terminal, and what is seen on a terminal."""

from __future__ import annotations

import pyte
from pyte.screens import Char
from textual.app import App
from textual.strip import Strip


def painted_strips(app: App[None]) -> list[Strip]:
    """Return the painted lines with their styles; lines that wait to be repainted are still the old ones."""
    # There is no public way to read painted lines: a screenshot would paint them again.
    return app.screen._compositor.render_strips()


def painted_lines(app: App[None]) -> list[str]:
    """Return the text of the painted lines, without trailing spaces."""
    return ["".join(segment.text for segment in strip).rstrip() for strip in painted_strips(app)]


def seen(screen: pyte.Screen) -> list[list[Char]]:
    """Return the cells of a terminal as they look; the color of a blank is not seen."""
    return [[_look(screen.buffer[y][x]) for x in range(screen.columns)] for y in range(screen.lines)]


def _look(cell: Char) -> Char:
    if cell.data != " " or cell.underscore or cell.strikethrough or cell.reverse:
        return cell
    return Char(" ", bg=cell.bg)

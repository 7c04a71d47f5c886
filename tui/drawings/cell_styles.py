"""The styles of cells under the cursor or with marks, and the signs that depend on the terminal."""

from __future__ import annotations

from functools import lru_cache

from rich.style import Style

from attn_tutor.tui.drawings.marks import CHANGED, OPERAND, SET
from attn_tutor.tui.drawings.styled_line import over
from attn_tutor.tui.render.palette import Look, Palette


def marked_style(look: Look, senses: int, colors: Palette) -> Style | None:
    """Return the style of a marked cell, which is that of the cell itself if it has no marks."""
    style = look.style
    for sense, mark in ((OPERAND, colors.operand), (CHANGED, colors.changed), (SET, colors.set)):
        if senses & sense:
            style = over(style, mark)
    return style


def mark_style(look: Look, colors: Palette) -> Style | None:
    """Return the style of the marks beside the digits: the cursor's color on the background of the cell."""
    if not colors.colored:
        return None
    return _on(colors.cursor, look.style)


@lru_cache(maxsize=64)
def background(style: Style | None) -> Style | None:
    """Reduce a style to its background, which is all that spaces need: half as many bytes."""
    return Style(bgcolor=style.bgcolor) if style and style.bgcolor else None


@lru_cache(maxsize=64)
def _on(cursor: Style, cell: Style | None) -> Style:
    return Style(color=cursor.bgcolor, bgcolor=cell.bgcolor if cell else None)


def ellipsis(colors: Palette) -> str:
    """Return the character for omitted text."""
    return "…" if colors.unicode else "~"


def times(colors: Palette) -> str:
    """Return the sign between sizes."""
    return "×" if colors.unicode else "x"


def dot(colors: Palette) -> str:
    """Return the placeholder for a number that has not arrived."""
    return "·" if colors.unicode else "."

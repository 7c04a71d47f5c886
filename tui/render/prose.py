"""Lesson prose with styles, and as lines."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from rich.style import Style
from rich.text import Text

from attn_tutor.lessons.render.prose_markup import paragraphs, spans

VALUE = re.compile(r"[-+(\[]?\.?\d|True$|False$|-?inf$|nan$")
STYLES = {"code": Style(color="cyan"), "strong": Style(bold=True), "emphasis": Style(italic=True)}


def rich_text(prose: str) -> Text:
    """Return prose as styled text with an empty line between paragraphs."""
    text = Text()
    for number, paragraph in enumerate(paragraphs(prose)):
        if number:
            text.append("\n\n")
        for piece, role in spans(paragraph):
            text.append(piece, STYLES.get(role))
    return text


def plain_lines(prose: str, width: int) -> Iterator[str]:
    """Yield prose wrapped to `width` columns, without emphasis marks; code keeps its backquotes."""
    for number, paragraph in enumerate(paragraphs(prose)):
        if number:
            yield ""
        bare = "".join(_quoted(piece) if role == "code" else piece for piece, role in spans(paragraph))
        yield from textwrap.wrap(bare, width, break_on_hyphens=False) or [""]


def _quoted(code: str) -> str:
    """Put code in backquotes, unless it is a plain value (a number, a tuple, True)."""
    return code if VALUE.match(code) else f"`{code}`"

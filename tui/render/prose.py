"""The markup of lesson prose: `code`, *emphasis* and **strong**, in paragraphs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from rich.style import Style
from rich.text import Text

SPAN = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>\S(?:.*?\S)?)\*\*|\*(?P<emphasis>\S(?:.*?\S)?)\*")
VALUE = re.compile(r"[-+(\[]?\.?\d|True$|False$|-?inf$|nan$")
STYLES = {"code": Style(color="cyan"), "strong": Style(bold=True), "emphasis": Style(italic=True)}


def paragraphs(prose: str) -> list[str]:
    """Return the paragraphs of a prose text, each as one line."""
    return [" ".join(block.split()) for block in prose.strip().split("\n\n") if block.strip()]


def spans(paragraph: str) -> Iterator[tuple[str, str]]:
    """Yield the pieces of a paragraph with their roles: "", "code", "strong" or "emphasis"."""
    end = 0
    for match in SPAN.finditer(paragraph):
        if match.start() > end:
            yield paragraph[end : match.start()], ""
        role = match.lastgroup or ""
        yield match[role], role
        end = match.end()
    if end < len(paragraph):
        yield paragraph[end:], ""


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
        yield from textwrap.wrap(bare, width) or [""]


def _quoted(code: str) -> str:
    """Put code in backquotes, unless it is a plain value (a number, a tuple, True)."""
    return code if VALUE.match(code) else f"`{code}`"

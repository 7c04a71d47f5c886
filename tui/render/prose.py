"""The little markup of lesson prose: `code`, *emphasis* and **strong**, in paragraphs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

from rich.style import Style
from rich.text import Text

SPAN = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>\S(?:.*?\S)?)\*\*|\*(?P<emphasis>\S(?:.*?\S)?)\*")
VALUE = re.compile(r"[-+(\[]?\.?\d|True$|False$|-?inf$|nan$")
STYLES = {"code": Style(color="cyan"), "strong": Style(bold=True), "emphasis": Style(italic=True)}


ASCII = str.maketrans({"·": "*", "√": "sqrt ", "×": "x", "…": "...", "→": "->", "–": "-", "—": "-", "≈": "~"})


def in_ascii(text: str) -> str:
    """The signs that lessons use beyond ASCII, written with ASCII."""
    return text.translate(ASCII)


def paragraphs(prose: str) -> list[str]:
    """The paragraphs of a prose text, each on one line."""
    return [" ".join(block.split()) for block in prose.strip().split("\n\n") if block.strip()]


def spans(paragraph: str) -> Iterator[tuple[str, str]]:
    """Pieces of a paragraph and their role: "", code, strong or emphasis."""
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
    """The prose as styled text, an empty line between paragraphs."""
    text = Text()
    for number, paragraph in enumerate(paragraphs(prose)):
        if number:
            text.append("\n\n")
        for piece, role in spans(paragraph):
            text.append(piece, STYLES.get(role))
    return text


def plain_lines(prose: str, width: int) -> Iterator[str]:
    """The prose wrapped to a width, without emphasis marks; code keeps its backquotes."""
    for number, paragraph in enumerate(paragraphs(prose)):
        if number:
            yield ""
        bare = "".join(_quoted(piece) if role == "code" else piece for piece, role in spans(paragraph))
        yield from textwrap.wrap(bare, width) or [""]


def _quoted(code: str) -> str:
    """Code in backquotes, but values (numbers, tuples, True) as they are."""
    return code if VALUE.match(code) else f"`{code}`"

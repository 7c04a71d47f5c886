"""The markup of lesson prose: `code`, *emphasis* and **strong**, in paragraphs."""

from __future__ import annotations

import re
from collections.abc import Iterator

SPAN = re.compile(r"`(?P<code>[^`]+)`|\*\*(?P<strong>\S(?:.*?\S)??)\*\*|\*(?P<emphasis>\S(?:.*?\S)??)\*")


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

"""The two lines above a view: what the learner is at, and how far they are in the lesson."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from rich.text import Text

DIM, TITLE = Style(dim=True), Style(bold=True, color="cyan")
GAP = "   "

SKIPPED = "skipped"
"""What is left of a remark for which there is no room."""


def title(text: str) -> Text:
    """Return the left end of the title line."""
    return Text(f" {text}", TITLE)


def right_end(words: Sequence[str], remark: str, place: str, room: int) -> str:
    """Return the right end of the title line.

    Args:
        words: what is to be known about the tutor, such as that it loads something.
        remark: something to be said besides, in as many words as fit: the place must not give way to it.
        place: where the learner is in the lesson.
        room: columns that the title leaves.
    """
    left = room - sum(len(each) + len(GAP) for each in (*words, place)) - 4
    said = next(([each] for each in (remark, SKIPPED) if len(each) <= left), []) if remark else []
    return GAP.join([*words, *said, place])


def rule(width: int, done: int, of: int, *, unicode: bool) -> Text:
    """Return a line of `width` columns; its heavy part is how far the learner is: `done` of `of` steps."""
    width = max(width, 1)
    heavy, light = ("━", "─") if unicode else ("=", "-")
    part = width * done // of
    return Text.assemble((heavy * part, TITLE), (light * (width - part), DIM))

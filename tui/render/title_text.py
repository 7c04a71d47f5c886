"""The two lines above a view: what the learner is working on, and how far they are in the lesson."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from rich.text import Text

DIM, TITLE = Style(dim=True), Style(bold=True, color="cyan")
GAP = "   "

SKIPPED = "skipped"
"""Replaces a remark that does not fit."""


def title(text: str) -> Text:
    """Return the left end of the title line."""
    return Text(f" {text}", TITLE)


def right_end(words: Sequence[str], remark: str, position: str, room: int) -> str:
    """Return the right end of the title line.

    Args:
        words: the state of the tutor, such as that it is loading something.
        remark: an additional remark, shortened to `SKIPPED` where it does not fit: the position must stay visible.
        position: where the learner is in the lesson.
        room: columns that the title leaves.
    """
    left = room - sum(len(each) + len(GAP) for each in (*words, position)) - 4
    remarks = next(([each] for each in (remark, SKIPPED) if len(each) <= left), []) if remark else []
    return GAP.join([*words, *remarks, position])


def rule(width: int, done: int, of: int, *, unicode: bool) -> Text:
    """Return a line of `width` columns; its heavy part is how far the learner is: `done` of `of` steps."""
    width = max(width, 1)
    heavy, light = ("━", "─") if unicode else ("=", "-")
    part = width * done // of
    return Text.assemble((heavy * part, TITLE), (light * (width - part), DIM))

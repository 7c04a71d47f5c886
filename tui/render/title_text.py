"""The two lines above a view: what the learner is working on, and how far they are in the lesson."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from rich.text import Text

from attn_tutor.lessons.render.numbers import truncated, visible

DIM, TITLE = Style(dim=True), Style(bold=True, color="cyan")
GAP = "   "

HERE = Style(bold=True)
LEAST_RULE = 16
"""Columns of the rule that no way covers."""

LONGEST_NAME = 16

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


def rule(width: int, done: int, of: int, way: Sequence[str] = (), *, unicode: bool) -> Text:
    """Return a line of `width` columns; its heavy part is how far the learner is: `done` of `of` steps.

    At its right end stands the way of the numbers to where the learner is, as far as it fits.
    """
    width = max(width, 1)
    heavy, light = ("━", "─") if unicode else ("=", "-")
    part = width * done // of
    line = Text.assemble((heavy * part, TITLE), (light * (width - part), DIM))
    words = _way(way, width - len(title("")) - LEAST_RULE, unicode=unicode)
    if not words.plain:
        return line
    return Text.assemble(line[: width - words.cell_len - 1], words, line[width - 1 :])


def _way(names: Sequence[str], room: int, *, unicode: bool) -> Text:
    """Return names joined by arrows, the last one lit; the first ones give way if there is no room for all.

    A name that comes again, as one that is changed in place does, stands only where it comes last. What has no name,
    such as a number that the learner has written, or an expression, is passed over on the way.
    """
    arrow, more = (" → ", "…") if unicode else (" > ", "~")
    *before_last, last = [name for name in names if name] or [""]
    named = [name for name in before_last if all(part.isidentifier() for part in name.split("."))]
    once = tuple(dict.fromkeys(reversed([*named, last])))[::-1]
    short = [truncated(visible(name), LONGEST_NAME, more) for name in once]
    for first in range(len(short) - 1):
        before = arrow.join([*([more] if first else []), *short[first:-1]]) + arrow
        text = Text.assemble((f" {before}", DIM), (f"{short[-1]} ", HERE))
        if text.cell_len <= room:
            return text
    return Text()

"""What the terms of a sum contribute, as bars: the largest first."""

from __future__ import annotations

import math

from rich.cells import cell_len
from rich.style import Style
from rich.text import Text

from attn_tutor.lessons.render import explanation_text
from attn_tutor.lessons.render.numbers import readable, truncated
from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.texts.wording import Wording

say = Wording("explanation/bars")

MOST = 8
LONGEST = 32
FEWEST = 3
"""Of fewer terms the digits say enough."""
DIM = Style(dim=True)


def contribution_lines(explanation: Explanation, width: int, room: int, unicode: bool = True) -> list[Text]:
    """Return a line with a bar for each of the largest terms of a sum, and one for all others.

    There are at most `room` lines of `width` columns; nothing if the number is no sum, or if there is too little room.
    """
    e = explanation
    terms = f.terms(e.formula)
    room = min(room, MOST)
    if len(terms) < FEWEST or room < FEWEST:
        return []
    values = [f.evaluate(term, e.values) for term in terms]
    largest = max(map(abs, values))
    if not largest or not math.isfinite(largest):
        return []
    ranked = sorted(range(len(terms)), key=lambda at: -abs(values[at]))
    shown = ranked if len(ranked) <= room else ranked[: room - 1]
    rest = ranked[len(shown) :]
    dots = "…" if unicode else "~"
    longest = max(8, width // 2)
    rows = [(truncated(explanation_text.part_text(terms[at], e, unicode), longest, dots), values[at]) for at in shown]
    if rest:
        more = say.count("rest", len(rest), "{count} more, together", "{count} more, together")
        rows.append((more, math.fsum(values[at] for at in rest)))
    names = max(cell_len(name) for name, _ in rows)
    digits = max(len(readable(value)) for _, value in rows)
    cells = min(LONGEST, width - names - digits - 6)
    if cells < 4:
        return []
    largest = max(abs(value) for _, value in rows)
    found = []
    for name, value in rows:
        bar = ("█" if unicode else "#") if value >= 0 else ("▒" if unicode else "-")
        text = Text("  ").append(name + " " * (names - cell_len(name)), DIM)
        found.append(text.append(f"  {readable(value):>{digits}}  {bar * round(cells * abs(value) / largest)}"))
    return found

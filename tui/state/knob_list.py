"""The knobs of a step in the order in which they are listed, and those that have some words."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from operator import itemgetter

from attn_tutor.lessons.format.knobs.knob import Knob
from attn_tutor.lessons.format.knobs.literal import LiteralKnob
from attn_tutor.lessons.format.lesson import Lesson, RunStep
from attn_tutor.tui.state.word_search import has_words


def in_order(knobs: Iterable[Knob], step: str) -> list[Knob]:
    """Return knobs with those first that are near to what a page of a program shows.

    Among the equally near, a text that computes nothing comes last.
    """
    return sorted(knobs, key=lambda knob: (distance(knob, step), isinstance(knob, LiteralKnob) and knob.aside))


def distance(knob: Knob, step: str) -> int:
    """Return how far a literal is from what a page of a program shows; 0 for what a lesson lets one change."""
    return 0 if not isinstance(knob, LiteralKnob) or step in knob.near else 1 if step in knob.within else 2


def having(lesson: Lesson, knobs: Sequence[Knob], words: str) -> list[Knob]:
    """Return the knobs that have each of these words in their label or value or on their line of code.

    First come those that are called so, then those whose label has the words. The beginning of a name counts too.
    """
    ranked = [(_rank(lesson, knob, words.casefold()), knob) for knob in knobs]
    return [knob for _, knob in sorted(((rank, knob) for rank, knob in ranked if rank is not None), key=itemgetter(0))]


def _rank(lesson: Lesson, knob: Knob, words: str) -> int | None:
    """Return how well a knob fits words, 0 the best; None if it does not."""
    if words in knob.label.casefold() or knob.name.casefold().startswith(words):
        return 0
    if not isinstance(knob, LiteralKnob):
        return 1 if has_words(words, knob.name, knob.label) else None
    if has_words(words, knob.label):
        return 1
    return 2 if has_words(words, knob.label, str(knob.value), line_of(lesson, knob)) else None


def line_of(lesson: Lesson, knob: LiteralKnob) -> str:
    """Return the line of code that a literal of a program begins on; "" if no page has it."""
    return _line(lesson, knob)[0].strip()


def is_all_of(lesson: Lesson, knob: LiteralKnob) -> bool:
    """Return whether a literal is all that the code gives to what it is called after: not in `lr /= 4` or `lr = -1`.

    An option of the command line gets its default.
    """
    line, column = _line(lesson, knob)
    name = "default" if knob.called.startswith("-") else re.escape(knob.called)
    return bool(name and re.search(rf"(?<![\w.]){name}\s*(:[^=]*)?=\s*$", line[:column]))


def _line(lesson: Lesson, knob: LiteralKnob) -> tuple[str, int]:
    """Return the line that a literal begins on, and at which of its characters."""
    step = next((step for step in lesson.steps if step.id in knob.within), None)
    if not isinstance(step, RunStep):
        return "", 0
    lines, starts = _lines(step.code)
    number = bisect_right(starts, knob.start) - 1
    return lines[number], knob.start - starts[number]


@functools.lru_cache(8)
def _lines(code: str) -> tuple[list[str], list[int]]:
    """Return the lines of a source, and at which character each begins."""
    lines, starts = code.split("\n"), [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return lines, starts[:-1]

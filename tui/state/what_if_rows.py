"""The rows of the what-if panel, and the order of its knobs: everything that a learner may change at a step."""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Literal

from attn_tutor.lessons.format.knobs import Knob, LiteralKnob
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if import cells, knobs
from attn_tutor.lessons.what_if.changes import ChangeError, Changes, apply
from attn_tutor.tui.actions.hints import full_keys, short_keys
from attn_tutor.tui.state.typed_names import has_words


def knobs_in_order(knobs: Iterable[Knob], step: str) -> list[Knob]:
    """Return knobs with those first that are near to what a page of a program shows.

    Among the equally near, a text that computes nothing comes last.
    """
    return sorted(knobs, key=lambda knob: (distance(knob, step), isinstance(knob, LiteralKnob) and knob.aside))


def distance(knob: Knob, step: str) -> int:
    """Return how far a literal is from what a page of a program shows; 0 for what a lesson lets one change."""
    return 0 if not isinstance(knob, LiteralKnob) or step in knob.near else 1 if step in knob.within else 2


def knobs_having(lesson: Lesson, knobs: Sequence[Knob], words: str) -> list[Knob]:
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
    return 2 if has_words(words, knob.label, str(knob.value), line_of_knob(lesson, knob)) else None


def line_of_knob(lesson: Lesson, knob: LiteralKnob) -> str:
    """Return the line of code that a literal of a program begins on; "" if no page has it."""
    return _line(lesson, knob)[0].strip()


def is_all_of_knob(lesson: Lesson, knob: LiteralKnob) -> bool:
    """Return whether a literal is all that the code gives to what it is called after: not in `lr /= 4` or `lr = -1`.

    An option of the command line gets its default.
    """
    line, column = _line(lesson, knob)
    name = "default" if knob.called.startswith("-") else re.escape(knob.called)
    return bool(name and re.search(rf"(?<![\w.]){name}\s*(:[^=]*)?=\s*$", line[:column]))


def _line(lesson: Lesson, knob: LiteralKnob) -> tuple[str, int]:
    """Return the line that a literal begins on, and at which of its characters."""
    step = next((step for step in lesson.steps if step.id in knob.within), None)
    if step is None:
        return "", 0
    lines, starts = _lines(step.run_code)
    number = bisect_right(starts, knob.start) - 1
    return lines[number], knob.start - starts[number]


@functools.lru_cache(8)
def _lines(code: str) -> tuple[list[str], list[int]]:
    """Return the lines of a source, and at which character each begins."""
    lines, starts = code.split("\n"), [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    return lines, starts[:-1]


say = Wording("change/rows")


@dataclass(frozen=True, slots=True)
class Spot:
    """The cell under the cursor: the name of its tensor, its index, and its value as text."""

    name: str
    index: tuple[int, ...]
    value: str

    @property
    def label(self) -> str:
        """The cell as Python would write it."""
        return label(self.name, self.index)


@dataclass(frozen=True, slots=True)
class WhatIfRow:
    """One thing that may be changed.

    Attributes:
        kind: `spot` (the cell under the cursor), `cell` (a changed cell), `new` (any other cell) or `knob`.
        label, value: its name and its current value.
        changed: whether the value differs from the lesson.
        hint: the keys that change it.
        knob: the knob, if it is one.
        cell: the changed cell, if it is one.
        example: for `new`: what may be typed.
    """

    kind: Literal["spot", "cell", "new", "knob"]
    label: str
    value: str
    changed: bool = False
    hint: str = ""
    knob: Knob | None = None
    cell: cells.CellChange | None = None
    example: str = ""


TURN, TYPE = full_keys("rows.turn", alternatives=False), short_keys("rows.type")
AS_IT_WAS = say("as-it-was", "{keys}: as it was", keys=full_keys("rows.put-back", alternatives=False))


def rows(
    lesson: Lesson, step: str, changes: Changes, spot: Spot | None, matter: Sequence[Knob] | None = None
) -> tuple[WhatIfRow, ...]:
    """List the rows of a step: the cell under the cursor, then the changed cells, then knobs, then any other cell.

    The knobs are those that `matter` to the step, as far as they have been looked up before, and all that are turned.
    """
    found: list[WhatIfRow] = []
    own = next((cell for cell in changes.cells if spot and (cell.name, cell.index) == (spot.name, spot.index)), None)
    if spot is not None:
        hint = AS_IT_WAS if own else say("type-or-digit", "{keys} or digit: new value", keys=TYPE)
        value = str(own.value) if own else spot.value
        found.append(WhatIfRow("spot", spot.label, value, changed=own is not None, hint=hint, cell=own))
    for cell in changes.cells:
        if cell is own:
            continue
        found.append(WhatIfRow("cell", cell.label, str(cell.value), changed=True, hint=AS_IT_WAS, cell=cell))
    settings = changes.settings
    matter = knobs.relevant_to_step(lesson, step) if matter is None else matter
    # A change made at another step can be taken back here too.
    chosen = {knob.name for knob in matter} | set(settings)
    there: list[Knob] = [knob for knob in lesson.knobs if knob.name in chosen]
    # First those of the function that a page is about.
    for knob in knobs_in_order(there, step):
        setting = settings.get(knob.name, knob.initial(lesson))
        shown = say("each-step-own", "each step its own") if setting is None else knob.say(setting)
        label = knob.label
        if isinstance(knob, LiteralKnob) and step not in knob.within:
            # The page shows another file, whose lines have the same numbers.
            label = say("in-file", "{file}: {label}", file=knob.file, label=label)
        found.append(WhatIfRow("knob", label, shown, knob.name in settings, _hint(knob), knob))
    example = f"{spot.label} = 1" if spot else "inputs[1,0] = 0.9"
    hint = say("then", "{keys}, then: {example}", keys=TYPE, example=example)
    found.append(WhatIfRow("new", say("any-other-cell", "any other cell"), "", hint=hint, example=example))
    return tuple(found)


def having(lesson: Lesson, rows: Sequence[WhatIfRow], words: str) -> tuple[WhatIfRow, ...]:
    """Return the rows of changed cells and of knobs that have each of these words, the best first; all for no words."""
    if not words:
        return tuple(rows)
    of_knob = {row.knob.name: row for row in rows if row.knob is not None}
    knobs = knobs_having(lesson, [row.knob for row in rows if row.knob is not None], words)
    changed = [row for row in rows if row.cell is not None and has_words(words, row.label)]
    return (*changed, *(of_knob[knob.name] for knob in knobs))


def _hint(knob: Knob) -> str:
    if not knob.can_turn:
        return f"{TYPE}: {knob.accepts}" + (f"; {knob.caution}" if knob.caution else "")
    if knob.choices:
        return f"{TURN}: {knob.accepts}"
    return say("turn-or-type", "{turn}, or {type} {accepts}", turn=TURN, type=TYPE, accepts=knob.accepts)


def turn(lesson: Lesson, changes: Changes, row: WhatIfRow, by: int) -> Changes:
    """Return the changes with the knob of a row turned by some settings; unchanged if there is nothing to turn."""
    if row.knob is None:
        return changes
    current = changes.settings.get(row.knob.name, row.knob.initial(lesson))
    setting = row.knob.turn(lesson, current, by)
    return changes if setting is None else changes.with_knob(lesson, row.knob.name, setting)


def set_value(lesson: Lesson, step: str, changes: Changes, row: WhatIfRow, spot: Spot | None, text: str) -> Changes:
    """Return the changes with a value that was typed into a row. Raises `ChangeError` with a sentence for people."""
    if row.knob is not None:
        return changes.with_knob(lesson, row.knob.name, text)
    altered = apply(lesson, changes)
    if row.kind == "new":
        return changes.with_cell(altered, cells.parse(altered, text))
    if row.cell is not None:
        return changes.with_cell(altered, cells.parse(altered, f"{row.cell.step}:{row.label}={text}"))
    if spot is None:
        raise ChangeError(say("no-spot", "There is no number under the cursor."))
    return changes.with_cell(altered, cells.parse(altered, f"{step}:{spot.label}={text}"))


def restore(changes: Changes, row: WhatIfRow) -> Changes:
    """Return the changes without that of a row, if it has one."""
    if row.cell is not None:
        return changes.without_cell(row.cell)
    return changes if row.knob is None else changes.without_knob(row.knob.name)

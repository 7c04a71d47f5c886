"""The rows of the what-if panel: everything that a learner may change at a step, as pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from attn_tutor.lessons.format.knobs.knob import Knob
from attn_tutor.lessons.format.knobs.literal import LiteralKnob
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if import cells, relevance
from attn_tutor.lessons.what_if.changes import ChangeError, Changes, apply
from attn_tutor.tui.actions.key_names import full_keys, short_keys
from attn_tutor.tui.state import knob_list
from attn_tutor.tui.state.word_search import has_words

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
    matter = relevance.to_step(lesson, step) if matter is None else matter
    # A change made at another step can be taken back here too.
    chosen = {knob.name for knob in matter} | set(settings)
    there: list[Knob] = [knob for knob in lesson.knobs if knob.name in chosen]
    # First those of the function that a page is about.
    for knob in knob_list.in_order(there, step):
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
    knobs = knob_list.having(lesson, [row.knob for row in rows if row.knob is not None], words)
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

"""What a learner may change at a step, as rows to walk: a cell, any cell, and the lesson's knobs. Pure functions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lessons.format.lesson import ChoiceKnob, Knob, Lesson, NumberKnob, SeedKnob, WordsKnob
from lessons.results.explanation import label
from lessons.what_if import cells, knobs
from lessons.what_if.changes import ChangeError, Changes, apply
from lessons.what_if.knobs import Setting
from tui.actions.naming import full_keys, short_keys

TOY = "toy embeddings, drawn from the letters: they mean nothing"


@dataclass(frozen=True, slots=True)
class Spot:
    """The cell that the cursor is on: the name of its tensor, its index, its value as text."""

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
        kind: `spot` (the cell under the cursor), `cell` (any cell, typed; or one that was changed) or `knob`.
        label, value: what it is and what it is set to.
        changed: whether that is not what the lesson has.
        hint: what can be done with it.
        knob: the knob, if it is one.
        cell: the changed cell, if it is one.
    """

    kind: Literal["spot", "cell", "new", "knob"]
    label: str
    value: str
    changed: bool = False
    hint: str = ""
    knob: Knob | None = None
    cell: cells.CellChange | None = None


TURN, TYPE = full_keys("rows.turn", alternatives=False), short_keys("rows.type")
AS_IT_WAS = f"{full_keys('rows.put-back', alternatives=False)}: as it was"


def rows(lesson: Lesson, step: str, changes: Changes, spot: Spot | None) -> tuple[WhatIfRow, ...]:
    """The rows of a step: first the cell under the cursor, then cells that were changed, then knobs, then any cell."""
    found: list[WhatIfRow] = []
    own = next((cell for cell in changes.cells if spot and (cell.name, cell.index) == (spot.name, spot.index)), None)
    if spot is not None:
        hint = AS_IT_WAS if own else f"{TYPE}, or a digit: another number"
        value = str(own.value) if own else spot.value
        found.append(WhatIfRow("spot", spot.label, value, changed=own is not None, hint=hint, cell=own))
    for cell in changes.cells:
        if cell is own:
            continue
        label, _, value = str(cell).partition(" = ")
        found.append(WhatIfRow("cell", label, value, changed=True, hint=AS_IT_WAS, cell=cell))
    settings = changes.settings
    for knob in knobs.at(lesson, step):
        default = knobs.default(lesson, knob)
        setting = {knob.name: default, **settings}[knob.name]
        shown = "each step its own" if setting is None else str(setting)
        found.append(WhatIfRow("knob", knob.label, shown, knob.name in settings, _hint(knob), knob))
    found.append(WhatIfRow("new", "any other cell", "", hint=f"{TYPE}, then: inputs[1,0] = 0.9"))
    return tuple(found)


def only_turned(knob: Knob) -> bool:
    """Whether a knob has a few values to turn through, and takes none that is typed."""
    return isinstance(knob, ChoiceKnob) or (isinstance(knob, NumberKnob) and bool(knob.values))


def _hint(knob: Knob) -> str:
    if isinstance(knob, WordsKnob):
        return f"{TYPE}: your words; {TOY}"
    if isinstance(knob, SeedKnob):
        return f"{TURN}, or {TYPE} a whole number"
    if isinstance(knob, ChoiceKnob):
        return f"{TURN}: " + " / ".join(knob.options)
    if knob.values:
        return f"{TURN}: " + ", ".join(map(str, knob.values))
    return f"{TURN}, or {TYPE} a number from {knob.least} to {knob.most}"


def turned(lesson: Lesson, changes: Changes, row: WhatIfRow, by: int) -> Changes:
    """The changes with a knob turned by one; as they are if it cannot be turned further."""
    knob = row.knob
    if knob is None or isinstance(knob, WordsKnob):
        return changes
    now = changes.settings.get(knob.name, knobs.default(lesson, knob))
    if isinstance(knob, SeedKnob):
        start = now if isinstance(now, int) else lesson.seed
        return changes.with_knob(lesson, knob.name, max(0, min(start + by, knobs.MOST_SEED)))
    choices: tuple[Setting, ...] = tuple(knob.options) if isinstance(knob, ChoiceKnob) else knob.values
    if choices:
        place = choices.index(now) if now in choices else 0
        if isinstance(knob, ChoiceKnob):
            # Two choices are a switch: both keys turn it.
            return changes.with_knob(lesson, knob.name, choices[(place + by) % len(choices)])
        return changes.with_knob(lesson, knob.name, choices[max(0, min(place + by, len(choices) - 1))])
    assert isinstance(knob, NumberKnob)
    assert knob.least is not None
    assert knob.most is not None
    assert knob.step is not None
    number = float(now if isinstance(now, int | float) else knob.default) + by * float(knob.step)
    number = max(float(knob.least), min(round(number, 9), float(knob.most)))
    return changes.with_knob(lesson, knob.name, int(number) if float(number).is_integer() else number)


def typed(lesson: Lesson, step: str, changes: Changes, row: WhatIfRow, spot: Spot | None, text: str) -> Changes:
    """The changes with what was typed into a row. Raises `ChangeError` with a sentence for people."""
    if row.knob is not None:
        return changes.with_knob(lesson, row.knob.name, text)
    altered = apply(lesson, changes)
    if row.kind == "new":
        return changes.with_cell(altered, cells.parse(altered, text))
    if row.cell is not None:
        return changes.with_cell(altered, cells.parse(altered, f"{row.cell.step}:{row.label}={text}"))
    if spot is None:
        raise ChangeError("There is no number under the cursor.")
    return changes.with_cell(altered, cells.parse(altered, f"{step}:{spot.label}={text}"))


def put_back(lesson: Lesson, changes: Changes, row: WhatIfRow) -> Changes:
    """The changes without that of a row."""
    if row.cell is not None:
        return changes.without_cell(row.cell)
    if row.knob is not None and row.changed:
        default = knobs.default(lesson, row.knob)
        if default is None:
            # The seed of a lesson that has several: there is no single number to go back to.
            return Changes(tuple(pair for pair in changes.knobs if pair[0] != row.knob.name), changes.cells)
        return changes.with_knob(lesson, row.knob.name, default)
    return changes

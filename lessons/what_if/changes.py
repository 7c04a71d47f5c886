"""The changes that a learner has made in a lesson. A run is a function of the lesson, the step, and these changes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from attn_tutor.lessons.format.knobs import ChangeError as ChangeError
from attn_tutor.lessons.format.knobs import Setting, WordsKnob
from attn_tutor.lessons.format.lesson import Lesson
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if import cells, knobs
from attn_tutor.lessons.what_if.cells import CellChange
from attn_tutor.lessons.what_if.name_use import root

say = Wording("change/changes")


@dataclass(frozen=True, slots=True)
class Changes:
    """Knobs that are set, by name, and cells that are written, in the order in which the learner wrote them.

    Knobs apply first: they change the code that runs. Cells are then changed while it runs. Changes are plain data that
    can be compared, hashed and stored. `Changes()` is the unchanged lesson.
    """

    knobs: tuple[tuple[str, Setting], ...] = ()
    cells: tuple[CellChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.knobs or self.cells)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The setting of each knob that is set, by name."""
        return dict(self.knobs)

    def with_knob(self, lesson: Lesson, name: str, value: Setting) -> Changes:
        """Set a knob, to a setting or what was typed for one; its initial setting is no change.

        Raises `ChangeError`.
        """
        knob = knobs.find(lesson, name)
        setting = knob.read(value)
        others = self.without_knob(name)
        if setting == knob.initial(lesson):
            return others
        # Sorted, so that equal changes are equal in whatever order they were made.
        return replace(self, knobs=tuple(sorted((*others.knobs, (name, setting)))))

    def without_knob(self, name: str) -> Changes:
        """Return the changes with a knob at its initial setting."""
        return replace(self, knobs=tuple(pair for pair in self.knobs if pair[0] != name))

    def with_cell(self, lesson: Lesson, cell: CellChange) -> Changes:
        """Write a cell, instead of what was written there before. Raises `ChangeError`."""
        cells.statement_before(lesson, cell)
        return replace(self, cells=(*self.without_cell(cell).cells, cell))

    def without_cell(self, cell: CellChange) -> Changes:
        """Return the changes with a cell, whatever it was set to, left as the code computes it."""
        return replace(self, cells=tuple(other for other in self.cells if other.target != cell.target))


UNCHANGED = Changes()


def apply(lesson: Lesson, changes: Changes) -> Lesson:
    """Return the lesson with its knobs set: with other code, seeds and words.

    Cells are not part of it: they change while it runs (`statements_before_cells`). Raises `ChangeError` for a knob
    that the lesson does not have, or that cannot be set like that.
    """
    return knobs.alter(lesson, changes.settings)


def statements_before_cells(lesson: Lesson, changes: Changes) -> list[tuple[CellChange, cells.StatementPosition]]:
    """Find for every cell the statement of the altered lesson after which it changes. Raises `ChangeError`."""
    altered = apply(lesson, changes)
    return [(cell, cells.statement_before(altered, cell)) for cell in changes.cells]


def parse(
    lesson: Lesson, settings: list[str] | None = None, words: str | None = None, written: list[str] | None = None
) -> Changes:
    """Parse changes from a command line: `NAME=VALUE`, a sentence, `[STEP:]NAME[I,J]=VALUE`.

    Raises `ChangeError`.
    """
    changes = UNCHANGED
    for text in settings or ():
        name, equals, value = text.partition("=")
        if not equals:
            known = ", ".join(knob.name for knob in lesson.knobs) or "none"
            raise ChangeError(
                say(
                    "sets-nothing",
                    "'{text}' does not say what to set. Write NAME=VALUE. The knobs of '{lesson}' are: {known}.",
                    text=text,
                    lesson=lesson.id,
                    known=known,
                )
            )
        changes = changes.with_knob(lesson, name.strip(), value.strip())
    if words is not None:
        knob = next((knob for knob in lesson.knobs if isinstance(knob, WordsKnob)), None)
        if knob is None:
            raise ChangeError(say("no-words", "In lesson '{lesson}', the words cannot be changed.", lesson=lesson.id))
        changes = changes.with_knob(lesson, knob.name, words)
    altered = apply(lesson, changes)
    for text in written or ():
        changes = changes.with_cell(altered, cells.parse(altered, text))
    return changes


def changed_names(made: Changes) -> frozenset[str]:
    """Return the names of the knobs that are set, and of the variables whose cells are written."""
    return frozenset((*(name for name, _ in made.knobs), *(root(cell.name) for cell in made.cells)))


def read_lines(lesson: Lesson, text: str) -> Changes:
    """Read changes from the lines of a text: `KNOB = VALUE` or `[STEP:]NAME[I,J] = VALUE`. Raises `ChangeError`."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    known = {knob.name for knob in lesson.knobs}
    settings = [line for line in lines if line.partition("=")[0].strip() in known]
    return parse(lesson, settings, written=[line for line in lines if line not in settings])


def as_lines(made: Changes) -> str:
    """Return changes as lines that `read_lines` reads."""
    written = (f"{cell.step}:{cell}" for cell in made.cells)
    return "\n".join((*(f"{name} = {value}" for name, value in made.knobs), *written))


def describe(lesson: Lesson, changes: Changes) -> list[str]:
    """Describe every change in a few words: `heads: 4`, `inputs[1,0] = 0.9`, `inputs[1,0] = nan (not a number)`."""
    found = ((knobs.find(lesson, name), value) for name, value in changes.knobs)
    settings = [f"{knob.label}: {knob.say(value)}" for knob, value in found]
    return [*settings, *(f"{cell} (not a number)" if math.isnan(cell.value) else str(cell) for cell in changes.cells)]


@dataclass(frozen=True, slots=True)
class ChangeHistory:
    """Successive changes of a learner. A value: `do`, `undo` and `redo` return another history.

    Attributes:
        states: all changes that can be gone back or forward to, oldest first.
        position: the index in `states` of the changes that are in effect.
    """

    states: tuple[Changes, ...] = (UNCHANGED,)
    position: int = 0

    @property
    def current(self) -> Changes:
        """The changes that are in effect."""
        return self.states[self.position]

    def do(self, changes: Changes) -> ChangeHistory:
        """Add changes as a new step and drop the steps that were undone; equal changes are not a step."""
        if changes == self.current:
            return self
        return ChangeHistory((*self.states[: self.position + 1], changes), self.position + 1)

    def undo(self) -> ChangeHistory:
        """Go one step back, if there is one."""
        return replace(self, position=max(0, self.position - 1))

    def redo(self) -> ChangeHistory:
        """Go one step forward, if there is one."""
        return replace(self, position=min(len(self.states) - 1, self.position + 1))

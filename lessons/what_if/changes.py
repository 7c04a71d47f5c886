"""What a learner has changed in a lesson. A run is a function of the lesson, the step, and these changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lessons.format.lesson import Lesson, WordsKnob
from lessons.what_if import cells, knobs
from lessons.what_if.cells import CellChange
from lessons.what_if.knobs import ChangeError as ChangeError
from lessons.what_if.knobs import Setting


@dataclass(frozen=True, slots=True)
class Changes:
    """Knobs that are set, by name, and cells that were written, in the order in which that was done.

    Knobs come first: they change the code that runs. Cells are then changed while it runs. Plain data: changes can be
    compared, hashed and kept. `Changes()` is the lesson as it stands.
    """

    knobs: tuple[tuple[str, Setting], ...] = ()
    cells: tuple[CellChange, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.knobs or self.cells)

    @property
    def settings(self) -> Mapping[str, Setting]:
        """What the knobs are set to."""
        return dict(self.knobs)

    def with_knob(self, lesson: Lesson, name: str, value: Setting) -> Changes:
        """One knob set; at its default it is no change. Text stands for any value. Raises `ChangeError`."""
        knob = knobs.find(lesson, name)
        value = knobs.settled(knob, value)
        rest = tuple(pair for pair in self.knobs if pair[0] != name)
        # Sorted, so that equal changes are equal however they came about.
        kept = rest if value == knobs.default(lesson, knob) else tuple(sorted((*rest, (name, value))))
        return replace(self, knobs=kept)

    def with_cell(self, lesson: Lesson, cell: CellChange) -> Changes:
        """One cell written, in place of what was written there before. Raises `ChangeError`."""
        cells.place(lesson, cell)
        rest = tuple(other for other in self.cells if other.place != cell.place)
        return replace(self, cells=(*rest, cell))

    def without_cell(self, cell: CellChange) -> Changes:
        """The cell, whatever its value, left as the code makes it."""
        return replace(self, cells=tuple(other for other in self.cells if other.place != cell.place))


UNCHANGED = Changes()


def apply(lesson: Lesson, changes: Changes) -> Lesson:
    """The lesson with other code, seeds and words. Cells are not in it: they change as it runs (`places`).

    Raises `ChangeError` for a knob that the lesson does not have, or cannot be set like that.
    """
    return knobs.alter(lesson, changes.settings)


def places(lesson: Lesson, changes: Changes) -> list[tuple[CellChange, cells.StatementPosition]]:
    """Every cell with the statement of the altered lesson after which it changes. Raises `ChangeError`."""
    altered = apply(lesson, changes)
    return [(cell, cells.place(altered, cell)) for cell in changes.cells]


def parse(
    lesson: Lesson, settings: list[str] | None = None, words: str | None = None, written: list[str] | None = None
) -> Changes:
    """Changes as they are written on a command line: `NAME=VALUE`, a sentence, `[STEP:]NAME[I,J]=VALUE`.

    Raises `ChangeError`.
    """
    changes = UNCHANGED
    for text in settings or ():
        name, equals, value = text.partition("=")
        if not equals:
            known = ", ".join(knob.name for knob in lesson.knobs) or "none"
            raise ChangeError(f"'{text}' sets nothing: write NAME=VALUE. The knobs of '{lesson.id}': {known}.")
        changes = changes.with_knob(lesson, name.strip(), value.strip())
    if words is not None:
        knob = next((knob for knob in lesson.knobs if isinstance(knob, WordsKnob)), None)
        if knob is None:
            raise ChangeError(f"Lesson '{lesson.id}' does not take other words.")
        changes = changes.with_knob(lesson, knob.name, words)
    altered = apply(lesson, changes)
    for text in written or ():
        changes = changes.with_cell(altered, cells.parse(altered, text))
    return changes


def describe(lesson: Lesson, changes: Changes) -> list[str]:
    """Every change in a few words: `heads: 4`, `inputs[1,0] = 0.9`."""
    set_knobs = [f"{knobs.find(lesson, name).label}: {value}" for name, value in changes.knobs]
    return [*set_knobs, *map(str, changes.cells)]


class ChangeHistory:
    """Changes one after the other, to go back and forth between. `current` is where the learner is."""

    def __init__(self, start: Changes = UNCHANGED) -> None:
        self._states = [start]
        self._here = 0

    @property
    def current(self) -> Changes:
        """The changes that hold now."""
        return self._states[self._here]

    @property
    def can_undo(self) -> bool:
        """Whether there is something to take back."""
        return self._here > 0

    @property
    def can_redo(self) -> bool:
        """Whether something has been taken back since the last change."""
        return self._here < len(self._states) - 1

    def do(self, changes: Changes) -> Changes:
        """Take a step; what had been taken back is forgotten. The same changes again are no step."""
        if changes != self.current:
            self._states[self._here + 1 :] = [changes]
            self._here += 1
        return self.current

    def undo(self) -> Changes:
        """One step back, if there is one."""
        self._here = max(0, self._here - 1)
        return self.current

    def redo(self) -> Changes:
        """One step forth, if there is one."""
        self._here = min(len(self._states) - 1, self._here + 1)
        return self.current

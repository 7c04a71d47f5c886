"""Cells of a matrix that are marked: what an explanation uses, what has changed, what the learner has set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

Part = int | range | None
"""Of one axis: an index, some of it, or None for all of it."""

Pattern = tuple[Part, ...]

OPERAND, CHANGED, SET = 1, 2, 4
"""The senses of a mark, to be added up."""

_SIGNS = {True: {OPERAND: "│", CHANGED: "•", SET: "►"}, False: {OPERAND: "|", CHANGED: "*", SET: "!"}}


@dataclass(frozen=True, slots=True)
class Cells:
    """Some cells of a tensor.

    Attributes:
        patterns: one part for each axis of the tensor, outermost first: `(1, None)` is row 1, `(0, 2, None, 5)` column
            5 of head 2 of text 0, `(3, 4)` one cell. A pattern with another number of parts means nothing.
        flat: positions, row by row.
    """

    patterns: tuple[Pattern, ...] = ()
    flat: frozenset[int] = frozenset()


NO_CELLS = Cells()


@dataclass(frozen=True, slots=True)
class Marks:
    """What is marked. A cell may be marked in several senses.

    Attributes:
        operands: cells that the explanation of another one uses.
        changed: cells that are not what they were before the learner changed something.
        set: cells that the learner has set.
    """

    operands: Cells = NO_CELLS
    changed: Cells = NO_CELLS
    set: Cells = NO_CELLS


NO_MARKS = Marks()


class Marked:
    """The marks of one tensor, ready to be looked up row by row."""

    def __init__(self, marks: Marks, shape: tuple[int, ...], rows: int = 1, cols: int = 1) -> None:
        """Prepare marks.

        Args:
            marks: What is marked.
            shape: That of the tensor.
            rows, cols: Of the blocks of an overview, in which a block is marked if one of its cells is.
        """
        self._single: dict[tuple[Pattern, Part], dict[int, int]] = {}
        self._wide: list[tuple[Pattern, Part, Part, int]] = []
        for sense, cells in ((OPERAND, marks.operands), (CHANGED, marks.changed), (SET, marks.set)):
            for pattern in _patterns(cells, shape):
                lead, row, col = pattern[:-2], _block(pattern[-2], rows), _block(pattern[-1], cols)
                # Thousands of cells are one look into a dictionary for each row; patterns are tried one by one.
                if isinstance(row, int) and isinstance(col, int) and all(isinstance(part, int) for part in lead):
                    found = self._single.setdefault((lead, row), {})
                    found[col] = found.get(col, 0) | sense
                else:
                    self._wide.append((lead, row, col, sense))

    def row(self, lead: tuple[int, ...], row: int, left: int, count: int) -> Sequence[int]:
        """The senses in which each of `count` cells of a row is marked; empty if none of them is."""
        senses = [0] * count
        for col, sense in self._single.get((lead, row), {}).items():
            if left <= col < left + count:
                senses[col - left] |= sense
        for parts, rows, cols, sense in self._wide:
            if _has(rows, row) and all(map(_has, parts, lead)):
                for offset in range(count):
                    if _has(cols, left + offset):
                        senses[offset] |= sense
        return senses if any(senses) else ()


def sign(senses: int, unicode: bool) -> str:
    """What stands before a marked number: the sign of the rarest of its senses."""
    return next(_SIGNS[unicode][sense] for sense in (SET, CHANGED, OPERAND) if senses & sense)


def _patterns(cells: Cells, shape: tuple[int, ...]) -> Iterator[Pattern]:
    """Patterns with one part for each axis, a row and a column among them."""
    outer = (0,) * (2 - len(shape))
    for pattern in cells.patterns:
        if len(pattern) == len(shape):
            yield (*outer, *pattern)
    for position in cells.flat:
        index: list[int] = []
        for size in reversed(shape):
            position, place = divmod(position, max(1, size))
            index.insert(0, place)
        yield (*outer, *index)


def _block(part: Part, size: int) -> Part:
    """The blocks of this size that a part of an axis lies in."""
    if isinstance(part, int):
        return part // size
    # A range of steps is taken for whole: a block that it steps over is rare.
    return range(part.start // size, -(-part.stop // size)) if part and size > 1 else part


def _has(part: Part, place: int) -> bool:
    return part is None or (part == place if isinstance(part, int) else place in part)


UNMARKED = Marked(NO_MARKS, ())

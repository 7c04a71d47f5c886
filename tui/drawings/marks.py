"""Marked cells of a matrix: operands of an explanation, changed cells, cells that the learner set; and their styles."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from rich.style import Style

from attn_tutor.tui.drawings.styled_line import over
from attn_tutor.tui.render.palette import CellLook, Palette

Part = int | range | None
"""A part of one axis: an index, a range, or None for all of it."""

Pattern = tuple[Part, ...]

OPERAND, CHANGED, SET = 1, 2, 4
"""The meanings of a mark, as bits."""

_SIGNS = {True: {OPERAND: "│", CHANGED: "•", SET: "►"}, False: {OPERAND: "|", CHANGED: "*", SET: "!"}}


@dataclass(frozen=True, slots=True)
class Cells:
    """A set of cells of a tensor.

    Attributes:
        patterns: one part for each axis of the tensor, outermost first: `(1, None)` is row 1, `(0, 2, None, 5)` column
            5 of head 2 of text 0, `(3, 4)` one cell. A pattern with a different number of parts matches nothing.
        flat: positions, row by row.
    """

    patterns: tuple[Pattern, ...] = ()
    flat: frozenset[int] = frozenset()


NO_CELLS = Cells()


@dataclass(frozen=True, slots=True)
class Marks:
    """The marked cells of a tensor. A cell may have several marks.

    Attributes:
        operands: the operands of the explained cell.
        changed: cells whose values the learner's changes have altered.
        set: cells that the learner has set.
    """

    operands: Cells = NO_CELLS
    changed: Cells = NO_CELLS
    set: Cells = NO_CELLS


NO_MARKS = Marks()


class Marked:
    """The marks of one tensor, prepared for lookup by row."""

    def __init__(self, marks: Marks, shape: tuple[int, ...], rows: int = 1, cols: int = 1) -> None:
        """Prepare the marks.

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
                # Single cells are looked up in a dictionary, since there may be thousands; patterns are tried one by
                # one.
                if isinstance(row, int) and isinstance(col, int) and all(isinstance(part, int) for part in lead):
                    found = self._single.setdefault((lead, row), {})
                    found[col] = found.get(col, 0) | sense
                else:
                    self._wide.append((lead, row, col, sense))

    def row(self, lead: tuple[int, ...], row: int, left: int, count: int) -> Sequence[int]:
        """Return the marks of `count` cells of a row as bits; empty if none is marked."""
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
    """Return the character before a marked number: the sign of its rarest mark."""
    return next(_SIGNS[unicode][sense] for sense in (SET, CHANGED, OPERAND) if senses & sense)


def _patterns(cells: Cells, shape: tuple[int, ...]) -> Iterator[Pattern]:
    """Yield patterns with one part per axis, including a row and a column."""
    outer = (0,) * (2 - len(shape))
    for pattern in cells.patterns:
        if len(pattern) == len(shape):
            yield (*outer, *pattern)
    for position in cells.flat:
        index: list[int] = []
        for size in reversed(shape):
            position, on_axis = divmod(position, max(1, size))
            index.insert(0, on_axis)
        yield (*outer, *index)


def _block(part: Part, size: int) -> Part:
    """Return the blocks of this size that a part of an axis overlaps."""
    if isinstance(part, int):
        return part // size
    # A range with a step counts as contiguous: it rarely steps over a whole block.
    return range(part.start // size, -(-part.stop // size)) if part and size > 1 else part


def _has(part: Part, index: int) -> bool:
    return part is None or (part == index if isinstance(part, int) else index in part)


UNMARKED = Marked(NO_MARKS, ())


def marked_style(look: CellLook, senses: int, colors: Palette) -> Style | None:
    """Return the style of a marked cell, which is that of the cell itself if it has no marks."""
    style = look.style
    for sense, mark in ((OPERAND, colors.operand), (CHANGED, colors.changed), (SET, colors.set)):
        if senses & sense:
            style = over(style, mark)
    return style


def mark_style(look: CellLook, colors: Palette) -> Style | None:
    """Return the style of the marks beside the digits: the cursor's color on the background of the cell."""
    if not colors.colored:
        return None
    return _on(colors.cursor, look.style)


@lru_cache(maxsize=64)
def background(style: Style | None) -> Style | None:
    """Reduce a style to its background, which is all that spaces need: half as many bytes."""
    return Style(bgcolor=style.bgcolor) if style and style.bgcolor else None


@lru_cache(maxsize=64)
def _on(cursor: Style, cell: Style | None) -> Style:
    return Style(color=cursor.bgcolor, bgcolor=cell.bgcolor if cell else None)


def ellipsis(colors: Palette) -> str:
    """Return the character for omitted text."""
    return "…" if colors.unicode else "~"


def times(colors: Palette) -> str:
    """Return the sign between sizes."""
    return "×" if colors.unicode else "x"


def dot(colors: Palette) -> str:
    """Return the placeholder for a number that has not arrived."""
    return "·" if colors.unicode else "."

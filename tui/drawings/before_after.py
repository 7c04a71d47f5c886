"""A step before and after the learner's changes, and the difference: what each matrix shows. Pure functions.

The same of an answer's result and the one that was expected.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from lessons.results import comparison
from lessons.results.result import AnswerDifference, StepResult, Tensor
from lessons.what_if.cells import CellChange
from tui.drawings.marks import NO_CELLS, Cells

Mode = Literal["after", "difference", "before"]
MODES: tuple[Mode, ...] = ("after", "difference", "before")

TOO_LARGE = "too large to compare"
OTHER_SHAPE = "of another shape before"

CLOSE = 1e-4
"""Numbers of an answer that are nearer to each other, relatively, are taken for equal, as the judge does."""


@dataclass(frozen=True, slots=True)
class MatrixContent:
    """What one matrix shows: a tensor, what the header says of it, which cells changed, which the learner set."""

    tensor: Tensor
    caption: str = ""
    changed: Cells = NO_CELLS
    set: Cells = NO_CELLS


def pictures(
    base: StepResult | None, after: StepResult, mode: Mode, cells: Sequence[CellChange] = ()
) -> tuple[MatrixContent, ...]:
    """The pictures of a step's tensors; without a `base` nothing has been changed."""
    if base is None:
        return tuple(map(MatrixContent, after.tensors))
    known = {tensor.name: tensor for tensor in base.tensors}
    return tuple(_picture(known.get(tensor.name), tensor, mode, cells) for tensor in after.tensors)


def comparable(shown: Sequence[MatrixContent]) -> bool:
    """Whether there is a before, or a difference, to be seen."""
    return any(picture.caption and TOO_LARGE not in picture.caption for picture in shown)


def answered(found: AnswerDifference) -> tuple[MatrixContent, ...]:
    """The learner's result; beside it what was expected, and yours minus expected, if there is something expected."""
    if found.expected is None:
        return (MatrixContent(found.yours, "yours"),)
    minus = comparison.difference(found.expected, found.yours)
    if minus is None:
        return MatrixContent(found.yours, "yours"), MatrixContent(found.expected, "expected")
    wrong, tensor = minus.changed, minus.tensor
    if minus.known and tensor.values is not None and found.expected.values is not None:
        pairs = zip(tensor.values, found.expected.values, strict=True)
        wrong = frozenset(at for at, (off, right) in enumerate(pairs) if not abs(off) <= CLOSE * (abs(right) + 0.1))
        # What is left of equal numbers would be told as if it were something.
        values = tuple(off if at in wrong else 0.0 for at, off in enumerate(tensor.values))
        finite = [value for value in values if math.isfinite(value)] or [0.0]
        tensor = replace(tensor, values=values, low=min(finite), high=max(finite))
    cells = Cells(flat=wrong)
    return (
        MatrixContent(found.yours, "yours", cells),
        MatrixContent(found.expected, "expected", cells),
        MatrixContent(tensor, "difference", cells),
    )


def _picture(before: Tensor | None, after: Tensor, mode: Mode, cells: Sequence[CellChange]) -> MatrixContent:
    own = Cells(patterns=tuple(_positive(cell.index, after.shape) for cell in cells if _is_set(cell, after)))
    if before is None:
        return MatrixContent(after, "after", set=own)
    found = comparison.difference(before, after)
    if found is None:
        return MatrixContent(before, "before") if mode == "before" else MatrixContent(after, OTHER_SHAPE, set=own)
    if not found.known:
        # Both hold a window only, and the worker has the numbers of one run only: those after.
        return MatrixContent(after, f"after; {TOO_LARGE}", set=own)
    changed = Cells(flat=found.changed)
    if mode == "before":
        return MatrixContent(before, "before", changed)
    if mode == "difference":
        return MatrixContent(found.tensor, "difference", changed, own)
    return MatrixContent(after, "after" if found.changed else "unchanged", changed, own)


def _is_set(cell: CellChange, tensor: Tensor) -> bool:
    """Whether a cell that the learner set is in this tensor, which a later statement may have bound anew."""
    if cell.name != tensor.name or len(cell.index) != len(tensor.shape):
        return False
    if tensor.values is None:
        return True
    place = 0
    for at, size in zip(_positive(cell.index, tensor.shape), tensor.shape, strict=True):
        if not at < size:
            return False
        place = place * size + at
    now, wanted = tensor.values[place], float(cell.value)
    return now == wanted or math.isclose(now, wanted, rel_tol=1e-5) or (math.isnan(now) and math.isnan(wanted))


def _positive(index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(index) != len(shape):
        return index
    return tuple(place % size if size else place for place, size in zip(index, shape, strict=True))


def changed_lines(before: str, after: str) -> frozenset[int]:
    """Numbers, from 1, of the lines of `after` that are not those of `before`."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) == len(new):
        pairs = zip(old, new, strict=True)
        return frozenset(number for number, (one, other) in enumerate(pairs, 1) if one != other)
    known = set(old)
    return frozenset(number for number, line in enumerate(new, 1) if line not in known)

"""The tensors that matrices show before and after the learner's changes, and for an answer and the expected result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from attn_tutor.lessons.results import comparison
from attn_tutor.lessons.results.result import AnswerDifference, StepResult, Tensor
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.what_if.cells import CellChange
from attn_tutor.tui.drawings.marks import NO_CELLS, Cells

Mode = Literal["after", "difference", "before"]
MODES: tuple[Mode, ...] = ("after", "difference", "before")

say = Wording("matrix/compared")

CLOSE = 1e-4
"""The relative tolerance within which numbers of an answer count as equal, the same as the judge's."""


@dataclass(frozen=True, slots=True)
class MatrixContent:
    """What one matrix shows: a tensor, a caption for the header, the changed cells, and those that the learner set.

    `comparable` says whether there are values from before the changes to compare with.
    """

    tensor: Tensor
    caption: str = ""
    changed: Cells = NO_CELLS
    set: Cells = NO_CELLS
    comparable: bool = False


def contents(
    base: StepResult | None, after: StepResult, mode: Mode, cells: Sequence[CellChange] = ()
) -> tuple[MatrixContent, ...]:
    """Return the contents of a step's matrices; without a `base`, nothing has been changed."""
    if base is None:
        return tuple(map(MatrixContent, after.tensors))
    known = {tensor.name: tensor for tensor in base.tensors}
    return tuple(_content(known.get(tensor.name), tensor, mode, cells) for tensor in after.tensors)


def comparable(shown: Sequence[MatrixContent]) -> bool:
    """Return whether there are values from before the changes to compare with."""
    return any(content.comparable for content in shown)


def answered(found: AnswerDifference) -> tuple[MatrixContent, ...]:
    """Return the learner's result, the expected result, and their difference if the two can be subtracted."""
    minus = comparison.difference(found.expected, found.yours)
    if minus is None:
        return (
            MatrixContent(found.yours, say("yours", "yours")),
            MatrixContent(found.expected, say("expected", "expected")),
        )
    wrong, tensor = minus.changed, minus.tensor
    if minus.known and tensor.values is not None and found.expected.values is not None:
        pairs = zip(tensor.values, found.expected.values, strict=True)
        wrong = frozenset(at for at, (off, right) in enumerate(pairs) if not abs(off) <= CLOSE * (abs(right) + 0.1))
        # Show rounding differences as zero, or they would look like a result.
        values = tuple(off if at in wrong else 0.0 for at, off in enumerate(tensor.values))
        finite = [value for value in values if math.isfinite(value)] or [0.0]
        tensor = replace(tensor, values=values, low=min(finite), high=max(finite))
    cells = Cells(flat=wrong)
    return (
        MatrixContent(found.yours, say("yours", "yours"), cells),
        MatrixContent(found.expected, say("expected", "expected"), cells),
        MatrixContent(tensor, say("difference", "difference"), cells),
    )


def _content(before: Tensor | None, after: Tensor, mode: Mode, cells: Sequence[CellChange]) -> MatrixContent:
    own = Cells(patterns=tuple(_positive(cell.index, after.shape) for cell in cells if _is_set(cell, after)))
    if before is None:
        return MatrixContent(after, say("after", "after"), set=own)
    found = comparison.difference(before, after)
    if found is None and mode != "before":
        other_shape = say("other-shape", "had a different shape before")
        return MatrixContent(after, other_shape, set=own, comparable=True)
    if found is None:
        return MatrixContent(before, say("before", "before"), comparable=True)
    if not found.known:
        # Both tensors hold only a window, and the worker has only the values after the changes.
        return MatrixContent(after, say("too-large", "after; too large to compare"), set=own)
    changed = Cells(flat=found.changed)
    if mode == "before":
        return MatrixContent(before, say("before", "before"), changed, comparable=True)
    if mode == "difference":
        return MatrixContent(found.tensor, say("difference", "difference"), changed, own, comparable=True)
    caption = say("after", "after") if found.changed else say("unchanged", "unchanged")
    return MatrixContent(after, caption, changed, own, comparable=True)


def _is_set(cell: CellChange, tensor: Tensor) -> bool:
    """Return whether the tensor has the value that the learner set: later code may have rebound the name."""
    if cell.name != tensor.name or len(cell.index) != len(tensor.shape):
        return False
    if tensor.values is None:
        return True
    position = 0
    for at, size in zip(_positive(cell.index, tensor.shape), tensor.shape, strict=True):
        if not at < size:
            return False
        position = position * size + at
    now, wanted = tensor.values[position], float(cell.value)
    return now == wanted or math.isclose(now, wanted, rel_tol=1e-5) or (math.isnan(now) and math.isnan(wanted))


def _positive(index: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    if len(index) != len(shape):
        return index
    return tuple(at % size if size else at for at, size in zip(index, shape, strict=True))


def changed_lines(before: str, after: str) -> frozenset[int]:
    """Return the numbers, from 1, of the lines of `after` that are not in `before`."""
    old, new = before.splitlines(), after.splitlines()
    if len(old) == len(new):
        pairs = zip(old, new, strict=True)
        return frozenset(number for number, (one, other) in enumerate(pairs, 1) if one != other)
    known = set(old)
    return frozenset(number for number, line in enumerate(new, 1) if line not in known)

"""The difference between a shown tensor before and after a change. Plain data.

Numbers are compared exactly. NaN before and NaN after is no change, and the difference of two equal infinities is 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from attn_tutor.lessons.results.result import Tensor, Window


@dataclass(frozen=True, slots=True)
class TensorDifference:
    """The difference between two tensors of the same shape.

    Attributes:
        tensor: after minus before, a `vector` with the name, axes and labels of the later tensor. It is whole if both
            tensors are; else it has a window only: the overlap of their windows.
        changed: the flat positions (row by row, from 0) of all cells that are known to differ.
        known: whether `changed` is complete, that is, whether both tensors are whole.
    """

    tensor: Tensor
    changed: frozenset[int]
    known: bool


def difference(before: Tensor, after: Tensor) -> TensorDifference | None:
    """Compute the difference of two tensors, or of the windows of large ones; None if the shapes differ."""
    if before.shape != after.shape:
        return None
    blank = replace(after, kind="vector", dtype=_dtype(before.dtype, after.dtype), values=None, window=None)
    if before.values is not None and after.values is not None:
        values = _minus(before.values, after.values)
        low, high = _bounds(values)
        tensor = replace(blank, values=values, low=low, high=high)
        pairs = enumerate(zip(before.values, after.values, strict=True))
        return TensorDifference(
            tensor, frozenset(position for position, (old, new) in pairs if not same(old, new)), known=True
        )
    window = window_difference(before.window, after.window)
    low, high = _bounds([value for row in window.rows for value in row] if window else [])
    tensor = replace(blank, window=window, low=low, high=high)
    return TensorDifference(tensor, changed_in(before.window, after.window, after.shape), known=False)


def window_difference(before: Window | None, after: Window | None) -> Window | None:
    """Subtract two windows of the same matrix where they overlap, after minus before; None if they do not."""
    common = _common(before, after)
    if common is None:
        return None
    old, new = common
    rows = tuple(_minus(*pair) for pair in zip(old.rows, new.rows, strict=True))
    return Window(new.lead, new.top, new.left, rows)


def changed_in(before: Window | None, after: Window | None, shape: Sequence[int]) -> frozenset[int]:
    """Return the flat positions, in a tensor of this shape, of cells that differ where two windows overlap."""
    common = _common(before, after)
    if common is None:
        return frozenset()
    old, new = common
    rows, cols = (1, 1, *shape)[-2:]
    start = 0
    for index, size in zip(new.lead, shape[:-2], strict=True):
        start = start * size + index
    return frozenset(
        (start * rows + new.top + row) * cols + new.left + col
        for row, pair in enumerate(zip(old.rows, new.rows, strict=True))
        for col, numbers in enumerate(zip(*pair, strict=True))
        if not same(*numbers)
    )


def same(before: float, after: float) -> bool:
    """Return whether a number is unchanged; NaN equals NaN."""
    return before == after or (math.isnan(before) and math.isnan(after))


def _common(before: Window | None, after: Window | None) -> tuple[Window, Window] | None:
    """Cut both windows to their overlap; None if they have none."""
    if before is None or after is None or before.lead != after.lead or not before.rows or not after.rows:
        return None
    top, left = max(before.top, after.top), max(before.left, after.left)
    bottom = min(before.top + len(before.rows), after.top + len(after.rows))
    right = min(before.left + len(before.rows[0]), after.left + len(after.rows[0]))
    if top >= bottom or left >= right:
        return None

    def cut(window: Window) -> Window:
        rows = window.rows[top - window.top : bottom - window.top]
        return Window(window.lead, top, left, tuple(row[left - window.left : right - window.left] for row in rows))

    return cut(before), cut(after)


def _minus(before: Sequence[float], after: Sequence[float]) -> tuple[float, ...]:
    """Subtract element by element, after minus before; 0 where nothing changed, also for infinities and NaN."""
    pairs = zip(before, after, strict=True)
    return tuple(new - old if not same(old, new) else 0 if isinstance(new, int) else 0.0 for old, new in pairs)


def _bounds(values: Sequence[float]) -> tuple[float | None, float | None]:
    finite = [value for value in values if math.isfinite(value)]
    return (min(finite), max(finite)) if finite else (None, None)


def _dtype(before: str, after: str) -> str:
    if after.startswith(("float", "bfloat")):
        return after
    return before if before.startswith(("float", "bfloat")) else "int64"

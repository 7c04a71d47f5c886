"""Where the elements of a tensor lie in storage, and how that is said. Pure text."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from lessons.results.result import MemoryLayout, Tensor

MOST_ELEMENTS = 64
MOST_STORED = 96
"""A storage that is drawn holds no more numbers than this: the tensor may be a part of it."""


def drawable(tensor: Tensor) -> bool:
    """Whether it is small enough for its storage to be drawn."""
    layout = tensor.layout
    return layout is not None and 0 < tensor.size <= MOST_ELEMENTS and layout.size <= MOST_STORED


def position(layout: MemoryLayout, index: Sequence[int]) -> int:
    """Where in storage an element lies."""
    return layout.offset + sum(at * stride for at, stride in zip(index, layout.strides, strict=True))


def elements(tensor: Tensor) -> dict[int, tuple[int, ...]]:
    """The index of the element at each place of the storage; the first one, if several lie there."""
    found: dict[int, tuple[int, ...]] = {}
    if tensor.layout is not None:
        for index in product(*map(range, tensor.shape)):
            found.setdefault(position(tensor.layout, index), index)
    return found


def value(tensor: Tensor, index: Sequence[int]) -> float | None:
    """The value of an element, None if it is not here."""
    lead, row, col = tuple(index[:-2]), index[-2] if len(index) > 1 else 0, index[-1] if index else 0
    values = tensor.row(lead, row, col, col + 1)
    return values[0] if values else None


def facts(tensor: Tensor) -> tuple[str, ...]:
    """What there is to say of the layout, the most important first."""
    layout = tensor.layout
    if layout is None:
        return ()
    used = len(elements(tensor))
    stored = f"{layout.size} {'number' if layout.size == 1 else 'numbers'}"
    if used < layout.size:
        stored = f"{used} of {stored}"
    return (
        f"strides {layout.strides}",
        "contiguous" if layout.contiguous else "not contiguous",
        f"offset {layout.offset}",
        f"storage {layout.storage}: {stored}",
    )


def sum_text(layout: MemoryLayout, index: Sequence[int]) -> str:
    """How the place of an element is reckoned: `offset = 1*3 + 2*1 = 5`."""
    terms = [str(layout.offset)] if layout.offset or not index else []
    terms += [f"{at}*{stride}" for at, stride in zip(index, layout.strides, strict=True)]
    total = str(position(layout, index))
    return f"offset = {' + '.join(terms)}" + (f" = {total}" if terms != [total] else "")

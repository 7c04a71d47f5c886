"""Where the elements of a tensor lie in storage, in words."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

from attn_tutor.lessons.results.result import MemoryLayout, Tensor
from attn_tutor.lessons.texts.wording import Wording

say = Wording("matrix/memory")

MOST_ELEMENTS = 64
MOST_STORED = 96
"""The largest storage that is drawn, in elements; the tensor may be only a part of it."""


def drawable(tensor: Tensor) -> bool:
    """Return whether the tensor is small enough for its storage to be drawn."""
    layout = tensor.layout
    return layout is not None and 0 < tensor.size <= MOST_ELEMENTS and layout.size <= MOST_STORED


def position(layout: MemoryLayout, index: Sequence[int]) -> int:
    """Return the position of an element in its storage."""
    return layout.offset + sum(at * stride for at, stride in zip(index, layout.strides, strict=True))


def elements(tensor: Tensor) -> dict[int, tuple[int, ...]]:
    """Map positions in the storage to indices of the tensor; if elements share a position, to the first index."""
    found: dict[int, tuple[int, ...]] = {}
    if tensor.layout is not None:
        for index in product(*map(range, tensor.shape)):
            found.setdefault(position(tensor.layout, index), index)
    return found


def value(tensor: Tensor, index: Sequence[int]) -> float | None:
    """Return the value of an element, None if it is not loaded."""
    lead, row, col = tuple(index[:-2]), index[-2] if len(index) > 1 else 0, index[-1] if index else 0
    values = tensor.row(lead, row, col, col + 1)
    return values[0] if values else None


def facts(tensor: Tensor) -> tuple[str, ...]:
    """Describe the layout in a few short phrases, the most important one first."""
    layout = tensor.layout
    if layout is None:
        return ()
    used = len(elements(tensor))
    size = layout.size
    if used < size:
        stored = say.count("part", size, "{used} of {count} number", "{used} of {count} numbers", used=used)
    else:
        stored = say.count("whole", size, "{count} number", "{count} numbers")
    return (
        say("strides", "strides {strides}", strides=layout.strides),
        say("contiguous", "contiguous") if layout.contiguous else say("not-contiguous", "not contiguous"),
        say("offset", "offset {offset}", offset=layout.offset),
        say("storage", "storage {number}: {numbers}", number=layout.storage, numbers=stored),
    )


def sum_text(layout: MemoryLayout, index: Sequence[int]) -> str:
    """Write out how the position of an element is computed: `offset = 1*3 + 2*1 = 5`."""
    terms = [str(layout.offset)] if layout.offset or not index else []
    terms += [f"{at}*{stride}" for at, stride in zip(index, layout.strides, strict=True)]
    total = str(position(layout, index))
    sum_of_terms = " + ".join(terms) + (f" = {total}" if terms != [total] else "")
    return say("position", "offset = {sum}", sum=sum_of_terms)

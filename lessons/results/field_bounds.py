"""Bounds of what another process sends: types that say which numbers, texts and lists a field may have.

The process may have run a learner's code, so nothing is made of a message before all of its fields are within the
bounds of their types; `lessons.worker.plain_codec` sees to that. What no type can say, such as which two fields have to
fit together, a class says in its method `check`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from attn_tutor.lessons.results import clean_text

LEAST_INTEGER, LARGEST_INTEGER = -(1 << 63), (1 << 64) - 1
"""The integers that a machine holds, with a sign or without; no field has others unless its type says so."""

LARGEST_FLOAT = 1.7976931348623157e308


@dataclass(frozen=True, slots=True)
class Between:
    """The least and the greatest number that a field may have. NaN is not between any numbers."""

    least: float
    most: float


@dataclass(frozen=True, slots=True)
class Longest:
    """The most characters of a text, or the most items of a list or an object."""

    length: int


@dataclass(frozen=True, slots=True)
class Items:
    """The most items of plain data in all its lists and objects."""

    most: int


@dataclass(frozen=True, slots=True)
class ReadBy:
    """The function that makes of plain data what a field holds.

    For anything else, it raises `ValueError`, `KeyError` or `TypeError`.
    """

    read: Callable[[Any], Any]


Count = Annotated[int, Between(0, LARGEST_INTEGER)]
"""How many of something there are, or a position, or a size."""

Bytes = Annotated[int, Between(0, 1 << 50)]
"""A position in a file, or a size: more than any file has."""

LARGEST_LINE = (1 << 31) - 1

Line = Annotated[int, Between(0, LARGEST_LINE)]
"""The number of a line, or of a column."""

Finite = Annotated[float, Between(-LARGEST_FLOAT, LARGEST_FLOAT)]

Seconds = Annotated[float, Between(0, 1e10)]
"""How long something took, or may take: some hundred years at most."""

Sentence = Annotated[str, Longest(1 << 16)]
"""Text that a learner reads."""

Text = Annotated[str, Longest(1 << 18)]
"""Text that a run makes, of any kind."""

Name = Annotated[str, Longest(1 << 16)]
"""What something is called, or a line of code."""

Printed = Annotated[str, Longest(1 << 16), ReadBy(clean_text.in_one_line)]
"""What something is called, without what a terminal would obey."""

PrintedLines = Annotated[str, Longest(1 << 16), ReadBy(clean_text.clean)]
"""The same, with ends of lines and tabs."""

Type = Annotated[str, Longest(64)]
"""What PyTorch calls the type of a tensor's numbers."""

Sizes = Annotated[tuple[Count, ...], Longest(64)]
"""The sizes of the axes of a tensor, outermost first. PyTorch has no more axes than these."""

Index = Annotated[tuple[int, ...], Longest(64)]
"""A position on each axis of a tensor."""


Plain = Annotated[Any, Items(200_000)]
"""Plain data that only passes through."""


def check_range(start: int, end: int) -> None:
    """Raise `ValueError` if a range ends before it begins."""
    if start > end:
        raise ValueError("a range that ends before it begins")


def whole(given: Any, least: int = 0, most: int = LARGEST_INTEGER) -> int:
    """Return a whole number between two others. Raises `ValueError` for anything else."""
    if type(given) is not int or not least <= given <= most:
        raise ValueError("expected a whole number")
    return given


def real(given: Any) -> float:
    """Return a number as a float. Raises `ValueError` for anything else."""
    if type(given) is float:
        return given
    return float(whole(given, LEAST_INTEGER))


def text(given: Any, longest: int = 1 << 16) -> str:
    """Return a text that is not longer than this. Raises `ValueError` for anything else."""
    if type(given) is not str or len(given) > longest:
        raise ValueError("expected a text")
    return given


def items(given: Any, most: int) -> Sequence[Any]:
    """Return a list of no more items than this. Raises `ValueError` for anything else."""
    if not isinstance(given, list | tuple) or len(given) > most:
        raise ValueError("expected a list")
    return given


def entries(given: Any, most: int) -> dict[str, Any]:
    """Return an object of no more entries than this. Raises `ValueError` for anything else."""
    if type(given) is not dict or len(given) > most:
        raise ValueError("expected an object")
    return given

"""Data classes that several messages contain: reports of failures and tensors, and programs to run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod
from typing import Annotated, Literal, TypeVar, dataclass_transform

from attn_tutor.lessons.format import template
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.field_bounds import Count, Finite, Index, Name, ReadBy, Sizes, Type
from attn_tutor.lessons.results.result import LONGEST_AXIS, MOST_AXES, MOST_LABELS, WHOLE, Failure, MemoryLayout

M = TypeVar("M")


@dataclass_transform(frozen_default=True)
def message(kind: type[M]) -> type[M]:
    """Make a class a frozen dataclass, without `__eq__` and `__repr__`, which would double the time of the import."""
    return dataclass(frozen=True, slots=True, eq=False, repr=False)(kind)


def of_child(failure: Failure) -> Failure:
    """Return a failure that a child has reported. Raises `ValueError` for one that only its parent can tell."""
    if failure.kind not in ("error", "memory"):
        raise ValueError("not for a child to say")
    return failure


ChildFailure = Annotated[Failure, ReadBy(of_child)]
"""A failure as a child reports it."""


Code = Literal["B", "q", "d", "f"]
"""The type code of numbers, as the module `array` has them."""

BYTES: dict[Code, int] = {"B": 1, "q": 8, "d": 8, "f": 4}
LARGEST_NUMBER = 8
"""The most bytes of a number."""


@message
class TensorReport:
    """A tensor, whose numbers are `size` bytes of the blob at `offset`: `rows` rows with the `array` type code `code`.

    `whole` says that these are all of its elements; otherwise they are the first corner.
    """

    name: Name
    dtype: Type
    shape: Sizes
    low: Finite | None
    high: Finite | None
    whole: bool
    rows: Count
    code: Code
    offset: Count
    size: Count
    layout: MemoryLayout | None

    def check(self) -> None:
        """Raise `ValueError` if the numbers do not have the shape, or a layout is not that of the shape."""
        count, rest = divmod(self.size, BYTES[self.code])
        if rest or count > WHOLE or not are_rows(count, self.rows):
            raise ValueError("not the numbers of a tensor")
        rows, cols = (1, 1, *self.shape)[-2:]
        if self.whole and (count != prod(self.shape) or (count and self.rows != rows)):
            raise ValueError("a tensor of another size")
        if not self.whole and (not count or self.rows > rows or count > self.rows * cols):
            raise ValueError("a corner of another tensor")
        if self.layout is not None and len(self.layout.strides) != len(self.shape):
            raise ValueError("the layout of another tensor")


def are_rows(count: int, rows: int) -> bool:
    """Return whether so many numbers are so many rows of one length."""
    return count == 0 if rows == 0 else count % rows == 0


def check_in_blob(tensors: Iterable[TensorReport], blob: bytes) -> None:
    """Raise `ValueError` if a blob does not have the numbers of all tensors."""
    for tensor in tensors:
        if tensor.offset + tensor.size > len(blob):
            raise ValueError("a tensor whose numbers were not sent")


def check_shown(tensors: Iterable[TensorReport], blob: bytes) -> None:
    """Raise `ValueError` if a blob does not have the numbers of all tensors, or their axes are too long for labels."""
    labels = 0
    for tensor in tensors:
        check_in_blob((tensor,), blob)
        labels += sum(tensor.shape)
        if len(tensor.shape) > MOST_AXES or max(tensor.shape, default=0) > LONGEST_AXIS or labels > MOST_LABELS:
            raise ValueError("a tensor that is too large for labels")


@message
class NamedExpression:
    """An expression over the variables of a run, and the name of its value."""

    name: str
    expression: str


@message
class CellWrite:
    """A number that the learner has changed, and the statement after which it is written.

    `file` is the file of a program of one's own that has the statement; "" if that is its main file, or a lesson.
    """

    name: str
    index: Index
    value: bool | int | float
    unit: CodeUnit
    line: int
    column: int
    file: str = ""


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A step to run.

    Attributes:
        trained: where the trained model lies in the blob (start and end, in bytes), if the step uses one.
        untrained: the message for a step whose model has not been trained.
    """

    id: str
    code: str
    seed: int
    show: tuple[NamedExpression, ...]
    fields: tuple[template.Field, ...]
    trained: tuple[int, int] | None = None
    untrained: str | None = None


@message
class LessonCode:
    """A program to run: the setup of a lesson and some of its steps, with the learner's changes."""

    seed: int
    setup: str
    cells: tuple[CellWrite, ...]
    steps: tuple[StepRequest, ...]

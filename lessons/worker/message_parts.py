"""Data that several messages contain: reports of failures and tensors, and the programs to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar, dataclass_transform

from lessons.results.code_unit import CodeUnit

M = TypeVar("M")


@dataclass_transform(frozen_default=True)
def message(kind: type[M]) -> type[M]:
    """Make a class a frozen dataclass, without `__eq__` and `__repr__`: these would take half of the import's time."""
    return dataclass(frozen=True, slots=True, eq=False, repr=False)(kind)


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """A failure as a child tells it: one sentence, and the line of the code that it ran, if one is known."""

    kind: Literal["error", "memory"]
    message: str
    line: int | None = None


@message
class LayoutReport:
    """Where the elements of a tensor lie in its storage, which is known by its address; counted in elements."""

    strides: tuple[int, ...]
    offset: int
    size: int
    contiguous: bool
    storage: int


@message
class TensorReport:
    """A tensor: its numbers are `size` bytes of the blob from `offset` on, in `rows` rows, with an `array` type code.

    `whole` says that they are all of its elements, else they are its first corner.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    low: float | None
    high: float | None
    whole: bool
    rows: int
    code: str
    offset: int
    size: int
    layout: LayoutReport | None


@message
class NamedExpression:
    """An expression over the variables of a run, and what its value is called."""

    name: str
    expression: str


@message
class TemplateField:
    """A field of a text that the run fills in: `{expression!conversion:spec}`."""

    expression: str
    conversion: str
    spec: str


@message
class CellWrite:
    """A number that the learner has changed, and the statement after which it is written."""

    name: str
    index: tuple[int, ...]
    value: bool | int | float
    unit: CodeUnit
    line: int
    column: int


@dataclass(frozen=True, slots=True)
class StepRequest:
    """A step to run.

    Attributes:
        trained: where what its training has kept lies in the blob, if it rests on one.
        untrained: what to say if that has not been trained.
    """

    id: str
    code: str
    seed: int
    show: tuple[NamedExpression, ...]
    fields: tuple[TemplateField, ...]
    trained: tuple[int, int] | None = None
    untrained: str | None = None


@message
class Program:
    """The setup of a lesson and steps after it, with the learner's changes."""

    seed: int
    setup: str
    cells: tuple[CellWrite, ...]
    steps: tuple[StepRequest, ...]

"""Data classes that several messages contain: reports of failures and tensors, and programs to run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeVar, dataclass_transform

from lessons.results.code_unit import CodeUnit

M = TypeVar("M")


@dataclass_transform(frozen_default=True)
def message(kind: type[M]) -> type[M]:
    """Make a class a frozen dataclass, without `__eq__` and `__repr__`, which would double the time of the import."""
    return dataclass(frozen=True, slots=True, eq=False, repr=False)(kind)


@dataclass(frozen=True, slots=True)
class SuggestionReport:
    """A suggestion of an advice, which can be tried: code in place of other code.

    Attributes:
        text: the advice that makes it.
        code: what it suggests.
        place: where that goes: line and column (in bytes) of its beginning and of its end.
        semantic: whether it may run and still be wrong, as a transposition may.
    """

    text: str
    code: str
    place: tuple[int, int, int, int]
    semantic: bool

    def apply_to(self, source: bytes) -> bytes | None:
        """Return a program with the code in its place; None if the program has no such place."""
        lines = source.split(b"\n")
        line, column, end_line, end_column = self.place
        if not 1 <= line <= end_line <= len(lines):
            return None
        before = b"\n".join([*lines[: line - 1], lines[line - 1][:column]])
        after = b"\n".join([lines[end_line - 1][end_column:], *lines[end_line:]])
        return before + self.code.encode("utf-8", "surrogatepass") + after


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """A failure as a child reports it: one sentence, and the line of the learner's or the lesson's code, if known.

    `operation` is the operation that failed, with the shapes of its operands, if that is known. `suggestions` are what
    the message suggests and what it could suggest instead, and `untried` is the message without them. `symptom` is the
    message without any advice, "" if it has none.
    """

    kind: Literal["error", "memory"]
    message: str
    line: int | None = None
    operation: str = ""
    untried: str = ""
    suggestions: tuple[SuggestionReport, ...] = ()
    symptom: str = ""


@message
class LayoutReport:
    """The memory layout of a tensor, counted in elements; `storage` is the address of its storage."""

    strides: tuple[int, ...]
    offset: int
    size: int
    contiguous: bool
    storage: int


@message
class TensorReport:
    """A tensor, whose numbers are `size` bytes of the blob at `offset`: `rows` rows with the `array` type code `code`.

    `whole` says that these are all of its elements; otherwise they are the first corner.
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
    """An expression over the variables of a run, and the name of its value."""

    name: str
    expression: str


@message
class TemplateField:
    """A field of a text that the run fills in: `{expression!conversion:spec}`; an `optional` one only if it can."""

    expression: str
    conversion: str
    spec: str
    optional: bool = False


@message
class CellWrite:
    """A number that the learner has changed, and the statement after which it is written.

    `file` is the file of a program of one's own that has the statement; "" if that is its main file, or a lesson.
    """

    name: str
    index: tuple[int, ...]
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
    fields: tuple[TemplateField, ...]
    trained: tuple[int, int] | None = None
    untrained: str | None = None


@message
class Program:
    """A program to run: the setup of a lesson and some of its steps, with the learner's changes."""

    seed: int
    setup: str
    cells: tuple[CellWrite, ...]
    steps: tuple[StepRequest, ...]

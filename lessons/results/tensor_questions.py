"""Questions about the tensors that a run has left, each with the type of its reply; only the run's process knows these.

A question travels as it is from the screen to the process that holds the tensors; `ask` takes any of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import Explanation
from attn_tutor.lessons.results.field_bounds import Sentence
from attn_tutor.lessons.results.flow import Flow
from attn_tutor.lessons.results.result import Tensor, Window
from attn_tutor.lessons.results.summaries import Blocks, How, RowStats

Reply = TypeVar("Reply", covariant=True)


Matrix = tuple[int, int]
"""The rows and columns of a matrix."""


class TensorQuestion(Generic[Reply]):
    """A question whose reply is a `Reply`. `unit` is the step or input that shows the tensor, once that is known."""

    __slots__ = ()

    unit: CodeUnit | None


@dataclass(frozen=True, slots=True)
class Refusal:
    """The reply to a question that cannot be answered: a sentence for people that says why."""

    reason: Sentence


@dataclass(frozen=True, slots=True)
class WindowQuestion(TensorQuestion[Window]):
    """Ask for the rectangle of `height` by `width` cells from row `top` and column `left` on, at leading indices.

    The reply has to fit the `matrix`, if that is given.
    """

    name: str
    lead: tuple[int, ...]
    top: int
    left: int
    height: int
    width: int
    unit: CodeUnit | None = None
    matrix: Matrix | None = None


@dataclass(frozen=True, slots=True)
class BlocksQuestion(TensorQuestion[Blocks]):
    """Ask for the matrix at leading indices in blocks of `rows` by `cols` cells.

    The reply has to fit the `matrix`, if that is given.
    """

    name: str
    lead: tuple[int, ...]
    rows: int
    cols: int
    how: How
    unit: CodeUnit | None = None
    matrix: Matrix | None = None


@dataclass(frozen=True, slots=True)
class RowQuestion(TensorQuestion[RowStats]):
    """Ask what a row of the matrix at leading indices amounts to, with its `top` greatest values.

    The reply has to fit the `matrix`, if that is given.
    """

    name: str
    lead: tuple[int, ...]
    row: int
    top: int
    unit: CodeUnit | None = None
    matrix: Matrix | None = None


@dataclass(frozen=True, slots=True)
class ExplainQuestion(TensorQuestion[Explanation]):
    """Ask how a cell of a shown tensor was made."""

    name: str
    index: tuple[int, ...]
    unit: CodeUnit | None = None


@dataclass(frozen=True, slots=True)
class FollowQuestion(TensorQuestion[Explanation]):
    """Ask how an operand of an earlier explanation was made; `ref` is from `Operand.ref`."""

    ref: int
    unit: CodeUnit | None = None


@dataclass(frozen=True, slots=True)
class FlowQuestion(TensorQuestion[Flow]):
    """Ask how the numbers flow to what the unit shows.

    Attributes:
        opened: the ids of the boxes that are open.
        references: operands of an open explanation (`Operand.ref`), whose boxes the reply lists.
    """

    opened: tuple[str, ...] = ()
    references: tuple[int, ...] = ()
    unit: CodeUnit | None = None


@dataclass(frozen=True, slots=True)
class BoxQuestion(TensorQuestion[Tensor]):
    """Ask for the tensor of a box of a flow, with the boxes in `opened` open.

    Later questions about the tensor name the unit that `box_unit` returns.
    """

    box: str
    opened: tuple[str, ...] = ()
    unit: CodeUnit | None = None


@dataclass(frozen=True, slots=True)
class ShowQuestion(TensorQuestion[Tensor]):
    """Ask for a tensor of a program by its label, or for the value of an expression over its variables."""

    name: str
    unit: CodeUnit | None = None


def box_unit(unit: CodeUnit, box: str) -> CodeUnit:
    """Return the unit that shows the tensor of a box of the flow of `unit`."""
    return unit.expression(box)


PartQuestion = WindowQuestion | BlocksQuestion | RowQuestion
"""A question of a matrix about a tensor that is too large to be sent whole."""

QUESTIONS: tuple[type[TensorQuestion[object]], ...] = (
    WindowQuestion,
    BlocksQuestion,
    RowQuestion,
    ExplainQuestion,
    FollowQuestion,
    FlowQuestion,
    BoxQuestion,
    ShowQuestion,
)

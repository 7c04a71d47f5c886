"""The interface between rules and a recorded run, and the results of rules.

Rules and derivations depend on the `RecordedRun` protocol only; `explainer.Explainer` implements it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.worker.explaining.attention_names import AttentionNames
from attn_tutor.lessons.worker.explaining.gradient_names import GradientNames
from attn_tutor.lessons.worker.recording.element_history import Element, ElementHistory
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.names import Names
from attn_tutor.lessons.worker.recording.optimizer_steps import OptimizerSteps
from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.regions import Region

Index = tuple[int, ...]


@dataclass(slots=True)
class RuleResult:
    """The answer of a rule: how a cell was computed.

    Attributes:
        op: the operation as people call it.
        formula: over the operands of the derivation; for a leaf the number that it was made, None if that is unknown.
        notes: sentences for people.
        details: named rows of numbers that help to follow the formula.
        source: the element that the cell is an exact copy of.
        code, line: a more precise source position than that of the operation.
    """

    op: str
    formula: f.Formula | None = None
    notes: list[str] = field(default_factory=list)
    details: list[tuple[str, list[float]]] = field(default_factory=list)
    source: Element | None = None
    code: str = ""
    line: int | None = None


@dataclass(frozen=True, slots=True)
class DerivedCell:
    """One step back from a cell: the operation that computed it and the elements that it was computed from.

    Attributes:
        event: the recorded operation; None if the cell came from outside the record.
        op: the operation below autograd; for a fused operation the last single step of its definition.
        operands: the elements that the formula refers to, in order.
        code_names: the names that occur in the code of the operation.
        result: what the rule of the operation says.
        element: the element that the operation wrote, of which the cell may be a copy; None as for `event`.
    """

    event: Event | None
    op: str
    operands: list[Element]
    code_names: frozenset[str]
    result: RuleResult
    element: Element | None = None


@dataclass(frozen=True, slots=True)
class Movement:
    """The sources of the elements of an operation that only rearranges them.

    Attributes:
        axes: a tensor in the shape of the result for each axis of the sources. It holds the index on this axis that the
            element comes from: counted 1, 2, ... in the first source, -1, -2, ... in the second; 0 stands for an
            element that the operation itself set.
        sources: the one or two arguments that elements come from.
    """

    axes: list[torch.Tensor]
    sources: tuple[Region, ...]


class RecordedRun(Protocol):
    """A recorded run that can be read backwards."""

    @property
    def record(self) -> Record:
        """The operations, in order."""
        ...

    @property
    def history(self) -> ElementHistory:
        """Who wrote each element, and its value at any time."""
        ...

    @property
    def names(self) -> Names:
        """What the code calls each element."""
        ...

    @property
    def gradients(self) -> GradientNames:
        """Which tensors the backward pass computed the gradients of."""
        ...

    @property
    def attention(self) -> AttentionNames:
        """Which parts numbers play in calls of attention."""
        ...

    @property
    def optimizers(self) -> OptimizerSteps:
        """The steps of optimizers, and what these keep."""
        ...

    def through(self, element: Element) -> Element:
        """Follow unnamed copies back to the element that they are copies of."""
        ...

    def movement(self, event: Event) -> Movement | None:
        """Find where a rearrangement takes its elements from; None if that cannot be known."""
        ...

    def initial(self, event: Event) -> torch.Tensor | None:
        """Return what an operation without operands gave when it ran; None if that cannot be known."""
        ...

    def moments(self, event: Event, region: Region, indices: Sequence[Index]) -> tuple[Element, Element]:
        """Return the mean and the variance of cells of an operand, computed in double precision.

        Raises `ValueLost`.
        """
        ...

    def derive(self, element: Element) -> DerivedCell:
        """Explain how an element was computed. Raises `ValueLost`."""
        ...

    def shown_code(self, storage: int) -> str:
        """Return the expression by which a step shows a tensor; "" if none does."""
        ...

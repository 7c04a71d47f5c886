"""What the rules of operations work with: an element of a storage at a time, and an explanation in the making."""

from __future__ import annotations

import ast
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from lessons import formula as f
from lessons.worker.record import Event, Region

if TYPE_CHECKING:
    from lessons.worker.explain import Explainer

Index = tuple[int, ...]


@dataclass(slots=True, frozen=True)
class Element:
    """An element of a storage as it was just before `time`. `tensor` is any tensor on that storage."""

    storage: int
    offset: int
    time: int
    tensor: torch.Tensor


@dataclass(slots=True)
class Made:
    """How a cell was made, by a rule.

    Attributes:
        op: the operation as people call it.
        formula: over the operands of the `Work`; None for a leaf, whose formula is its value.
        notes: sentences.
        details: named rows of numbers that help to follow the formula.
        source: the cell that this one is only a copy of.
        code, line: a better place than that of the operation.
    """

    op: str
    formula: f.Formula | None = None
    notes: list[str] = field(default_factory=list)
    details: list[tuple[str, list[float]]] = field(default_factory=list)
    source: Element | None = None
    code: str = ""
    line: int | None = None


@dataclass(slots=True)
class Work:
    """The explanation of one event that is being made.

    Attributes:
        words: names that occur in its piece of code, which its operands are called by if possible.
        output: which of its results is asked about.
        elements: its operands so far.
        places: where each of them stands among these.
    """

    explainer: Explainer
    event: Event
    words: frozenset[str]
    output: int = 0
    elements: list[Element] = field(default_factory=list)
    places: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def element(self, region: Region, index: tuple[int, ...], time: int | None = None) -> Element:
        """An element of an operand as it was when the operation ran."""
        return Element(region.storage, region.at(index), self.event.time if time is None else time, region.tensor)

    def cell(self, region: Region, index: tuple[int, ...]) -> f.Formula:
        """A cell of an operand; mere copies without a name are looked through."""
        return self.of(self.explainer.through(self.element(region, index)))

    def of(self, element: Element) -> f.Formula:
        """An element as an operand."""
        key = (element.storage, element.offset, element.time)
        place = self.places.get(key)
        if place is None:
            place = self.places[key] = len(self.elements)
            self.elements.append(element)
        return f.Cell(place)

    def value(self, region: Region, index: tuple[int, ...]) -> float:
        """Value of a cell when the operation ran."""
        return self.explainer.value(self.element(region, index))

    def operand(self, name: str, index: tuple[int, ...]) -> f.Formula:
        """An argument at a place of the result: a cell of a tensor (broadcast), or a number."""
        given = self.event.arg(name)
        if isinstance(given, Region):
            return self.cell(given, broadcast(given.shape, index))
        return self.number(given)

    def number(self, given: Any) -> f.Number:
        """A number of the call, with the code that gives it if that is more than a literal."""
        value = float(given) if isinstance(given, bool | int | float) else math.nan
        return f.Number(value, self._code_of_number(value))

    def _code_of_number(self, value: float) -> str:
        sites = self.event.sites
        places = self.explainer.names.places
        node = places.node(sites[0]) if sites else None
        span = places.span(sites[0]) if sites else None
        source = places.source(span.file) if span else None
        if source is None or not isinstance(node, ast.BinOp | ast.AugAssign):
            return ""
        candidates = [node.value] if isinstance(node, ast.AugAssign) else [node.right, node.left]
        for side in candidates:
            if not isinstance(side, ast.Constant) and not _is_tensor_like(side):
                return source.segment(side)
        return ""


def _is_tensor_like(node: ast.AST) -> bool:
    # Of two sides the one with arithmetic on shapes and plain numbers is meant; a matrix product is never a number.
    return any(isinstance(item, ast.MatMult) for item in ast.walk(node))


def broadcast(shape: tuple[int, ...], index: tuple[int, ...]) -> tuple[int, ...]:
    """The index into a tensor of this shape for a place in the tensor that it is broadcast to."""
    if not shape:
        return ()
    return tuple(0 if size == 1 else place for size, place in zip(shape, index[-len(shape) :], strict=True))

"""What the rules of operations work with: an explanation in the making."""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from lessons.results import formula as f
from lessons.worker.recording.element_history import Element
from lessons.worker.recording.recorder import Event, Region
from lessons.worker.recording.source_positions import dotted

if TYPE_CHECKING:
    from lessons.worker.explaining.explainer import Explainer

Index = tuple[int, ...]


@dataclass(slots=True)
class RuleResult:
    """How a cell was made, by a rule.

    Attributes:
        op: the operation as people call it.
        formula: over the operands of the `Derivation`; None for a leaf, whose formula is its value.
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
class Derivation:
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

    def element(self, region: Region, index: Index, time: int | None = None) -> Element:
        """An element of an operand as it was when the operation ran."""
        return Element.of(region, index, self.event.time if time is None else time)

    def cell(self, region: Region, index: Index) -> f.Formula:
        """A cell of an operand; mere copies without a name are looked through."""
        return self.of(self.explainer.through(self.element(region, index)))

    def of(self, element: Element) -> f.Formula:
        """An element as an operand. If nothing was written in between, two times are the same."""
        writer = self.explainer.history.writer(element)
        if writer is not None and is_number(self.explainer, writer, element):
            return f.Number(self.explainer.history.value(element))
        key = (element.storage, element.offset, writer.time if writer else 0)
        place = self.places.get(key)
        if place is None:
            place = self.places[key] = len(self.elements)
            self.elements.append(element)
        return f.OperandRef(place)

    def value(self, region: Region, index: Index) -> float:
        """Value of a cell when the operation ran."""
        return self.explainer.history.value(self.element(region, index))

    def values(self, region: Region, indices: Iterable[Index]) -> list[float]:
        """Values of cells when the operation ran."""
        return self.explainer.history.values([self.element(region, index) for index in indices])

    def line(self) -> int | None:
        """The line that called the operation."""
        sites = self.event.sites
        return self.explainer.names.places.line(sites[0]) if sites else None

    def operand(self, name: str, index: Index) -> f.Formula:
        """An argument at a place of the result: a cell of a tensor (broadcast), or a number."""
        given = self.event.arg(name)
        if isinstance(given, Region):
            return self.cell(given, broadcast(given.shape, index))
        return self.number(given)

    def rounded(self, name: str, index: Index) -> f.Formula:
        """The same where a comparison may hang on the last bit: a number as the type of the tensors has it."""
        part = self.operand(name, index)
        dtypes = [region.dtype for region in self.event.operands() if region.dtype.is_floating_point]
        if isinstance(part, f.Number) and dtypes and not math.isnan(part.value):
            exact = torch.tensor(part.value, dtype=torch.promote_types(dtypes[0], torch.float32))
            return f.Number(float(exact), part.code)
        return part

    def number(self, given: Any) -> f.Number:
        """A number of the call, with the code that gives it if that is more than a literal."""
        value = float(given) if isinstance(given, bool | int | float) else math.nan
        return f.Number(value, self._code_of_number())

    def _code_of_number(self) -> str:
        """The side of `a / b` that is a number and no tensor; nothing if that is not certain, or is a literal."""
        sites, names = self.event.sites, self.explainer.names
        node = names.places.node(sites[0]) if sites else None
        source = names.places.source(sites[0]) if sites else None
        if source is None or not isinstance(node, ast.BinOp | ast.AugAssign):
            return ""
        sides = [node.value] if isinstance(node, ast.AugAssign) else [node.right, node.left]
        if any(isinstance(side, ast.Constant) for side in sides):
            return ""
        sizes = [side for side in sides if _is_size(side)]
        numbers = sizes or [side for side in sides if not any(map(names.means_tensor, map(dotted, ast.walk(side))))]
        return source.segment(numbers[0]) if len(numbers) == 1 else ""


def is_number(explainer: Explainer, event: Event, element: Element) -> bool:
    """Whether an event only made a tensor of a number of the code, as in `x[0] = 7`: to its reader it is no tensor."""
    if event.op not in ("lift_fresh", "scalar_tensor") or event.outs[0].shape or event.hand or not event.sites:
        return False
    if explainer.names.of(element) is not None:
        return False
    places = explainer.names.places
    node = places.node(event.sites[0])
    if event.op == "lift_fresh":
        return node is not None and not isinstance(node, ast.Call)
    return "scalar_tensor" not in places.code(event.sites[0]).partition("(")[0]


def _is_size(node: ast.expr) -> bool:
    """Whether this is arithmetic with the size of a tensor, such as `keys.shape[-1] ** 0.5`."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return any(map(_is_size, (node.left, node.right)))
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def broadcast(shape: Index, index: Index) -> Index:
    """The index into a tensor of this shape for a place in the tensor that it is broadcast to."""
    if not shape:
        return ()
    return tuple(0 if size == 1 else place for size, place in zip(shape, index[-len(shape) :], strict=True))

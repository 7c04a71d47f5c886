"""The derivation of one cell: what a rule reads its operands from while it builds a formula."""

from __future__ import annotations

import ast
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.floats import exact_number
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RecordedRun
from attn_tutor.lessons.worker.recording.element_history import Element
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region
from attn_tutor.lessons.worker.recording.source_positions import dotted, span_of


@dataclass(slots=True)
class Derivation:
    """The explanation of one event while a rule builds it.

    Attributes:
        run: the recorded run that the event belongs to.
        event: the operation that is explained.
        code_names: names that occur in the code of the event; operands are called by these where possible.
        output: which result of the event the cell belongs to.
        elements: the operands found so far, each once.
        positions: the position in `elements` of each operand, by storage, offset and time of its last write.
    """

    run: RecordedRun
    event: Event
    code_names: frozenset[str]
    output: int = 0
    elements: list[Element] = field(default_factory=list)
    positions: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def element(self, region: Region, index: Index, time: int | None = None) -> Element:
        """Return an element of an operand, as it was when the operation ran or at another time."""
        return Element.of(region, index, self.event.time if time is None else time)

    def cell(self, region: Region, index: Index) -> f.Formula:
        """Return a cell of an operand as a formula; an unnamed copy is replaced by what it is a copy of."""
        return self.operand_for(self.run.through(self.element(region, index)))

    def result(self, output: int, index: Index) -> f.Formula:
        """Return a cell of another result of the operation as an operand."""
        return self.operand_for(self.element(self.event.outs[output], index, self.event.time + 1))

    def operand_for(self, element: Element) -> f.Formula:
        """Return an element as an operand, or as a number if the code gave it as one.

        Two references to an element are the same operand if nothing was written to it in between.
        """
        writer = self.run.history.writer(element)
        if writer is not None and is_number(self.run, writer, element):
            return f.Number(self.run.history.value(element))
        key = (element.storage, element.offset, writer.time if writer else 0)
        position = self.positions.get(key)
        if position is None:
            position = self.positions[key] = len(self.elements)
            self.elements.append(element)
        return f.OperandRef(position)

    def value(self, region: Region, index: Index) -> float:
        """Return the value that a cell had when the operation ran. Raises `ValueLost`."""
        return self.run.history.value(self.element(region, index))

    def values(self, region: Region, indices: Iterable[Index]) -> list[float]:
        """Return the values that cells had when the operation ran. Raises `ValueLost`."""
        return self.run.history.values([self.element(region, index) for index in indices])

    def initial(self, index: Index) -> f.Formula | None:
        """Return the number that an operation without operands made at an index when it ran; None if unknown."""
        result = self.run.initial(self.event)
        return None if result is None else f.Number(exact_number(result[index].item()))

    def moments(self, region: Region, indices: Sequence[Index]) -> tuple[f.Formula, f.Formula]:
        """Return the mean and the variance of cells as operands that can be followed. Raises `ValueLost`."""
        mean, variance = self.run.moments(self.event, region, indices)
        return self.operand_for(mean), self.operand_for(variance)

    def mean(self, region: Region, indices: Sequence[Index]) -> f.Formula:
        """Return the mean of cells as an operand that can be followed. Raises `ValueLost`."""
        return self.operand_for(self.run.moments(self.event, region, indices)[0])

    def line(self) -> int | None:
        """Return the line that called the operation; None if it is not known."""
        sites = self.event.sites
        return self.run.names.positions.line(sites[0]) if sites else None

    def operand(self, name: str, index: Index) -> f.Formula:
        """Return what an argument contributes to the cell at `index`: a broadcast cell of a tensor, or a number."""
        argument = self.event.arg(name)
        if isinstance(argument, Region):
            return self.cell(argument, broadcast(argument.shape, index))
        return self.number(argument)

    def rounded_operands(self, *names: str, index: Index) -> Iterator[tuple[f.Formula, ...]]:
        """Yield the operands with a number rounded as a kernel may round it, most likely first.

        Some kernels convert a number to the type of the tensor that it meets, others to single precision. Operations
        that jump, such as comparisons and integer divisions, depend on its last bit.
        """
        operands = tuple(self.operand(name, index) for name in names)
        dtypes = [region.dtype for region in self.event.operands() if region.dtype.is_floating_point]
        if not dtypes or not any(isinstance(part, f.Number) for part in operands):
            yield operands
            return
        types = dict.fromkeys((dtypes[0], torch.promote_types(dtypes[0], torch.float32)))
        for kept, dtype in itertools.product((True, False), types):
            yield tuple(_rounded(part, dtype, finite=kept) for part in operands)

    def first_that_gives(self, value: float, formulas: Iterable[f.Formula]) -> f.Formula:
        """Return the first of several formulas that gives a value, rounded to the type of the result; else the first.

        Raises `ValueLost`.
        """
        tried = list(formulas)
        values, dtype = self.run.history.values(self.elements), self.event.outs[self.output].dtype
        for formula in tried:
            got = f.evaluate(formula, values)
            if type(got) is not int:
                got = float(torch.tensor(got, dtype=torch.float64).to(dtype))
            if got == value or (math.isnan(got) and math.isnan(value)):
                return formula
        return tried[0]

    def number(self, argument: Any) -> f.Number:
        """Return a number that the call was given, with its code if that says more than a literal; else NaN."""
        value = exact_number(argument) if isinstance(argument, bool | int | float) else math.nan
        return f.Number(value, self._code_of_number())

    def _code_of_number(self) -> str:
        """Return the code of the side of `a / b` that is a number and no tensor; "" for a literal, or if unclear."""
        sites, names = self.event.sites, self.run.names
        node = names.positions.node(sites[0]) if sites else None
        source = names.positions.source(sites[0]) if sites else None
        if source is None or not isinstance(node, ast.BinOp | ast.AugAssign):
            return ""
        sides = [node.value] if isinstance(node, ast.AugAssign) else [node.right, node.left]
        if any(isinstance(side, ast.Constant) for side in sides):
            return ""
        sizes = [side for side in sides if _is_size(side)]
        numbers = sizes or [side for side in sides if not self._gives_operand(side)]
        if len(numbers) > 1:
            numbers = [side for side in sides if not any(map(names.means_tensor, map(dotted, ast.walk(side))))]
        return source.segment(numbers[0]) if len(numbers) == 1 else ""

    def _gives_operand(self, side: ast.expr) -> bool:
        """Return whether a side of `a * b` is the name of a tensor that is multiplied, or the code that made it."""
        run, site, here = self.run, self.event.sites[0], span_of(side, self.event.sites[0])
        taken = [operand for operand in self.event.operands() if operand.size]
        if any(binding.region.storage == one.storage for binding in run.names.bindings(dotted(side)) for one in taken):
            return True
        writers = [run.history.writer(self.element(one.parts, (0,) * len(one.parts.shape))) for one in taken]
        made_at = [at for writer in writers if writer is not None for at in writer.sites if at[0] is site[0]]
        return any(span is not None and here.holds(span) for span in map(run.names.positions.span, made_at))


def is_number(run: RecordedRun, event: Event, element: Element) -> bool:
    """Return whether an event only wrapped a number of the code in a tensor, as in `x[0] = 7`.

    A reader of the code does not see a tensor there.
    """
    if event.op not in ("lift_fresh", "scalar_tensor") or event.outs[0].shape or event.hand or not event.sites:
        return False
    if run.names.find(element) is not None:
        return False
    positions = run.names.positions
    node = positions.node(event.sites[0])
    if event.op == "lift_fresh":
        # A function of a library may wrap one too, as optimizers do that count their steps.
        return node is not None and not (isinstance(node, ast.Call) and event.direct)
    return "scalar_tensor" not in positions.code(event.sites[0]).partition("(")[0]


def _rounded(part: f.Formula, dtype: torch.dtype, *, finite: bool) -> f.Formula:
    """Round a number to a type; a cell stays as it is, and with `finite` a number beyond the largest one of the type.

    Nearly all comparisons with such a number come out as they do with infinity, which nobody has written.
    """
    if not isinstance(part, f.Number) or math.isnan(part.value):
        return part
    value = float(torch.tensor(part.value, dtype=dtype))
    return part if finite and math.isinf(value) else f.Number(value, part.code)


def _is_size(node: ast.expr) -> bool:
    """Return whether this is arithmetic with the size of a tensor, such as `keys.shape[-1] ** 0.5`."""
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):
        return any(map(_is_size, (node.left, node.right)))
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Attribute) and node.value.attr == "shape"


def broadcast(shape: Index, index: Index) -> Index:
    """Convert an index into a broadcast tensor to the index into the tensor of this shape that was broadcast."""
    if not shape:
        return ()
    return tuple(0 if size == 1 else position for size, position in zip(shape, index[-len(shape) :], strict=True))

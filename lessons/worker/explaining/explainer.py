"""Explanations of single numbers of a recorded run: what was computed, from which cells, on which line.

An element is an offset in a storage at a time. The record knows who wrote it last before that time; the rule of that
operation (`rules`) says, as a formula, which elements it was computed from; each of these can be asked about in turn.

A formula is evaluated before it is reported: one that does not give the recorded value is never shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.results.code_unit import CodeUnit
from attn_tutor.lessons.results.explanation import counts_note
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining import (
    accounting,
    attention_names,
    fused_definitions,
    narrow_types,
    nonfinite_origin,
    rules,
    source_location,
)
from attn_tutor.lessons.worker.explaining.accounting import Replay
from attn_tutor.lessons.worker.explaining.attention_names import AttentionNames, Expansion
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.gradient_names import GradientNames
from attn_tutor.lessons.worker.explaining.narrow_types import dtype_name
from attn_tutor.lessons.worker.explaining.operand_names import Labels, VersionCounts
from attn_tutor.lessons.worker.explaining.recorded_run import DerivedCell, Index, Movement, RuleResult
from attn_tutor.lessons.worker.recording import origins
from attn_tutor.lessons.worker.recording.element_history import Element, ElementHistory, SharedMemory, ValueLost
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.names import NamedCell, Names
from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.recorder import Recorder
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/explainer")

MOST_LIT = 4096
"""Operands of one explanation that are highlighted in the tensors of the step."""

LONGEST_CHAIN = 2000
"""Copies of copies that are followed."""

MOST_STEPS, MOST_FACTORS, MOST_INNER = 16, 4, 3
"""Up to how many operands and operations, operands of each step, and steps inside of each other the steps of a
derivative are written as one formula."""

MOST_REFERENCES = 400_000
"""Operands of earlier answers that can still be asked about."""


class NoSuchCell(LookupError):
    """A cell that cannot be asked about: the step shows no such tensor, or the index or reference is wrong."""


@dataclass(slots=True)
class RecordedTensor:
    """A tensor that a step shows, as it was when the step had run.

    Attributes:
        name: under which it is shown.
        region: the tensor; of a complex one its parts, along one more axis.
        time: when it had its values.
        is_complex: whether the last axis tells real from imaginary parts.
    """

    name: str
    region: Region
    time: int
    is_complex: bool = False

    def cell(self, index: Index) -> NamedCell:
        """Return what a cell is called: `x[0]`, or `x.imag[0]`."""
        if not self.is_complex:
            return NamedCell(self.name, index, True)
        return NamedCell(f"{self.name}.{'imag' if index[-1] else 'real'}", index[:-1], True)


class Explainer:
    """Answers questions about one run. References to operands are numbers that stay valid as long as it lives."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.record: Record = recorder.record
        self.history = ElementHistory(self.record)
        self.optimizers = recorder.optimizers
        self.names = Names(self.record, self.history, self.optimizers.states)
        self.gradients = GradientNames(self.record, self.history, self.names)
        self.attention = AttentionNames(self.record)
        self._shown: dict[tuple[CodeUnit | None, str], RecordedTensor] = {}
        self._shown_storages: dict[tuple[CodeUnit | None, int], list[RecordedTensor]] = {}
        self._asked: dict[int, tuple[Element, NamedCell, Labels]] = {}
        self._references = 0
        self._inner = 0
        self._expanded: dict[tuple[int, int, Index], Element | None] = {}
        self._movements: dict[int, Movement | None] = {}
        self._replay = Replay(self.history)
        self._shared = SharedMemory(self.record)
        self._moments: dict[tuple[int, int, int, int], tuple[Element, Element]] = {}
        self._counts: tuple[tuple[int, tuple[int, int]], VersionCounts] | None = None
        self._origins: dict[int, tuple[torch.UntypedStorage, str]] = {}

    # Questions ----------------------------------------------------------------------------------------------------

    def show(self, unit: CodeUnit, name: str, tensor: torch.Tensor) -> None:
        """Register a tensor that a step or an input shows now."""
        self.show_region(unit, name, Region.of(tensor), self.record.time)

    def show_region(self, unit: CodeUnit | None, name: str, region: Region, time: int) -> None:
        """Register a tensor as it was at a time."""
        self.record.asked_about.add(region.storage)
        shown = RecordedTensor(name, region.parts, time, region.dtype.is_complex)
        self._shown[unit, name] = shown
        self._shown_storages.setdefault((unit, region.storage), []).append(shown)

    def forget_shown(self) -> None:
        """Forget which tensors were registered. References to operands stay valid."""
        self._shown.clear()
        self._shown_storages.clear()
        self._counts = None

    def ask(self, unit: CodeUnit | None, name: str, index: Index) -> dict[str, Any]:
        """Explain a cell of a shown tensor. Raises `NoCell`."""
        shown = self._shown.get((unit, name))
        if shown is None:
            raise NoSuchCell(name)
        shape = shown.region.shape
        if len(index) != len(shape) or not all(0 <= at < size for at, size in zip(index, shape, strict=True)):
            raise NoSuchCell(index)
        self.names.update()
        element, cell = Element.of(shown.region, index, shown.time), shown.cell(index)
        labels = Labels(self, self._counts_at(shown.time))
        labels.reserve(cell, element)
        return self.explain(element, cell, labels, unit)

    def shown_regions(self, unit: CodeUnit | None) -> list[tuple[str, Region]]:
        """List the tensors that a step or an input shows, by name."""
        return [(name, shown.region) for (shown_by, name), shown in self._shown.items() if shown_by == unit]

    def last_shown(self) -> list[tuple[str, Region]]:
        """List the tensors that a step or an input has shown last."""
        units = [unit for unit, _ in self._shown if unit is not None and unit.kind != "expression"]
        return self.shown_regions(units[-1]) if units else []

    def path_of(self, references: Iterable[int]) -> list[int]:
        """Return the times of the operations that wrote the operands of these references."""
        elements = [self._asked[ref][0] for ref in references if ref in self._asked]
        writers = [self.history.writer(self.through(element)) for element in elements]
        return [event.time for event in writers if event is not None]

    def _counts_at(self, time: int) -> VersionCounts:
        """Return the counts of values up to a time; they are kept until the run goes on."""
        key = time, self.names.seen
        if self._counts is None or self._counts[0] != key:
            self._counts = key, VersionCounts(self, time)
        return self._counts[1]

    def follow(self, ref: int, unit: CodeUnit | None = None) -> dict[str, Any]:
        """Explain an operand of an earlier answer. Raises `NoCell`."""
        if ref not in self._asked:
            raise NoSuchCell(ref)
        return self.explain(*self._asked[ref], unit)

    def explain(
        self, element: Element, cell: NamedCell, labels: Labels, unit: CodeUnit | None = None
    ) -> dict[str, Any]:
        """Explain an element under the name of a cell, as plain data; see `lessons.results.explanation.Explanation`."""
        self.names.update()
        value: float | None = None
        try:
            value = self.history.value(element)
        except ValueLost as lost:
            derived = accounting.unexplained(str(lost))
        else:
            derived = self._checked(element, value)
        result, operands = derived.result, derived.operands
        formula = f.Number(math.nan if value is None else value) if result.formula is None else result.formula
        location = source_location.locate(self.names.positions, derived.event)
        named = labels.name_all(operands, derived.code_names)
        notes = list(result.notes)
        if value is not None:
            notes += nonfinite_origin.notes(self, labels, element, value, derived)
        if any("#" in operand.name for operand in named):
            notes.append(counts_note(partly=self.record.since > 1))
        values = self.history.values(operands)
        # Names are sent once: a long sum has thousands of cells of two tensors.
        names: dict[tuple[str, str], int] = {}
        rows = []
        for operand, operand_cell, number in zip(operands, named, values, strict=True):
            key = names.setdefault((operand_cell.name, dtype_name(operand.region.dtype)), len(names))
            reference = self._refer_to(operand, operand_cell, labels)
            rows.append([key, list(operand_cell.index), number, reference, int(self._is_leaf(operand))])
        return {
            "name": cell.name,
            "index": list(cell.index),
            "value": value,
            "dtype": dtype_name(element.region.dtype),
            "op": result.op,
            "code": result.code or location.code,
            "file": location.file,
            "line": result.line or location.line,
            "lesson_line": location.lesson_line,
            "formula": f.to_json(formula),
            "names": [name for name, _ in names],
            "dtypes": [dtype for _, dtype in names],
            "operands": rows,
            "notes": notes,
            "details": result.details,
            "lit": self._highlighted(operands, unit),
        }

    def _refer_to(self, element: Element, cell: NamedCell, labels: Labels) -> int:
        """Return a new reference by which an operand can be asked about."""
        reference = self._references
        self._asked[reference] = (element, cell, labels)
        self.record.asked_about.add(element.storage)
        self._references += 1
        # The oldest reference goes: nobody has so many on the screen.
        self._asked.pop(reference - MOST_REFERENCES, None)
        return reference

    def _checked(self, element: Element, value: float) -> DerivedCell:
        """Derive an element; if the formula does not give its value, say so instead."""
        try:
            derived = self.derive(element)
            values = self.history.values(derived.operands)
        except ValueLost as lost:
            return accounting.unexplained(say("made-unknown", "It cannot be told how this was made. {why}", why=lost))
        told = accounting.checked(self._replay, derived, element, value, values)
        if told is derived:
            return told
        shared = self._shared.sentence(element) or self._shared.sentence_of_operands(derived.operands)
        if shared:
            return accounting.unexplained(shared, derived.event)
        return told

    # The record, backwards ----------------------------------------------------------------------------------------

    def through(self, element: Element) -> Element:
        """Follow unnamed copies back to the element that they are copies of, which may be the given one."""
        for _ in range(LONGEST_CHAIN):
            if self.names.find(element) is not None:
                return element
            event = self.history.writer(element)
            source = rules.copied(self, event, element) if event is not None else None
            if source is None:
                return element
            element = source
        return element

    def derive(self, element: Element) -> DerivedCell:
        """Explain how an element was computed; an unnamed copy is explained like the value that was copied.

        Raises `ValueLost`.
        """
        asked = element
        for _ in range(LONGEST_CHAIN):
            event = self.history.writer(element)
            found = event.index_of(element.storage, element.offset, element.size) if event is not None else None
            if event is None or found is None:
                return _derived(None, element, self._from_outside(element))
            output, index = found
            code_names = self.names.positions.names_in(event.sites[0]) if event.sites else frozenset()
            derivation = Derivation(self, event, code_names, output)
            value = self.history.value(element)
            if event.hand:
                return _derived(event, element, rules.set_by_hand(derivation, index, value), derivation)
            if event.outs[output].parts.dtype != element.region.dtype:
                dtype = dtype_name(event.outs[output].dtype)
                note = say("other-type", "The bytes of a number of another type ({dtype}).", dtype=dtype)
                return _derived(event, element, RuleResult("view", notes=[note]), derivation)
            inner = self._expand(event, output, index)
            if inner is not None:
                derived = self.derive(inner)
                derived.result.notes[:0] = fused_definitions.notes(event)
                self._add_rounding(derived, inner, value, event.outs[output])
                derived.result.notes += attention_names.head_notes(self, event, element, asked)
                told = replace(derived, event=event, element=element)
                return narrow_types.as_copied(self, told, element, asked)
            result = rules.apply(derivation, element, index, value)
            if result.source is None:
                self._write_out_steps(derivation, result, element)
                result.notes += attention_names.head_notes(self, event, element, asked)
                narrow_types.round_as_given(derivation, result, value)
                if isinstance(result.formula, f.Op) and not derivation.elements and not result.notes:
                    result.notes.append(say("of-numbers", "Computed from numbers that Python gave to PyTorch."))
                told = _derived(event, element, result, derivation)
                return narrow_types.as_copied(self, told, element, asked)
            source = self.through(result.source)
            if self.names.find(source) is not None:
                result.formula = derivation.operand_for(source)
                if source.region.dtype != element.region.dtype:
                    result.op = "convert"
                return _derived(event, element, result, derivation)
            element = source
        return _derived(event, element, result, derivation)

    def _write_out_steps(self, derivation: Derivation, result: RuleResult, element: Element) -> None:
        """Put the formulas of numbers without a name that the same derivative computed in the place of these."""
        node, elements = derivation.event.node, derivation.elements
        if node is None or node.leaf is not None or result.formula is None or len(elements) > MOST_FACTORS:
            return
        if self._inner >= MOST_INNER or result.op == "masked_fill":
            # What is said of a mask is said of an operand.
            return
        written: dict[int, f.Formula] = {}
        inner = Derivation(self, derivation.event, derivation.code_names)
        for position, operand in enumerate(elements):
            written[position] = inner.operand_for(operand)
            writer = self.history.writer(operand)
            if writer is None or writer.node != node or self.names.find(operand) is not None:
                continue
            if self.gradients.find(operand, writer) is None:
                self._inner += 1
                try:
                    made = self.derive(operand)
                finally:
                    self._inner -= 1
                if made.result.formula is not None and made.operands and not made.result.notes:
                    cells = dict(enumerate(map(inner.operand_for, made.operands)))
                    written[position] = f.replaced(made.result.formula, cells)
        formula = f.replaced(result.formula, written)
        used = sorted(set(f.operand_positions(formula)))
        formula = f.replaced(formula, {position: f.OperandRef(at) for at, position in enumerate(used)})
        operands = [inner.elements[position] for position in used]
        value, dtype = self.history.value(element), element.region.dtype
        values = self.history.values(operands)
        if f.size(formula) > MOST_STEPS or not accounting.agrees(formula, operands, values, value, dtype):
            return
        result.formula = formula
        derivation.elements[:] = operands

    def movement(self, event: Event) -> Movement | None:
        """Find where a rearrangement takes its elements from, once for each event; None if that cannot be known."""
        if event.time not in self._movements:
            self._movements[event.time] = rules.movement_of(self, event)
        return self._movements[event.time]

    def initial(self, event: Event) -> torch.Tensor | None:
        """Return what an operation without operands gave when it ran; None if that cannot be known."""
        return self._replay.result(event)

    def moments(self, event: Event, region: Region, indices: Sequence[Index]) -> tuple[Element, Element]:
        """Return the mean and the variance of cells of an operand, computed in double precision.

        Raises `ValueLost`.
        """
        key = event.time, region.storage, region.at(indices[0]), len(indices)
        if key not in self._moments:
            self._moments[key] = fused_definitions.moments(self.recorder, self.history, event, region, indices)
            self.names.update()
        return self._moments[key]

    def shown_code(self, storage: int) -> str:
        """Return the expression by which a step shows a tensor; "" if none does."""
        for (unit, shown_storage), shown in self._shown_storages.items():
            if shown_storage == storage and unit is not None:
                return self.record.sources.get(unit.expression(shown[0].name).filename, "")
        return ""

    def describe_origin(self, tensors: Iterable[torch.Tensor], sentence: str) -> None:
        """Say where the numbers of tensors came from that no recorded operation computed."""
        for tensor in tensors:
            memory = tensor.untyped_storage()
            self._origins[memory._cdata] = memory, sentence

    def _expand(self, event: Event, output: int, index: Index) -> Element | None:
        """Return the element that the definition of a fused operation computes for a cell, evaluated once for a row."""
        definition = fused_definitions.DEFINED.get(event.op)
        if definition is None:
            return None
        key = (event.time, output, index)
        if key not in self._expanded:
            first = self.record.time
            row = fused_definitions.expand(definition, self.recorder, self.history, event, output, index)
            self.attention.add_expansion(Expansion(first, self.record.time, event, index))
            self.names.update()
            for cell_index, element in row.items():
                self._expanded[event.time, output, cell_index] = element
        return self._expanded.get(key)

    def _add_rounding(self, derived: DerivedCell, inner: Element, value: float, region: Region) -> None:
        """Add to a formula by how much the kernel rounded differently, where large numbers cancelled out."""
        formula, dtype = derived.result.formula, region.dtype
        if formula is None or accounting.formula_agrees(formula, self.history.values(derived.operands), value, dtype):
            return
        difference = value - self.history.value(inner)
        largest = float(self.history.tensor(region, derived.event.time + 1 if derived.event else 0).abs().max())
        if abs(difference) <= fused_definitions.ROUNDING * torch.finfo(dtype).eps * largest:
            derived.result.formula = f.add(formula, f.Number(difference, "rounding"))
            derived.result.notes.append(
                say("other-order", "The kernel added in another order, which rounds differently by the last term.")
            )

    def _from_outside(self, element: Element) -> RuleResult:
        """Return what can be said of an element that no recorded operation wrote."""
        if element.storage in self._origins:
            return RuleResult("given", notes=[self._origins[element.storage][1]])
        if read := origins.file_sentence(element.storage, element.offset):
            return RuleResult("given", notes=[read])
        if origins.is_loaded(element.storage):
            return RuleResult("given", notes=[origins.loaded_sentence()])
        if self.record.since > 1:
            note = say("earlier", "It is older than the operations that are kept of this long run.")
            return RuleResult("given", notes=[note])
        if self.record.stopped:
            site = self.record.stopped_site
            line, why = self.names.positions.line(site) if site else None, self.record.stopped
            note = (
                say("stopped-at", "Recording had stopped at line {line}: {why}.", line=line, why=why)
                if line
                else say("stopped", "Recording had stopped: {why}.", why=why)
            )
            return RuleResult("unrecorded", notes=[note])
        shared = self._shared.sentence(element)
        note = say("from-outside", "A number from outside: no recorded operation made it.")
        return RuleResult("given", notes=[shared or note])

    def _is_leaf(self, element: Element) -> bool:
        writer = self.history.writer(element)
        return writer is None or writer.hand or writer.op in rules.LEAVES

    def _highlighted(self, elements: Iterable[Element], unit: CodeUnit | None) -> dict[str, list[list[int]]]:
        """Find the operands among the tensors that the step shows: their indices, by the name of the tensor."""
        indices: dict[str, list[list[int]]] = {}
        for count, element in enumerate(elements):
            if count >= MOST_LIT:
                break
            for item in self._shown_storages.get((unit, element.storage), ()):
                index = item.region.find(element.offset)
                if index is not None:
                    indices.setdefault(item.name, []).append(list(index))
        return indices


def _derived(
    event: Event | None, element: Element, result: RuleResult, derivation: Derivation | None = None
) -> DerivedCell:
    if event is None or derivation is None:
        return DerivedCell(None, "", [], frozenset(), result)
    return DerivedCell(event, event.op, derivation.elements, derivation.code_names, result, element)

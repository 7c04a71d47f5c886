"""One cell to its arithmetic: what was computed, from which cells, on which line. Reads a record backwards.

An element is a place in a storage at a time. Who wrote it last before that time, is in the record; the rule of that
operation (`rules`) says which elements it was made from, as a formula; each of them can be asked about in turn.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch

from lessons import formula as f
from lessons.worker import define, rules
from lessons.worker.names import Called, Names
from lessons.worker.record import PACKAGE, Event, Record, Recorder, Region
from lessons.worker.work import Element, Made, Work

MOST_OPERANDS = 4096
"""Operands of one explanation; a sum of more is told as a whole."""

MOST_LIT = 4096
CHAIN = 5000
GENERATIONS = 2000


@dataclass(slots=True)
class Shown:
    """A tensor that a step shows: what it was when the step had run."""

    step: str
    name: str
    region: Region
    time: int


class Explainer:
    """Answers questions about one run. References to cells are numbers that stay valid as long as it lives."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.record: Record = recorder.record
        self.names = Names(self.record)
        self._shown: list[Shown] = []
        self._asked: list[tuple[Element, Called]] = []
        self._expanded: dict[int, tuple[Region, ...]] = {}
        self._moves: dict[int, rules.Moves | None] = {}

    # Asking -------------------------------------------------------------------------------------------------------

    def show(self, step: str, name: str, tensor: torch.Tensor) -> None:
        """Take note of a tensor that a step shows now."""
        self._shown.append(Shown(step, name, Region.of(tensor), self.record.time))

    def ask(self, step: str, name: str, index: tuple[int, ...]) -> dict[str, Any]:
        """Explain a cell of a shown tensor. Raises `KeyError`, or `IndexError` for a cell that it does not have."""
        shown = next((item for item in reversed(self._shown) if (item.step, item.name) == (step, name)), None)
        if shown is None:
            raise KeyError(name)
        shape = shown.region.shape
        if len(index) != len(shape) or not all(0 <= place < size for place, size in zip(index, shape, strict=True)):
            raise IndexError(index)
        element = Element(shown.region.storage, shown.region.at(index), shown.time, shown.region.tensor)
        return self.explain(element, Called(name, index, True), step)

    def follow(self, ref: int, step: str = "") -> dict[str, Any]:
        """Explain an operand of an earlier answer. Raises `KeyError`."""
        if not 0 <= ref < len(self._asked):
            raise KeyError(ref)
        element, called = self._asked[ref]
        return self.explain(element, called, step)

    def explain(self, element: Element, called: Called, step: str = "") -> dict[str, Any]:
        """The answer as plain data; see `lessons.explanation.Explanation`."""
        self.names.update()
        event, work, made = self.made(element)
        value = self.value(element)
        operands = self._operands(work)
        if made.formula is None:
            formula: f.Formula = f.Number(value)
        else:
            formula = made.formula
        line, file, code = self._place(event)
        notes = [*made.notes, *self._birth(element, value, work)]
        # Names are sent once: a long sum has thousands of cells of two tensors.
        names: dict[tuple[str, str], int] = {}
        rows = [
            [names.setdefault((call.name, _dtype(item)), len(names)), list(call.index), number, ref, int(leaf)]
            for item, (call, number, ref, leaf) in zip(work.elements, operands, strict=True)
        ]
        return {
            "name": called.name,
            "index": list(called.index),
            "value": value,
            "dtype": _dtype(element),
            "op": made.op,
            "code": made.code or code,
            "file": file,
            "line": made.line or line,
            "lesson_line": self._lesson_line(event),
            "formula": f.to_json(formula),
            "names": [name for name, _ in names],
            "dtypes": [dtype for _, dtype in names],
            "operands": rows,
            "notes": notes,
            "details": made.details,
            "lit": self._lit(work.elements, step),
        }

    def _operands(self, work: Work) -> list[tuple[Called, float, int, bool]]:
        """The operands: what each is called, its value, a reference to it, and whether it was made of nothing else.

        Two that would be called the same (the third and the fourth round of a loop) are told apart by a count.
        """
        counts: dict[Called, int] = {}
        found = []
        for element in work.elements:
            called = self.call(element, work.words)
            counts[called] = count = counts.get(called, 0) + 1
            if count > 1:
                called = replace(called, name=f"{called.name}@{count}")
            self._asked.append((element, called))
            writer = self.writer(element)
            leaf = writer is None or writer.hand or writer.op in rules.LEAVES
            found.append((called, self.value(element), len(self._asked) - 1, leaf))
        return found

    def call(self, element: Element, words: frozenset[str] = frozenset()) -> Called:
        """What the element is called."""
        named = self.names.of(element.storage, element.offset, element.time, words)
        if named is not None:
            return named
        writer = self.writer(element)
        if writer is not None:
            for region in writer.outs:
                index = region.find(element.offset) if region.storage == element.storage else None
                if index is not None:
                    last = self._final_view(writer, region)
                    return Called(self.names.code_of(writer), last.find(element.offset) or index, False)
        return Called("(a tensor from outside)", (element.offset,), False)

    def _final_view(self, writer: Event, region: Region) -> Region:
        """The shape in which the code that made a tensor hands it on: `x @ y` ends with a view of a product."""
        events = self.record.events
        for place in range(writer.time, min(writer.time + 4, len(events))):
            event = events[place]
            if event.sites != writer.sites or not event.outs:
                break
            if event.view and event.outs[0].storage == region.storage:
                region = event.outs[0]
        return region

    # The record, backwards ----------------------------------------------------------------------------------------

    def writer(self, element: Element) -> Event | None:
        """Who wrote the element last before its time."""
        for event in reversed(self.record.writes.get(element.storage, ())):
            if event.time < element.time and any(
                region.storage == element.storage and region.find(element.offset) is not None for region in event.outs
            ):
                return event
        return None

    def value(self, element: Element) -> float:
        """The element as it was at its time: what it is now, unless it was overwritten since."""
        for event in self.record.writes.get(element.storage, ()):
            if event.time >= element.time and event.info.written:
                index = event.outs[0].find(element.offset)
                if index is not None:
                    if event.before is None:
                        return math.nan
                    return _item(event.before[index])
        return _item(torch.as_strided(element.tensor.detach(), (), (), element.offset))

    def through(self, element: Element) -> Element:
        """The element that this one is an unnamed copy of, or itself."""
        for _ in range(GENERATIONS):
            if self.names.of(element.storage, element.offset, element.time) is not None:
                return element
            event = self.writer(element)
            if event is None or event.hand:
                return element
            source = rules.copied(self, event, element)
            if source is None:
                return element
            element = source
        return element

    def made(self, element: Element) -> tuple[Event | None, Work, Made]:
        """How an element was made. A write that only copies an unnamed value is told as what made that value."""
        for _ in range(GENERATIONS):
            event = self.writer(element)
            if event is None:
                return None, Work(self, _nobody(element), frozenset()), self._outside(element)
            work = Work(self, event, self._words(event))
            work.output, index = self.output(event, element)
            if event.hand:
                return event, work, rules.by_hand(work, index, self.value(element))
            if event.op in define.DEFINED:
                region = self._expand(event, work.output)
                if region is not None:
                    inner = self.made(Element(region.storage, region.at(index), self.record.time, region.tensor))
                    inner[2].notes.insert(0, define.DEFINED[event.op].note)
                    return inner
            made = rules.apply(work, element, index, self.value(element))
            if made.source is None:
                return event, work, made
            source = self.through(made.source)
            if self.names.of(source.storage, source.offset, source.time) is not None:
                made.formula = work.of(source)
                return event, work, made
            element = source
        return event, work, made

    def output(self, event: Event, element: Element) -> tuple[int, tuple[int, ...]]:
        """Which of the results of an operation an element is in, and where."""
        for place, region in enumerate(event.outs):
            if region.storage == element.storage and (index := region.find(element.offset)) is not None:
                return place, index
        raise AssertionError("the operation did not write this element")

    def moves(self, event: Event) -> rules.Moves | None:
        """Where a rearrangement takes its elements from, worked out once."""
        if event.time not in self._moves:
            self._moves[event.time] = rules.moves(event)
        return self._moves[event.time]

    def _words(self, event: Event) -> frozenset[str]:
        return self.names.places.words(event.sites[0]) if event.sites else frozenset()

    def _expand(self, event: Event, output: int) -> Region | None:
        """Run the definition of a fused operation under the recorder, once."""
        if event.time not in self._expanded:
            definition = define.DEFINED[event.op]
            with self.recorder:
                outs = definition.run(event)
            self._expanded[event.time] = tuple(Region.of(out) for out in outs)
            self.names.update()
        regions = self._expanded[event.time]
        return regions[output] if output < len(regions) else None

    # Around the arithmetic ----------------------------------------------------------------------------------------

    def _outside(self, element: Element) -> Made:
        if self.record.stopped:
            line = self.names.places.line(self.record.stopped_site) if self.record.stopped_site else None
            where = f" at line {line}" if line else ""
            return Made("unrecorded", notes=[f"Recording had stopped{where}: {self.record.stopped}."])
        return Made("given", notes=["A number that PyTorch did not compute here."])

    def _place(self, event: Event | None) -> tuple[int | None, str, str]:
        """Line, file and code of an event."""
        if event is None or not event.sites:
            return None, "", ""
        places = self.names.places
        span = places.span(event.sites[0])
        if span is None:
            return None, "", ""
        file = span.file
        if file.startswith(PACKAGE):
            file = "attention" + file[len(PACKAGE) :].replace("\\", "/")
        return span.line, file.strip("<>"), places.code(event.sites[0])

    def _lesson_line(self, event: Event | None) -> int | None:
        """The line of the lesson's own code, from which a module was called."""
        return self.names.places.line(event.sites[-1]) if event is not None and event.sites else None

    def _birth(self, element: Element, value: float, work: Work) -> list[str]:
        """Where an infinity or NaN came from."""
        if math.isfinite(value):
            return []
        word = "NaN" if math.isnan(value) else "inf" if value > 0 else "-inf"

        def same(item: Element) -> bool:
            other = self.value(item)
            return math.isnan(other) if math.isnan(value) else math.isinf(other)

        came_from = next((item for item in work.elements if same(item)), None)
        if came_from is None:
            if math.isnan(value) or work.elements:
                return [f"This {word} was born here." + self._reason(value, work)]
            return []
        for _ in range(CHAIN):
            event, inner, _made = self.made(came_from)
            earlier = next((item for item in inner.elements if same(item)), None)
            if earlier is None:
                called = self.call(came_from)
                line, file, _ = self._place(event)
                where = f", line {line}" + (f" of {file}" if "/" in file else "") if line else ""
                index = f"[{','.join(map(str, called.index))}]" if called.index else ""
                return [f"This {word} was born in {called.name}{index}{where}.{self._reason(value, inner)}"]
            came_from = earlier
        return []

    def _reason(self, value: float, work: Work) -> str:
        values = [self.value(item) for item in work.elements]
        op = work.event.op.strip("_")
        if math.isnan(value):
            if op == "div" and len(values) > 1 and all(map(math.isinf, values[:2])):
                return " inf / inf is not a number."
            if op == "div" and values and all(item == 0 for item in values):
                return " 0 / 0 is not a number."
            if op == "mul" and any(map(math.isinf, values)):
                return " Infinity times 0 is not a number."
            if op == "softmax" and values and all(item == -math.inf for item in values):
                return " Nothing in the row was left: every exponential is 0, and 0 / 0 is not a number."
            if any(map(math.isinf, values)):
                return " The arithmetic of infinities has no result here."
        if math.isinf(value) and op == "exp":
            return " The exponential is beyond the largest number of its type."
        if math.isinf(value) and op == "div":
            return " It was divided by 0."
        return ""

    def _lit(self, elements: Iterable[Element], step: str) -> dict[str, list[list[int]]]:
        """The operands among the tensors that the step shows, by name: their indices."""
        shown: dict[int, list[Shown]] = {}
        for item in self._shown:
            if item.step == step:
                shown.setdefault(item.region.storage, []).append(item)
        lit: dict[str, list[list[int]]] = {}
        for count, element in enumerate(elements):
            if count >= MOST_LIT:
                break
            for item in shown.get(element.storage, ()):
                index = item.region.find(element.offset)
                if index is not None:
                    lit.setdefault(item.name, []).append(list(index))
        return lit


def _item(tensor: torch.Tensor) -> float:
    return float(tensor.item())


def _dtype(element: Element) -> str:
    return str(element.tensor.dtype).removeprefix("torch.")


def _nobody(element: Element) -> Event:
    return Event(0, rules.NO_INFO, (), {}, (), ())

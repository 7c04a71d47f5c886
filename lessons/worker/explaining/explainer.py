"""One cell to its arithmetic: what was computed, from which cells, on which line. Reads a record backwards.

An element is a place in a storage at a time. Who wrote it last before that time, is in the record; the rule of that
operation (`rules`) says which elements it was made from, as a formula; each of them can be asked about in turn.

No formula is told that does not come to the value: each is evaluated before.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import torch

from lessons.results import formula as f
from lessons.results.explanation import label
from lessons.worker.explaining import formula_check, fused_definitions, nonfinite_origin, rules
from lessons.worker.explaining.derivation import Derivation, RuleResult
from lessons.worker.recording.element_history import Element, ElementHistory, ValueLost
from lessons.worker.recording.names import NamedCell, Names
from lessons.worker.recording.recorder import PACKAGE, SNAPSHOT, Event, Record, Recorder, Region, Site

MOST_LIT = 4096
"""Cells of one explanation that are lit in the tensors of the step."""

GENERATIONS = 2000
"""Copies of copies that are looked through."""

NOBODY = Event(0, SNAPSHOT, (), {}, (), ())
"""What wrote a number that is not in the record."""


class NoCell(LookupError):
    """Nothing that can be asked about."""


@dataclass(slots=True)
class RecordedTensor:
    """A tensor that a step shows: what it was when the step had run."""

    step: str
    name: str
    region: Region
    time: int


@dataclass(slots=True, frozen=True)
class SourceLocation:
    """Where something was computed: `file` and `line`, the code, and the line of the lesson that led there."""

    line: int | None = None
    file: str = ""
    code: str = ""
    lesson_line: int | None = None


MOST_REFERENCES = 400_000
"""Operands of earlier answers that can still be asked about."""


class Explainer:
    """Answers questions about one run. References to cells are numbers that stay valid as long as it lives."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.record: Record = recorder.record
        self.history = ElementHistory(self.record)
        self.names = Names(self.record)
        self._shown: list[RecordedTensor] = []
        self._asked: dict[int, tuple[Element, NamedCell]] = {}
        self._references = 0
        self._expanded: dict[tuple[Any, ...], Element | None] = {}
        self._moves: dict[int, rules.Moves | None] = {}

    # Asking -------------------------------------------------------------------------------------------------------

    def show(self, step: str, name: str, tensor: torch.Tensor) -> None:
        """Take note of a tensor that a step shows now."""
        self._shown.append(RecordedTensor(step, name, Region.of(tensor), self.record.time))

    def ask(self, step: str, name: str, index: tuple[int, ...]) -> dict[str, Any]:
        """Explain a cell of a shown tensor. Raises `NoCell`."""
        shown = next((item for item in reversed(self._shown) if (item.step, item.name) == (step, name)), None)
        if shown is None:
            raise NoCell(name)
        shape = shown.region.shape
        if len(index) != len(shape) or not all(0 <= place < size for place, size in zip(index, shape, strict=True)):
            raise NoCell(index)
        return self.explain(Element.of(shown.region, index, shown.time), NamedCell(name, index, True), step)

    def follow(self, ref: int, step: str = "") -> dict[str, Any]:
        """Explain an operand of an earlier answer. Raises `NoCell`."""
        if ref not in self._asked:
            raise NoCell(ref)
        element, called = self._asked[ref]
        return self.explain(element, called, step)

    def explain(self, element: Element, called: NamedCell, step: str = "") -> dict[str, Any]:
        """The answer as plain data; see `lessons.results.explanation.Explanation`."""
        self.names.update()
        try:
            value = self.history.value(element)
        except ValueLost as forgotten:
            value, told = float("nan"), self._nothing(element, str(forgotten))
        else:
            told = self._told(element, value)
        event, work, made = told
        formula = f.Number(value) if made.formula is None else made.formula
        place = self.place(event)
        calls = self._calls(work, called)
        notes = [*made.notes, *nonfinite_origin.told(self, element, value, work, made)]
        if any("#" in call.name for call in calls):
            notes.append("#1, #2, ... number what the code called by one name or computed in one place, in its order.")
        values = self.history.values(work.elements)
        # Names are sent once: a long sum has thousands of cells of two tensors.
        names: dict[tuple[str, str], int] = {}
        rows = []
        for item, call, number in zip(work.elements, calls, values, strict=True):
            key = names.setdefault((call.name, _dtype(item)), len(names))
            rows.append([key, list(call.index), number, self._references, int(self._is_leaf(item))])
            self._asked[self._references] = (item, call)
            self._references += 1
            if len(self._asked) > MOST_REFERENCES:
                # The oldest first: nobody has so many on the screen.
                del self._asked[next(iter(self._asked))]
        return {
            "name": called.name,
            "index": list(called.index),
            "value": value,
            "dtype": _dtype(element),
            "op": made.op,
            "code": made.code or place.code,
            "file": place.file,
            "line": made.line or place.line,
            "lesson_line": place.lesson_line,
            "formula": f.to_json(formula),
            "names": [name for name, _ in names],
            "dtypes": [dtype for _, dtype in names],
            "operands": rows,
            "notes": notes,
            "details": made.details,
            "lit": self._lit(work.elements, step),
        }

    def _told(self, element: Element, value: float) -> tuple[Event | None, Derivation, RuleResult]:
        """How an element was made, if that comes to its value; else what is wrong."""
        try:
            event, work, made = self.made(element)
            values = self.history.values(work.elements)
        except ValueLost as forgotten:
            return self._nothing(element, f"It cannot be told how this was made. {forgotten}")
        if made.formula is None or formula_check.agrees(made.formula, values, value, element.region.dtype):
            return event, work, made
        result = f.evaluate(made.formula, values)
        note = f"The record does not account for this value: what it holds would come to {result:.6g}."
        return self._nothing(element, note, event)

    def _nothing(
        self, element: Element, note: str, event: Event | None = None
    ) -> tuple[Event | None, Derivation, RuleResult]:
        return event, Derivation(self, NOBODY, frozenset()), RuleResult("unrecorded", notes=[note])

    # What operands are called -------------------------------------------------------------------------------------

    def call(self, element: Element, words: frozenset[str] = frozenset()) -> NamedCell:
        """What the element is called."""
        named = self.names.of(element, words)
        if named is not None:
            return replace(named, name=f"{named.name}#{named.count}") if named.stale else named
        writer = self.history.writer(element)
        found = writer.index_of(element.storage, element.offset) if writer is not None else None
        if writer is None or found is None:
            return NamedCell("(a tensor from outside)", (element.offset,), False)
        place, index = found
        last = self._final_view(writer, writer.outs[place])
        return NamedCell(self.names.code_of(writer), last.find(element.offset) or index, False)

    def _calls(self, work: Derivation, called: NamedCell) -> list[NamedCell]:
        """What the operands are called. No two share a label, nor one that of the cell that is explained.

        Tensors that would be called the same are counted, in the order in which they were made. So is what a cell was
        before, in `total = total + row`.
        """
        calls = [self.call(element, work.words) for element in work.elements]
        counts = Counter(call.label for call in calls)
        own = label(_uncounted(called.name), called.index)
        double = {
            call.name for call in calls if counts[call.label] > 1 or label(_uncounted(call.name), call.index) == own
        }
        if not double:
            return calls
        found: dict[str, dict[tuple[int, int], tuple[Element, NamedCell]]] = {}
        for element, call in zip(work.elements, calls, strict=True):
            if call.name in double:
                found.setdefault(call.name, {}).setdefault(self._version(element), (element, call))
        taken = {called.name, *(call.name for call in calls if call.name not in double)}
        names: dict[tuple[str, tuple[int, int]], str] = {}
        for name, versions in found.items():
            for version in sorted(versions):
                element, call = versions[version]
                first = 1 if len(versions) > 1 else call.count or self._age(element)
                names[name, version] = counted = _free(name, first, taken)
                taken.add(counted)
        calls = [
            replace(call, name=names[call.name, self._version(element)], proper=False) if call.name in double else call
            for element, call in zip(work.elements, calls, strict=True)
        ]
        return _told_apart(calls, called)

    def _age(self, element: Element) -> int:
        """How often an element had been written."""
        for count in range(GENERATIONS):
            writer = self.history.writer(element)
            if writer is None:
                return count
            element = replace(element, time=writer.time)
        return GENERATIONS

    def _version(self, element: Element) -> tuple[int, int]:
        """Of tensors with the same name the one, in the order in which they were made."""
        writer = self.history.writer(element)
        return (writer.time if writer is not None else 0), element.storage

    def _final_view(self, writer: Event, region: Region) -> Region:
        """The shape in which the code that made a tensor hands it on: `x @ y` ends with a view of a product."""
        events = self.record.events
        start = bisect_left(events, writer.time, key=lambda event: event.time) + 1
        for event in events[start : start + 4]:
            if event.sites != writer.sites or not event.outs:
                break
            if event.view and event.outs[0].storage == region.storage:
                region = event.outs[0]
        return region

    # The record, backwards ----------------------------------------------------------------------------------------

    def through(self, element: Element) -> Element:
        """The element that this one is an unnamed copy of, or itself."""
        for _ in range(GENERATIONS):
            if self.names.of(element) is not None:
                return element
            event = self.history.writer(element)
            source = rules.copied(self, event, element) if event is not None else None
            if source is None:
                return element
            element = source
        return element

    def made(self, element: Element) -> tuple[Event | None, Derivation, RuleResult]:
        """How an element was made. A write that only copies an unnamed value is told as what made that value.

        Raises `ValueLost`.
        """
        for _ in range(GENERATIONS):
            event = self.history.writer(element)
            found = event.index_of(element.storage, element.offset) if event is not None else None
            if event is None or found is None:
                return None, Derivation(self, NOBODY, frozenset()), self._outside(element)
            words = self.names.places.words(event.sites[0]) if event.sites else frozenset()
            output, index = found
            work = Derivation(self, event, words, output)
            value = self.history.value(element)
            if event.hand:
                return event, work, rules.by_hand(work, index, value)
            if event.outs[output].dtype != element.region.dtype:
                note = f"The bytes of a number of another type ({_name(event.outs[output].dtype)})."
                return event, work, RuleResult("view", notes=[note])
            inner = self._expand(event, output, index)
            if inner is not None:
                _, work, made = self.made(inner)
                made.notes.insert(0, fused_definitions.NOTE)
                return event, work, made
            made = rules.apply(work, element, index, value)
            if made.source is None:
                return event, work, made
            source = self.through(made.source)
            if self.names.of(source) is not None:
                made.formula = work.of(source)
                if source.region.dtype != element.region.dtype:
                    made.op = "convert"
                return event, work, made
            element = source
        return event, work, made

    def moves(self, event: Event) -> rules.Moves | None:
        """Where a rearrangement takes its elements from, worked out once."""
        if event.time not in self._moves:
            self._moves[event.time] = rules.moves(self, event)
        return self._moves[event.time]

    def _expand(self, event: Event, output: int, index: tuple[int, ...]) -> Element | None:
        """The element that the definition of a fused operation comes to, worked out once."""
        definition = fused_definitions.DEFINED.get(event.op)
        if definition is None:
            return None
        key = (event.time, output, index)
        if key not in self._expanded:
            row = fused_definitions.expand(definition, self.recorder, self.history, event, output, index)
            self.names.update()
            for place, element in row.items():
                self._expanded[event.time, output, place] = element
        return self._expanded.get(key)

    # Around the arithmetic ----------------------------------------------------------------------------------------

    def _outside(self, element: Element) -> RuleResult:
        if self.record.stopped:
            line = self.names.places.line(self.record.stopped_site) if self.record.stopped_site else None
            where = f" at line {line}" if line else ""
            return RuleResult("unrecorded", notes=[f"Recording had stopped{where}: {self.record.stopped}."])
        return RuleResult("given", notes=["A number from outside: no recorded operation made it."])

    def place(self, event: Event | None) -> SourceLocation:
        """Where an event was called."""
        if event is None or not event.sites:
            return SourceLocation()
        places = self.names.places
        file = event.sites[0][0].co_filename
        if file.startswith(PACKAGE):
            file = "attention" + file[len(PACKAGE) :].replace("\\", "/")
        elif file == fused_definitions.__file__:
            file = "definition"
        outer = event.sites[-1]
        lesson = not outer[0].co_filename.startswith(PACKAGE)
        return SourceLocation(
            self._line(event.sites[0]),
            file.strip("<>"),
            places.code(event.sites[0]),
            self._line(outer) if lesson else None,
        )

    def _line(self, site: Site) -> int | None:
        """The line of a site; none in an expression that a step only shows: it is on no line of the code."""
        shown = site[0].co_filename.startswith("<") and ": " in site[0].co_filename
        return None if shown else self.names.places.line(site)

    def _is_leaf(self, element: Element) -> bool:
        writer = self.history.writer(element)
        return writer is None or writer.hand or writer.op in rules.LEAVES

    def _lit(self, elements: Iterable[Element], step: str) -> dict[str, list[list[int]]]:
        """The operands among the tensors that the step shows, by name: their indices."""
        shown: dict[int, list[RecordedTensor]] = {}
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


def _uncounted(name: str) -> str:
    """A name without its `#2`."""
    return re.sub(r"#\d+$", "", name)


def _free(name: str, count: int, taken: set[str]) -> str:
    """The name with a count, the first from `count` on that is not taken."""
    name = _uncounted(name)
    while f"{name}#{count}" in taken:
        count += 1
    return f"{name}#{count}"


def _told_apart(calls: list[NamedCell], called: NamedCell) -> list[NamedCell]:
    """Count on until no label occurs twice: views of one tensor may have had one name, too."""
    labels, names = {called.label}, {call.name for call in calls}
    for place, call in enumerate(calls):
        if call.label in labels:
            call = calls[place] = replace(call, name=_free(call.name, 1, names))
            names.add(call.name)
        labels.add(call.label)
    return calls


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def _dtype(element: Element) -> str:
    return _name(element.region.dtype)

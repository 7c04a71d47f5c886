"""Labels for the numbers of a tree of explanations: as the code calls them, and each label for one number only."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from attn_tutor.lessons.results.explanation import label
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RecordedRun
from attn_tutor.lessons.worker.recording import origins
from attn_tutor.lessons.worker.recording.element_history import Element
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.names import NamedCell, part_of
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/operands")

MOST_VIEWS = 4
"""Operations after the one that made a tensor, among which a final view of it is looked for."""

_NORMALIZING = frozenset({"native_batch_norm", "native_group_norm", "native_layer_norm"})
"""Operations whose last two results are moments."""

Version = tuple[int, int, int]
"""A number that an element has held: its storage, its offset, and the time of the write; 0 if that is not recorded."""


@dataclass(slots=True)
class VersionCounts:
    """The values that names have had up to a time, counted; trees of explanations of one time share it.

    Attributes:
        run: the recorded run, which must not grow while this is in use.
        time: the time up to which values count.
    """

    run: RecordedRun
    time: int
    _constant: dict[str, bool] = field(default_factory=dict)
    _versions: dict[tuple[str, Index], dict[Version, int]] = field(default_factory=dict)

    def of(self, cell: NamedCell, version: Version) -> int:
        """Count the values that a cell of this name has had up to a version; 0 for the one that needs no count."""
        if cell.name not in self._constant:
            self._constant[cell.name] = self.run.names.only_tensor(cell.name, self.time) is not None
        if self._constant[cell.name]:
            return 0
        key = cell.name, cell.index
        counts = self._versions.get(key)
        if counts is None:
            counts = self._versions[key] = self._count_versions(*key)
        return counts.get(version, 0)

    def _count_versions(self, name: str, index: Index) -> dict[Version, int]:
        run, found = self.run, dict[Version, int]()
        current: Version | None = None
        latest: dict[tuple[int, int, int], Version] = {}
        for binding in run.names.bindings(name):
            region = binding.region
            if binding.time > self.time or not _fits(index, region.shape):
                continue
            last = Element.of(region.parts, (*index, *_part(name, region)), self.time)
            key = region.storage, last.offset, last.size
            if key not in latest:
                # From its first binding on, all values of an element are known: a loop binds `total` in each round.
                for time in run.history.write_times(last, binding.time) or [0]:
                    version = latest[key] = region.storage, last.offset, time
                    found[version] = min(found.get(version, self.time), max(time, binding.time))
            current = latest[key] if binding.top else current
        if len(found) == 1:
            return {}
        order = sorted(found, key=lambda version: (found[version], version[2]))
        counts = {version: count for count, version in enumerate(order, 1)}
        if current is not None:
            counts[current] = 0
        return counts


@dataclass(slots=True)
class Labels:
    """The labels of one tree of explanations.

    A name may have had several values: in the rounds of a loop, in the calls of a function, before and after a write in
    place. They are counted over the whole run, up to the question. Without a count a name means the value that it had
    at the time of the question.

    Attributes:
        run: the recorded run.
        counts: the counts of the values of names, up to the question.
    """

    run: RecordedRun
    counts: VersionCounts
    _rounds: dict[str, dict[int, int]] = field(default_factory=dict)
    _made: dict[tuple[int, int], tuple[str, Region]] = field(default_factory=dict)
    _taken: dict[str, Version] = field(default_factory=dict)
    _given: dict[tuple[str, Index, Version], NamedCell] = field(default_factory=dict)

    def reserve(self, cell: NamedCell, element: Element) -> None:
        """Give a cell its label as it is, ahead of all others: the cell that was asked about."""
        version = _version(element, self.run.history.writer(element))
        self._taken[cell.label] = version
        self._given[cell.name, cell.index, version] = cell

    def name(self, element: Element, code_names: frozenset[str] = frozenset()) -> NamedCell:
        """Name an element as the code would, by one of `code_names` where possible; else by the code that made it."""
        named = self.run.names.find(element, code_names)
        writer = self.run.history.writer(element)
        version = _version(element, writer)
        role = self.run.attention.find(element, writer, named) if writer is not None else None
        if role is not None:
            known = self._given.get((role[0].name, role[0].index, version))
            return known or self._give(role[0], version, role[1])
        gradient = self.run.gradients.find(element, writer, code_names) if writer is not None and not named else None
        cell = named or (gradient.cell if gradient is not None else self._unnamed(writer, element))
        if named is None and gradient is None and writer is not None:
            changed = self.run.gradients.find_changed(element, writer)
            cell = cell if changed is None else changed
        known = self._given.get((cell.name, cell.index, version))
        if known is None:
            if named is not None:
                count = self.counts.of(cell, version)
            elif gradient is not None and writer is not None:
                count = self.run.gradients.count(gradient, writer)
            else:
                count = self._count_of_code(cell, writer)
            known = self._give(cell, version, count)
        return known

    def _give(self, cell: NamedCell, version: Version, count: int) -> NamedCell:
        """Give a number its label, which is that of a cell with a count."""
        known = self._given[cell.name, cell.index, version] = self._free(cell, version, count)
        return known

    def name_all(self, elements: Sequence[Element], code_names: frozenset[str]) -> list[NamedCell]:
        """Name the operands of an explanation, in their order."""
        return [self.name(element, code_names) for element in elements]

    def _count_of_code(self, cell: NamedCell, writer: Event | None) -> int:
        """Count the times that the code of an unnamed tensor has run; 0 if it ran once."""
        if writer is None:
            return 0
        rounds = self._rounds.get(cell.name)
        if rounds is None or writer.time not in rounds:
            repeated = self.run.names.repetitions(writer)
            counts = {event.time: count for count, event in enumerate(repeated, 1)} if len(repeated) > 1 else {}
            rounds = self._rounds[cell.name] = {**(rounds or {}), writer.time: 0, **counts}
        return rounds[writer.time]

    def _unnamed(self, writer: Event | None, element: Element) -> NamedCell:
        """Name an element by the code that made it."""
        found = writer.index_of(element.storage, element.offset, element.size) if writer is not None else None
        if writer is None or found is None:
            index = element.region.find(element.offset) or (element.offset // element.size,)
            if origins.is_loaded(element.storage):
                return NamedCell(say("from-loader", "(a batch of a data loader)"), index, False)
            return NamedCell(say("from-outside", "(a tensor from outside)"), index, False)
        output, index = found
        key = writer.time, output
        if key not in self._made:
            # A sum has thousands of operands from one operation.
            code = self.run.gradients.step_of(writer, output) or _moment(self.run, writer, output)
            code = code or self.run.names.code_of(writer, output)
            self._made[key] = code, _final_view(self.run, writer, writer.outs[output])
        code, view = self._made[key]
        index = view.find(element.offset) or index
        return NamedCell(code + part_of(element, view, index), index, False)

    def _free(self, cell: NamedCell, version: Version, count: int) -> NamedCell:
        """Return the cell under its name with a count, raised until no other number has the label."""
        name = f"{cell.name}#{count}" if count else cell.name
        while self._taken.setdefault(label(name, cell.index), version) != version:
            count = max(count + 1, 2)
            name = f"{cell.name}#{count}"
        return cell if name == cell.name else replace(cell, name=name, proper=False)


def _version(element: Element, writer: Event | None) -> Version:
    return element.storage, element.offset, writer.time if writer is not None else 0


def _moment(run: RecordedRun, writer: Event, output: int) -> str:
    """Name the mean or 1 over the standard deviation that a kernel keeps beside what it normalizes; else ""."""
    from_end = len(writer.outs) - output
    if from_end > 2 or writer.op not in _NORMALIZING or run.names.is_called_by_name(writer):
        return ""
    code = run.names.described(writer)
    return (
        say("mean", "(mean in {code})", code=code) if from_end == 2 else say("rstd", "(1 / std in {code})", code=code)
    )


def _part(name: str, region: Region) -> Index:
    """Return the index of a part of a complex number: 1 for `.imag`, 0 for `.real`; none for other numbers."""
    return (int(name.endswith(".imag")),) if region.dtype.is_complex else ()


def _fits(index: Index, shape: Index) -> bool:
    return len(index) == len(shape) and all(position < size for position, size in zip(index, shape, strict=True))


def _final_view(run: RecordedRun, writer: Event, region: Region) -> Region:
    """Return the shape in which the code that made a tensor hands it on: `x @ y` ends with a view of a product."""
    events = run.record.events
    start = bisect_left(events, writer.time, key=lambda event: event.time) + 1
    for event in events[start : start + MOST_VIEWS]:
        if event.sites != writer.sites or not event.outs:
            break
        if event.view and event.outs[0].storage == region.storage:
            region = event.outs[0]
    return region

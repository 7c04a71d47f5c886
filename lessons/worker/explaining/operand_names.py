"""Names for the operands of an explanation, of which no two share a label."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from lessons.results.explanation import label
from lessons.worker.explaining.recorded_run import RecordedRun
from lessons.worker.recording.element_history import Element
from lessons.worker.recording.names import NamedCell
from lessons.worker.recording.recorder import Event, Region

MOST_VERSIONS = 2000
"""Writes to one element that are counted."""

MOST_VIEWS = 4
"""Operations after the one that made a tensor, among which a final view of it is looked for."""


def name_of(run: RecordedRun, element: Element, code_names: frozenset[str] = frozenset()) -> NamedCell:
    """Name an element as the code would, by one of `code_names` where possible; else by the code that made it."""
    named = run.names.find(element, code_names)
    if named is not None:
        return replace(named, name=f"{named.name}#{named.count}") if named.stale else named
    writer = run.history.writer(element)
    found = writer.index_of(element.storage, element.offset) if writer is not None else None
    if writer is None or found is None:
        return NamedCell("(a tensor from outside)", (element.offset,), False)
    output, index = found
    view = _final_view(run, writer, writer.outs[output])
    return NamedCell(run.names.code_of(writer), view.find(element.offset) or index, False)


def names_of(
    run: RecordedRun, elements: Sequence[Element], code_names: frozenset[str], explained: NamedCell
) -> list[NamedCell]:
    """Name the operands of the explained cell. No two labels are equal, and none equals that of the cell itself.

    Tensors that would have the same name are numbered in the order in which they were made. So are earlier values of
    the cell itself, as in `total = total + row`.
    """
    cells = [name_of(run, element, code_names) for element in elements]
    counts = Counter(cell.label for cell in cells)
    own = label(_without_number(explained.name), explained.index)
    ambiguous = {
        cell.name for cell in cells if counts[cell.label] > 1 or label(_without_number(cell.name), cell.index) == own
    }
    if not ambiguous:
        return cells
    by_name: dict[str, dict[tuple[int, int], tuple[Element, NamedCell]]] = {}
    for element, cell in zip(elements, cells, strict=True):
        if cell.name in ambiguous:
            by_name.setdefault(cell.name, {}).setdefault(_version(run, element), (element, cell))
    taken = {explained.name, *(cell.name for cell in cells if cell.name not in ambiguous)}
    numbered: dict[tuple[str, tuple[int, int]], str] = {}
    for name, versions in by_name.items():
        for version in sorted(versions):
            element, cell = versions[version]
            first = 1 if len(versions) > 1 else cell.count or _write_count(run, element)
            numbered[name, version] = free = _free(name, first, taken)
            taken.add(free)
    cells = [
        replace(cell, name=numbered[cell.name, _version(run, element)], proper=False)
        if cell.name in ambiguous
        else cell
        for element, cell in zip(elements, cells, strict=True)
    ]
    return _with_unique_labels(cells, explained)


def _write_count(run: RecordedRun, element: Element) -> int:
    """Count the writes to an element up to its time."""
    for count in range(MOST_VERSIONS):
        writer = run.history.writer(element)
        if writer is None:
            return count
        element = replace(element, time=writer.time)
    return MOST_VERSIONS


def _version(run: RecordedRun, element: Element) -> tuple[int, int]:
    """Return a key that sorts tensors of the same name in the order in which they were made."""
    writer = run.history.writer(element)
    return (writer.time if writer is not None else 0), element.storage


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


def _without_number(name: str) -> str:
    """Return a name without its `#2`."""
    return re.sub(r"#\d+$", "", name)


def _free(name: str, number: int, taken: set[str]) -> str:
    """Return the name with a number, the first one from `number` on that is not taken."""
    name = _without_number(name)
    while f"{name}#{number}" in taken:
        number += 1
    return f"{name}#{number}"


def _with_unique_labels(cells: list[NamedCell], explained: NamedCell) -> list[NamedCell]:
    """Raise numbers until no label occurs twice; views of one tensor may share a name."""
    labels, names = {explained.label}, {cell.name for cell in cells}
    for position, cell in enumerate(cells):
        if cell.label in labels:
            cell = cells[position] = replace(cell, name=_free(cell.name, 1, names))
            names.add(cell.name)
        labels.add(cell.label)
    return cells

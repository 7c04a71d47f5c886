"""The tensors of a run that its source gives a name: variables, parameters, and the variables of functions."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal

from lessons.worker.explaining.explainer import Explainer
from lessons.worker.recording.names import Assignment
from lessons.worker.recording.record import Binding, Event, Site
from lessons.worker.recording.regions import Region

MODULE = "<module>"
"""What Python calls the code of a file outside of all functions."""

NamedKind = Literal["variable", "parameter", "local"]


@dataclass(slots=True, frozen=True)
class NamedTensor:
    """A tensor with the name that the source gives it, as it was when the name was bound last.

    Attributes:
        label: tells it from all others: `scores`, `model.weight`, `Attention.forward.scores`.
        name: as its code calls it.
        kind: a `local` is a variable of a function, or of a file that the program imports; a `parameter` is a parameter
            or buffer of a module.
        scope: the function or imported file whose variable it is; "" for a variable of the program itself.
        file, line: where the name was bound last; "" and None if no source that is watched shows it.
        region: which elements of which storage it is.
        time: the moment of the record at which it had these values.
        count: how often the name was bound to a tensor.
    """

    label: str
    name: str
    kind: NamedKind
    scope: str
    file: str
    line: int | None
    region: Region
    time: int
    count: int


def named_tensors(explainer: Explainer, main: str) -> list[NamedTensor]:
    """List the named tensors of a run whose own file is `main`.

    First come the variables of the program, then those of functions and imported files, each in the order in which they
    were first bound, then parameters and buffers.
    """
    explainer.names.update()
    top = _variables(explainer, main)
    locals_ = list(_locals(explainer, main))
    return [
        *(item for item in top if item.kind == "variable"),
        *_told_apart(locals_, {item.label for item in top}),
        *(item for item in top if item.kind == "parameter"),
    ]


def _variables(explainer: Explainer, main: str) -> list[NamedTensor]:
    """List the variables of the program itself, and the parameters and buffers of its modules."""
    record, names = explainer.record, explainer.names
    bound: dict[str, list[Binding]] = {}
    sites: dict[str, Site] = {}
    for binding in itertools.chain.from_iterable(record.bindings.values()):
        bound.setdefault(binding.name, []).append(binding)
    for item in names.assignments:
        if item.scope == MODULE and item.site[0].co_filename == main:
            bound.setdefault(item.binding.name, []).append(item.binding)
            sites[item.binding.name] = item.site
    modules = {name.partition(".")[0] for name in bound if "." in name}
    found: list[NamedTensor] = []
    for name, bindings in sorted(bound.items(), key=lambda item: min(binding.time for binding in item[1])):
        bindings.sort(key=lambda binding: binding.time)
        last = bindings[-1]
        site = sites.get(name) or _made_at(explainer, last, main)
        file, line = (site[0].co_filename, names.positions.line(site)) if site else ("", None)
        kind: NamedKind = "parameter" if name.partition(".")[0] in modules and "." in name else "variable"
        # A variable lives to the end, whatever is written into it.
        found.append(NamedTensor(name, name, kind, "", file, line, last.region, record.time, _count(bindings)))
    return found


def _locals(explainer: Explainer, main: str) -> Iterator[NamedTensor]:
    """Yield the variables of functions and imported files, function by function."""
    record, names = explainer.record, explainer.names
    by_scope: dict[tuple[str, str], dict[str, list[Assignment]]] = {}
    for item in names.assignments:
        file = item.site[0].co_filename
        if (item.scope, file) != (MODULE, main):
            scope = _stem(file) if item.scope == MODULE else item.scope.replace("<locals>.", "")
            by_scope.setdefault((scope, file), {}).setdefault(item.binding.name, []).append(item)
    for (scope, file), by_name in by_scope.items():
        for name, found in by_name.items():
            last = found[-1]
            region = last.binding.region
            writes = record.writes.get(region.storage, ())
            time = _end_of_changes(writes, last) if last.scope != MODULE else record.time
            line = names.positions.line(last.site)
            count = _count([item.binding for item in found])
            yield NamedTensor(f"{scope}.{name}", name, "local", scope, file, line, region, time, count)


def _end_of_changes(writes: Iterable[Event], bound: Assignment) -> int:
    """Return the moment after the last change in place that the function itself made to what it had bound."""
    code = bound.site[0]
    times = (event.time for event in writes if event.info.written and any(site[0] is code for site in event.sites))
    return max(bound.binding.time, max(times, default=0) + 1)


def _made_at(explainer: Explainer, binding: Binding, main: str) -> Site | None:
    """Return the site in the program's own file that made what a name was bound to; None if there is none."""
    writes = explainer.record.writes.get(binding.region.storage, ())
    before = [event for event in writes if event.time < binding.time]
    sites = before[-1].sites if before else ()
    return next((site for site in reversed(sites) if site[0].co_filename == main), None)


def _count(bindings: list[Binding]) -> int:
    """Count how often a name was bound to a tensor. The same binding may have been seen in two ways."""
    identities = (
        (item.region.storage, item.region.offset, item.region.shape, item.region.stride)
        for item in sorted(bindings, key=lambda binding: binding.time)
    )
    return sum(1 for _ in itertools.groupby(identities))


def _told_apart(items: list[NamedTensor], taken: set[str]) -> Iterator[NamedTensor]:
    """Yield tensors with labels of which no two are the same: functions of one name get the name of their file."""
    labels = [item.label for item in items]
    for item in items:
        label, number = item.label, 2
        if labels.count(label) > 1 or label in taken:
            label = f"{_stem(item.file)}.{item.label}"
        while label in taken:
            label, number = f"{_stem(item.file)}.{item.label} {number}", number + 1
        taken.add(label)
        yield replace(item, label=label)


def _stem(file: str) -> str:
    """Return the name of a file as an import would call it."""
    path = PurePath(file)
    return path.parent.name if path.stem == "__init__" else path.stem

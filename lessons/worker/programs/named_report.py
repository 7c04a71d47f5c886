"""Reports of the named tensors of a program of one's own: at its end, and for a chosen call of a function."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch

from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.line_shapes import LineReport
from attn_tutor.lessons.results.program_result import Named
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import plain_codec, wire
from attn_tutor.lessons.worker.jobs.run_state import RunState
from attn_tutor.lessons.worker.jobs.tensor_questions import QuestionRefused
from attn_tutor.lessons.worker.program_messages import MOST_NAMED, CallReport, ChooseCall, Inner
from attn_tutor.lessons.worker.programs.named_tensors import NamedTensor, named_tensors, scope_of, shapes_in_functions
from attn_tutor.lessons.worker.programs.nonfinite_counts import NonfiniteCounts, counts_of
from attn_tutor.lessons.worker.recording.record import Record, Variables
from attn_tutor.lessons.worker.recording.regions import plain_region

say = Wording("worker/named-report")

T = TypeVar("T")

SHARE = wire.JSON_CAP // 16
"""The unit in which the lists of a report share its text; one such share is left for its sentences."""


@dataclass(frozen=True, slots=True)
class NameList:
    """The named tensors of a run, as far as a report has room for them.

    Attributes:
        found: the tensors.
        reports: the same as they are reported.
        inner: what assignments in functions have bound: file, line, name, and the shape of the tensor.
        more: how many tensors there are in all.
    """

    found: list[NamedTensor]
    reports: tuple[Named, ...]
    inner: tuple[Inner, ...]
    more: int


def list_names(state: RunState) -> NameList:
    """List the named tensors of a run, and let them be asked for by their labels from now on."""
    named = named_tensors(state.explainer, PROGRAM.filename, present=state.recorder.naming.present)
    every = [item for item in named if _has_numbers(state, item)]
    record, positions = state.explainer.record, state.explainer.names.positions
    counts = counts_of(state)
    counts.begin()
    reports = fitting((_report(item, positions.file_of(item.file), record, counts) for item in every), 6 * SHARE)
    found = every[: len(reports)]
    state.named.clear()
    for item in found:
        state.named[item.label] = item.region, item.time
    inner = (
        (positions.file_of(file), line, name, shape) for file, line, name, shape in shapes_in_functions(state.explainer)
    )
    return NameList(found, reports, fitting(inner, 3 * SHARE), len(every))


def unlisted(record: Record) -> Iterator[str]:
    """Yield the variables that are not listed because they are tensors of another kind, those of the program first."""
    for (code, name), kind in sorted(record.unlisted.items(), key=lambda item: item[0][0] is not None):
        if kind:
            label = name if code is None else f"{scope_of(code)}.{name}"
            yield say("unlisted", "{name} ({kind})", name=label, kind=kind)


def fitting(items: Iterable[T], room: int) -> tuple[T, ...]:
    """Return the first of the items, as many as fit into `room` bytes of a report, and no more than `MOST_NAMED`."""
    kept = list[T]()
    for item in itertools.islice(items, MOST_NAMED):
        fields: Any = plain_codec.encode(item) if isinstance(item, Named | LineReport) else item
        room -= len(json.dumps(fields))
        if room < 0:
            break
        kept.append(item)
    return tuple(kept)


def _has_numbers(state: RunState, item: NamedTensor) -> bool:
    """Return whether a named tensor has numbers of its own; a variable of the program may be of another kind now."""
    value = state.namespace.get(item.label)
    if isinstance(value, list | tuple):
        # What `found = torch.where(mask)` gives is several tensors, which are listed as its items.
        return False
    return not isinstance(value, torch.Tensor) or plain_region(value) is not None


def _report(item: NamedTensor, file: str, record: Record, counts: NonfiniteCounts) -> Named:
    region, since = item.region, last_write(item, record)
    dtype = str(region.dtype).removeprefix("torch.")
    return Named(
        *(item.label, item.name, item.kind, item.scope, file, item.line, item.count, region.shape, dtype, since),
        item.call,
        item.module,
        counts.of(item),
    )


def last_write(item: NamedTensor, record: Record) -> int:
    """Return when a named tensor was written last before it had its values."""
    writes = record.writes.get(item.region.storage, ())
    return max((event.time for event in writes if event.time < item.time), default=0)


def choose_call(run: RunState, question: ChooseCall) -> CallReport:
    """Let the variables of a function be those that it had when another call of it returned."""
    record, positions = run.explainer.record, run.explainer.names.positions
    codes = [
        code
        for code in record.calls
        if scope_of(code) == question.scope and positions.file_of(code.co_filename) == question.file
    ]
    if not codes:
        raise QuestionRefused(say("no-calls", "Only of functions are several calls known."))
    # Where a function was defined several times, the pages have the last definition.
    code = codes[-1]
    calls = [each for each in record.calls[code] if each.regions]
    chosen = _chosen(calls, question.call, question.past)
    if chosen is None:
        first, last = (calls[0].call, calls[-1].call) if calls else (0, 0)
        raise QuestionRefused(
            say(
                "not-kept",
                "Of the {count} calls of {scope}, {first} to {last} can be looked at.",
                count=record.times_called(code),
                scope=question.scope,
                first=first,
                last=last,
            )
        )
    record.variables[code] = chosen
    run.explainer.forget_shown()
    run.explainer.names.name_again()
    run.shown.clear()
    names = list_names(run)
    run.ends = {item.label: item.time for item in names.found if 0 < item.call < item.count}
    return CallReport(names.reports, names.inner, chosen.call, record.times_called(code), chosen.forgotten)


def _chosen(calls: list[Variables], call: int, past: Literal["at", "before", "after"]) -> Variables | None:
    """Return the call of this number, or the nearest one before or after it; None if there is none."""
    match past:
        case "before":
            return next((each for each in reversed(calls) if each.call < call), None)
        case "after":
            return next((each for each in calls if each.call > call), None)
        case _:
            return next((each for each in calls if each.call == call), None)

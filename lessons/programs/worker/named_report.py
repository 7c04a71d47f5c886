"""Reports of the named tensors of a program of one's own: at its end, and for a chosen call of a function.

Beside each stands how many of its numbers are NaN or infinite. Digests of what they held, in all calls of functions
that are kept, are what two runs are compared by.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import json
import math
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

import torch

from attn_tutor.lessons.programs.messages import (
    MOST_NAMED,
    CallReport,
    ChooseCall,
    Digest,
    DigestReport,
    DigestValues,
    Inner,
)
from attn_tutor.lessons.programs.results.program_result import Named
from attn_tutor.lessons.programs.worker.named_tensors import (
    NamedTensor,
    in_all_calls,
    named_tensors,
    scope_of,
    shapes_in_functions,
)
from attn_tutor.lessons.results.code_unit import PROGRAM
from attn_tutor.lessons.results.line_shapes import LineReport
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker import plain_codec, wire
from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.jobs.run_state import LARGEST_COPY, RunState
from attn_tutor.lessons.worker.jobs.tensor_questions import QuestionRefused
from attn_tutor.lessons.worker.recording.element_history import ValueLost
from attn_tutor.lessons.worker.recording.record import Record, Variables
from attn_tutor.lessons.worker.recording.regions import plain_region
from attn_tutor.lessons.worker.recording.tensor_parts import parts
from attn_tutor.lessons.worker.wire import JSON_CAP

SECONDS_TO_COUNT = 0.5
"""Seconds for which tensors are counted, each time that they are listed: a program may have many, and large ones."""

Counts = tuple[int, int]
"""How many numbers of a tensor are NaN, and how many are infinite."""


class NonfiniteCounts:
    """Counts the numbers of named tensors that are not finite, each tensor once."""

    def __init__(self, explainer: Explainer) -> None:
        self._explainer = explainer
        self._known: dict[object, Counts] = {}
        self._until = 0.0

    def begin(self) -> None:
        """Begin a list: it takes no longer than `SECONDS` from now on."""
        self._until = time.monotonic() + SECONDS_TO_COUNT

    def of(self, item: NamedTensor) -> Counts | None:
        """Return the counts of a tensor; None if there was no time for them, or its values are not at hand."""
        if not (item.region.dtype.is_floating_point or item.region.dtype.is_complex):
            return 0, 0
        key = item.region.storage, item.region.offset, item.region.shape, item.region.stride, item.time
        if key not in self._known:
            history = self._explainer.history
            if time.monotonic() > self._until or not history.is_at_hand(item.region, item.time):
                return None
            try:
                values = history.tensor(item.region, item.time, copy=False)
            except ValueLost:
                return None
            if (found := count_nonfinite(values, self._until)) is None:
                return None
            self._known[key] = found
        return self._known[key]


@functools.lru_cache(maxsize=1)
def counts_of(run: RunState) -> NonfiniteCounts:
    """Return the counts of a run."""
    return NonfiniteCounts(run.explainer)


def count_nonfinite(tensor: torch.Tensor, until: float) -> Counts | None:
    """Count the numbers that are NaN, and those that are infinite; None if that is not done `until` this time.

    The time is that of `time.monotonic`. The tensor may be a file that is larger than the memory.
    """
    nans = infinite = 0
    for part in parts(tensor):
        if time.monotonic() > until:
            return None
        more_nans, more_infinite = _count_nonfinite_at_once(part)
        nans, infinite = nans + more_nans, infinite + more_infinite
    return nans, infinite


def _count_nonfinite_at_once(tensor: torch.Tensor) -> Counts:
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj())
    if tensor.dtype.itemsize == 1:
        tensor = tensor.to(torch.float32)
    # A sum is several times as fast as a look at each number, and cannot be finite unless all of them are.
    if math.isfinite(float(tensor.sum())):
        return 0, 0
    # Counting is several times as fast as a sum of truth values, and two comparisons are faster than `isinf`.
    infinite = [(tensor == bound).count_nonzero() for bound in (torch.inf, -torch.inf)]
    return int(tensor.isnan().count_nonzero()), int(sum(infinite))


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
    for label, kind in unlisted_kinds(record).items():
        yield say("unlisted", "{name} ({kind})", name=label, kind=kind)


def unlisted_kinds(record: Record) -> dict[str, str]:
    """Return of which kind the variables are that are not listed, those of the program first."""
    found = sorted(record.unlisted.items(), key=lambda item: item[0][0] is not None)
    return {name if code is None else f"{scope_of(code)}.{name}": kind for (code, name), kind in found if kind}


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


DIGEST_BYTES = 8
"""Bytes of a digest."""


def digest_values(run: RunState, question: DigestValues) -> DigestReport:
    """Return digests from a position on, in the order in which the tensors were computed, as long as there is time."""
    values, until = _values(run), time.monotonic() + question.seconds
    found: list[Digest] = []
    for item in values[question.start :]:
        if time.monotonic() > until:
            break
        file = run.explainer.names.positions.file_of(item.file)
        found.append((item.scope, file, item.name, item.call, _digest(run.explainer, item)))
    digests = fitting(found, JSON_CAP // 2)
    return DigestReport(digests, question.start + len(digests) >= len(values))


@functools.lru_cache(maxsize=1)
def _values(run: RunState) -> list[NamedTensor]:
    """List the named tensors of a run in the order in which they were computed; all parts are parts of this list."""
    record = run.explainer.record
    items = in_all_calls(run.explainer, PROGRAM.filename, run.recorder.naming.present)
    return sorted(items, key=lambda item: (last_write(item, record), item.time))


def _digest(explainer: Explainer, item: NamedTensor) -> str:
    """Return the digest of a tensor; "" if its values are lost, or it is so large that a copy may not fit."""
    if item.region.size * item.region.dtype.itemsize > LARGEST_COPY:
        return ""
    try:
        values = explainer.history.tensor(item.region, item.time, copy=False)
    except ValueLost:
        return ""
    if values.is_complex():
        values = torch.view_as_real(values.resolve_conj())
    if values.dtype.is_floating_point and values.dtype.itemsize > 1:
        # Then 0 and -0 are the same.
        values = values + 0
    values = values.detach().resolve_neg().contiguous()
    size = values.nbytes
    memory = (ctypes.c_char * size).from_address(values.data_ptr()) if size else b""
    facts = f"{values.dtype} {tuple(values.shape)}".encode()
    return hashlib.blake2b(
        memory, digest_size=DIGEST_BYTES, key=hashlib.blake2b(facts, digest_size=16).digest()
    ).hexdigest()

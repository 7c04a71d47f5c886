"""The statement at which a run failed. What it had computed by then was not assigned to its name any more."""

from __future__ import annotations

from collections.abc import Iterator
from types import TracebackType
from typing import Any

import torch

from attn_tutor.lessons.worker.recording.record import FailedStatement
from attn_tutor.lessons.worker.recording.recorder import Recorder
from attn_tutor.lessons.worker.recording.regions import Region, plain_region
from attn_tutor.lessons.worker.recording.source_positions import SourcePositions


def note(recorder: Recorder, positions: SourcePositions, traceback: TracebackType | None) -> None:
    """Note in a record which statement an exception has left, given its traceback."""
    record = recorder.record
    innermost: TracebackType | None = None
    while traceback is not None:
        if recorder.is_watched(traceback.tb_frame.f_code):
            innermost = traceback
        traceback = traceback.tb_next
    if innermost is None:
        return
    site = innermost.tb_frame.f_code, innermost.tb_lasti
    names = positions.assigned(site), *positions.unpacked(site)
    held = [_layout(region) for region in _regions(innermost.tb_frame.f_locals, names)]
    events = record.events
    start = len(events)
    while start and events.sites(start - 1)[:1] == (site,):
        start -= 1
    # In a loop, it may have run before. What it assigned then may be looked at again as an operand now.
    ran = (
        position + 1
        for position in range(start, len(events))
        if any(_layout(region) in held for region in events[position].outs)
    )
    start = next(ran, start)
    if start < len(events):
        record.failed = FailedStatement(site, events.time(start), record.time)


def _regions(variables: dict[str, Any], names: tuple[str, ...]) -> Iterator[Region]:
    for name in filter(None, names):
        value = variables.get(name)
        region = plain_region(value) if isinstance(value, torch.Tensor) else None
        if region is not None:
            yield region


def _layout(region: Region) -> tuple[object, ...]:
    return region.storage, region.offset, region.shape, region.stride

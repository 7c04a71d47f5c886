"""Gradients that a `GradScaler` has found not to be finite: it skips the step, and lowers the factor of the loss.

That is how the factor is found, and no failure, unless no later step was better.
"""

from __future__ import annotations

import sys

from lessons.worker.explaining.explainer import Explainer
from lessons.worker.programs.finite_scan import Written
from lessons.worker.recording.element_history import Element, ValueLost
from lessons.worker.recording.regions import Region

UPDATE = "_amp_update_scale_"
"""The operation with which a scaler ends a step."""


def updates(run: Explainer, until: int) -> list[tuple[int, bool]]:
    """List the steps of scalers: the time at which each ended, and whether its gradients were finite."""
    found: list[tuple[int, bool]] = []
    events = run.record.events
    for position in range(events.after(until)):
        if events.info(position).op != UPDATE:
            continue
        event = events[position]
        flag = event.arg("found_inf")
        if isinstance(flag, Region) and flag.size == 1:
            try:
                value = run.history.value(Element.of(flag, (0,) * len(flag.shape), event.time))
            except ValueLost:
                continue
            found.append((event.time, value == 0))
    return found


def without_skipped(found: list[Written], steps: list[tuple[int, bool]], *, is_last: bool) -> list[Written]:
    """Leave out what was not finite only in the gradients of steps that were skipped.

    If these are the last ones, only those that are followed by a better one.
    """
    if not is_last:
        # The step that has begun may be skipped too.
        steps = [*steps, (sys.maxsize, False)]
    last_good = max((time for time, finite in steps if finite or not is_last), default=0)
    left = list(found)
    before = 0
    for end, finite in steps:
        if not finite and end <= last_good:
            step = [written for written in left if before < written.time <= end]
            gradients = [item.time for item in step if item.event is not None and item.event.node is not None]
            since = min(gradients, default=end)
            # A loss that was NaN itself is no fault of the factor.
            if not any(item.kind == "nan" and item.time < since for item in step):
                left = [item for item in left if not since <= item.time <= end]
        before = end
    return left

"""Gradients that a `GradScaler` has found not to be finite: it skips the step, and lowers the factor of the loss.

That is how the factor is found, and no failure, unless no later step was better.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.nonfinite.finite_scan import Written
from attn_tutor.lessons.worker.recording.element_history import Element, ValueLost
from attn_tutor.lessons.worker.recording.regions import Region

UPDATE = "_amp_update_scale_"
"""The operation with which a scaler ends a step."""

UNSCALE = "_amp_foreach_non_finite_check_and_unscale_"
"""The operation with which a scaler looks at gradients."""


@dataclass(frozen=True, slots=True)
class ScaledStep:
    """A step of a scaler.

    Attributes:
        since: the time from which on its numbers were not finite because of its gradients.
        end: the time at which the scaler ended it.
        is_finite: whether its gradients were finite.
    """

    since: int
    end: int
    is_finite: bool


def steps_of(run: Explainer, until: int, found: Iterable[Written]) -> list[ScaledStep]:
    """List the steps of scalers before a time, given what was not finite."""
    steps: list[ScaledStep] = []
    gradients = [item.time for item in found if item.event is not None and item.event.node is not None]
    events = run.record.events
    for position in range(events.after(until)):
        op = events.info(position).op
        if op == UNSCALE:
            gradients.append(events.time(position))
        elif op == UPDATE:
            event = events[position]
            flag = event.arg("found_inf")
            if isinstance(flag, Region) and flag.size == 1:
                try:
                    value = run.history.value(Element.of(flag, (0,) * len(flag.shape), event.time))
                except ValueLost:
                    continue
                before = steps[-1].end if steps else 0
                since = min((time for time in gradients if before < time <= event.time), default=event.time)
                steps.append(ScaledStep(since, event.time, value == 0))
    return steps


def without_skipped(
    found: list[Written], steps: list[ScaledStep], *, is_last: bool, is_nan: Callable[[Written], bool]
) -> list[Written]:
    """Leave out what was not finite only because of the gradients of steps that were skipped.

    If these are the last ones, only those that are followed by a better one.

    Args:
        found: what was not finite.
        steps: the steps of scalers; if they are not the last ones, also the one that has begun.
        is_last: whether no step follows.
        is_nan: tells whether any number of a tensor is NaN.
    """
    last_good = max((step.end for step in steps if step.is_finite), default=0) if is_last else sys.maxsize
    left = list(found)
    before = 0
    for step in steps:
        is_excused = not step.is_finite and step.end <= last_good
        # A loss that was NaN itself is no fault of the factor.
        if is_excused and not any(before < item.time < step.since and is_nan(item) for item in left):
            left = [item for item in left if not step.since <= item.time <= step.end]
        before = step.end
    return left

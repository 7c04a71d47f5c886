"""Which operation computed a tensor, and what a computation that was tried in its place gives at the same index."""

from __future__ import annotations

from typing import Any

import torch

from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.nonfinite.nonfinite_chain import Link
from attn_tutor.lessons.worker.recording.element_history import Element
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.regions import Region


def maker_of(run: Explainer, region: Any, time: int) -> Event | None:
    """Return the operation that computed a tensor; None if nothing recorded did."""
    if not isinstance(region, Region) or not region.size:
        return None
    element = run.through(Element.of(region, (0,) * len(region.shape), time))
    return run.history.writer(element)


def number_at(again: torch.Tensor, operand: Region, event: Event, first: Link) -> float | None:
    """Return the number at the index of the first number, in a tensor that has the shape of the operand."""
    found = event.index_of(first.element.storage, first.element.offset, first.element.size)
    if found is None or tuple(again.shape) != operand.shape:
        return None
    return float(again[found[1]])

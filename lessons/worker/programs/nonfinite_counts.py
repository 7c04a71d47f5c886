"""How many numbers of the named tensors of a run are NaN, and how many are infinite, for the list of them."""

from __future__ import annotations

import functools
import math
import time

import torch

from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.jobs.run_state import RunState
from attn_tutor.lessons.worker.programs.named_tensors import NamedTensor
from attn_tutor.lessons.worker.recording.element_history import ValueLost
from attn_tutor.lessons.worker.recording.tensor_parts import parts

SECONDS = 0.5
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
        self._until = time.monotonic() + SECONDS

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
            if (found := count(values, self._until)) is None:
                return None
            self._known[key] = found
        return self._known[key]


@functools.lru_cache(maxsize=1)
def counts_of(run: RunState) -> NonfiniteCounts:
    """Return the counts of a run."""
    return NonfiniteCounts(run.explainer)


def count(tensor: torch.Tensor, until: float) -> Counts | None:
    """Count the numbers that are NaN, and those that are infinite; None if that is not done `until` this time.

    The time is that of `time.monotonic`. The tensor may be a file that is larger than the memory.
    """
    nans = infinite = 0
    for part in parts(tensor):
        if time.monotonic() > until:
            return None
        more_nans, more_infinite = _count_at_once(part)
        nans, infinite = nans + more_nans, infinite + more_infinite
    return nans, infinite


def _count_at_once(tensor: torch.Tensor) -> Counts:
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

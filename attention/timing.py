"""How long calls take: fair to each of them, and little disturbed by what else the machine does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import torch
from torch import Tensor


def median_times(
    calls: Sequence[Callable[[], object]], rounds: int = 7
) -> Tensor:
    """Milliseconds that each call takes, (len(calls),): the median of some rounds, in each of which all take turns.

    A first round is not counted. The calls are made in a thread of their own, which no tracing of operations in this
    one (a profiler, a recorder) slows down, and without gradients.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(_measured, calls, rounds).result()


def _measured(calls: Sequence[Callable[[], object]], rounds: int) -> Tensor:
    if not calls or rounds < 1:
        raise ValueError("there is nothing to measure")
    seconds = torch.zeros(rounds, len(calls), dtype=torch.float64)
    with torch.no_grad():
        for call in calls:
            call()  # warm-up: memory is fetched, kernels are chosen
        for turn in range(rounds):
            for place, call in enumerate(calls):
                start = perf_counter()
                call()
                seconds[turn, place] = perf_counter() - start
    return seconds.median(dim=0).values.float() * 1000

"""How long calls take, measured fairly and with little disturbance from other work on the machine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import torch
from torch import Tensor


def median_times(calls: Sequence[Callable[[], object]], rounds: int = 7) -> Tensor:
    """Measure the milliseconds that each call takes: a vector, one number per call.

    Each is the median of ``rounds`` rounds, and in each round all calls take turns. A first round is not counted. The
    calls are made without gradients, and in a thread of their own: what traces operations in this one (a profiler, a
    recorder) does not slow them down.

    Raises ``ValueError`` without calls or rounds, and whatever a call raises.
    """
    with ThreadPoolExecutor(max_workers=1) as thread:
        return thread.submit(_measure, calls, rounds).result()


def _measure(calls: Sequence[Callable[[], object]], rounds: int) -> Tensor:
    """Time the calls in the current thread."""
    if not calls or rounds < 1:
        raise ValueError("there is nothing to measure")
    seconds = torch.zeros(rounds, len(calls), dtype=torch.float64)
    with torch.no_grad():
        for call in calls:
            call()  # warm-up: memory is fetched, kernels are chosen
        for turn in range(rounds):
            for index, call in enumerate(calls):
                start = perf_counter()
                call()
                seconds[turn, index] = perf_counter() - start
    return seconds.median(dim=0).values.float() * 1000

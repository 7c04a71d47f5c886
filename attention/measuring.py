"""What can be found out about a layer from outside: how long its calls take, and which projections its tokens pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import torch
from torch import Tensor, nn


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


def projections(layer: nn.Module) -> dict[str, list[str]]:
    """List the linear layers that queries, keys, values and the output of an attention layer pass, in order.

    Found by looking into the layer: its own ``W_query``, ``W_key``, ``W_value`` and ``out_proj``, and those of every
    ``nn.MultiheadAttention`` in it. A list with two names is a projection made twice::

        projections(OutputProjectedTwice(3, 3, 6, 0.0, 3))["output"]  # ["multihead_attn.out_proj", "out_proj"]

    Raises ``ValueError`` for a module without projections, such as the wrapper: ask one of its heads.
    """
    own = {"queries": "W_query", "keys": "W_key", "values": "W_value"}
    passed = {role: [name] if hasattr(layer, name) else [] for role, name in own.items()}
    passed["output"] = []
    for name, module in layer.named_modules():
        if isinstance(module, nn.MultiheadAttention):
            prefix = f"{name}." if name else ""
            for role in own:
                passed[role].append(f"{prefix}in_proj ({role})")
            passed["output"].append(f"{prefix}out_proj")
    if hasattr(layer, "out_proj") and not isinstance(layer, nn.MultiheadAttention):
        passed["output"].append("out_proj")
    if not passed["queries"]:
        raise ValueError(f"{type(layer).__name__} has no query projection of its own: ask one of its parts")
    return passed

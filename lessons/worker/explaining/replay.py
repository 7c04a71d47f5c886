"""What an operation without operands gave when it ran: constants and draws are made again, data were kept.

A tensor may change without an operation that PyTorch dispatches: by `apply_`, through its storage, in another thread.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

from lessons.worker.recording.element_history import ElementHistory, ValueLost
from lessons.worker.recording.event import Event, contents
from lessons.worker.recording.regions import Region

CONSTANTS = frozenset(
    {
        *("ones", "zeros", "full", "ones_like", "zeros_like", "full_like", "new_ones", "new_zeros", "new_full"),
        *("eye", "arange", "linspace", "logspace", "scalar_tensor", "tril_indices", "triu_indices", "zero", "fill"),
    }
)
"""Operations that give the same numbers each time."""

DRAWS = frozenset(
    {
        *("rand", "randn", "randint", "rand_like", "randn_like", "randint_like", "randperm", "uniform", "normal"),
        *("random", "bernoulli", "exponential", "multinomial"),
    }
)
"""Operations that give the same numbers each time when the generator is in the same state."""

MOST_KEPT = 1 << 25
"""Elements of repeated results that are kept for the next question."""


class Replay:
    """Runs recorded operations again that depend on nothing but their arguments and the state of a generator."""

    def __init__(self, history: ElementHistory) -> None:
        self._history = history
        self._results: OrderedDict[int, torch.Tensor | None] = OrderedDict()
        self._size = 0

    def result(self, event: Event) -> torch.Tensor | None:
        """Return what an event gave when it ran; None if that cannot be known."""
        if event.initial is not None:
            return contents(event.initial)
        if event.time not in self._results:
            result = self._run(event)
            self._results[event.time] = result
            self._size += 0 if result is None else result.numel()
            while self._size > MOST_KEPT and len(self._results) > 1:
                _, oldest = self._results.popitem(last=False)
                self._size -= 0 if oldest is None else oldest.numel()
        return self._results[event.time]

    def _run(self, event: Event) -> torch.Tensor | None:
        op, state = event.op.removesuffix("_"), event.draw.state if event.draw is not None else None
        if op not in CONSTANTS and (op not in DRAWS or state is None):
            return None
        try:
            args = [self._argument(event, position, value) for position, value in enumerate(event.args)]
            kwargs = {name: self._argument(event, None, value) for name, value in event.kwargs.items()}
            with torch.random.fork_rng(devices=[]):
                if state is not None:
                    torch.set_rng_state(state)
                    if event.kwargs.get("generator") is not None:
                        kwargs["generator"] = torch.Generator()
                        kwargs["generator"].set_state(state)
                result = event.info.func(*args, **kwargs)
        except (ValueLost, RuntimeError, TypeError):
            return None
        fits = isinstance(result, torch.Tensor) and tuple(result.shape) == event.outs[0].shape
        return result if fits else None

    def _argument(self, event: Event, position: int | None, value: Any) -> Any:
        if not isinstance(value, Region):
            return value
        if event.info.written and position == 0:
            # What is overwritten may hold anything, but numbers are drawn in the order of memory.
            return torch.empty_strided(value.shape, value.stride, dtype=value.dtype)
        return self._history.tensor(value, event.time)

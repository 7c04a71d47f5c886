"""What an operation gave when it ran: it runs again on what it took, and data that came from outside were kept.

A tensor may change without an operation that PyTorch dispatches: by `apply_`, through its storage, in another thread.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import Any

import torch

from attn_tutor.lessons.results.floats import exact_number
from attn_tutor.lessons.worker.explaining.recorded_run import Index
from attn_tutor.lessons.worker.recording.element_history import ElementHistory, ValueLost
from attn_tutor.lessons.worker.recording.event import Event, contents, tensors_of
from attn_tutor.lessons.worker.recording.regions import Region

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

MOST_TAKEN = 1 << 22
"""Elements of all operands up to which an operation runs again."""

MOST_KEPT = 1 << 25
"""Elements of repeated results that are kept for the next question."""


MOST_PLACES = 4096
"""Elements of a tensor that is written to up to which their places are compared."""


def _overlaps(region: Region) -> bool:
    """Return whether an element may be written several times at once, so that a copy of the tensor is no stand-in."""
    outline = torch.empty_strided(region.shape, region.stride, device="meta")
    if not torch._debug_has_internal_overlap(outline):
        return False
    return region.size > MOST_PLACES or len(set(region.offsets())) < region.size


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

    def number(self, event: Event, output: int, index: Index, *, wide: bool = False) -> float | None:
        """Return what an operation gives at an index of a result if it runs again; None if that cannot be known.

        With `wide`, it computes in double precision.
        """
        region = event.outs[output]
        if event.initial is not None or event.info.random:
            made = None if wide else self.result(event)
        elif event.info.func is None or not self._is_repeatable(event):
            return None
        else:
            made = self._again(event, output, wide)
        if made is None or made.is_complex() or tuple(made.shape) != region.shape:
            return None
        return exact_number(made[index].item())

    @staticmethod
    def _is_repeatable(event: Event) -> bool:
        """Return whether an operation can run again on copies of what it took, and does so soon."""
        size = sum(operand.size for operand in event.operands())
        return size <= MOST_TAKEN and not any(map(_overlaps, event.written))

    def _again(self, event: Event, output: int, wide: bool) -> torch.Tensor | None:
        """Run an operation on copies of what it took, and return one of its results."""

        def taken(region: Region) -> torch.Tensor:
            copy = self._history.tensor(region, event.time)
            return copy.double() if wide and copy.is_floating_point() else copy

        def widened(value: Any) -> Any:
            is_float = wide and isinstance(value, torch.dtype) and value.is_floating_point
            return torch.float64 if is_float else value

        try:
            given, named = event.arguments(taken)
            args, kwargs = list(map(widened, given)), {name: widened(value) for name, value in named.items()}
            with torch.no_grad(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                out = event.info.func(*args, **kwargs)
        except (ValueLost, RuntimeError, TypeError, ValueError, IndexError, NotImplementedError):
            return None
        written = list(event.info.targets(args, kwargs)) if event.info.written else []
        memories = {item.untyped_storage()._cdata for item in written}
        outs = [*written, *(item for item in tensors_of(out) if item.untyped_storage()._cdata not in memories)]
        return outs[output] if len(outs) == len(event.outs) else None

    def _run(self, event: Event) -> torch.Tensor | None:
        op, state = event.op.removesuffix("_"), event.draw.state if event.draw is not None else None
        if op not in CONSTANTS and (op not in DRAWS or state is None):
            return None
        try:
            args, kwargs = event.arguments(lambda region: self._history.tensor(region, event.time), _blank(event))
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


def _blank(event: Event) -> dict[str, torch.Tensor]:
    """Return what an operation may write to in the place of a tensor that it overwrites, whatever that held."""
    region = event.args[0] if event.info.written and event.args else None
    if not isinstance(region, Region):
        return {}
    # Numbers are drawn in the order of memory.
    return {"self": torch.empty_strided(region.shape, region.stride, dtype=region.dtype)}

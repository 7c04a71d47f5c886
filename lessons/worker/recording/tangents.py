"""Tangents: the derivatives that PyTorch computes beside the numbers of a function, as `torch.func.jvp` asks for.

PyTorch computes a number and then its tangent in the same call, so their operations have one position in the source,
and the name that the source gives to the number would be given to its tangent. That of a tangent depends on one that
the program gave. The others of such a call may be for either, so none of its results has a name.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.autograd import forward_ad

from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.record import ForwardDerivatives, Record


@contextmanager
def noting(record: Record) -> Iterator[None]:
    """Note in a record which tensors are given as tangents meanwhile, and until when PyTorch carries them along."""
    make: Any = forward_ad.make_dual
    leave: Any = forward_ad.exit_dual_level
    current: list[ForwardDerivatives] = []

    def make_dual(tensor: Any, tangent: Any, **more: Any) -> Any:
        if not current:
            current.append(ForwardDerivatives(record.time))
            record.forward.append(current[0])
        current[0].given.add(_of_all_calls(tangent).untyped_storage()._cdata)
        return make(tensor, tangent, **more)

    def exit_dual_level(**more: Any) -> None:
        leave(**more)
        for ended in current:
            ended.until = record.time
        current.clear()

    forward_ad.make_dual, forward_ad.exit_dual_level = make_dual, exit_dual_level
    try:
        yield
    finally:
        forward_ad.make_dual, forward_ad.exit_dual_level = make, leave


def _of_all_calls(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor that has the numbers: inside of transformed functions, that of all calls at once."""
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


class Tangents:
    """Tells which operations of a record, which may grow meanwhile, have computed tangents."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._seen = 0
        self._carried: list[set[int]] = []
        self._times: set[int] = set()

    def has(self, event: Event) -> bool:
        """Return whether an operation took a tangent, while PyTorch carried it along."""
        return event.time in self._times

    def update(self) -> None:
        """Follow what has been recorded since the last call."""
        events, forward = self._record.events, self._record.forward
        self._carried += [set(item.given) for item in forward[len(self._carried) :]]
        for item, carried in zip(forward, self._carried, strict=True):
            carried |= item.given
            for event in events[events.after(max(item.since, self._seen)) : events.after(item.until)]:
                if any(region.storage in carried for region in event.operands()):
                    carried.update(region.storage for region in event.outs)
                    self._times.add(event.time)
        self._seen = self._record.time

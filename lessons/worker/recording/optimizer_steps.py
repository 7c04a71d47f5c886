"""The steps of optimizers: the settings of each, and the tensors that they keep for each parameter."""

from __future__ import annotations

import contextlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import torch
from torch.optim import Optimizer
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from attn_tutor.lessons.worker.recording.record import Record
from attn_tutor.lessons.worker.recording.regions import Region

SYMBOLS = {"exp_avg": "m", "exp_avg_sq": "v"}
"""The symbols of tensors that an optimizer keeps for a parameter, by the names that PyTorch gives them."""


@dataclass(frozen=True, slots=True)
class StateTensor:
    """A tensor that an optimizer keeps for a parameter.

    Attributes:
        since: the time at which the optimizer began to keep it.
        key: its name in the state of the optimizer, such as `exp_avg`.
        region, parameter: the tensor and its parameter.
    """

    since: int
    key: str
    region: Region
    parameter: Region


@dataclass(frozen=True, slots=True)
class Step:
    """A step of an optimizer.

    Attributes:
        first, last: the times of its first operation and of the one after its last.
        kind: the class of the optimizer.
        settings: the numbers and switches of the group of parameters that each storage belongs to, by storage.
    """

    first: int
    last: int
    kind: type
    settings: dict[int, dict[str, Any]]


@dataclass(slots=True)
class OptimizerSteps:
    """Notes the steps of all optimizers, and what they keep.

    Attributes:
        states: what optimizers keep, by storage and key.
    """

    record: Record
    states: dict[int, StateTensor] = field(default_factory=dict)
    _steps: list[Step] = field(default_factory=list)
    _forgotten: int = 0
    _begun: dict[int, tuple[int, dict[int, dict[str, Any]]]] = field(default_factory=dict)
    _counts: WeakKeyDictionary[Optimizer, int] = field(default_factory=WeakKeyDictionary)

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch what optimizers do meanwhile."""
        handles = [register_optimizer_step_pre_hook(self._before), register_optimizer_step_post_hook(self._after)]
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def step_at(self, time: int) -> Step | None:
        """Return the step that an operation belonged to; None if it belonged to none."""
        position = bisect_right(self._steps, time, key=lambda step: step.first) - 1
        return self._steps[position] if position >= 0 and time < self._steps[position].last else None

    def count_before(self, time: int) -> int:
        """Count the steps that had begun before a time."""
        return self._forgotten + bisect_left(self._steps, time, key=lambda step: step.first)

    def forget_before(self, time: int) -> None:
        """Forget the steps that had ended before a time, but not how many they were."""
        ended = bisect_right(self._steps, time, key=lambda step: step.last)
        del self._steps[:ended]
        self._forgotten += ended

    def _before(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        settings: dict[int, dict[str, Any]] = {}
        for group in optimizer.param_groups:
            plain = {key: value for key, value in group.items() if isinstance(value, bool | int | float | tuple)}
            settings.update((parameter.untyped_storage()._cdata, plain) for parameter in group["params"])
        self._begun[id(optimizer)] = self.record.time, settings

    def _after(self, optimizer: Optimizer, args: Any, kwargs: Any) -> None:
        first, settings = self._begun.pop(id(optimizer), (self.record.time, {}))
        if self.record.stopped or self.record.time == first:
            return
        self._steps.append(Step(first, self.record.time, type(optimizer), settings))
        tensors = [
            (parameter, key, value)
            for parameter, state in optimizer.state.items()
            for key, value in state.items()
            if isinstance(value, torch.Tensor) and value.layout == parameter.layout == torch.strided
        ]
        if len(tensors) == self._counts.get(optimizer):
            return
        self._counts[optimizer] = len(tensors)
        for parameter, key, tensor in tensors:
            region = Region.of(tensor)
            if region.storage not in self.states:
                self.states[region.storage] = StateTensor(first, key, region, Region.of(parameter))

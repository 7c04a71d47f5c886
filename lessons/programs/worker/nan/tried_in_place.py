"""Cures tried in place: what follows an operation is computed again with another result of it.

The recorded operations are run as they were, on what they took then, with the other result wherever they took this one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch

from attn_tutor.lessons.worker.explaining.explainer import Explainer
from attn_tutor.lessons.worker.recording.element_history import ValueLost
from attn_tutor.lessons.worker.recording.event import Event, tensors_of
from attn_tutor.lessons.worker.recording.regions import Region

MOST = 2000
"""Operations after another one that are run again."""

Key = tuple[int, int, tuple[int, ...], tuple[int, ...], torch.dtype]


def goes_on(run: Explainer, event: Event, result: torch.Tensor) -> bool:
    """Return whether all that was computed from an operation in a forward pass can be computed from another result.

    It cannot if an operation raises an exception, such as for a product of two types, or if a number is not finite
    that comes from this result. What cannot be tried does not go on either.
    """
    given = _given(event)
    events = run.record.events
    start = events.after(event.time + 1)
    if len(events) - start > MOST or given is None:
        return False
    changed: dict[Key, torch.Tensor] = {key(given): result}
    storages = {given.storage}
    for position in range(start, len(events)):
        if events.node(position) is not None:
            continue
        later = events[position]
        taken = [region for region in later.operands() if region.storage in storages]
        if not taken:
            continue
        if any(key(region) not in changed for region in taken) or later.info.func is None or later.info.random:
            return False
        try:
            results = run_again(run, later, changed)
        except (RuntimeError, TypeError, ValueError, IndexError, ValueLost):
            return False
        if len(results) < len(later.outs) or not all(map(_is_finite, results)):
            return False
        for region, tensor in zip(later.outs, results, strict=False):
            changed[key(region)] = tensor
            storages.add(region.storage)
    return True


def helps(run: Explainer, event: Event, cured: Callable[..., torch.Tensor], *names: str) -> bool:
    """Return whether all that follows an operation can be computed from what a cure gives in its place.

    The cure gets the operands of the operation with these names, as they were. If the program has computed derivatives,
    that of the cure has to be finite too.
    """
    taken = [run.history.tensor(event.arg(name), event.time) for name in names]
    result = cured(*taken)
    given = _given(event)
    if given is None or (result.shape, result.dtype) != (given.shape, given.dtype) or not _is_finite(result):
        return False
    events = run.record.events
    is_derived = any(events.node(position) is not None for position in range(events.after(event.time), len(events)))
    return (not is_derived or _has_slope(cured, taken)) and goes_on(run, event, result)


def _given(event: Event) -> Region | None:
    """Return the first result of an operation that is no tensor which it has changed; None if it has no other."""
    taken = {region.storage for region in event.operands()}
    return next((region for region in event.outs if region.storage not in taken), None)


def _has_slope(cured: Callable[..., torch.Tensor], taken: list[torch.Tensor]) -> bool:
    """Return whether the derivative of a computation is finite for a gradient of ones."""
    with torch.enable_grad():
        leaves = [item.detach().requires_grad_(item.is_floating_point()) for item in taken]
        result = cured(*leaves)
        wanted = [leaf for leaf in leaves if leaf.requires_grad]
        if not result.requires_grad or not wanted:
            return True
        slopes = torch.autograd.grad(result, wanted, torch.ones_like(result), allow_unused=True)
    return all(slope is None or bool(slope.isfinite().all()) for slope in slopes)


def run_again(run: Explainer, event: Event, changed: Mapping[Key, torch.Tensor]) -> list[torch.Tensor]:
    """Run an operation again with other tensors in the place of some; return all tensors that it gives.

    Raises `ValueLost` if nobody knows what it took, and what the operation itself raises.
    """

    def taken(region: Region) -> torch.Tensor:
        found = changed.get(key(region))
        return found if found is not None else run.history.tensor(region, event.time)

    args, kwargs = event.arguments(taken)
    return list(tensors_of(event.info.func(*args, **kwargs)))


def subtracts_largest(run: Explainer, event: Event) -> bool:
    """Return whether an operation subtracts the largest numbers of rows, and gives no NaN if infinite ones are 0."""
    operands = event.arg("self"), event.arg("other")
    if event.op.strip("_") != "sub" or not all(isinstance(operand, Region) for operand in operands):
        return False
    row, highest = (run.history.tensor(operand, event.time) for operand in operands)
    if row.dim() != highest.dim():
        return False
    axes = [axis for axis in range(row.dim()) if highest.shape[axis] < row.shape[axis]]
    if not axes or not torch.equal(row.amax(axes, keepdim=True), highest):
        return False
    return not bool((row - highest.masked_fill(highest.isinf(), 0)).isnan().any())


def _is_finite(tensor: torch.Tensor) -> bool:
    return not tensor.is_floating_point() or bool((tensor.isfinite() | (tensor == -torch.inf)).all())


def key(region: Region) -> Key:
    """Return what is the same for all regions that show the same numbers in the same shape."""
    return region.storage, region.offset, region.shape, region.stride, region.dtype

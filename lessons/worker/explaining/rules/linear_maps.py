"""Rules for operations that add up parts of their input with fixed factors, and for the greatest of a window.

What the factors are, PyTorch itself says: they are the derivatives of a result by the elements of the input, which do
not depend on these elements.
"""

from __future__ import annotations

import itertools
from typing import Any

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.registry import (
    MOST_TERMS,
    make,
    region,
    rule,
    set_here,
    too_many,
    unknown,
)
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/linear-maps")

MOST_CELLS = 1 << 20
"""Elements of an input up to which the factors are computed."""

_LINEAR = {
    **dict.fromkeys(
        (
            *(f"avg_pool{rank}d" for rank in (1, 2, 3)),
            *(f"_adaptive_avg_pool{rank}d" for rank in (2, 3)),
            *(f"upsample_nearest{rank}d" for rank in (1, 2, 3)),
            *(f"_upsample_nearest_exact{rank}d" for rank in (1, 2, 3)),
            *(f"reflection_pad{rank}d" for rank in (1, 2, 3)),
            *(f"replication_pad{rank}d" for rank in (1, 2, 3)),
            "upsample_linear1d",
            "upsample_bilinear2d",
            "upsample_bicubic2d",
            "upsample_trilinear3d",
            "im2col",
            "col2im",
            "trace",
            "diag_embed",
            "pixel_shuffle",
            "pixel_unshuffle",
            "channel_shuffle",
            "native_channel_shuffle",
        ),
        "self",
    ),
    **dict.fromkeys(
        (
            *(f"avg_pool{rank}d_backward" for rank in (2, 3)),
            *(f"_adaptive_avg_pool{rank}d_backward" for rank in (2, 3)),
            *(f"upsample_nearest{rank}d_backward" for rank in (1, 2, 3)),
            *(f"reflection_pad{rank}d_backward" for rank in (1, 2, 3)),
            *(f"replication_pad{rank}d_backward" for rank in (1, 2, 3)),
            "upsample_linear1d_backward",
            "upsample_bilinear2d_backward",
            "upsample_bicubic2d_backward",
            "max_pool2d_with_indices_backward",
            "max_pool3d_with_indices_backward",
        ),
        "grad_output",
    ),
    "unfold_backward": "grad_in",
    "affine_grid_generator": "theta",
    **dict.fromkeys(("_embedding_bag", "_embedding_bag_forward_only"), "weight"),
}
"""Operations that are linear in one argument, with its name."""


@rule(*_LINEAR)
def _linear(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain a cell as the sum of the elements that it is made from, each times its factor."""
    event = derivation.event
    name = _LINEAR[event.op]
    given = event.arg(name)
    # The maximum of a bag (mode 2) is not linear, and further results serve the backward pass.
    if not isinstance(given, Region) or given.size > MOST_CELLS or derivation.output or event.arg("mode") == 2:
        return unknown(derivation, index, value)
    factors = _factors(derivation, name, given, index)
    if factors is None:
        return unknown(derivation, index, value)
    title = event.op.strip("_")
    if len(factors) > MOST_TERMS:
        return too_many(derivation, len(factors))
    cells = [derivation.cell(given, at) for at, _ in factors]
    weights = {factor for _, factor in factors}
    if not cells:
        return make("constant", None, set_here(value))
    if weights == {1.0}:
        return make(title, f.add(*cells))
    if len(weights) == 1 and (count := 1 / weights.pop()) == round(count):
        return make(title, f.Op("/", (f.add(*cells), f.Number(count))))
    return make(
        title, f.add(*(f.multiply(cell, f.Number(factor)) for cell, (_, factor) in zip(cells, factors, strict=True)))
    )


def _factors(derivation: Derivation, name: str, given: Region, index: Index) -> list[tuple[Index, float]] | None:
    """Return the elements of an argument that a cell is made from, with their factors; None if that is unknown."""
    event = derivation.event

    def plain(value: Any) -> Any:
        if not isinstance(value, Region):
            return value
        other = derivation.run.history.tensor(value, event.time)
        return other.double() if other.is_floating_point() else other

    stand_in = torch.zeros(given.shape, dtype=torch.float64, requires_grad=True)
    positions = {position: key for key, position in event.info.names.items()}
    args = [stand_in if positions[at] == name else plain(value) for at, value in enumerate(event.args)]
    kwargs = {key: plain(value) for key, value in event.kwargs.items() if key not in ("out", "grad_input")}
    # The form of an embedding bag that inference uses has no derivative.
    func = torch.ops.aten._embedding_bag if event.op.startswith("_embedding_bag") else event.info.func
    try:
        with torch.enable_grad():
            made = func(*args, **kwargs)
            result = made if isinstance(made, torch.Tensor) else made[derivation.output]
            (slopes,) = torch.autograd.grad(result[index], stand_in)
    except (RuntimeError, NotImplementedError, TypeError, IndexError):
        return None
    return [(tuple(at), float(slopes[tuple(at)])) for at in slopes.nonzero().tolist()]


@rule("max_pool2d_with_indices", "max_pool3d_with_indices", "adaptive_max_pool2d")
def _max_pool(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain the greatest number of a window, or where it lies in the input."""
    inputs, event = region(derivation), derivation.event
    rank = len(event.outs[0].shape) - (len(inputs.shape) - len(_spatial(event.op)))
    sizes, out_sizes = inputs.shape[-rank:], event.outs[0].shape[-rank:]
    ranges = []
    for axis in range(rank):
        if event.op.startswith("adaptive"):
            first = index[-rank + axis] * sizes[axis] // out_sizes[axis]
            last = -(-(index[-rank + axis] + 1) * sizes[axis] // out_sizes[axis])
            ranges.append(range(first, last))
            continue
        kernel = each(event.arg("kernel_size"), axis)
        stride = each(event.arg("stride") or event.arg("kernel_size"), axis)
        padding, dilation = each(event.arg("padding"), axis), each(event.arg("dilation"), axis)
        start = index[-rank + axis] * stride - padding
        ranges.append(range(start, start + kernel * dilation, dilation))
    inside = [
        at for at in itertools.product(*ranges) if all(0 <= one < size for one, size in zip(at, sizes, strict=True))
    ]
    if derivation.output == 1:
        note = say(
            "greatest-place", "Where the greatest number of the window lies, counted along the rows of the input."
        )
        return make("max_pool", None, note)
    cells = [derivation.cell(inputs, (*index[:-rank], *at)) for at in inside]
    note = say.count(
        "greatest",
        len(cells),
        "The greatest of the {count} number in this window.",
        "The greatest of the {count} numbers in this window.",
    )
    return make("max_pool", f.call("max", *cells), note)


def _spatial(op: str) -> str:
    return "xyz"[: 3 if "3d" in op else 2]


def each(value: Any, axis: int) -> int:
    """Return the entry of an axis from a list that may hold one entry for all."""
    items = value if isinstance(value, list | tuple) else [value]
    return int(items[axis] if axis < len(items) else items[0])

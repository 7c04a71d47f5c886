"""Rules for sums of products: matrix products, linear layers, convolutions, sums of the input with fixed factors.

Where the call does not say what the factors are, PyTorch itself says it: they are the derivatives of a result by the
elements of the input, which do not depend on these elements. The greatest of a window is found in the same way.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import torch

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation, broadcast
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.registry import (
    MOST_TERMS,
    ZERO,
    make,
    region,
    rule,
    set_here,
    too_many,
    unknown,
)
from attn_tutor.lessons.worker.recording.regions import Region


def _dot(derivation: Derivation, left: Region, right: Region, found: Iterator[tuple[Index, Index]]) -> f.Formula:
    terms = [f.multiply(derivation.cell(left, a), derivation.cell(right, b)) for a, b in found]
    return f.add(*terms) if terms else ZERO


@rule("dot", "vdot", "mv", "mm", "bmm", "matmul")
def _product(derivation: Derivation, index: Index, value: float) -> RuleResult:
    left, right = factors_of(derivation)
    if left.shape[-1] > MOST_TERMS:
        return too_many(derivation, 2 * left.shape[-1])
    return make("matmul", _dot(derivation, left, right, index_pairs(left.shape, right.shape, index)))


def factors_of(derivation: Derivation) -> tuple[Region, Region]:
    """Return the two tensors that a product multiplies."""
    others = (derivation.event.arg(name) for name in ("tensor", "vec", "mat2", "other"))
    return region(derivation), next(item for item in others if isinstance(item, Region))


def index_pairs(left: Index, right: Index, index: Index) -> Iterator[tuple[Index, Index]]:
    """Yield the indices of the two factors of each term of a product of tensors of these shapes."""
    rows = () if len(left) == 1 else (index[-2] if len(right) > 1 else index[-1],)
    cols = () if len(right) == 1 else (index[-1],)
    lead = index[: len(index) - len(rows) - len(cols)]
    first, second = broadcast(left[:-2], lead), broadcast(right[:-2], lead)
    for k in range(left[-1]):
        yield (*first, *rows, k), (*second, k, *cols)


_FACTORS = {
    "addmv": ("mat", "vec"),
    "baddbmm": ("batch1", "batch2"),
    "addbmm": ("batch1", "batch2"),
    "addr": ("vec1", "vec2"),
}
"""The names of the arguments that are multiplied, for operations that do not call them `mat1` and `mat2`."""


@rule("addmm", "addmv", "baddbmm", "addbmm", "addr")
def _add_product(derivation: Derivation, index: Index, value: float) -> RuleResult:
    event = derivation.event
    op = event.op.strip("_")
    names = _FACTORS.get(op, ("mat1", "mat2"))
    left, right = event.arg(names[0]), event.arg(names[1])
    if not isinstance(left, Region) or not isinstance(right, Region):
        return unknown(derivation, index, value)
    if op == "addr":
        found: Iterator[tuple[Index, Index]] = iter([(index[:1], index[1:])])
    elif op == "addbmm":
        leads = range(left.shape[0])
        found = (pair for lead in leads for pair in index_pairs(left.shape, right.shape, (lead, *index)))
    else:
        found = index_pairs(left.shape, right.shape, index)
    if left.shape[-1] * (left.shape[0] if op == "addbmm" else 1) > MOST_TERMS and op != "addr":
        return too_many(derivation, 2 * left.shape[-1])
    product = _dot(derivation, left, right, found)
    alpha, beta = event.arg("alpha"), event.arg("beta")
    if alpha not in (None, 1):
        product = f.multiply(f.Number(float(alpha)), product)
    if beta == 0:
        return make("matmul", product)
    added = derivation.operand("self", index)
    if beta not in (None, 1):
        added = f.multiply(f.Number(float(beta)), added)
    terms = product.parts if isinstance(product, f.Op) and product.op == "+" else (product,)
    return make("linear", f.add(*terms, added))


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


class _Window:
    """The geometry of a convolution: which positions of input and output meet at which element of the kernel."""

    def __init__(self, derivation: Derivation) -> None:
        event = derivation.event
        self.weight = region(derivation, "weight")
        self.groups = int(event.arg("groups"))
        self.kernel = self.weight.shape[2:]
        rank = len(self.kernel)
        self.stride, self.padding, self.dilation = (
            [each(event.arg(name), axis) for axis in range(rank)] for name in ("stride", "padding", "dilation")
        )

    def taps(self) -> Iterator[Index]:
        """Iterate over the elements of the kernel."""
        return itertools.product(*map(range, self.kernel))

    def start(self, small: Index, tap: Index) -> Index:
        """Return the position on the wide side that a position on the narrow side meets at a tap."""
        steps = zip(small, self.stride, self.padding, tap, self.dilation, strict=True)
        return tuple(at * stride - padding + one * dilation for at, stride, padding, one, dilation in steps)

    def end(self, wide: Index, tap: Index) -> Index | None:
        """Return the position on the narrow side that meets a position on the wide side at a tap; None if none does."""
        found = []
        for at, stride, padding, one, dilation in zip(wide, self.stride, self.padding, tap, self.dilation, strict=True):
            position, rest = divmod(at + padding - one * dilation, stride)
            if rest:
                return None
            found.append(position)
        return tuple(found)


def _is_inside(position: Index | None, sizes: Index) -> bool:
    return position is not None and all(0 <= at < size for at, size in zip(position, sizes, strict=True))


Pair = tuple[Index, Index]


def _narrow(window: _Window, wide: Region, sample: int, channel: int, at: Index) -> Iterator[Pair]:
    """Yield the indices of both factors of a cell on the narrow side: the result of a convolution."""
    own, others = window.weight.shape[0] // window.groups, window.weight.shape[1]
    group = channel // own
    for inner in range(others):
        for tap in window.taps():
            position = window.start(at, tap)
            if _is_inside(position, wide.shape[2:]):
                yield (sample, group * others + inner, *position), (channel, inner, *tap)


def _wide(window: _Window, narrow: Region, sample: int, channel: int, at: Index) -> Iterator[Pair]:
    """Yield the indices of both factors of a cell on the wide side: the result of a transposed convolution."""
    own, others = window.weight.shape[1], window.weight.shape[0] // window.groups
    group, inner = divmod(channel, own)
    for other in range(group * others, (group + 1) * others):
        for tap in window.taps():
            position = window.end(at, tap)
            if position is not None and _is_inside(position, narrow.shape[2:]):
                yield (sample, other, *position), (other, inner, *tap)


@rule("convolution", "_convolution", "mkldnn_convolution")
def _convolution(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain `nn.Conv1d`, `nn.Conv2d`, `nn.Conv3d` and their transposed forms: sums of products with a kernel."""
    inputs, window = region(derivation, "input"), _Window(derivation)
    sample, channel, *at = index
    transposed = bool(derivation.event.arg("transposed"))
    pairs = (
        _wide(window, inputs, sample, channel, tuple(at))
        if transposed
        else _narrow(window, inputs, sample, channel, tuple(at))
    )
    notes = [say("edge", "Numbers beyond the edge count as 0.")] if any(window.padding) else []
    return _products(derivation, "convolution", inputs, pairs, [channel], notes)


def _products(
    derivation: Derivation, title: str, other: Region, pairs: Iterator[Pair], bias: list[int], notes: list[str]
) -> RuleResult:
    found = list(itertools.islice(pairs, MOST_TERMS + 1))
    if len(found) > MOST_TERMS:
        return too_many(derivation, 2 * len(found))
    weight = region(derivation, "weight")
    terms = [f.multiply(derivation.cell(other, one), derivation.cell(weight, two)) for one, two in found]
    given = derivation.event.arg("bias")
    if isinstance(given, Region):
        terms += [derivation.cell(given, (channel,)) for channel in bias]
    return make(title, f.add(*terms) if terms else ZERO, *notes)


@rule("convolution_backward")
def _convolution_backward(derivation: Derivation, index: Index, value: float) -> RuleResult:
    """Explain the gradients of the input, the kernel and the bias of a convolution."""
    event = derivation.event
    wanted = [output for output, is_wanted in enumerate(event.arg("output_mask")) if is_wanted]
    gradient, inputs, window = region(derivation, "grad_output"), region(derivation, "input"), _Window(derivation)
    if len(wanted) != len(event.outs):
        return unknown(derivation, index, value)
    output, transposed, title = wanted[derivation.output], bool(event.arg("transposed")), "convolution_backward"
    if output == 0:
        sample, channel, *at = index
        pairs = (
            _narrow(window, gradient, sample, channel, tuple(at))
            if transposed
            else _wide(window, gradient, sample, channel, tuple(at))
        )
        return _products(derivation, title, gradient, pairs, [], [])
    if output == 2:
        cells = [(sample, *index, *at) for sample, at in positions_of(gradient)]
        if len(cells) > MOST_TERMS:
            return too_many(derivation, len(cells))
        note = say("all-positions", "Summed over all positions.")
        return make(title, f.add(*(derivation.cell(gradient, at) for at in cells)), note)
    narrow, wide = (inputs, gradient) if transposed else (gradient, inputs)
    outer, inner, *tap = index
    group = outer // (window.weight.shape[0] // window.groups)
    channel = group * window.weight.shape[1] + inner
    pairs_of_cells = [
        ((sample, outer, *at), (sample, channel, *position))
        for sample, at in positions_of(narrow)
        if _is_inside(position := window.start(at, tuple(tap)), wide.shape[2:])
    ]
    if len(pairs_of_cells) > MOST_TERMS:
        return too_many(derivation, 2 * len(pairs_of_cells))
    terms = [f.multiply(derivation.cell(narrow, one), derivation.cell(wide, two)) for one, two in pairs_of_cells]
    note = say("shared-positions", "Summed over all positions that share this element of the kernel.")
    return make(title, f.add(*terms) if terms else ZERO, note)


def positions_of(tensor: Region) -> Iterator[tuple[int, Index]]:
    """Iterate over samples and positions of a tensor with channels on its second axis."""
    for sample in range(tensor.shape[0]):
        for at in itertools.product(*map(range, tensor.shape[2:])):
            yield sample, at

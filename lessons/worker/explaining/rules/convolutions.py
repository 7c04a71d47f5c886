"""Rules for convolutions and their gradients: sums of products with a kernel that moves over the input."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from attn_tutor.lessons.results import formula as f
from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.explaining.derivation import Derivation
from attn_tutor.lessons.worker.explaining.recorded_run import Index, RuleResult
from attn_tutor.lessons.worker.explaining.rules.linear_maps import each
from attn_tutor.lessons.worker.explaining.rules.registry import MOST_TERMS, ZERO, make, region, rule, too_many, unknown
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/convolutions")


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
        cells = [(sample, *index, *at) for sample, at in positions(gradient)]
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
        for sample, at in positions(narrow)
        if _is_inside(position := window.start(at, tuple(tap)), wide.shape[2:])
    ]
    if len(pairs_of_cells) > MOST_TERMS:
        return too_many(derivation, 2 * len(pairs_of_cells))
    terms = [f.multiply(derivation.cell(narrow, one), derivation.cell(wide, two)) for one, two in pairs_of_cells]
    note = say("shared-positions", "Summed over all positions that share this element of the kernel.")
    return make(title, f.add(*terms) if terms else ZERO, note)


def positions(tensor: Region) -> Iterator[tuple[int, Index]]:
    """Iterate over samples and positions of a tensor with channels on its second axis."""
    for sample in range(tensor.shape[0]):
        for at in itertools.product(*map(range, tensor.shape[2:])):
            yield sample, at

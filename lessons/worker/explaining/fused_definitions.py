"""Fused operations by their definition: what a kernel hides is computed again in single steps, under the recorder.

Only the row that is asked about is computed, from copies of what the kernel was given.
"""

from __future__ import annotations

import inspect
import math
import operator
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from lessons.worker.recording.element_history import Element, ElementHistory
from lessons.worker.recording.recorder import Event, Recorder, Region

NOTE = "A fused kernel computed this in one go. It is explained by its definition, computed again in single steps."

Index = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a fused operation that is computed again."""

    recorder: Recorder
    history: ElementHistory
    event: Event

    def arg(self, name: str) -> Any:
        """An argument that is no tensor."""
        return self.event.arg(name)

    def tensor(self, name: str, *place: Any) -> torch.Tensor | None:
        """A copy of an argument as it was, or of a part of it; None if it was not given. Raises `Forgotten`."""
        region = self.event.arg(name)
        if not isinstance(region, Region):
            return None
        with torch.utils._python_dispatch._disable_current_modes():
            part = Region.of(region.tensor[place])
            copy = self.history.tensor(part, self.event.time)
        self.recorder.snapshot(copy, part, self.event.time)
        return copy

    def given(self, name: str, *place: Any) -> torch.Tensor:
        """The same for an argument that is always given."""
        found = self.tensor(name, *place)
        assert found is not None
        return found


Definition = Callable[[Call, int, Index], tuple[torch.Tensor, Index]]
"""Computes a row (or more) of a result: gives it, and the index that its first element has in the result."""


def expand(
    definition: Definition, recorder: Recorder, history: ElementHistory, event: Event, output: int, index: Index
) -> dict[Index, Element]:
    """The elements of a result that come with the one at `index`, by index. Raises `Forgotten`."""
    recorder.watch(__file__, inspect.getsource(sys.modules[__name__]))
    with recorder.aside(event.sites):
        row, start = definition(Call(recorder, history, event), output, index)
    region, time = Region.of(row), recorder.record.time
    found = {}
    for place in region.indices():
        # The row has the last axes of the result.
        offset = (*(0 for _ in range(len(start) - len(place))), *place)
        found[tuple(map(operator.add, start, offset))] = Element.of(region, place, time)
    return found


def _attention(call: Call, output: int, index: Index) -> tuple[torch.Tensor, Index]:
    """Vaswani et al. 2017, equation 1, with an additive or a boolean mask (True = may be seen)."""
    # The second result, for the way back, has no last axis.
    lead, row = (index[:-1], index[-1]) if output else (index[:-2], index[-2])
    query = call.given("query", *lead, slice(row, row + 1))
    key, value = (call.given(name, *_head(call, name, lead)) for name in ("key", "value"))
    scale = call.arg("scale")
    scores = query @ key.transpose(-2, -1)
    scaled = scores * (1 / math.sqrt(query.shape[-1]) if scale is None else float(scale))
    if call.arg("is_causal"):
        future = torch.ones(1, scaled.shape[-1], dtype=torch.bool).triu(row + 1)
        scaled = scaled.masked_fill(future, -torch.inf)
    name = "attn_mask" if "attn_mask" in call.event.info.names else "attn_bias"
    mask = call.tensor(name, *_mask_place(call.arg(name), lead, row))
    if mask is not None:
        scaled = scaled.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scaled + mask
    if output:
        return torch.logsumexp(scaled, dim=-1), (*lead, row)
    weights = torch.ops.aten._safe_softmax(scaled, -1)
    return weights @ value, (*lead, row, 0)


def _head(call: Call, name: str, lead: Index) -> Index:
    """The head of the keys or values that a head of the queries meets: of fewer, each meets several in a row."""
    if not lead:
        return lead
    heads, own = call.arg("query").shape[-3], call.arg(name).shape[-3]
    return (*lead[:-1], lead[-1] * own // heads)


def _mask_place(mask: Any, lead: Index, row: int) -> tuple[Any, ...]:
    """The part of a mask that is for one row; the mask may be broadcast."""
    if not isinstance(mask, Region):
        return ()
    places = (*lead, row)
    shape = mask.shape[:-1]
    places = places[len(places) - len(shape) :] if shape else ()
    *first, last = (0 if size == 1 else place for size, place in zip(shape, places, strict=True))
    return (*first, slice(last, last + 1))


def _native(call: Call, output: int, index: Index) -> tuple[torch.Tensor, Index]:
    """The fast path of `nn.MultiheadAttention` in eval mode, for self-attention."""
    width, heads = int(call.arg("embed_dim")), int(call.arg("num_head"))
    sample, row = index[0], index[-2]
    linear = torch.nn.functional.linear
    inputs = call.given("query", sample)
    matrix, bias = call.given("qkv_weight"), call.given("qkv_bias")
    queries, keys, values = (
        linear(inputs, matrix[start : start + width], bias[start : start + width])
        .unflatten(-1, (heads, width // heads))
        .transpose(0, 1)
        for start in (0, width, 2 * width)
    )
    scores = queries[:, row : row + 1] @ keys.transpose(-2, -1)
    scaled = scores / math.sqrt(width // heads)
    hidden = call.tensor("mask", *_hidden_place(call, sample, row))
    if hidden is not None:
        # Here True means hidden.
        scaled = scaled.masked_fill(hidden, -torch.inf) if hidden.dtype == torch.bool else scaled + hidden
    weights = torch.softmax(scaled, dim=-1)
    if output == 1:
        if call.arg("average_attn_weights"):
            return weights.mean(dim=0), (sample, row, 0)
        return weights[index[1]], (sample, index[1], row, 0)
    context = (weights @ values).transpose(0, 1).flatten(1)
    return linear(context, call.given("proj_weight"), call.given("proj_bias")).unsqueeze(0), (sample, row, 0)


def _hidden_place(call: Call, sample: int, row: int) -> tuple[Any, ...]:
    """The part of a mask that is for one row: of tokens by tokens, of keys by sample, or of heads by both."""
    mask = call.arg("mask")
    if not isinstance(mask, Region):
        return ()
    if call.arg("mask_type") == 1:
        return (slice(sample, sample + 1),)
    if call.arg("mask_type") == 2:
        return sample, slice(None), slice(row, row + 1)
    return (slice(row, row + 1),)


DEFINED: dict[str, Definition] = {
    "_scaled_dot_product_flash_attention_for_cpu": _attention,
    "_scaled_dot_product_attention_math_for_mps": _attention,
    "_scaled_dot_product_flash_attention": _attention,
    "_scaled_dot_product_efficient_attention": _attention,
    "_native_multi_head_attention": _native,
}

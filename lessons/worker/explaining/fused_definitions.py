"""Definitions of fused operations, which compute again, in single recorded steps, what a kernel hides.

Only the row that is asked about is computed, from copies of the arguments of the kernel.
"""

from __future__ import annotations

import inspect
import math
import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.recording.element_history import Element, ElementHistory
from attn_tutor.lessons.worker.recording.event import Event
from attn_tutor.lessons.worker.recording.recorder import Recorder
from attn_tutor.lessons.worker.recording.regions import Region

say = Wording("explaining/fused")

ROUNDING = 64
"""Rounding errors of the largest element of a result by which a kernel may differ from its definition."""

Index = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class FusedCall:
    """The recorded call of a fused operation, with access to its arguments as they were."""

    recorder: Recorder
    history: ElementHistory
    event: Event

    def arg(self, name: str) -> Any:
        """Return an argument that is not a tensor."""
        return self.event.arg(name)

    def optional_tensor(self, name: str, *index: Any) -> torch.Tensor | None:
        """Return a copy of an argument as it was, or of a part of it; None if it was not given. Raises `ValueLost`."""
        region = self.event.arg(name)
        if not isinstance(region, Region):
            return None
        with torch.utils._python_dispatch._disable_current_modes():
            part = region.part(index)
            copy = self.history.tensor(part, self.event.time)
        self.recorder.snapshot(copy, part, self.event.time)
        return copy

    def tensor(self, name: str, *index: Any) -> torch.Tensor:
        """Return a copy of a required argument as it was, or of a part of it. Raises `ValueLost`."""
        copy = self.optional_tensor(name, *index)
        assert copy is not None
        return copy


def notes(event: Event) -> list[str]:
    """Say that a fused operation is explained by its definition, and of attention what that is in a line of code."""
    found = [
        say(
            "definition",
            "A fused kernel computed this in one go. "
            "It is explained by its definition, computed again in single steps.",
        )
    ]
    if is_attention(event):
        scale, mask = event.arg("scale"), isinstance(event.arg(_mask_name(event)), Region)
        scores = (
            "q @ k.T",
            "/ sqrt(d)" if scale is None else f"* {float(scale):.6g}",
            *(("+", "mask") if mask else ()),
        )
        code = f"softmax({' '.join(scores)}) @ v"
        found.append(
            say("in-short-causal", "In short: {code}, where later keys are masked.", code=code)
            if event.arg("is_causal")
            else say("in-short", "In short: {code}.", code=code)
        )
    return found


def is_attention(event: Event) -> bool:
    """Return whether an operation is attention from given queries, keys and values."""
    return event.op.startswith("_scaled_dot_product") and "backward" not in event.op


def _mask_name(event: Event) -> str:
    return "attn_mask" if "attn_mask" in event.info.names else "attn_bias"


Definition = Callable[[FusedCall, int, Index], tuple[torch.Tensor, Index]]
"""Computes at least the row of a result that holds an index; returns it with the index of its first element."""


def expand(
    definition: Definition, recorder: Recorder, history: ElementHistory, event: Event, output: int, index: Index
) -> dict[Index, Element]:
    """Compute the row of a result that holds `index`, and return its elements by index. Raises `ValueLost`."""
    recorder.watch(__file__, inspect.getsource(sys.modules[__name__]))
    with recorder.aside(event.sites):
        row, start = definition(FusedCall(recorder, history, event), output, index)
    region, time = Region.of(row), recorder.record.time
    elements = {}
    for row_index in region.indices():
        # The row has the last axes of the result.
        offset = (*(0 for _ in range(len(start) - len(row_index))), *row_index)
        elements[tuple(map(operator.add, start, offset))] = Element.of(region, row_index, time)
    return elements


def moments(
    recorder: Recorder, history: ElementHistory, event: Event, region: Region, indices: Sequence[Index]
) -> tuple[Element, Element]:
    """Compute the mean and the variance of cells of an operand in single recorded steps. Raises `ValueLost`.

    `indices` are all combinations of some positions on each axis: of one, or of all.
    """
    recorder.watch(__file__, inspect.getsource(sys.modules[__name__]))
    chosen = tuple(axis.pop() if len(axis) == 1 else slice(None) for axis in map(set, zip(*indices, strict=True)))
    with recorder.aside(event.sites):
        with torch.utils._python_dispatch._disable_current_modes():
            part = region.part(chosen)
            cells = history.tensor(part, event.time)
        recorder.snapshot(cells, part, event.time)
        results = _moments(cells.double())
    first, second = (Element.of(Region.of(result), (), recorder.record.time) for result in results)
    return first, second


def _moments(cells: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    mean = cells.mean()
    variance = ((cells - mean) ** 2).mean()
    return mean, variance


def _attention(call: FusedCall, output: int, index: Index) -> tuple[torch.Tensor, Index]:
    """Compute Vaswani et al. 2017, equation 1, with an additive or a boolean mask (True = may be seen)."""
    # The second result, which the backward pass needs, has no last axis.
    lead, row = (index[:-1], index[-1]) if output else (index[:-2], index[-2])
    query = call.tensor("query", *lead, slice(row, row + 1))
    key, value = (call.tensor(name, *_key_head(call, name, lead)) for name in ("key", "value"))
    scale = call.arg("scale")
    scores = query @ key.transpose(-2, -1)
    scaled = scores * (1 / math.sqrt(query.shape[-1]) if scale is None else float(scale))
    masked = scaled
    if call.arg("is_causal"):
        future = torch.ones(1, scaled.shape[-1], dtype=torch.bool).triu(row + 1)
        masked = scaled.masked_fill(future, -torch.inf)
    name = _mask_name(call.event)
    mask = call.optional_tensor(name, *_mask_part(call.arg(name), lead, row))
    if mask is not None and mask.dtype == torch.bool:
        masked = scaled.masked_fill(~mask, -torch.inf)
    elif mask is not None:
        masked = scaled + mask
    if output:
        return torch.logsumexp(masked, dim=-1), (*lead, row)
    weights = torch.ops.aten._safe_softmax(masked, -1)
    return weights @ value, (*lead, row, 0)


def _attention_backward(call: FusedCall, output: int, index: Index) -> tuple[torch.Tensor, Index]:
    """Compute the gradients of queries, keys and values by the chain rule, for one head; of the queries for one row.

    A head of keys and values that serves several heads of queries adds up what they send back.
    """
    lead, row = index[:-2], index[-2]
    share = call.arg("query").shape[-3] // call.arg("key").shape[-3] if lead else 1
    own = lead if output == 0 or not lead else (*lead[:-1], lead[-1] * share)
    total = None
    for offset in range(1 if output == 0 else share):
        head = (*own[:-1], own[-1] + offset) if own else own
        rows = slice(row, row + 1) if output == 0 else slice(None)
        queries, gradient = call.tensor("query", *head, rows), call.tensor("grad_out", *head, rows)
        keys, values = (call.tensor(name, *_key_head(call, name, head)) for name in ("key", "value"))
        given = call.arg("scale")
        scale = 1 / math.sqrt(queries.shape[-1]) if given is None else float(given)
        scores = queries @ keys.transpose(-2, -1) * scale
        if call.arg("is_causal"):
            future = torch.ones(call.arg("query").shape[-2], scores.shape[-1], dtype=torch.bool).triu(1)[rows]
            scores = scores.masked_fill(future, -torch.inf)
        name = _mask_name(call.event)
        region = call.arg(name)
        if isinstance(region, Region):
            parts = [
                call.tensor(name, *_mask_part(region, head, one))
                for one in ([row] if output == 0 else range(queries.shape[-2]))
            ]
            mask = torch.cat([part.expand(1, scores.shape[-1]) for part in parts])
            scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
        weights = torch.ops.aten._safe_softmax(scores, -1)
        if output == 2:
            part = weights.transpose(-2, -1) @ gradient
        else:
            sent = gradient @ values.transpose(-2, -1)
            slopes = weights * (sent - (sent * weights).sum(dim=-1, keepdim=True))
            part = (slopes @ keys if output == 0 else slopes.transpose(-2, -1) @ queries) * scale
        total = part if total is None else total + part
    assert total is not None
    return total, (*lead, row if output == 0 else 0, 0)


def _lstm(call: FusedCall, output: int, index: Index) -> tuple[torch.Tensor, Index]:
    """Compute `nn.LSTM` for one sample, step by step (Hochreiter and Schmidhuber 1997, with forget gates)."""
    sample = index[-2]
    inputs = call.tensor("input", slice(None), sample)
    hidden, memory = call.tensor("hx_", sample), call.tensor("cx_", sample)
    into, across = call.tensor("weight0"), call.tensor("weight1")
    biases = [call.tensor(name) for name in ("weight2", "weight3")] if call.arg("has_biases") else [None, None]
    steps = range(inputs.shape[0])
    linear = torch.nn.functional.linear
    results = {}
    for step in reversed(steps) if call.arg("reverse") else steps:
        gates = linear(inputs[step], into, biases[0]) + linear(hidden, across, biases[1])
        entering, forgetting, candidate, leaving = gates.chunk(4)
        memory = torch.sigmoid(forgetting) * memory + torch.sigmoid(entering) * torch.tanh(candidate)
        hidden = results[step] = torch.sigmoid(leaving) * torch.tanh(memory)
    if output == 0:
        return results[index[0]], (index[0], sample, 0)
    return (hidden, memory)[output - 1], (*index[:-1], 0)


def _key_head(call: FusedCall, name: str, lead: Index) -> Index:
    """Return the head of the keys or values that a head of the queries attends to.

    If there are fewer of them, each serves several consecutive heads of the queries.
    """
    if not lead:
        return lead
    heads, own = call.arg("query").shape[-3], call.arg(name).shape[-3]
    return (*lead[:-1], lead[-1] * own // heads)


def _mask_part(mask: Any, lead: Index, row: int) -> tuple[Any, ...]:
    """Return the index of the part of a mask that applies to one row; the mask may be broadcast."""
    if not isinstance(mask, Region):
        return ()
    index = (*lead, row)
    shape = mask.shape[:-1]
    index = index[len(index) - len(shape) :] if shape else ()
    *first, last = (0 if size == 1 else position for size, position in zip(shape, index, strict=True))
    return (*first, slice(last, last + 1))


def _native(call: FusedCall, output: int, index: Index) -> tuple[torch.Tensor, Index]:
    """Compute the fast path of `nn.MultiheadAttention` in eval mode, for self-attention."""
    sample, row = index[0], index[-2]
    weights, values = _weights_and_values(call, call.tensor("query", sample), int(call.arg("num_head")), sample, row)
    if output == 1:
        if call.arg("average_attn_weights"):
            return weights.mean(dim=0), (sample, row, 0)
        return weights[index[1]], (sample, index[1], row, 0)
    context = (weights @ values).transpose(0, 1).flatten(1)
    linear = torch.nn.functional.linear
    return linear(context, call.tensor("proj_weight"), call.tensor("proj_bias")).unsqueeze(0), (sample, row, 0)


def _encoder_layer(call: FusedCall, output: int, index: Index) -> tuple[torch.Tensor, Index]:
    """Compute the fast path of `nn.TransformerEncoderLayer` in eval mode: attention, then two layers for each token."""
    functional = torch.nn.functional
    sample, row = index[0], index[-2]
    eps, first = float(call.arg("eps")), bool(call.arg("norm_first"))

    def norm(tokens: torch.Tensor, number: int) -> torch.Tensor:
        weight, bias = call.tensor(f"norm_weight_{number}"), call.tensor(f"norm_bias_{number}")
        return functional.layer_norm(tokens, weight.shape, weight, bias, eps)

    tokens = call.tensor("src", sample)
    attended = norm(tokens, 1) if first else tokens
    weights, values = _weights_and_values(call, attended, int(call.arg("num_heads")), sample, row)
    context = (weights @ values).transpose(0, 1).flatten(1)
    mixed = tokens[row : row + 1] + functional.linear(context, call.tensor("proj_weight"), call.tensor("proj_bias"))
    mixed = mixed if first else norm(mixed, 1)
    inner = functional.linear(
        norm(mixed, 2) if first else mixed, call.tensor("ffn_weight_1"), call.tensor("ffn_bias_1")
    )
    inner = functional.gelu(inner) if call.arg("use_gelu") else torch.relu(inner)
    result = mixed + functional.linear(inner, call.tensor("ffn_weight_2"), call.tensor("ffn_bias_2"))
    result = result if first else norm(result, 2)
    return result.unsqueeze(0), (sample, row, 0)


def _weights_and_values(
    call: FusedCall, inputs: torch.Tensor, heads: int, sample: int, row: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Compute the attention weights of one row and the values of all tokens, for each head of a fused kernel."""
    width = int(call.arg("embed_dim"))
    linear = torch.nn.functional.linear
    matrix, bias = call.tensor("qkv_weight"), call.tensor("qkv_bias")
    split = heads, width // heads
    ends = width, 2 * width
    queries = linear(inputs, matrix[: ends[0]], bias[: ends[0]]).unflatten(-1, split).transpose(0, 1)
    keys = linear(inputs, matrix[ends[0] : ends[1]], bias[ends[0] : ends[1]]).unflatten(-1, split).transpose(0, 1)
    values = linear(inputs, matrix[ends[1] :], bias[ends[1] :]).unflatten(-1, split).transpose(0, 1)
    scores = queries[:, row : row + 1] @ keys.transpose(-2, -1)
    scaled = scores / math.sqrt(width // heads)
    masked = scaled
    hidden = call.optional_tensor("mask", *_native_mask_part(call, sample, row))
    # In this kernel True means hidden.
    if hidden is not None and hidden.dtype == torch.bool:
        masked = scaled.masked_fill(hidden, -torch.inf)
    elif hidden is not None:
        masked = scaled + hidden
    weights = torch.softmax(masked, dim=-1)
    return weights, values


def _native_mask_part(call: FusedCall, sample: int, row: int) -> tuple[Any, ...]:
    """Return the index of the part of a mask that applies to one row.

    `mask_type` 0 is a mask of tokens by tokens, 1 of keys for each sample, 2 of tokens by tokens for each head.
    """
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
    "_transformer_encoder_layer_fwd": _encoder_layer,
    "_scaled_dot_product_flash_attention_for_cpu_backward": _attention_backward,
    "mkldnn_rnn_layer": _lstm,
}

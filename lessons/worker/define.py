"""Fused operations by their definition: what a kernel hides is computed again in single steps, under the recorder."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from lessons.worker.record import Event, Region


@dataclass(frozen=True, slots=True)
class Definition:
    """How to compute what a fused operation computes. `run` gives its results, as far as they are explained."""

    run: Callable[[Event], tuple[torch.Tensor, ...]]
    note: str


def _tensor(event: Event, name: str) -> torch.Tensor:
    region: Any = event.arg(name)
    assert isinstance(region, Region)
    return region.tensor.detach()


def _attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, mask: torch.Tensor | None, causal: bool, scale: float
) -> torch.Tensor:
    """Vaswani et al. 2017, equation 1, with an additive or a boolean mask (True = may be seen)."""
    scores = query @ key.transpose(-2, -1)
    scaled = scores * scale
    if causal:
        seen = torch.ones(scaled.shape[-2:], dtype=torch.bool).tril()
        scaled = scaled.masked_fill(~seen, -torch.inf)
    if mask is not None:
        scaled = scaled.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scaled + mask
    weights = torch.softmax(scaled, dim=-1)
    return weights @ value


def _sdpa(event: Event) -> tuple[torch.Tensor, ...]:
    query, key, value = (_tensor(event, name) for name in ("query", "key", "value"))
    given = event.arg("attn_mask") if "attn_mask" in event.info.names else event.arg("attn_bias")
    scale = event.arg("scale")
    mask = given.tensor.detach() if isinstance(given, Region) else None
    factor = 1 / math.sqrt(query.shape[-1]) if scale is None else float(scale)
    return (_attention(query, key, value, mask, bool(event.arg("is_causal")), factor),)


def _native(event: Event) -> tuple[torch.Tensor, ...]:
    """The fast path of `nn.MultiheadAttention` in eval mode, for self-attention."""
    query, weight, bias = (_tensor(event, name) for name in ("query", "qkv_weight", "qkv_bias"))
    width, heads = int(event.arg("embed_dim")), int(event.arg("num_head"))
    queries, keys, values = (
        part.unflatten(-1, (heads, width // heads)).transpose(1, 2)
        for part in torch.nn.functional.linear(query, weight, bias).split(width, dim=-1)
    )
    given = event.arg("mask")
    scores = queries @ keys.transpose(-2, -1)
    scaled = scores / math.sqrt(width // heads)
    if isinstance(given, Region):
        mask = given.tensor.detach()
        # Here True means hidden; a mask of keys has the shape (batch, tokens).
        hidden = mask[:, None, None, :] if mask.dim() == 2 and event.arg("mask_type") == 1 else mask
        scaled = scaled.masked_fill(hidden, -torch.inf) if mask.dtype == torch.bool else scaled + hidden
    weights = torch.softmax(scaled, dim=-1)
    context = (weights @ values).transpose(1, 2).flatten(2)
    out = torch.nn.functional.linear(context, _tensor(event, "proj_weight"), _tensor(event, "proj_bias"))
    if not event.arg("need_weights"):
        return (out,)
    return out, weights.mean(dim=1) if event.arg("average_attn_weights") else weights


_NOTE = "A fused kernel computed this in one go. It is explained by its definition, computed again in single steps."

DEFINED = {
    "_scaled_dot_product_flash_attention_for_cpu": Definition(_sdpa, _NOTE),
    "_scaled_dot_product_attention_math_for_mps": Definition(_sdpa, _NOTE),
    "_scaled_dot_product_flash_attention": Definition(_sdpa, _NOTE),
    "_scaled_dot_product_efficient_attention": Definition(_sdpa, _NOTE),
    "_native_multi_head_attention": Definition(_native, _NOTE),
}

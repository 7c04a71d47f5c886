"""Causal attention: a token attends to itself and to earlier tokens, never to later ones.

One convention holds in the whole package: a nonzero entry of ``mask`` means *hidden*. Row i of the mask belongs to
query i, so the hidden entries are the ones above the diagonal. The decoder mask of Vaswani et al. 2017 (section 3.2.3)
sets the hidden scores to minus infinity before the softmax; exp(-inf) is 0, so they get weight 0 and the rest of the
row still sums to 1.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ._check import check_batch, check_sizes


def causal_mask(context_length: int) -> Tensor:
    """Build the mask as floats, (query, key): 1 above the diagonal (hidden), 0 elsewhere (visible).

    Both axes are ``context_length`` long. Raises ``ValueError`` when that is below 1.
    """
    check_sizes(context_length=context_length)
    return torch.triu(torch.ones(context_length, context_length), diagonal=1)


class CausalAttention(nn.Module):
    """One causal attention head over a batch, with dropout on the attention weights.

    Parameters, in the order they are drawn: ``W_query``, ``W_key``, ``W_value``, each an ``nn.Linear(d_in, d_out)``.
    Buffer ``mask`` (context_length, context_length), 1 = hidden: saved with the layer, moved by ``.to()``, not trained.

    Raises ``ValueError`` for inputs that are not (batch, token, d_in) or have more than ``context_length`` tokens.
    """

    mask: Tensor

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        check_sizes(d_in=d_in, d_out=d_out, context_length=context_length)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", causal_mask(context_length))

    def forward(self, inputs: Tensor) -> Tensor:
        """Let every token attend to itself and earlier tokens: (batch, token, d_in) -> (batch, token, d_out)."""
        check_batch(inputs, self.W_query.in_features, len(self.mask))
        n = inputs.shape[1]
        hidden = self.mask[:n, :n].bool()  # (query, key)

        # (batch, token, d_out)
        queries = self.W_query(inputs)
        keys = self.W_key(inputs)
        values = self.W_value(inputs)

        # (batch, query, key)
        scores = queries @ keys.transpose(1, 2)
        scaled = scores / keys.shape[-1] ** 0.5
        masked = scaled.masked_fill(hidden, -torch.inf)
        weights = torch.softmax(masked, dim=-1)
        dropped = self.dropout(weights)

        # (batch, query, d_out)
        context = dropped @ values
        return context


class CausalAttentionWithoutBuffers(CausalAttention):
    """The same head with the mask as a plain attribute, to show what a buffer is for.

    On the device where it was built it gives the same numbers. But ``.to()`` leaves this mask behind, ``state_dict()``
    does not contain it, and so a saved change to it is lost.
    """

    def register_buffer(
        self,
        name: str,
        tensor: Tensor | None,
        persistent: bool = True,
    ) -> None:
        """Assign the tensor instead of registering it: PyTorch does not know about ordinary attributes."""
        setattr(self, name, tensor)

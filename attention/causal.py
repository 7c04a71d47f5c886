"""Causal attention: a token attends to itself and to earlier tokens, never to later ones.

One convention holds in the whole package: a nonzero entry of ``mask`` means *hidden*. Row i of the mask belongs to
query i, so the hidden entries are the ones above the diagonal. The decoder mask of Vaswani et al. 2017 (section 3.2.3)
sets the hidden scores to minus infinity before the softmax; exp(-inf) is 0, so they get weight 0 and the rest of the
row still sums to 1. In the shapes beside the code, b is the batch and n stands for num_tokens.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ._check import check_batch, check_matrix, check_sizes


def causal_mask(context_length: int) -> Tensor:
    """Float matrix (context_length, context_length): 1 above the diagonal (hidden), 0 elsewhere (visible).

    Raises ``ValueError`` when ``context_length`` is below 1.
    """
    check_sizes(context_length=context_length)
    return torch.triu(
        torch.ones(context_length, context_length), diagonal=1
    )


def causal_weights(scaled: Tensor) -> Tensor:
    """Causal weights from the scaled scores of one sequence: (n, n) -> (n, n), each row sums to 1.

    Hidden scores become minus infinity, and one softmax does the rest.
    """
    check_matrix("scaled", scaled)
    hidden = causal_mask(scaled.shape[0]).bool().to(scaled.device)  # (n, n)
    masked = scaled.masked_fill(hidden, -torch.inf)  # (n, n)
    weights = torch.softmax(masked, dim=-1)  # (n, n)
    return weights


def causal_weights_renormalized(weights: Tensor) -> Tensor:
    """The same weights the long way, from ordinary softmax weights: (n, n) -> (n, n), each row sums to 1.

    The hidden weights are set to 0 and each row is divided by what is left of its sum. Nothing of the later tokens
    survives: the softmax denominator, which did contain them, is one number per row and cancels in the division.
    ``keepdim=True`` keeps the sums as a column (n, 1); without it they would divide the columns instead.
    """
    check_matrix("weights", weights)
    visible = torch.tril(torch.ones_like(weights))  # (n, n)
    kept = weights * visible  # (n, n)
    renormalized = kept / kept.sum(dim=-1, keepdim=True)  # (n, n)
    return renormalized


class CausalAttention(nn.Module):
    """One causal attention head over a batch, with dropout on the attention weights.

    Parameters, in the order they are drawn: ``W_query``, ``W_key``, ``W_value``, each an ``nn.Linear(d_in, d_out)``.
    Buffer ``mask`` (context_length, context_length), 1 = hidden: saved with the layer, moved by ``.to()``, not trained.

    Raises ``ValueError`` for inputs that are not (b, num_tokens, d_in) or have more than ``context_length`` tokens.
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
        """(b, num_tokens, d_in) -> (b, num_tokens, d_out)."""
        check_batch(inputs, self.W_query.in_features, len(self.mask))
        n = inputs.shape[1]
        queries: Tensor = self.W_query(inputs)  # (b, n, d_out)
        keys: Tensor = self.W_key(inputs)  # (b, n, d_out)
        values: Tensor = self.W_value(inputs)  # (b, n, d_out)

        scores = queries @ keys.transpose(1, 2)  # (b, n, n)
        scaled = scores / keys.shape[-1] ** 0.5  # (b, n, n)
        hidden = self.mask[:n, :n].bool()  # (n, n)
        masked = scaled.masked_fill(hidden, -torch.inf)  # (b, n, n)
        weights = torch.softmax(masked, dim=-1)  # (b, n, n)
        dropped: Tensor = self.dropout(weights)  # (b, n, n)
        context = dropped @ values  # (b, n, d_out)
        return context


class CausalAttentionWithoutBuffers(CausalAttention):
    """The same head with the mask as a plain attribute, to show what a buffer is for.

    On the device where it was built it gives the same numbers. But ``.to()`` leaves this mask behind, ``state_dict()``
    does not contain it, and so a saved change to it is lost.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__(d_in, d_out, context_length, dropout, qkv_bias)
        del self.mask  # the buffer
        self.mask = causal_mask(
            context_length
        )  # an ordinary attribute: PyTorch does not know about it

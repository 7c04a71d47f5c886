"""Self-attention with trainable weights.

Scaled dot-product attention (Vaswani et al. 2017, "Attention Is All You Need", equation 1):

    Attention(Q, K, V) = softmax(Q K^T / sqrt(d_k)) V

A token is a row vector here, so a projection is ``inputs @ W`` with W of shape (d_in, d_out), and d_k is d_out.
Neither class hides later tokens: every token attends to the whole sequence.

``inputs`` is (token, d_in), and the result is (token, d_out). Any axes in front of these two are batch axes. A wrong
width or a single vector raises ``ValueError``.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ._check import check_sizes, check_tokens


class SelfAttention_v1(nn.Module):
    """Self-attention whose weights are three plain matrices, drawn uniformly from [0, 1).

    Parameters, in the order they are drawn: ``W_query``, ``W_key``, ``W_value``, each (d_in, d_out).
    """

    def __init__(self, d_in: int, d_out: int) -> None:
        super().__init__()
        check_sizes(d_in=d_in, d_out=d_out)
        self.W_query = nn.Parameter(torch.rand(d_in, d_out))
        self.W_key = nn.Parameter(torch.rand(d_in, d_out))
        self.W_value = nn.Parameter(torch.rand(d_in, d_out))

    def forward(self, inputs: Tensor) -> Tensor:
        """Let every token attend to all tokens: (token, d_in) -> (token, d_out)."""
        check_tokens(inputs, d_in=self.W_query.shape[0])
        # (token, d_out)
        queries = inputs @ self.W_query
        keys = inputs @ self.W_key
        values = inputs @ self.W_value

        # (query, key)
        scores = queries @ keys.transpose(-2, -1)
        scaled = scores / keys.shape[-1] ** 0.5
        weights = torch.softmax(scaled, dim=-1)

        # (query, d_out)
        context = weights @ values
        return context


class SelfAttention_v2(nn.Module):
    """The same computation with ``nn.Linear`` layers, which start from smaller, centered weights.

    ``nn.Linear`` stores its weight as (d_out, d_in) and computes ``inputs @ weight.T + bias``. To carry weights over
    from :class:`SelfAttention_v1`, transpose them: ``v2.W_query.weight = nn.Parameter(v1.W_query.T)``.

    Parameters, in the order they are drawn: ``W_query``, ``W_key``, ``W_value``, each an ``nn.Linear(d_in, d_out)``.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        check_sizes(d_in=d_in, d_out=d_out)
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)

    def forward(self, inputs: Tensor) -> Tensor:
        """Let every token attend to all tokens: (token, d_in) -> (token, d_out)."""
        check_tokens(inputs, d_in=self.W_query.in_features)
        # (token, d_out)
        queries = self.W_query(inputs)
        keys = self.W_key(inputs)
        values = self.W_value(inputs)

        # (query, key)
        scores = queries @ keys.transpose(-2, -1)
        scaled = scores / keys.shape[-1] ** 0.5
        weights = torch.softmax(scaled, dim=-1)

        # (query, d_out)
        context = weights @ values
        return context

"""Multi-head attention: several causal heads look at the same tokens through different projections.

Vaswani et al. 2017, section 3.2.2:

    MultiHead(Q, K, V) = Concat(head_1, ..., head_h) W_O

:class:`MultiHeadAttentionWrapper` runs separate heads one after another and concatenates them.
:class:`MultiHeadAttention` makes one projection for all heads, splits it, and handles the heads as one more batch axis.
Both take (batch, token, d_in). They raise ``ValueError`` for other shapes and for more than ``context_length`` tokens.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from ._check import check_batch, check_heads, check_sizes
from .causal import CausalAttention, causal_mask


class MultiHeadAttentionWrapper(nn.Module):
    """``num_heads`` independent :class:`CausalAttention` heads, side by side.

    ``d_out`` is the width of *one* head: the result is num_heads * d_out wide.
    The heads are in ``heads`` (an ``nn.ModuleList``) and draw their parameters one head after another.
    """

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        check_sizes(num_heads=num_heads)
        sizes = (d_in, d_out, context_length, dropout, qkv_bias)
        heads = [CausalAttention(*sizes) for _ in range(num_heads)]
        self.heads = nn.ModuleList(heads)

    def forward(self, inputs: Tensor) -> Tensor:
        """Run the heads and join their results: (batch, token, d_in) -> (batch, token, num_heads * d_out)."""
        # each (batch, query, d_out)
        contexts = [head(inputs) for head in self.heads]
        # (batch, query, num_heads * d_out)
        context = torch.cat(contexts, dim=-1)
        return context


class MultiHeadAttention(nn.Module):
    """Causal multi-head attention with one projection each for all queries, keys and values.

    ``d_out`` is the *total* width; one head is head_dim = d_out / num_heads wide.
    Parameters, in the order they are drawn: ``W_query``, ``W_key``, ``W_value``, ``out_proj`` (always with a bias).
    Buffer ``mask`` (context_length, context_length), 1 = hidden.

    Raises ``ValueError`` when ``num_heads`` does not divide ``d_out``.
    """

    mask: Tensor

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = False,
    ) -> None:
        super().__init__()
        check_sizes(d_in=d_in, d_out=d_out, context_length=context_length)
        check_heads(d_out, num_heads)
        self.d_out = d_out
        self.num_heads = num_heads
        self.head_dim = d_out // num_heads
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.dropout = nn.Dropout(dropout)
        self.register_buffer("mask", causal_mask(context_length))

    def forward(self, inputs: Tensor) -> Tensor:
        """Let every head attend to the visible tokens: (batch, token, d_in) -> (batch, token, d_out)."""
        check_batch(inputs, self.W_query.in_features, len(self.mask))
        n = inputs.shape[1]
        mask = self.mask[:n, :n]  # (query, key)
        queries, keys, values = self.project(inputs)
        context = self.attend(queries, keys, values, mask)
        projected = self.join(context)
        return projected

    def project(self, inputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Make the queries, keys and values of all heads: (batch, token, d_in) -> (batch, head, token, head_dim) each.

        ``view`` cuts the last axis into heads: head h gets the columns from h * head_dim on. ``transpose`` then puts
        the heads beside the batch axis, so that ``@`` multiplies the last two axes of every head on its own.
        """
        b, n, _ = inputs.shape
        # (batch, token, d_out), cut into (batch, head, token, head_dim)
        heads = (b, n, self.num_heads, self.head_dim)
        queries = self.W_query(inputs).view(heads).transpose(1, 2)
        keys = self.W_key(inputs).view(heads).transpose(1, 2)
        values = self.W_value(inputs).view(heads).transpose(1, 2)
        return queries, keys, values

    def attend(  # mask: 1 = hidden
        self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor
    ) -> Tensor:
        """Mix the values that each query may see: (batch, head, token, head_dim) -> (batch, head, query, head_dim).

        ``mask`` is (query, key), 1 = hidden.
        """
        hidden = mask.bool()  # (query, key)

        # (batch, head, query, key)
        scores = queries @ keys.transpose(2, 3)
        scaled = scores / self.head_dim**0.5
        masked = scaled.masked_fill(hidden, -torch.inf)
        weights = torch.softmax(masked, dim=-1)
        dropped = self.dropout(weights)

        # (batch, head, query, head_dim)
        context = dropped @ values
        return context

    def join(self, context: Tensor) -> Tensor:
        """Put the heads side by side and mix them: (batch, head, query, head_dim) -> (batch, query, d_out).

        ``contiguous`` lays the numbers out in reading order again, which ``view`` needs.
        """
        b, _, n, _ = context.shape
        # (batch, query, d_out), the heads side by side
        merged = context.transpose(1, 2).contiguous().view(b, n, self.d_out)
        projected = self.out_proj(merged)
        return projected

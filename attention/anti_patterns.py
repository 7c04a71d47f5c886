"""Two common ways to wrap ``nn.MultiheadAttention`` that make projections twice: what not to do.

The library's module already contains query, key, value and output projections, and both wrappers add projections of
their own. The result still trains, but it is a different layer with superfluous parameters: two linear layers in a row,
with nothing in between, can do no more than one. :func:`~attention.measuring.projections` lists them.

Both classes take (batch, token, d_in), are causal, and raise ``ValueError`` for other shapes, for more than
``context_length`` tokens, and when ``num_heads`` does not divide ``d_out``.
"""

from __future__ import annotations

from torch import Tensor, nn

from ._check import check_batch, check_heads, check_same_width, check_sizes
from .causal import causal_mask


class EverythingProjectedTwice(nn.Module):
    """``nn.MultiheadAttention`` between query, key, value and output layers of our own.

    A query is ``in_proj(W_query(inputs))``, and the result is ``out_proj(multihead_attn.out_proj(context))``. With
    d_in = d_out = 768 that makes 4,722,432 parameters, where the library alone has 2,362,368. The first three layers do
    serve to change the width from d_in to d_out.

    Parameters, in the order they are drawn: ``multihead_attn``, ``W_query``, ``W_key``, ``W_value``, ``out_proj``.
    Buffer ``mask`` (context_length, context_length), 1 = hidden.
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
        self.multihead_attn = nn.MultiheadAttention(  # tokens first
            d_out, num_heads, dropout
        )
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.register_buffer("mask", causal_mask(context_length))

    def forward(self, inputs: Tensor) -> Tensor:
        """Project, attend and project again: (batch, token, d_in) -> (batch, token, d_out)."""
        check_batch(inputs, self.W_query.in_features, len(self.mask))
        n = inputs.shape[1]
        hidden = self.mask[:n, :n].bool()  # (query, key)

        # (token, batch, d_out), because there is no batch_first
        queries = self.W_query(inputs).transpose(0, 1)
        keys = self.W_key(inputs).transpose(0, 1)
        values = self.W_value(inputs).transpose(0, 1)
        attended, _ = self.multihead_attn(  # (query, batch, d_out)
            queries, keys, values, attn_mask=hidden, need_weights=False
        )

        # (batch, query, d_out)
        projected = self.out_proj(attended.transpose(0, 1))
        return projected


class OutputProjectedTwice(nn.Module):
    """``nn.MultiheadAttention`` fed with the inputs three times, and an output layer of our own behind it.

    The library makes the query, key and value projections, each once. But its result has already passed its own
    ``out_proj`` when the second one gets it: at width 768 that is 590,592 parameters for nothing.

    ``qkv_bias`` is the library's ``bias``: True unless asked otherwise, and it covers the library's ``out_proj`` too.

    Parameters, in the order they are drawn: ``multihead_attn``, ``out_proj``.
    Buffer ``mask`` (context_length, context_length), 1 = hidden.
    Raises ``ValueError`` when ``d_in`` and ``d_out`` differ.
    """

    mask: Tensor

    def __init__(
        self,
        d_in: int,
        d_out: int,
        context_length: int,
        dropout: float,
        num_heads: int,
        qkv_bias: bool = True,
    ) -> None:
        super().__init__()
        check_sizes(d_in=d_in, d_out=d_out, context_length=context_length)
        check_same_width(d_in, d_out)
        check_heads(d_out, num_heads)
        self.multihead_attn = nn.MultiheadAttention(  # batch first
            d_out, num_heads, dropout, bias=qkv_bias, batch_first=True
        )
        self.out_proj = nn.Linear(d_out, d_out)
        self.register_buffer("mask", causal_mask(context_length))

    def forward(self, inputs: Tensor) -> Tensor:
        """Attend, and project the result again: (batch, token, d_in) -> (batch, token, d_out)."""
        check_batch(inputs, self.multihead_attn.embed_dim, len(self.mask))
        n = inputs.shape[1]
        hidden = self.mask[:n, :n].bool()  # (query, key)

        attended, _ = self.multihead_attn(  # (batch, query, d_out)
            inputs, inputs, inputs, attn_mask=hidden, need_weights=False
        )
        projected = self.out_proj(attended)
        return projected

"""Multi-head attention on PyTorch's own routines.

Two classes are drop-in replacements for :class:`~attention.multi_head.MultiHeadAttention`. They inherit its parameters
and change only ``forward``, so every checkpoint moves freely between the three, and the explicit class on the same
parameters is the specification of the other two (equal up to rounding):

    MultiHeadAttentionSDPA    scores to context in one call of F.scaled_dot_product_attention
    MultiHeadAttentionTorch   everything in one call of the function behind nn.MultiheadAttention

Two more classes wrap a whole ``nn.MultiheadAttention`` the way it is often done. That module already contains query,
key, value and output projections, and both wrappers add projections of their own. The result still trains, but it is a
different layer with superfluous parameters. :func:`projections` lists what each class does to its input:

    MultiHeadAttentionTorchQKV  own query, key and value layers in front, own output layer behind: everything twice
    MultiHeadAttentionTorchXXX  the inputs three times in front, own output layer behind: the output twice

All four take (b, num_tokens, d_in), are causal, and raise ``ValueError`` for other shapes and for more than
``context_length`` tokens.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from ._check import check_batch, check_heads, check_same_width, check_sizes
from .causal import causal_mask
from .multi_head import MultiHeadAttention


class MultiHeadAttentionSDPA(MultiHeadAttention):
    """:class:`MultiHeadAttention` with a fused kernel, which can do without storing all the attention weights.

    ``is_causal=True`` makes the kernel hide later tokens by itself; the ``mask`` buffer is only here for checkpoints.
    (Beware when passing a boolean ``attn_mask`` to this function instead: there True means *visible*.)
    The function knows nothing of ``eval()``, so the dropout rate has to be set to 0 by hand.
    """

    def forward(self, inputs: Tensor) -> Tensor:
        """(b, num_tokens, d_in) -> (b, num_tokens, d_out)."""
        check_batch(
            inputs,
            d_in=self.W_query.in_features,
            context_length=self.mask.shape[0],
        )
        b, num_tokens, _ = inputs.shape
        split = (b, num_tokens, self.num_heads, self.head_dim)
        queries: Tensor = (
            self.W_query(inputs).view(split).transpose(1, 2)
        )  # (b, num_heads, n, head_dim)
        keys: Tensor = (
            self.W_key(inputs).view(split).transpose(1, 2)
        )  # (b, num_heads, n, head_dim)
        values: Tensor = (
            self.W_value(inputs).view(split).transpose(1, 2)
        )  # (b, num_heads, n, head_dim)

        dropout_p = self.dropout.p if self.training else 0.0
        context = F.scaled_dot_product_attention(
            queries, keys, values, dropout_p=dropout_p, is_causal=True
        )  # (b, num_heads, n, head_dim)
        merged = (
            context.transpose(1, 2)
            .contiguous()
            .view(b, num_tokens, self.d_out)
        )  # (b, n, d_out)
        projected: Tensor = self.out_proj(merged)  # (b, n, d_out)
        return projected


class MultiHeadAttentionTorch(MultiHeadAttention):
    """:class:`MultiHeadAttention` by the function behind ``nn.MultiheadAttention``, each projection made once.

    ``nn.MultiheadAttention`` keeps its query, key and value weights in one block and offers no way to name them. Its
    function ``F.multi_head_attention_forward`` takes them one by one, so the layer can keep the usual names.
    The function wants the tokens on the first axis, and a mask in which True means *hidden*.

    Raises ``ValueError`` when ``d_in`` and ``d_out`` differ: the function projects queries to the width they came in.
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
        check_same_width(
            d_in,
            d_out,
            "nn.MultiheadAttention projects the queries to the width of its inputs",
        )
        super().__init__(
            d_in, d_out, context_length, dropout, num_heads, qkv_bias
        )

    def forward(self, inputs: Tensor) -> Tensor:
        """(b, num_tokens, d_in) -> (b, num_tokens, d_out)."""
        check_batch(
            inputs,
            d_in=self.W_query.in_features,
            context_length=self.mask.shape[0],
        )
        num_tokens = inputs.shape[1]
        hidden = self.mask[:num_tokens, :num_tokens].bool()  # (n, n)
        tokens_first = inputs.transpose(0, 1)  # (n, b, d_in)
        projected, _ = F.multi_head_attention_forward(
            query=tokens_first,
            key=tokens_first,
            value=tokens_first,
            embed_dim_to_check=self.d_out,
            num_heads=self.num_heads,
            in_proj_weight=None,
            in_proj_bias=self.joined_bias(),
            bias_k=None,
            bias_v=None,
            add_zero_attn=False,
            dropout_p=self.dropout.p,
            out_proj_weight=self.out_proj.weight,
            out_proj_bias=self.out_proj.bias,
            training=self.training,
            need_weights=False,
            attn_mask=hidden,
            use_separate_proj_weight=True,
            q_proj_weight=self.W_query.weight,
            k_proj_weight=self.W_key.weight,
            v_proj_weight=self.W_value.weight,
        )  # (n, b, d_out)
        return projected.transpose(0, 1)  # (b, n, d_out)

    def joined_bias(self) -> Tensor | None:
        """The biases of queries, keys and values in a row, (3 * d_out,), or None for a layer without them."""
        biases: list[Tensor | None] = [
            self.W_query.bias,
            self.W_key.bias,
            self.W_value.bias,
        ]
        present = [bias for bias in biases if bias is not None]
        return torch.cat(present) if present else None


class MultiHeadAttentionTorchQKV(nn.Module):
    """``nn.MultiheadAttention`` between own query, key, value and output layers: every projection is made twice.

    A query is ``in_proj(W_query(inputs))`` and the result is ``out_proj(multihead_attn.out_proj(context))``. Two linear
    layers in a row, with nothing in between, can do no more than one. At d_in = d_out = 768 this costs 2,362,368
    parameters more than :class:`MultiHeadAttentionTorch`. The first three layers do serve to change the width from
    d_in to d_out.

    Parameters, in the order they are drawn: ``multihead_attn``, ``W_query``, ``W_key``, ``W_value``, ``out_proj``.
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
        self.multihead_attn = nn.MultiheadAttention(
            d_out, num_heads, dropout=dropout
        )
        self.W_query = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_key = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.W_value = nn.Linear(d_in, d_out, bias=qkv_bias)
        self.out_proj = nn.Linear(d_out, d_out)
        self.register_buffer("mask", causal_mask(context_length))

    def forward(self, inputs: Tensor) -> Tensor:
        """(b, num_tokens, d_in) -> (b, num_tokens, d_out)."""
        check_batch(
            inputs,
            d_in=self.W_query.in_features,
            context_length=self.mask.shape[0],
        )
        num_tokens = inputs.shape[1]
        queries: Tensor = self.W_query(inputs).transpose(
            0, 1
        )  # (n, b, d_out)
        keys: Tensor = self.W_key(inputs).transpose(0, 1)  # (n, b, d_out)
        values: Tensor = self.W_value(inputs).transpose(
            0, 1
        )  # (n, b, d_out)

        hidden = self.mask[:num_tokens, :num_tokens].bool()  # (n, n)
        attended, _ = self.multihead_attn(
            queries, keys, values, attn_mask=hidden, need_weights=False
        )  # (n, b, d_out)
        projected: Tensor = self.out_proj(
            attended.transpose(0, 1)
        )  # (b, n, d_out)
        return projected


class MultiHeadAttentionTorchXXX(nn.Module):
    """``nn.MultiheadAttention`` fed with the inputs three times, plus an own output layer: two output projections.

    The library module makes the query, key and value projections, each once. But its result has already passed its own
    ``out_proj`` when the second one gets it: at width 768 that is 590,592 parameters for nothing.

    ``qkv_bias`` is the library's ``bias``: True unless asked otherwise, and it covers the library's ``out_proj`` too.
    ``need_weights=True`` makes the library compute the attention weights too, which are discarded here: only slower.

    Parameters, in the order they are drawn: ``multihead_attn``, ``out_proj``.
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
        need_weights: bool = False,
    ) -> None:
        super().__init__()
        check_sizes(d_in=d_in, d_out=d_out, context_length=context_length)
        check_same_width(
            d_in,
            d_out,
            "nn.MultiheadAttention returns tokens as wide as the ones it gets",
        )
        check_heads(d_out, num_heads)
        self.need_weights = need_weights
        self.multihead_attn = nn.MultiheadAttention(
            d_out, num_heads, dropout, bias=qkv_bias, batch_first=True
        )
        self.out_proj = nn.Linear(d_out, d_out)
        self.register_buffer("mask", causal_mask(context_length))

    def forward(self, inputs: Tensor) -> Tensor:
        """(b, num_tokens, d_in) -> (b, num_tokens, d_out)."""
        check_batch(
            inputs,
            d_in=self.multihead_attn.embed_dim,
            context_length=self.mask.shape[0],
        )
        num_tokens = inputs.shape[1]
        hidden = self.mask[:num_tokens, :num_tokens].bool()  # (n, n)
        attended, _ = self.multihead_attn(
            inputs,
            inputs,
            inputs,
            attn_mask=hidden,
            need_weights=self.need_weights,
        )  # (b, n, d_out)
        projected: Tensor = self.out_proj(attended)  # (b, n, d_out)
        return projected


def projections(layer: nn.Module) -> dict[str, list[str]]:
    """The linear layers that queries, keys, values and the output of an attention layer pass, in order.

    Found by looking into the layer: its own ``W_query``, ``W_key``, ``W_value`` and ``out_proj``, and those of every
    ``nn.MultiheadAttention`` in it. A list with two names is a projection made twice::

        projections(MultiHeadAttentionTorchXXX(3, 3, 6, 0.0, 3))["output"]  # ["multihead_attn.out_proj", "out_proj"]

    Raises ``ValueError`` for a module without projections, such as the wrapper: ask one of its heads.
    """
    own = {"queries": "W_query", "keys": "W_key", "values": "W_value"}
    passed: dict[str, list[str]] = {
        role: [name] if hasattr(layer, name) else []
        for role, name in own.items()
    }
    passed["output"] = []
    for name, module in layer.named_modules():
        if isinstance(module, nn.MultiheadAttention):
            prefix = f"{name}." if name else ""
            for role in own:
                passed[role].append(f"{prefix}in_proj ({role})")
            passed["output"].append(f"{prefix}out_proj")
    if hasattr(layer, "out_proj") and not isinstance(
        layer, nn.MultiheadAttention
    ):
        passed["output"].append("out_proj")
    if not passed["queries"]:
        raise ValueError(
            f"{type(layer).__name__} has no query projection of its own: ask one of its parts"
        )
    return passed

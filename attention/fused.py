"""Multi-head attention on PyTorch's fused kernel.

:class:`MultiHeadAttentionSDPA` is a drop-in replacement for :class:`~attention.multi_head.MultiHeadAttention`. It
inherits the parameters and changes only ``forward``, so every checkpoint moves freely between the two, and the explicit
class on the same parameters is the specification of this one (equal up to rounding).
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from ._check import check_batch
from .multi_head import MultiHeadAttention


class MultiHeadAttentionSDPA(MultiHeadAttention):
    """:class:`MultiHeadAttention` with a fused kernel, which can do without storing all the attention weights.

    ``is_causal=True`` makes the kernel hide later tokens by itself; the ``mask`` buffer is only here for checkpoints.
    (Beware when passing a boolean ``attn_mask`` to this function instead: there True means *visible*.)
    The function knows nothing of ``eval()``, so the dropout rate has to be set to 0 by hand.
    """

    def forward(self, inputs: Tensor) -> Tensor:
        """Let every head attend to the visible tokens: (batch, token, d_in) -> (batch, token, d_out)."""
        check_batch(inputs, self.W_query.in_features, len(self.mask))
        b, n, _ = inputs.shape

        # (batch, token, d_out), cut into (batch, head, token, head_dim)
        heads = (b, n, self.num_heads, self.head_dim)
        queries = self.W_query(inputs).view(heads).transpose(1, 2)
        keys = self.W_key(inputs).view(heads).transpose(1, 2)
        values = self.W_value(inputs).view(heads).transpose(1, 2)

        # (batch, head, query, head_dim)
        rate = self.dropout.p if self.training else 0.0
        context = F.scaled_dot_product_attention(queries, keys, values, dropout_p=rate, is_causal=True)
        # (batch, query, d_out), the heads side by side
        merged = context.transpose(1, 2).contiguous().view(b, n, self.d_out)
        projected = self.out_proj(merged)
        return projected

"""Multi-head attention on PyTorch's fused kernel.

:class:`MultiHeadAttentionSDPA` is a drop-in replacement for :class:`~attention.multi_head.MultiHeadAttention`. It
inherits the parameters and changes only ``attend``, so every checkpoint moves freely between the two, and the explicit
class on the same parameters is the specification of this one (equal up to rounding).
"""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor

from .multi_head import MultiHeadAttention


class MultiHeadAttentionSDPA(MultiHeadAttention):
    """:class:`MultiHeadAttention` with a fused kernel, which can do without storing all the attention weights.

    ``is_causal=True`` makes the kernel hide later tokens by itself; the ``mask`` buffer is only here for checkpoints.
    (Beware when passing a boolean ``attn_mask`` to this function instead: there True means *visible*.)
    The function knows nothing of ``eval()``, so the dropout rate has to be set to 0 by hand.
    """

    def attend(self, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor) -> Tensor:
        """Mix the values of the tokens up to each query's own: the kernel does not look at ``mask``."""
        rate = self.dropout.p if self.training else 0.0
        context = F.scaled_dot_product_attention(queries, keys, values, dropout_p=rate, is_causal=True)
        return context

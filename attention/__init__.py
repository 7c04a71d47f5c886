"""Attention layers in plain PyTorch, from a loop of dot products to the layer of GPT-2.

    simple          attention without trainable weights, as loops and as matrix products
    self_attention  SelfAttention_v1, SelfAttention_v2: trainable queries, keys and values
    causal          CausalAttention: later tokens hidden, dropout, batches
    multi_head      MultiHeadAttentionWrapper, MultiHeadAttention: several heads
    fused           the same layer on PyTorch's own routines
    gpt2            the sizes of the GPT-2 family and their parameter counts

The letters in shape comments: ``b`` sequences in a batch, ``num_tokens`` tokens in each, ``d_in`` features per token;
``d_out`` features out, cut into ``num_heads`` heads of ``head_dim`` each. In a mask, nonzero means hidden.
"""

from .causal import (
    CausalAttention,
    CausalAttentionWithoutBuffers,
    causal_mask,
    causal_weights,
    causal_weights_renormalized,
)
from .fused import (
    MultiHeadAttentionSDPA,
    MultiHeadAttentionTorch,
    MultiHeadAttentionTorchQKV,
    MultiHeadAttentionTorchXXX,
    projections,
)
from .gpt2 import (
    GPT2_LARGE,
    GPT2_MEDIUM,
    GPT2_SIZES,
    GPT2_SMALL,
    GPT2_XL,
    GPT2Size,
    attention_parameters,
    block_parameters,
    gpt2_attention,
    gpt2_parameters,
    library_attention_parameters,
    linear_parameters,
    torch_qkv_parameters,
    torch_xxx_parameters,
)
from .multi_head import MultiHeadAttention, MultiHeadAttentionWrapper
from .self_attention import SelfAttention_v1, SelfAttention_v2
from .simple import (
    context_all,
    context_all_loop,
    context_one,
    context_one_loop,
    normalize_by_sum,
    scores_all,
    scores_all_loop,
    scores_one,
    scores_one_loop,
    simple_attention,
    simple_attention_one,
    softmax_naive,
    weights_all,
    weights_one,
)

__all__ = [
    "GPT2_LARGE",
    "GPT2_MEDIUM",
    "GPT2_SIZES",
    "GPT2_SMALL",
    "GPT2_XL",
    "CausalAttention",
    "CausalAttentionWithoutBuffers",
    "GPT2Size",
    "MultiHeadAttention",
    "MultiHeadAttentionSDPA",
    "MultiHeadAttentionTorch",
    "MultiHeadAttentionTorchQKV",
    "MultiHeadAttentionTorchXXX",
    "MultiHeadAttentionWrapper",
    "SelfAttention_v1",
    "SelfAttention_v2",
    "attention_parameters",
    "block_parameters",
    "causal_mask",
    "causal_weights",
    "causal_weights_renormalized",
    "context_all",
    "context_all_loop",
    "context_one",
    "context_one_loop",
    "gpt2_attention",
    "gpt2_parameters",
    "library_attention_parameters",
    "linear_parameters",
    "normalize_by_sum",
    "projections",
    "scores_all",
    "scores_all_loop",
    "scores_one",
    "scores_one_loop",
    "simple_attention",
    "simple_attention_one",
    "softmax_naive",
    "torch_qkv_parameters",
    "torch_xxx_parameters",
    "weights_all",
    "weights_one",
]

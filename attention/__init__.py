"""Attention layers in plain PyTorch, from a loop of dot products to the layer of GPT-2.

    simple          attention without trainable weights, as loops and as matrix products
    self_attention  SelfAttention_v1, SelfAttention_v2: trainable queries, keys and values
    causal          CausalAttention: later tokens hidden, dropout, batches
    multi_head      MultiHeadAttentionWrapper, MultiHeadAttention: several heads
    fused           the same layer on PyTorch's own routines
    cache           keys and values kept while a text is read piece by piece
    induction       a model of attention layers alone, to be trained while you watch
    timing          how long calls take, compared fairly
    gpt2            the sizes of the GPT-2 family and their parameter counts

The letters in shape comments: ``b`` sequences in a batch, ``num_tokens`` tokens in each, ``d_in`` features per token;
``d_out`` features out, cut into ``num_heads`` heads of ``head_dim`` each. In a mask, nonzero means hidden.
"""

from .cache import KeyValueCache, MultiHeadAttentionCached, cache_bytes
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
from .induction import (
    AttentionOnly,
    induction_score,
    previous_token_score,
    repeated_sequences,
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
    "AttentionOnly",
    "CausalAttention",
    "CausalAttentionWithoutBuffers",
    "GPT2Size",
    "KeyValueCache",
    "MultiHeadAttention",
    "MultiHeadAttentionCached",
    "MultiHeadAttentionSDPA",
    "MultiHeadAttentionTorch",
    "MultiHeadAttentionTorchQKV",
    "MultiHeadAttentionTorchXXX",
    "MultiHeadAttentionWrapper",
    "SelfAttention_v1",
    "SelfAttention_v2",
    "attention_parameters",
    "block_parameters",
    "cache_bytes",
    "causal_mask",
    "causal_weights",
    "causal_weights_renormalized",
    "context_all",
    "context_all_loop",
    "context_one",
    "context_one_loop",
    "gpt2_attention",
    "gpt2_parameters",
    "induction_score",
    "library_attention_parameters",
    "linear_parameters",
    "normalize_by_sum",
    "previous_token_score",
    "projections",
    "repeated_sequences",
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

"""Attention layers in plain PyTorch, from three matrices to the layer of GPT-2, and to a model that learns with them.

    self_attention  SelfAttention_v1, SelfAttention_v2: trainable queries, keys and values
    causal          CausalAttention: later tokens hidden, dropout, batches
    multi_head      MultiHeadAttentionWrapper, MultiHeadAttention: several heads
    fused           the same layer, where PyTorch's fused kernel attends
    cache           the same layer, with keys and values kept while a text is read piece by piece
    anti_patterns   two ways to wrap nn.MultiheadAttention that make projections twice
    gpt2            the sizes of the GPT-2 family and their parameter counts
    induction       a model of attention layers alone, to be trained while you watch
    measuring       what can be found out about a layer from outside: times of calls, projections

Shapes name their axes: ``batch`` for sequences, ``token`` for tokens of a sequence, ``head`` for heads. Where tokens
meet tokens, the axis ``query`` is for the tokens that look and ``key`` for the tokens that are looked at. Axes of
features have the names of their sizes: ``d_in`` for what comes in, ``d_out`` for what goes out, ``head_dim`` for one
head. A shape on a line of its own holds for the lines below it, up to the next shape. In the code, ``b`` is the number
of sequences and ``n`` the number of tokens. In a mask, nonzero means hidden.
"""

from .anti_patterns import EverythingProjectedTwice, OutputProjectedTwice
from .cache import KeyValueCache, MultiHeadAttentionCached, cache_bytes
from .causal import CausalAttention, CausalAttentionWithoutBuffers, causal_mask
from .fused import MultiHeadAttentionSDPA
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
    linear_parameters,
)
from .induction import (
    AttentionOnly,
    induction_score,
    induction_targets,
    next_token_losses,
    previous_token_score,
    repeated_sequences,
)
from .measuring import median_times, projections
from .multi_head import MultiHeadAttention, MultiHeadAttentionWrapper
from .self_attention import SelfAttention_v1, SelfAttention_v2

__all__ = [
    "GPT2_LARGE",
    "GPT2_MEDIUM",
    "GPT2_SIZES",
    "GPT2_SMALL",
    "GPT2_XL",
    "AttentionOnly",
    "CausalAttention",
    "CausalAttentionWithoutBuffers",
    "EverythingProjectedTwice",
    "GPT2Size",
    "KeyValueCache",
    "MultiHeadAttention",
    "MultiHeadAttentionCached",
    "MultiHeadAttentionSDPA",
    "MultiHeadAttentionWrapper",
    "OutputProjectedTwice",
    "SelfAttention_v1",
    "SelfAttention_v2",
    "attention_parameters",
    "block_parameters",
    "cache_bytes",
    "causal_mask",
    "gpt2_attention",
    "gpt2_parameters",
    "induction_score",
    "induction_targets",
    "linear_parameters",
    "median_times",
    "next_token_losses",
    "previous_token_score",
    "projections",
    "repeated_sequences",
]

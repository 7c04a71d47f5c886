"""The four GPT-2 sizes, and where their parameters are.

Sizes from the released models of Radford et al. 2019, "Language Models are Unsupervised Multitask Learners". That paper
gives 117 million parameters for the smallest model; counting its weights gives 124,439,808.

A GPT-2 block is: layer norm, attention, layer norm, feed-forward layer (four times as wide inside). In front of the
blocks are a token table and a position table, behind them one layer norm. The output layer shares the token table, so
it adds nothing. GPT-2 has biases on its query, key and value projections.
"""

from __future__ import annotations

from dataclasses import dataclass

from .multi_head import MultiHeadAttention


@dataclass(frozen=True)
class GPT2Size:
    """Sizes of one GPT-2 model; in GPT-2 the attention layers have d_in = d_out = d_model."""

    name: str
    num_layers: int
    num_heads: int
    d_model: int
    context_length: int = 1024
    vocab_size: int = 50257

    @property
    def head_dim(self) -> int:
        """The width of one head."""
        return self.d_model // self.num_heads


GPT2_SMALL = GPT2Size("small", num_layers=12, num_heads=12, d_model=768)
GPT2_MEDIUM = GPT2Size("medium", num_layers=24, num_heads=16, d_model=1024)
GPT2_LARGE = GPT2Size("large", num_layers=36, num_heads=20, d_model=1280)
GPT2_XL = GPT2Size("xl", num_layers=48, num_heads=25, d_model=1600)

GPT2_SIZES = {size.name: size for size in (GPT2_SMALL, GPT2_MEDIUM, GPT2_LARGE, GPT2_XL)}


def gpt2_attention(size: GPT2Size, dropout: float = 0.0, qkv_bias: bool = False) -> MultiHeadAttention:
    """Build one attention layer of a model, with fresh weights: (batch, token, d_model) -> the same shape."""
    width = size.d_model
    return MultiHeadAttention(width, width, size.context_length, dropout, size.num_heads, qkv_bias)


# -------------------------------------------------------------------------------------------------- counting parameters


def linear_parameters(d_in: int, d_out: int, bias: bool = True) -> int:
    """Count the parameters of an ``nn.Linear``: a weight per pair of features, and a bias per output feature."""
    return d_in * d_out + (d_out if bias else 0)


def attention_parameters(d_in: int, d_out: int, qkv_bias: bool = False) -> int:
    """Count the parameters of a ``MultiHeadAttention``: three projections in, one out, for any number of heads.

    768 wide: 2,360,064 without and 2,362,368 with biases on queries, keys and values.
    """
    return 3 * linear_parameters(d_in, d_out, bias=qkv_bias) + linear_parameters(d_out, d_out)


def block_parameters(d_model: int) -> int:
    """Count the parameters of a GPT-2 block: attention with all its biases, a feed-forward layer, two layer norms."""
    attention = attention_parameters(d_model, d_model, qkv_bias=True)
    feed_forward = linear_parameters(d_model, 4 * d_model) + linear_parameters(4 * d_model, d_model)
    layer_norm = 2 * d_model  # a scale and a shift per feature
    return attention + feed_forward + 2 * layer_norm


def gpt2_parameters(size: GPT2Size) -> int:
    """Count the parameters of a whole model: 124,439,808, 354,823,168, 774,030,080 and 1,557,611,200 for the four."""
    tables = (size.vocab_size + size.context_length) * size.d_model
    final_layer_norm = 2 * size.d_model
    return tables + size.num_layers * block_parameters(size.d_model) + final_layer_norm

"""Checks on sizes and shapes, kept here so that the layers show attention and nothing else.

Every function returns nothing and raises ``ValueError`` with a message that says what was given and what is needed.
"""

from __future__ import annotations

from torch import Tensor


def check_sizes(**sizes: int) -> None:
    """Demand that every size is 1 or more; the keyword is the name used in the message."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} is {size}, but it must be 1 or more")


def check_heads(d_out: int, num_heads: int) -> None:
    """Demand that the output width splits into ``num_heads`` equal parts."""
    check_sizes(d_out=d_out, num_heads=num_heads)
    if d_out % num_heads != 0:
        raise ValueError(
            f"d_out={d_out} cannot be split into num_heads={num_heads} equal heads: "
            f"{d_out} / {num_heads} leaves a remainder of {d_out % num_heads}"
        )


def check_same_width(d_in: int, d_out: int) -> None:
    """Demand that a layer around ``nn.MultiheadAttention`` is not asked to change the width of a token."""
    if d_in != d_out:
        raise ValueError(
            f"d_in={d_in} and d_out={d_out} differ, but this layer needs them equal: "
            "nn.MultiheadAttention keeps the width of the tokens"
        )


def check_tokens(inputs: Tensor, d_in: int) -> None:
    """Demand one sequence, (token, d_in), with any axes in front."""
    if inputs.dim() < 2:
        raise ValueError(
            f"inputs have shape {tuple(inputs.shape)}, but this layer needs (num_tokens, d_in): one row per token"
        )
    _check_width(inputs, d_in)


def check_batch(inputs: Tensor, d_in: int, context_length: int) -> None:
    """Demand a batch of sequences, (batch, token, d_in), with at most ``context_length`` tokens each."""
    if inputs.dim() != 3:
        hint = "; inputs.unsqueeze(0) makes a batch of one" if inputs.dim() == 2 else ""
        raise ValueError(
            f"inputs have shape {tuple(inputs.shape)}, but this layer needs three axes (batch, num_tokens, d_in){hint}"
        )
    _check_width(inputs, d_in)
    num_tokens = inputs.shape[1]
    if num_tokens > context_length:
        raise ValueError(
            f"inputs have {num_tokens} tokens, but this layer was built for context_length={context_length} at most"
        )


def _check_width(inputs: Tensor, d_in: int) -> None:
    """Demand ``d_in`` features on the last axis."""
    if inputs.shape[-1] != d_in:
        raise ValueError(f"inputs have {inputs.shape[-1]} features, this layer was built for d_in={d_in}")

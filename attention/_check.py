"""Checks on sizes and shapes, kept here so that the layers show attention and nothing else.

Every function returns nothing and raises ``ValueError`` with a message that says what was given and what is needed.
"""

from __future__ import annotations

from torch import Tensor


def check_sizes(**sizes: int) -> None:
    """Every size must be 1 or more; the keyword is the name used in the message."""
    for name, size in sizes.items():
        if size < 1:
            raise ValueError(f"{name} is {size}, but it must be 1 or more")


def check_heads(d_out: int, num_heads: int) -> None:
    """The output width must split into ``num_heads`` equal parts."""
    check_sizes(d_out=d_out, num_heads=num_heads)
    if d_out % num_heads != 0:
        raise ValueError(
            f"d_out={d_out} cannot be split into num_heads={num_heads} equal heads: "
            f"{d_out} / {num_heads} leaves a remainder of {d_out % num_heads}"
        )


def check_same_width(d_in: int, d_out: int, why: str) -> None:
    """Some layers cannot change the width of a token."""
    if d_in != d_out:
        raise ValueError(
            f"d_in={d_in} and d_out={d_out} differ, but this layer needs them equal: {why}"
        )


def check_vector(name: str, vector: Tensor) -> None:
    """The tensor must have exactly one axis."""
    if vector.dim() != 1:
        raise ValueError(
            f"{name} has shape {tuple(vector.shape)}, but one vector (a single axis) is needed"
        )


def check_matrix(name: str, matrix: Tensor) -> None:
    """The tensor must have exactly two axes."""
    if matrix.dim() != 2:
        raise ValueError(
            f"{name} has shape {tuple(matrix.shape)}, but a matrix (two axes) is needed"
        )


def check_equal(name: str, given: int, other: str, needed: int) -> None:
    """Two counts that meet in a product must agree."""
    if given != needed:
        raise ValueError(
            f"{name} is {given}, but {other} is {needed}: the two must be equal"
        )


def check_tokens(inputs: Tensor, d_in: int) -> None:
    """Inputs of a layer that takes one sequence: (num_tokens, d_in), with any axes in front."""
    if inputs.dim() < 2:
        raise ValueError(
            f"inputs have shape {tuple(inputs.shape)}, but this layer needs (num_tokens, d_in): one row per token"
        )
    _check_width(inputs, d_in)


def check_batch(inputs: Tensor, d_in: int, context_length: int) -> None:
    """Inputs of a layer that takes a batch: (b, num_tokens, d_in) with at most ``context_length`` tokens."""
    if inputs.dim() != 3:
        hint = (
            "; inputs.unsqueeze(0) makes a batch of one"
            if inputs.dim() == 2
            else ""
        )
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
    if inputs.shape[-1] != d_in:
        raise ValueError(
            f"inputs have {inputs.shape[-1]} features, this layer was built for d_in={d_in}"
        )

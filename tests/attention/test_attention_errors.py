"""Mistakes of a caller: each raises a ValueError that says what was given and what is needed."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
import torch
from torch import nn

from attn_tutor import attention as at

BATCHED: dict[str, Callable[[], nn.Module]] = {
    "CausalAttention": lambda: at.CausalAttention(4, 4, 6, 0.0),
    "CausalAttentionWithoutBuffers": lambda: at.CausalAttentionWithoutBuffers(4, 4, 6, 0.0),
    "MultiHeadAttentionWrapper": lambda: at.MultiHeadAttentionWrapper(4, 4, 6, 0.0, 2),
    "MultiHeadAttention": lambda: at.MultiHeadAttention(4, 4, 6, 0.0, 2),
    "MultiHeadAttentionSDPA": lambda: at.MultiHeadAttentionSDPA(4, 4, 6, 0.0, 2),
    "MultiHeadAttentionCached": lambda: at.MultiHeadAttentionCached(4, 4, 6, 0.0, 2),
    "EverythingProjectedTwice": lambda: at.EverythingProjectedTwice(4, 4, 6, 0.0, 2),
    "OutputProjectedTwice": lambda: at.OutputProjectedTwice(4, 4, 6, 0.0, 2),
}
all_batched = pytest.mark.parametrize("make", BATCHED.values(), ids=BATCHED.keys())
all_unmasked = pytest.mark.parametrize("layer_class", [at.SelfAttention_v1, at.SelfAttention_v2])
SPLIT = [
    at.MultiHeadAttention,
    at.MultiHeadAttentionSDPA,
    at.MultiHeadAttentionCached,
    at.EverythingProjectedTwice,
    at.OutputProjectedTwice,
]


@all_batched
def test_too_many_tokens_are_refused(make: Callable[[], nn.Module]) -> None:
    layer = make()
    assert layer(torch.rand(2, 6, 4)).shape[1] == 6  # exactly the context length is fine
    with pytest.raises(ValueError, match="inputs have 7 tokens, but this layer was built for context_length=6 at most"):
        layer(torch.rand(2, 7, 4))


@all_batched
def test_a_wrong_width_is_refused(make: Callable[[], nn.Module]) -> None:
    with pytest.raises(ValueError, match="inputs have 5 features, this layer was built for d_in=4"):
        make()(torch.rand(2, 6, 5))


@all_batched
@pytest.mark.parametrize(
    ("shape", "hint"), [((6, 4), "; inputs.unsqueeze(0) makes a batch of one"), ((1, 2, 6, 4), ""), ((4,), "")]
)
def test_a_wrong_number_of_axes_is_refused(make: Callable[[], nn.Module], shape: tuple[int, ...], hint: str) -> None:
    needed = f"inputs have shape {shape}, but this layer needs three axes (batch, num_tokens, d_in){hint}"
    with pytest.raises(ValueError, match=f"^{re.escape(needed)}$"):
        make()(torch.rand(shape))


def test_a_context_of_one_does_not_unmask_longer_inputs() -> None:
    """Without the check a 1x1 mask would broadcast over any length and hide nothing."""
    with pytest.raises(ValueError, match="inputs have 3 tokens, but this layer was built for context_length=1"):
        at.CausalAttention(4, 4, 1, 0.0)(torch.rand(2, 3, 4))


@all_unmasked
def test_self_attention_needs_rows_of_the_right_width(
    layer_class: type[at.SelfAttention_v1 | at.SelfAttention_v2],
) -> None:
    layer = layer_class(3, 2)
    with pytest.raises(ValueError, match="inputs have 4 features, this layer was built for d_in=3"):
        layer(torch.rand(6, 4))
    with pytest.raises(ValueError, match=re.escape("inputs have shape (3,), but this layer needs (num_tokens, d_in)")):
        layer(torch.rand(3))


@pytest.mark.parametrize("layer_class", SPLIT)
def test_heads_must_divide_the_width(layer_class: Callable[..., nn.Module]) -> None:
    needed = "d_out=8 cannot be split into num_heads=3 equal heads: 8 / 3 leaves a remainder of 2"
    with pytest.raises(ValueError, match=needed):
        layer_class(8, 8, 6, 0.0, 3)
    with pytest.raises(ValueError, match="num_heads is 0, but it must be 1 or more"):
        layer_class(8, 8, 6, 0.0, 0)


def test_the_library_cannot_change_the_width() -> None:
    with pytest.raises(ValueError, match="d_in=3 and d_out=2 differ, but this layer needs them equal"):
        at.OutputProjectedTwice(3, 2, 6, 0.0, 2)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: at.SelfAttention_v1(0, 2), "d_in is 0"),
        (lambda: at.SelfAttention_v2(3, 0), "d_out is 0"),
        (lambda: at.CausalAttention(3, 2, 0, 0.0), "context_length is 0"),
        (lambda: at.MultiHeadAttentionWrapper(3, 2, 6, 0.0, 0), "num_heads is 0"),
        (lambda: at.MultiHeadAttention(3, -2, 6, 0.0, 2), "d_out is -2"),
        (lambda: at.causal_mask(0), "context_length is 0"),
    ],
)
def test_sizes_must_be_positive(make: Callable[[], object], message: str) -> None:
    with pytest.raises(ValueError, match=f"{message}, but it must be 1 or more"):
        make()

"""Parameter counts by formula, compared with modules that are built on the meta device, where they take no memory."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from attn_tutor import attention as at


class Block(nn.Module):
    def __init__(self, size: at.GPT2Size) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(size.d_model)
        self.attention = at.gpt2_attention(size, qkv_bias=True)
        self.norm2 = nn.LayerNorm(size.d_model)
        self.expand = nn.Linear(size.d_model, 4 * size.d_model)
        self.shrink = nn.Linear(4 * size.d_model, size.d_model)


class GPT2(nn.Module):
    def __init__(self, size: at.GPT2Size) -> None:
        super().__init__()
        self.tokens = nn.Embedding(size.vocab_size, size.d_model)
        self.positions = nn.Embedding(size.context_length, size.d_model)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.num_layers))
        self.norm = nn.LayerNorm(size.d_model)
        self.head = nn.Linear(size.d_model, size.vocab_size, bias=False)
        self.head.weight = self.tokens.weight  # shared, so counted once


def count(layer: nn.Module) -> int:
    return sum(parameter.numel() for parameter in layer.parameters())


@pytest.mark.parametrize(
    ("size", "total"),
    [
        (at.GPT2_SMALL, 124_439_808),
        (at.GPT2_MEDIUM, 354_823_168),
        (at.GPT2_LARGE, 774_030_080),
        (at.GPT2_XL, 1_557_611_200),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_whole_models(size: at.GPT2Size, total: int) -> None:
    with torch.device("meta"):
        model = GPT2(size)
    assert count(model) == at.gpt2_parameters(size) == total
    assert count(model.blocks[0]) == at.block_parameters(size.d_model)


def test_sizes_of_the_gpt2_family() -> None:
    assert list(at.GPT2_SIZES) == ["small", "medium", "large", "xl"]
    table = [(s.num_layers, s.num_heads, s.d_model) for s in at.GPT2_SIZES.values()]
    assert table == [(12, 12, 768), (24, 16, 1024), (36, 20, 1280), (48, 25, 1600)]
    for size in at.GPT2_SIZES.values():
        assert (size.head_dim, size.context_length, size.vocab_size) == (64, 1024, 50257)


@pytest.mark.parametrize(("bias", "total"), [(False, 2_360_064), (True, 2_362_368)])
def test_attention_of_gpt2_small(bias: bool, total: int) -> None:
    with torch.device("meta"):
        layer = at.gpt2_attention(at.GPT2_SMALL, qkv_bias=bias)
    assert count(layer) == at.attention_parameters(768, 768, qkv_bias=bias) == total
    assert layer(torch.empty(1, 1024, 768, device="meta")).shape == (1, 1024, 768)


def test_layers_with_doubled_projections() -> None:
    with torch.device("meta"):
        library = nn.MultiheadAttention(768, 12)
        everything = at.EverythingProjectedTwice(768, 768, 1024, 0.0, 12)
        output = at.OutputProjectedTwice(768, 768, 1024, 0.0, 12)
    own = at.attention_parameters(768, 768)
    assert count(library) == own + 3 * 768 == 2_362_368
    assert count(everything) == own + count(library) == 4_722_432
    assert count(output) == count(library) + at.linear_parameters(768, 768) == 2_952_960
    assert count(output) - own == 592_896
    assert (count(output) - own) * at.GPT2_SMALL.num_layers == 7_114_752


@pytest.mark.parametrize("num_heads", [1, 2, 4])
def test_heads_do_not_change_the_count(num_heads: int) -> None:
    assert count(at.MultiHeadAttention(3, 4, 6, 0.0, num_heads)) == at.attention_parameters(3, 4)


def test_small_odd_sizes() -> None:
    assert count(at.MultiHeadAttention(3, 4, 6, 0.0, 2, qkv_bias=True)) == at.attention_parameters(3, 4, qkv_bias=True)
    assert count(at.EverythingProjectedTwice(3, 2, 6, 0.0, 2)) == 48
    assert count(at.OutputProjectedTwice(3, 3, 6, 0.0, 3)) == 60
    assert count(at.OutputProjectedTwice(3, 3, 6, 0.0, 3, qkv_bias=False)) == 48


def test_the_public_names_are_complete() -> None:
    assert sorted(set(at.__all__)) == sorted(at.__all__)
    public = {name for name, value in vars(at).items() if not name.startswith("_") and hasattr(value, "__module__")}
    own = {name for name in public if str(getattr(at, name).__module__).startswith("attention.")}
    assert own <= set(at.__all__)
    assert all(hasattr(at, name) for name in at.__all__)

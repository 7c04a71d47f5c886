"""The names, shapes and order of what a layer saves, and loading them into a different layer."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from attn_tutor import attention as at

QKV = ["W_query.weight", "W_key.weight", "W_value.weight"]
QKV_BIAS = [f"{name}.{kind}" for name in ("W_query", "W_key", "W_value") for kind in ("weight", "bias")]
OUT = ["out_proj.weight", "out_proj.bias"]
LIBRARY = [f"multihead_attn.{name}" for name in ("in_proj_weight", "in_proj_bias", "out_proj.weight", "out_proj.bias")]
ONE_STATE_DICT = [at.MultiHeadAttention, at.MultiHeadAttentionSDPA, at.MultiHeadAttentionCached]


@pytest.mark.parametrize(
    ("layer", "names"),
    [
        (at.SelfAttention_v1(3, 2), ["W_query", "W_key", "W_value"]),
        (at.SelfAttention_v2(3, 2), QKV),
        (at.SelfAttention_v2(3, 2, qkv_bias=True), QKV_BIAS),
        (at.CausalAttention(3, 2, 6, 0.0), ["mask", *QKV]),
        (at.CausalAttention(3, 2, 6, 0.0, qkv_bias=True), ["mask", *QKV_BIAS]),
        (at.CausalAttentionWithoutBuffers(3, 2, 6, 0.0), QKV),
        (
            at.MultiHeadAttentionWrapper(3, 2, 6, 0.0, 2),
            [f"heads.{h}.{name}" for h in (0, 1) for name in ("mask", *QKV)],
        ),
        (at.MultiHeadAttention(3, 2, 6, 0.0, 2), ["mask", *QKV, *OUT]),
        (at.MultiHeadAttention(3, 2, 6, 0.0, 2, qkv_bias=True), ["mask", *QKV_BIAS, *OUT]),
        (at.MultiHeadAttentionSDPA(3, 2, 6, 0.0, 2), ["mask", *QKV, *OUT]),
        (at.EverythingProjectedTwice(3, 2, 6, 0.0, 2), ["mask", *LIBRARY, *QKV, *OUT]),
        (at.OutputProjectedTwice(3, 3, 6, 0.0, 3), ["mask", *LIBRARY, *OUT]),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, nn.Module) else "",
)
def test_names_and_their_order(layer: nn.Module, names: list[str]) -> None:
    assert list(layer.state_dict()) == names


def test_shapes_of_what_is_saved() -> None:
    assert {name: tuple(value.shape) for name, value in at.SelfAttention_v1(3, 2).state_dict().items()} == {
        "W_query": (3, 2),
        "W_key": (3, 2),
        "W_value": (3, 2),
    }
    layer = at.MultiHeadAttention(3, 4, 6, 0.0, 2, qkv_bias=True)
    assert {name: tuple(value.shape) for name, value in layer.state_dict().items()} == {
        "mask": (6, 6),
        "W_query.weight": (4, 3),
        "W_query.bias": (4,),
        "W_key.weight": (4, 3),
        "W_key.bias": (4,),
        "W_value.weight": (4, 3),
        "W_value.bias": (4,),
        "out_proj.weight": (4, 4),
        "out_proj.bias": (4,),
    }


def test_the_mask_is_a_float_buffer_with_ones_for_hidden() -> None:
    layer = at.CausalAttention(3, 2, 4, 0.0)
    assert dict(layer.named_buffers())["mask"] is layer.mask
    assert layer.mask.dtype == torch.float32
    assert layer.mask.tolist() == [[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]]
    assert not layer.mask.requires_grad


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("target", ONE_STATE_DICT)
@pytest.mark.parametrize("source", ONE_STATE_DICT)
def test_variants_share_their_checkpoints(
    source: type[at.MultiHeadAttention], target: type[at.MultiHeadAttention], bias: bool
) -> None:
    torch.manual_seed(1)
    saved = source(4, 4, 6, 0.0, 2, qkv_bias=bias)
    saved.mask *= 2  # as in the notebook that edits the mask: every nonzero entry still means hidden
    loaded = target(4, 4, 6, 0.0, 2, qkv_bias=bias)
    loaded.load_state_dict(saved.state_dict(), strict=True)
    assert torch.equal(loaded.mask, saved.mask)
    inputs = torch.randn(2, 5, 4)
    torch.testing.assert_close(loaded(inputs), saved(inputs))


@pytest.mark.parametrize("layer_class", ONE_STATE_DICT)
def test_a_seed_gives_the_same_weights_in_every_class(layer_class: type[at.MultiHeadAttention]) -> None:
    torch.manual_seed(3)
    reference = at.MultiHeadAttention(4, 4, 6, 0.0, 2).state_dict()
    torch.manual_seed(3)
    for name, value in layer_class(4, 4, 6, 0.0, 2).state_dict().items():
        assert torch.equal(value, reference[name]), name


def test_a_boolean_mask_in_a_checkpoint_is_accepted() -> None:
    saved = at.MultiHeadAttention(4, 4, 6, 0.0, 2)
    state = saved.state_dict() | {"mask": saved.mask.bool()}
    loaded = at.MultiHeadAttention(4, 4, 6, 0.0, 2)
    loaded.load_state_dict(state, strict=True)
    assert torch.equal(loaded.mask, saved.mask)
    inputs = torch.randn(2, 6, 4)
    assert torch.equal(loaded(inputs), saved(inputs))
    loaded.mask = loaded.mask.bool()
    assert torch.equal(loaded(inputs), saved(inputs))


def test_a_layer_without_the_buffer_rejects_a_mask_and_the_other_misses_it() -> None:
    buffered, plain = at.CausalAttention(3, 2, 6, 0.0), at.CausalAttentionWithoutBuffers(3, 2, 6, 0.0)
    with pytest.raises(RuntimeError, match=r'Unexpected key.*"mask"'):
        plain.load_state_dict(buffered.state_dict())
    with pytest.raises(RuntimeError, match=r'Missing key.*"mask"'):
        buffered.load_state_dict(plain.state_dict())


def test_a_mask_that_is_no_buffer_has_to_be_moved_by_hand() -> None:
    layer = at.CausalAttentionWithoutBuffers(3, 2, 6, 0.0).to("meta")
    inputs = torch.empty(2, 6, 3, device="meta")
    assert layer.mask.device.type == "cpu"
    with pytest.raises(RuntimeError, match="device"):
        layer(inputs)
    layer.mask = layer.mask.to("meta")
    assert layer(inputs).shape == (2, 6, 2)
    assert "mask" not in layer.state_dict()


def test_the_mask_itself_decides_what_is_hidden() -> None:
    """A mask without ones hides nothing: the explicit layer reads its buffer and does not assume a triangle."""
    torch.manual_seed(4)
    layer, unmasked = at.CausalAttention(3, 2, 6, 0.0), at.SelfAttention_v2(3, 2)
    unmasked.load_state_dict({name: value for name, value in layer.state_dict().items() if name != "mask"})
    inputs: Tensor = torch.randn(2, 6, 3)
    layer.mask.zero_()
    torch.testing.assert_close(layer(inputs), unmasked(inputs))

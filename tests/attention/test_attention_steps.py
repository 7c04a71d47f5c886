"""Every step of every explicit layer compared with plain Python loops, and mistakes that the comparison must find."""

from __future__ import annotations

import inspect

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from attn_tutor import attention as at
from attn_tutor.attention import multi_head
from tests.attention.attention_oracle import assert_steps, layer_steps, steps_of

FEW = settings(max_examples=15, deadline=None, derandomize=True, database=None)
SMALL = st.integers(1, 3)
SEED = st.integers(0, 10**6)


def random_inputs(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64)


@FEW
@given(b=SMALL, n=st.integers(1, 5), d_in=st.integers(1, 4), d_out=SMALL, bias=st.booleans(), seed=SEED)
def test_self_attention(b: int, n: int, d_in: int, d_out: int, bias: bool, seed: int) -> None:
    torch.manual_seed(seed)
    inputs = random_inputs(b, n, d_in)
    layer = at.SelfAttention_v2(d_in, d_out, qkv_bias=bias).double()
    assert_steps(layer, inputs, causal=False)
    torch.testing.assert_close(layer(inputs[0]), layer(inputs)[0])


@FEW
@given(n=st.integers(1, 5), d_in=st.integers(1, 4), d_out=SMALL, seed=SEED)
def test_raw_matrices_equal_linear_layers_with_transposed_weights(n: int, d_in: int, d_out: int, seed: int) -> None:
    torch.manual_seed(seed)
    raw, linear = at.SelfAttention_v1(d_in, d_out).double(), at.SelfAttention_v2(d_in, d_out).double()
    for name in ("W_query", "W_key", "W_value"):
        getattr(linear, name).weight = nn.Parameter(getattr(raw, name).detach().T)
    inputs = random_inputs(n, d_in)
    expected = layer_steps(linear, inputs.unsqueeze(0), causal=False)
    actual = steps_of(raw, inputs)
    for name in ("queries", "keys", "values", "scores", "scaled", "weights", "context", "output"):
        torch.testing.assert_close(actual[name], expected[name][0], rtol=1e-9, atol=1e-11)


@FEW
@given(b=SMALL, n=st.integers(1, 5), d_in=SMALL, d_out=SMALL, spare=st.integers(0, 2), bias=st.booleans(), seed=SEED)
def test_causal_attention(b: int, n: int, d_in: int, d_out: int, spare: int, bias: bool, seed: int) -> None:
    torch.manual_seed(seed)
    inputs = random_inputs(b, n, d_in)
    for layer_class in (at.CausalAttention, at.CausalAttentionWithoutBuffers):
        assert_steps(layer_class(d_in, d_out, n + spare, 0.0, qkv_bias=bias).double(), inputs)


@FEW
@given(
    b=SMALL,
    n=st.integers(1, 5),
    d_in=SMALL,
    head_dim=SMALL,
    num_heads=SMALL,
    spare=st.integers(0, 2),
    bias=st.booleans(),
    seed=SEED,
)
def test_multi_head_attention(
    b: int, n: int, d_in: int, head_dim: int, num_heads: int, spare: int, bias: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    inputs = random_inputs(b, n, d_in)
    d_out = head_dim * num_heads
    layer = at.MultiHeadAttention(d_in, d_out, n + spare, 0.0, num_heads, qkv_bias=bias).double()
    steps = steps_of(layer, inputs)
    expected = layer_steps(layer, inputs, num_heads)
    if num_heads == 1:  # the oracle drops the head axis of a single head
        expected = {name: value if name == "output" else value.unsqueeze(1) for name, value in expected.items()}
    for name, value in expected.items():
        torch.testing.assert_close(steps[name], value, rtol=1e-9, atol=1e-11)

    fused = at.MultiHeadAttentionSDPA(d_in, d_out, n + spare, 0.0, num_heads, qkv_bias=bias).double()
    fused.load_state_dict(layer.state_dict())
    torch.testing.assert_close(fused(inputs), expected["output"])


@FEW
@given(n=st.integers(1, 5), d_in=SMALL, head_dim=SMALL, num_heads=SMALL, bias=st.booleans(), seed=SEED)
def test_wrapper_is_its_heads_side_by_side(
    n: int, d_in: int, head_dim: int, num_heads: int, bias: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    inputs = random_inputs(2, n, d_in)
    wrapper = at.MultiHeadAttentionWrapper(d_in, head_dim, n, 0.0, num_heads, qkv_bias=bias).double()
    heads = [layer_steps(head, inputs)["output"] for head in wrapper.heads]
    torch.testing.assert_close(wrapper(inputs), torch.cat(heads, dim=-1), rtol=1e-9, atol=1e-11)


# ------------------------------------------------------------------------------------------------- tests of these tests


def check_multi_head(layer_class: type[nn.Module]) -> None:
    """Check all that a MultiHeadAttention has to satisfy: the loops, determinism in eval mode, and the dropout rule."""
    torch.manual_seed(5)
    inputs = random_inputs(2, 4, 3)
    layer = layer_class(3, 4, 5, 0.5, 2, qkv_bias=True).double().eval()
    assert_steps(layer, inputs, num_heads=2)
    assert torch.equal(layer(inputs), layer(inputs))

    steps = steps_of(layer.train(), inputs)
    weights, dropped = steps["weights"], steps["dropped"]
    assert torch.all((dropped == 0) | torch.isclose(dropped, weights / 0.5))
    assert 0 < int((dropped == 0)[weights > 0].sum()) < int((weights > 0).sum())
    torch.testing.assert_close(steps["context"], dropped @ steps["values"])


def edited_layer_class(replacements: list[tuple[str, str]]) -> type[nn.Module]:
    """Build the class MultiHeadAttention from its own source, with some pieces of text replaced."""
    source = inspect.getsource(at.MultiHeadAttention)
    for right, wrong in replacements:
        assert right in source, f"the layer no longer contains {right!r}"
        source = source.replace(right, wrong)
    names = dict(vars(multi_head))
    exec(compile(source, "<rewritten>", "exec"), names)
    layer_class: type[nn.Module] = names["MultiHeadAttention"]
    return layer_class


def test_the_layer_itself_passes() -> None:
    check_multi_head(at.MultiHeadAttention)
    check_multi_head(edited_layer_class([]))


MISTAKES: dict[str, list[tuple[str, str]]] = {
    "queries and keys swapped": [("queries @ keys.transpose(2, 3)", "keys @ queries.transpose(2, 3)")],
    "scale of all heads together": [("self.head_dim**0.5", "self.d_out**0.5")],
    "scale without the root": [("self.head_dim**0.5", "self.head_dim")],
    "scale the wrong way": [("scores / self", "scores * self")],
    "softmax over the queries": [("softmax(masked, dim=-1)", "softmax(masked, dim=-2)")],
    "mask forgotten": [("softmax(masked,", "softmax(scaled,")],
    "hidden scores zero": [("-torch.inf", "0.0")],
    "mask transposed": [(".bool()", ".bool().T")],
    "mask inverted": [(".bool()", ".bool().logical_not()")],
    "own token hidden": [("causal_mask(context_length)", "torch.ones(context_length, context_length).triu()")],
    "next token visible": [("causal_mask(context_length)", "torch.ones(context_length, context_length).triu(2)")],
    "dropout forgotten": [("dropped @ values", "weights @ values")],
    "dropout in eval": [("self.dropout(weights)", "nn.functional.dropout(weights, self.dropout.p)")],
    "dropout without the factor": [("self.dropout(weights)", "self.dropout(weights) * (1 - self.dropout.p)")],
    "dropped weights renormalized": [
        ("self.dropout(weights)", "nn.functional.normalize(self.dropout(weights), p=1.0, dim=-1)")
    ],
    "keys as values": [("self.W_value(inputs)", "self.W_key(inputs)")],
    "queries as keys": [("self.W_key(inputs)", "self.W_query(inputs)")],
    "key bias lost": [("self.W_key(inputs)", "nn.functional.linear(inputs, self.W_key.weight)")],
    "heads cut from the token axis": [(".view(heads).transpose(1, 2)", ".view(b, self.num_heads, n, self.head_dim)")],
    "heads interleaved": [
        ("self.num_heads, self.head_dim)", "self.head_dim, self.num_heads)"),
        (".view(heads).transpose(1, 2)", ".view(heads).permute(0, 3, 1, 2)"),
    ],
    "heads merged without the transpose": [("context.transpose(1, 2).contiguous()", "context.contiguous()")],
    "output projection forgotten": [("self.out_proj(merged)", "merged")],
    "output bias lost": [("self.out_proj(merged)", "self.out_proj(merged) - self.out_proj.bias")],
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_found(mistake: str) -> None:
    layer_class = edited_layer_class(MISTAKES[mistake])
    with pytest.raises(AssertionError):
        check_multi_head(layer_class)

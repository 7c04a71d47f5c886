"""Properties that hold for the layers whatever their weights are: causality, closed forms, heads, dropout, edges."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from attn_tutor import attention as at
from tests.attention.attention_oracle import steps_of

D = 4
CONTEXT = 6
HEADS = 2

# Layers of width 4 to 4, by a dropout rate.
CAUSAL: dict[str, Callable[[float], nn.Module]] = {
    "CausalAttention": lambda p: at.CausalAttention(D, D, CONTEXT, p),
    "CausalAttentionWithoutBuffers": lambda p: at.CausalAttentionWithoutBuffers(D, D, CONTEXT, p),
    "MultiHeadAttentionWrapper": lambda p: at.MultiHeadAttentionWrapper(D, D // HEADS, CONTEXT, p, HEADS),
    "MultiHeadAttention": lambda p: at.MultiHeadAttention(D, D, CONTEXT, p, HEADS),
    "MultiHeadAttentionSDPA": lambda p: at.MultiHeadAttentionSDPA(D, D, CONTEXT, p, HEADS),
    "MultiHeadAttentionCached": lambda p: at.MultiHeadAttentionCached(D, D, CONTEXT, p, HEADS),
    "EverythingProjectedTwice": lambda p: at.EverythingProjectedTwice(D, D, CONTEXT, p, HEADS),
    "OutputProjectedTwice": lambda p: at.OutputProjectedTwice(D, D, CONTEXT, p, HEADS),
}
UNMASKED: dict[str, Callable[[], nn.Module]] = {
    "SelfAttention_v1": lambda: at.SelfAttention_v1(D, D),
    "SelfAttention_v2": lambda: at.SelfAttention_v2(D, D),
}
ONE_STATE_DICT = [at.MultiHeadAttention, at.MultiHeadAttentionSDPA, at.MultiHeadAttentionCached]

all_causal = pytest.mark.parametrize("make", CAUSAL.values(), ids=CAUSAL.keys())
all_unmasked = pytest.mark.parametrize("make", UNMASKED.values(), ids=UNMASKED.keys())
all_interchangeable = pytest.mark.parametrize("layer_class", ONE_STATE_DICT)


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(2)


def random_inputs(num_tokens: int = CONTEXT, b: int = 3) -> Tensor:
    return torch.randn(b, num_tokens, D, dtype=torch.float64)


def multi_head(layer_class: type[at.MultiHeadAttention]) -> at.MultiHeadAttention:
    return layer_class(D, D, CONTEXT, 0.0, HEADS, qkv_bias=True).double()


# ------------------------------------------------------------------------------------------------------------ causality


@all_causal
@pytest.mark.parametrize("t", range(1, CONTEXT + 1))
def test_a_prefix_does_not_depend_on_the_rest(make: Callable[[float], nn.Module], t: int) -> None:
    layer, inputs = make(0.0).double(), random_inputs()
    torch.testing.assert_close(layer(inputs)[:, :t], layer(inputs[:, :t]))


@all_causal
@pytest.mark.parametrize("t", range(CONTEXT))
def test_no_gradient_reaches_later_tokens(make: Callable[[float], nn.Module], t: int) -> None:
    layer, inputs = make(0.0).double(), random_inputs().requires_grad_()
    (gradient,) = torch.autograd.grad(layer(inputs)[:, t].sum(), inputs)
    assert torch.all(gradient[:, t + 1 :] == 0)
    assert torch.all(gradient[:, : t + 1].abs().sum(dim=-1) > 0)


@all_unmasked
def test_without_a_mask_every_token_matters(make: Callable[[], nn.Module]) -> None:
    layer, inputs = make().double(), random_inputs(b=1)[0].requires_grad_()
    (gradient,) = torch.autograd.grad(layer(inputs)[0].sum(), inputs)
    assert torch.all(gradient.abs().sum(dim=-1) > 0)


@all_unmasked
def test_without_a_mask_order_does_not_matter(make: Callable[[], nn.Module]) -> None:
    layer, inputs, order = make().double(), random_inputs(b=1)[0], torch.tensor([3, 0, 5, 1, 4, 2])
    torch.testing.assert_close(layer(inputs[order]), layer(inputs)[order])


# --------------------------------------------------------------------------------------------------------- closed forms


@all_interchangeable
def test_without_queries_the_result_is_a_running_mean(layer_class: type[at.MultiHeadAttention]) -> None:
    layer, inputs = multi_head(layer_class), random_inputs()
    nn.init.zeros_(layer.W_query.weight)
    nn.init.zeros_(layer.W_query.bias)
    counts = torch.arange(1, CONTEXT + 1, dtype=torch.float64).unsqueeze(-1)
    mean = layer.W_value(inputs).cumsum(dim=1) / counts
    torch.testing.assert_close(layer(inputs), layer.out_proj(mean))


@all_interchangeable
def test_two_tokens_are_mixed_by_a_sigmoid(layer_class: type[at.MultiHeadAttention]) -> None:
    layer, inputs = multi_head(layer_class), random_inputs(num_tokens=2)
    queries, keys, values = (linear(inputs) for linear in (layer.W_query, layer.W_key, layer.W_value))
    parts = []
    for h in range(HEADS):
        columns = slice(h * D // HEADS, (h + 1) * D // HEADS)
        query, key, value = queries[:, 1, columns], keys[..., columns], values[..., columns]
        difference = (query * (key[:, 1] - key[:, 0])).sum(dim=-1, keepdim=True)
        weight = torch.sigmoid(difference / (D / HEADS) ** 0.5)
        parts.append(weight * value[:, 1] + (1 - weight) * value[:, 0])
    torch.testing.assert_close(layer(inputs)[:, 1], layer.out_proj(torch.cat(parts, dim=-1)))


@all_interchangeable
def test_the_first_token_sees_only_itself(layer_class: type[at.MultiHeadAttention]) -> None:
    layer, inputs = multi_head(layer_class), random_inputs()
    torch.testing.assert_close(layer(inputs)[:, 0], layer.out_proj(layer.W_value(inputs[:, 0])))


@all_interchangeable
def test_a_value_bias_passes_through(layer_class: type[at.MultiHeadAttention]) -> None:
    layer, inputs = multi_head(layer_class), random_inputs()
    nn.init.zeros_(layer.W_value.weight)
    torch.testing.assert_close(layer(inputs), layer.out_proj(layer.W_value.bias).expand(3, CONTEXT, D))


@all_interchangeable
def test_a_key_bias_changes_nothing(layer_class: type[at.MultiHeadAttention]) -> None:
    layer, inputs = multi_head(layer_class), random_inputs()
    before = layer(inputs)
    with torch.no_grad():
        layer.W_key.bias.add_(torch.tensor([1.0, -2.0, 0.5, 3.0]))
    torch.testing.assert_close(layer(inputs), before)


@all_interchangeable
def test_the_result_is_linear_in_the_values(layer_class: type[at.MultiHeadAttention]) -> None:
    layer, inputs = multi_head(layer_class), random_inputs()
    nn.init.zeros_(layer.out_proj.bias)
    before = layer(inputs)
    with torch.no_grad():
        layer.W_value.weight.mul_(2)
        layer.W_value.bias.mul_(2)
    assert torch.equal(layer(inputs), 2 * before)


# ---------------------------------------------------------------------------------------------------------------- heads


def test_split_heads_are_separate_heads() -> None:
    """One large projection cut into heads computes the same as separate heads with the pieces of that projection."""
    inputs = random_inputs()
    whole = at.MultiHeadAttention(D, D, CONTEXT, 0.0, HEADS, qkv_bias=True).double()
    nn.init.eye_(whole.out_proj.weight)
    nn.init.zeros_(whole.out_proj.bias)
    wrapper = at.MultiHeadAttentionWrapper(D, D // HEADS, CONTEXT, 0.0, HEADS, qkv_bias=True).double()
    state = whole.state_dict()
    for h, head in enumerate(wrapper.heads):
        rows = slice(h * D // HEADS, (h + 1) * D // HEADS)
        head.load_state_dict({name: state[name] if name == "mask" else state[name][rows] for name in head.state_dict()})
    torch.testing.assert_close(wrapper(inputs), whole(inputs))


@all_interchangeable
def test_the_order_of_the_heads_does_not_matter(layer_class: type[at.MultiHeadAttention]) -> None:
    layer, inputs = multi_head(layer_class), random_inputs()
    before = layer(inputs)
    order = torch.tensor([2, 3, 0, 1])  # the two heads exchange places
    with torch.no_grad():
        for linear in (layer.W_query, layer.W_key, layer.W_value):
            linear.weight.copy_(linear.weight[order])
            linear.bias.copy_(linear.bias[order])
        layer.out_proj.weight.copy_(layer.out_proj.weight[:, order])
    torch.testing.assert_close(layer(inputs), before)


# -------------------------------------------------------------------------------------------------------------- dropout


@all_causal
def test_dropout_happens_in_training_only(make: Callable[[float], nn.Module]) -> None:
    layer, never = make(0.5).double(), make(0.0).double()
    never.load_state_dict(layer.state_dict())
    inputs = random_inputs()
    assert not torch.equal(layer(inputs), layer(inputs))
    layer.eval()
    never.eval()
    assert torch.equal(layer(inputs), never(inputs))


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_survivors_are_scaled_and_the_rate_is_right(rate: float) -> None:
    layer = at.CausalAttention(D, D, 60, rate).double()
    steps = steps_of(layer, torch.randn(4, 60, D, dtype=torch.float64))
    weights, dropped = steps["weights"], steps["dropped"]
    gone = dropped == 0
    torch.testing.assert_close(dropped[~gone], weights[~gone] / (1 - rate))
    share = gone[weights > 0].double().mean().item()
    assert share == pytest.approx(rate, abs=5 * (rate * (1 - rate) / 7320) ** 0.5)


def test_one_seed_drops_the_same_weights_in_every_class() -> None:
    inputs = random_inputs()
    state = at.MultiHeadAttention(D, D, CONTEXT, 0.5, HEADS).double().state_dict()
    results = []
    for layer_class in ONE_STATE_DICT:
        layer = layer_class(D, D, CONTEXT, 0.5, HEADS).double()
        layer.load_state_dict(state)
        torch.manual_seed(9)
        results.append(layer(inputs))
    torch.testing.assert_close(results[1], results[0])
    torch.testing.assert_close(results[2], results[0])


# ---------------------------------------------------------------------------------------- gradients, types, odd inputs


@all_causal
def test_every_parameter_is_trained(make: Callable[[float], nn.Module]) -> None:
    layer = make(0.0).double()
    layer(random_inputs()).square().sum().backward()
    for name, parameter in layer.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.abs().sum() > 0, name


def test_fused_gradients_equal_explicit_gradients() -> None:
    inputs, explicit = random_inputs(), multi_head(at.MultiHeadAttention)
    explicit(inputs).square().sum().backward()
    fused = multi_head(at.MultiHeadAttentionSDPA)
    fused.load_state_dict(explicit.state_dict())
    fused(inputs).square().sum().backward()
    for (name, one), other in zip(explicit.named_parameters(), fused.parameters(), strict=True):
        torch.testing.assert_close(other.grad, one.grad, msg=name)


@all_causal
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16])
def test_dtypes(make: Callable[[float], nn.Module], dtype: torch.dtype) -> None:
    layer = make(0.0)
    inputs = random_inputs()
    expected = layer(inputs.float())
    result = layer.to(dtype)(inputs.to(dtype))
    assert result.dtype == dtype
    rtol, atol = (0.1, 0.05) if dtype == torch.bfloat16 else (1e-4, 1e-5)
    torch.testing.assert_close(result.float(), expected, rtol=rtol, atol=atol)


@pytest.mark.parametrize("name", [name for name in CAUSAL if name != "CausalAttentionWithoutBuffers"])
def test_devices(name: str) -> None:
    layer = CAUSAL[name](0.0).to("meta")
    result = layer(random_inputs().float().to("meta"))
    assert result.device.type == "meta"
    assert result.shape == (3, CONTEXT, D)


@all_causal
def test_inputs_and_layer_do_not_change(make: Callable[[float], nn.Module]) -> None:
    layer, inputs = make(0.0).double(), random_inputs()
    inputs_before, state_before = inputs.clone(), copy.deepcopy(layer.state_dict())
    layer(inputs)
    assert torch.equal(inputs, inputs_before)
    for name, value in layer.state_dict().items():
        assert torch.equal(value, state_before[name]), name


@all_causal
def test_memory_layout_does_not_matter(make: Callable[[float], nn.Module]) -> None:
    layer, inputs = make(0.0).double(), random_inputs()
    scattered = inputs.permute(2, 1, 0).contiguous().permute(2, 1, 0)
    assert not scattered.is_contiguous()
    torch.testing.assert_close(layer(scattered), layer(inputs))


@all_causal
def test_large_numbers_stay_finite(make: Callable[[float], nn.Module]) -> None:
    result = make(0.0)(random_inputs().float() * 1e4)
    assert result.isfinite().all()


@all_causal
def test_a_batch_gives_the_results_of_its_sequences(make: Callable[[float], nn.Module]) -> None:
    layer, inputs = make(0.0).double(), random_inputs()
    for i in range(inputs.shape[0]):
        torch.testing.assert_close(layer(inputs)[i : i + 1], layer(inputs[i : i + 1]))


@all_causal
def test_copies_and_pickles_compute_the_same(make: Callable[[float], nn.Module]) -> None:
    layer, inputs = make(0.0).double(), random_inputs()
    assert torch.equal(copy.deepcopy(layer)(inputs), layer(inputs))
    assert torch.equal(pickle.loads(pickle.dumps(layer))(inputs), layer(inputs))


@pytest.mark.parametrize("num_tokens", [267, 515])
def test_fused_kernels_at_lengths_that_no_block_divides(num_tokens: int) -> None:
    inputs = torch.randn(1, num_tokens, 8)
    explicit = at.MultiHeadAttention(8, 8, 515, 0.0, HEADS)
    fused = at.MultiHeadAttentionSDPA(8, 8, 515, 0.0, HEADS)
    fused.load_state_dict(explicit.state_dict())
    torch.testing.assert_close(fused(inputs), explicit(inputs), rtol=1e-5, atol=2e-6)


# -------------------------------------------------------------------------------------- nn.MultiheadAttention, wrapped


def test_the_library_module_computes_the_same() -> None:
    """A bare nn.MultiheadAttention with our weights in its block gives our result: no projection is missing."""
    ours, inputs = multi_head(at.MultiHeadAttention), random_inputs()
    library = nn.MultiheadAttention(D, HEADS, batch_first=True).double()
    linears = (ours.W_query, ours.W_key, ours.W_value)
    library.load_state_dict(
        {
            "in_proj_weight": torch.cat([linear.weight for linear in linears]),
            "in_proj_bias": torch.cat([linear.bias for linear in linears]),
            "out_proj.weight": ours.out_proj.weight,
            "out_proj.bias": ours.out_proj.bias,
        }
    )
    result, _ = library(inputs, inputs, inputs, attn_mask=at.causal_mask(CONTEXT).bool())
    torch.testing.assert_close(result, ours(inputs))


def merge_linear_layers(
    first: tuple[Tensor, Tensor], second: nn.Linear | tuple[Tensor, Tensor]
) -> tuple[Tensor, Tensor]:
    """Return the weight and bias of the one linear layer that computes what two in a row compute."""
    weight, bias = (second.weight, second.bias) if isinstance(second, nn.Linear) else second
    return weight @ first[0], weight @ first[1] + bias


@pytest.mark.parametrize("layer_class", [at.EverythingProjectedTwice, at.OutputProjectedTwice])
def test_doubled_projections_do_no_more_than_one(
    layer_class: type[at.EverythingProjectedTwice | at.OutputProjectedTwice],
) -> None:
    """Multiply the doubled projections together, and a plain MultiHeadAttention gives the same result."""
    doubled, inputs = layer_class(D, D, CONTEXT, 0.0, HEADS, qkv_bias=True).double(), random_inputs()
    library = doubled.multihead_attn
    single = multi_head(at.MultiHeadAttention)
    state = {"mask": doubled.mask}
    names = ("W_query", "W_key", "W_value")
    for name, weight, bias in zip(names, library.in_proj_weight.chunk(3), library.in_proj_bias.chunk(3), strict=True):
        if isinstance(doubled, at.EverythingProjectedTwice):
            own = getattr(doubled, name)
            weight, bias = merge_linear_layers((own.weight, own.bias), (weight, bias))
        state |= {f"{name}.weight": weight, f"{name}.bias": bias}
    weight, bias = merge_linear_layers((library.out_proj.weight, library.out_proj.bias), doubled.out_proj)
    state |= {"out_proj.weight": weight, "out_proj.bias": bias}
    single.load_state_dict(state)
    torch.testing.assert_close(single(inputs), doubled(inputs))


def test_projections_are_listed() -> None:
    once = {"queries": ["W_query"], "keys": ["W_key"], "values": ["W_value"], "output": ["out_proj"]}
    for layer_class in ONE_STATE_DICT:
        assert at.projections(layer_class(D, D, CONTEXT, 0.0, HEADS)) == once
    assert at.projections(at.CausalAttention(D, D, CONTEXT, 0.0)) == once | {"output": []}

    library = {role: [f"multihead_attn.in_proj ({role})"] for role in ("queries", "keys", "values")}
    twice = ["multihead_attn.out_proj", "out_proj"]
    assert at.projections(at.OutputProjectedTwice(D, D, CONTEXT, 0.0, HEADS)) == library | {"output": twice}
    assert at.projections(at.EverythingProjectedTwice(D, D, CONTEXT, 0.0, HEADS)) == {
        "queries": ["W_query", *library["queries"]],
        "keys": ["W_key", *library["keys"]],
        "values": ["W_value", *library["values"]],
        "output": twice,
    }
    assert at.projections(nn.MultiheadAttention(D, HEADS)) == {
        "queries": ["in_proj (queries)"],
        "keys": ["in_proj (keys)"],
        "values": ["in_proj (values)"],
        "output": ["out_proj"],
    }
    with pytest.raises(ValueError, match="MultiHeadAttentionWrapper has no query projection of its own"):
        at.projections(at.MultiHeadAttentionWrapper(D, D, CONTEXT, 0.0, HEADS))

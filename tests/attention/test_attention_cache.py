"""The cache: reading a text in pieces gives the numbers of one pass, and a wrong use raises an error."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor
from torch.utils.flop_counter import FlopCounterMode

from attn_tutor.attention.cache import KeyValueCache, MultiHeadAttentionCached, cache_bytes
from attn_tutor.attention.multi_head import MultiHeadAttention

LENGTH = 7


def make_layer(qkv_bias: bool = False, dropout: float = 0.0) -> MultiHeadAttentionCached:
    torch.manual_seed(1)
    return MultiHeadAttentionCached(5, 6, LENGTH, dropout, 3, qkv_bias)


def random_text(b: int = 2) -> Tensor:
    return torch.randn(b, LENGTH, 5, generator=torch.Generator().manual_seed(2))


def uncached_layer(layer: MultiHeadAttentionCached) -> MultiHeadAttention:
    """Return a layer without a cache that has the same parameters."""
    same = MultiHeadAttention(5, 6, LENGTH, 0.0, 3, layer.W_query.bias is not None)
    same.load_state_dict(layer.state_dict())
    return same


@pytest.mark.parametrize("pieces", [[1] * 7, [7], [3, 1, 1, 2], [1, 6], [6, 1]])
@pytest.mark.parametrize("qkv_bias", [False, True])
def test_pieces_give_the_numbers_of_one_pass(pieces: list[int], qkv_bias: bool) -> None:
    layer, inputs, cache = make_layer(qkv_bias), random_text(), KeyValueCache()
    contexts = []
    for piece in inputs.split(pieces, dim=1):
        contexts.append(layer(piece, cache))
        assert len(cache) == sum(context.shape[1] for context in contexts)
    torch.testing.assert_close(torch.cat(contexts, dim=1), uncached_layer(layer)(inputs))


def test_without_a_cache_it_is_the_ordinary_layer() -> None:
    layer, inputs = make_layer(), random_text()
    for tokens in (inputs, inputs[:, :3], inputs[:1]):
        assert torch.equal(layer(tokens), uncached_layer(layer)(tokens))


def test_cache_holds_what_the_layer_would_compute_again() -> None:
    layer, inputs, cache = make_layer(), random_text(), KeyValueCache()
    for token in inputs.split(1, dim=1):
        layer(token, cache)
    assert cache.keys is not None
    assert cache.values is not None
    heads = (2, LENGTH, 3, 2)
    torch.testing.assert_close(cache.keys, layer.W_key(inputs).view(heads).transpose(1, 2))
    torch.testing.assert_close(cache.values, layer.W_value(inputs).view(heads).transpose(1, 2))


def test_clear_prepares_the_cache_for_a_new_text() -> None:
    layer, cache = make_layer(), KeyValueCache()
    first, second = random_text(), random_text().flip(1)
    layer(first, cache)
    cache.clear()
    assert len(cache) == 0
    assert torch.equal(layer(second, cache), layer(second))


def test_stale_cache_changes_the_numbers() -> None:
    """Without `clear`, the new text would attend to the old one."""
    layer, cache = make_layer(), KeyValueCache()
    layer(random_text()[:, :3], cache)
    second = random_text().flip(1)[:, :2]
    assert not torch.allclose(layer(second, cache), layer(second))


def test_more_tokens_than_the_context_are_refused() -> None:
    layer, cache = make_layer(), KeyValueCache()
    layer(random_text()[:, :5], cache)
    with pytest.raises(ValueError, match=r"5 tokens in the cache and 3 new ones are 8, .* context_length=7 at most"):
        layer(random_text()[:, :3], cache)
    assert len(cache) == 5
    assert layer(random_text()[:, :2], cache).shape == (2, 2, 6)


def test_cache_of_a_batch_of_another_size_is_refused() -> None:
    layer, cache = make_layer(), KeyValueCache()
    layer(random_text(2)[:, :2], cache)
    with pytest.raises(ValueError, match="the cache holds 2 texts, the inputs are 3"):
        layer(random_text(3)[:, :1], cache)


def test_no_dropout_after_eval() -> None:
    layer, inputs, cache = make_layer(dropout=0.5).eval(), random_text(), KeyValueCache()
    contexts = [layer(token, cache) for token in inputs.split(1, dim=1)]
    torch.testing.assert_close(torch.cat(contexts, dim=1), uncached_layer(layer)(inputs))


def test_a_step_multiplies_for_one_token_only() -> None:
    """The projections of a step do not grow with the text, and its scores are a single row."""
    layer, inputs, cache = make_layer(), random_text(), KeyValueCache()
    counts = []
    for token in inputs.split(1, dim=1):
        with FlopCounterMode(display=False) as counter:
            layer(token, cache)
        counts.append(counter.get_total_flops())
    growth = {later - earlier for earlier, later in itertools.pairwise(counts)}
    # One token more: its key and its value, in each of 2 texts and 3 heads of 2 features, a product and a sum each.
    assert growth == {2 * 2 * 3 * 2 * 2}


def test_bytes_of_a_real_cache() -> None:
    layer, cache = make_layer(), KeyValueCache()
    layer(random_text(1), cache)
    assert cache.keys is not None
    assert cache.values is not None
    stored = sum(tensor.numel() * tensor.element_size() for tensor in (cache.keys, cache.values))
    assert stored == cache_bytes(LENGTH, width=6, num_layers=1)
    assert cache_bytes(1024, 768, 12) == 75_497_472

"""The model that learns to look tokens up, the sequences that it is trained on, and the scores that measure it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
import torch
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from attn_tutor.attention.induction import (
    AttentionLayer,
    AttentionOnly,
    induction_score,
    induction_targets,
    losses_by_distance,
    next_token_losses,
    previous_token_score,
    repeated_sequences,
    two_heads,
)


def model(num_layers: int = 2, num_heads: int = 1) -> AttentionOnly:
    torch.manual_seed(1)
    return AttentionOnly(26, 8, 20, num_layers=num_layers, num_heads=num_heads)


# The model -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("num_heads", [1, 2, 4])
def test_layer_is_causal_attention(num_heads: int) -> None:
    torch.manual_seed(2)
    layer, x = AttentionLayer(8, 10, num_heads), torch.randn(3, 7, 8)
    weights = layer.weights(x)
    assert weights.shape == (3, num_heads, 7, 7)
    assert torch.equal(weights.triu(1), torch.zeros_like(weights))
    assert torch.allclose(weights.sum(dim=-1), torch.ones(3, num_heads, 7))

    def heads(linear: torch.nn.Linear) -> torch.Tensor:
        parts: torch.Tensor = linear(x).view(3, 7, num_heads, 8 // num_heads).transpose(1, 2)
        return parts

    context = F.scaled_dot_product_attention(
        heads(layer.W_query), heads(layer.W_key), heads(layer.W_value), is_causal=True
    )
    expected = layer.out_proj(context.transpose(1, 2).reshape(3, 7, 8))
    assert torch.allclose(layer(x), expected, atol=1e-6)


@pytest.mark.parametrize("num_heads", [1, 2, 4])
def test_keys_can_be_made_of_something_else(num_heads: int) -> None:
    torch.manual_seed(2)
    layer, x, other = AttentionLayer(8, 10, num_heads), torch.randn(3, 7, 8), torch.randn(3, 7, 8)
    assert torch.equal(layer.weights(x, keys_from=x), layer.weights(x))
    weights = layer.weights(x, keys_from=other)
    queries = layer.W_query(x).view(3, 7, num_heads, 8 // num_heads)
    keys = layer.W_key(other).view(3, 7, num_heads, 8 // num_heads)
    scores = torch.einsum("bqhd,bkhd->bhqk", queries, keys) / (8 // num_heads) ** 0.5
    future = torch.ones(7, 7).triu(1).bool()
    assert torch.allclose(weights, torch.softmax(scores.masked_fill(future, -torch.inf), dim=-1), atol=1e-6)


def test_model_adds_each_layer_to_the_stream() -> None:
    net, tokens = model(), torch.randint(0, 26, (2, 9))
    x = net.token_embedding(tokens) + net.position_embedding.weight[:9]
    assert torch.equal(net.embed(tokens), x)
    weights = []
    for layer in net.layers:
        assert isinstance(layer, AttentionLayer)
        weights.append(layer.weights(x))
        x = x + layer(x)
    assert torch.allclose(net(tokens), net.unembed(x))
    found = net.attention(tokens)
    assert len(found) == 2
    for ours, theirs in zip(found, weights, strict=True):
        assert torch.equal(ours, theirs)
        assert not ours.requires_grad


def test_switches_multiply_what_layers_add() -> None:
    net, tokens = model(), torch.randint(0, 26, (2, 9))
    x, (first, last) = net.embed(tokens), net.layers
    assert torch.allclose(net(tokens, torch.ones(2)), net(tokens))
    assert torch.allclose(net(tokens, torch.tensor([0.0, 1.0])), net.unembed(x + last(x)))
    assert torch.allclose(net(tokens, torch.tensor([1.0, 0.0])), net.unembed(x + first(x)))
    assert torch.allclose(net(tokens, torch.zeros(2)), net.unembed(x))


def test_model_computes_where_its_tokens_are() -> None:
    """No operation makes a tensor on a different device; an embedding on `meta` would accept one on the CPU."""
    net, tokens = model().to("meta"), torch.zeros(2, 9, dtype=torch.int64, device="meta")
    devices: set[str] = set()

    class Watching(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):  # type: ignore[no-untyped-def]
            result = func(*args, **(kwargs or {}))
            devices.update(part.device.type for part in tree_leaves(result) if isinstance(part, torch.Tensor))
            return result

    with Watching():  # type: ignore[no-untyped-call]
        net(tokens)
        net.attention(tokens)
    assert devices == {"meta"}


def test_weights_are_computed_once_for_each_layer(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[torch.nn.Module] = []
    compute = AttentionLayer.weights

    def count_and_compute(layer: AttentionLayer, x: torch.Tensor) -> torch.Tensor:
        calls.append(layer)
        return compute(layer, x)

    monkeypatch.setattr(AttentionLayer, "weights", count_and_compute)
    net, tokens = model(), torch.randint(0, 26, (2, 9))
    net.attention(tokens)
    assert calls == list(net.layers)


def test_later_tokens_do_not_matter() -> None:
    net, tokens = model(), torch.randint(0, 26, (1, 12))
    other = tokens.clone()
    other[0, 8:] = (other[0, 8:] + 1) % 26
    assert torch.allclose(net(tokens)[0, :8], net(other)[0, :8])
    assert not torch.allclose(net(tokens)[0, 8:], net(other)[0, 8:])


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ({"vocab_size": 0}, "vocab_size is 0"),
        ({"num_layers": 0}, "num_layers is 0"),
        ({"num_heads": 3}, "cannot be split into num_heads=3"),
        ({"context_length": 0}, "context_length is 0"),
    ],
)
def test_sizes_are_checked(sizes: dict[str, int], message: str) -> None:
    usual = {"vocab_size": 26, "d_model": 8, "context_length": 20, "num_layers": 1, "num_heads": 1}
    with pytest.raises(ValueError, match=message):
        AttentionOnly(**usual | sizes)


# The sequences -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("distances", [[6], [2, 10], [3, 4, 5]])
def test_sequences_repeat_one_stretch(distances: list[int]) -> None:
    torch.manual_seed(3)
    tokens, known = repeated_sequences(500, 26, 20, distances)
    assert tokens.shape == (500, 20)
    assert known.shape == (500, 19)
    assert tokens.dtype == torch.int64
    seen, starts = set(), set()
    for row, sure in zip(tokens.tolist(), known.tolist(), strict=True):
        first: dict[int, int] = {}
        copies = [
            (place, place - first[token]) for place, token in enumerate(row) if first.setdefault(token, place) < place
        ]
        (distance,) = {apart for _, apart in copies}
        start = copies[0][0]
        # A stretch as long as the distance, right after its original; nothing else twice.
        assert [place for place, _ in copies] == [*range(start, start + distance)]
        # All but its first token can be known, from the token before.
        assert [place + 1 for place, is_known in enumerate(sure) if is_known] == [*range(start + 1, start + distance)]
        seen.add(distance)
        starts.add((distance, start))
    assert seen == set(distances)
    for distance in distances:
        assert {start for apart, start in starts if apart == distance} == {*range(distance, 20 - distance + 1)}


@pytest.mark.parametrize(
    ("vocab_size", "distances", "message"),
    [(26, [1], "2 or more"), (26, [11], "two stretches must fit"), (17, [2], "18 different tokens are needed")],
)
def test_impossible_sequences_are_refused(vocab_size: int, distances: list[int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        repeated_sequences(1, vocab_size, 20, distances)


# The measures --------------------------------------------------------------------------------------------------------


def test_losses_compare_with_the_next_token() -> None:
    torch.manual_seed(4)
    logits, tokens = torch.randn(2, 5, 7), torch.randint(0, 7, (2, 5))
    losses = next_token_losses(logits, tokens)
    assert losses.shape == (2, 4)
    for row in range(2):
        for place in range(4):
            expected = -torch.log_softmax(logits[row, place], dim=0)[tokens[row, place + 1]]
            assert losses[row, place] == pytest.approx(float(expected))
    assert next_token_losses(torch.zeros(1, 2, 26), tokens[:1, :2]).item() == pytest.approx(math.log(26))


def test_targets_are_the_tokens_after_an_earlier_occurrence() -> None:
    tokens = torch.tensor([[5, 3, 5, 5, 9, 3], [1, 2, 3, 1, 2, 3]])
    targets = induction_targets(tokens)
    for batch, row in enumerate(tokens.tolist()):
        for i, token in enumerate(row):
            expected = [j for j in range(1, i + 1) if row[j - 1] == token and j - 1 < i]
            assert targets[batch, i].nonzero().flatten().tolist() == expected


def test_scores_of_perfect_heads() -> None:
    tokens = torch.arange(6).repeat(2).unsqueeze(0)
    targets = induction_targets(tokens).float().unsqueeze(1)
    assert induction_score(targets, tokens) == 1
    assert previous_token_score(torch.diag(torch.ones(11), -1)) == 1
    assert previous_token_score(torch.eye(12)) == 0
    assert induction_score(torch.eye(12)[None, None], tokens) == 0


def test_induction_score_is_a_mean_of_weights() -> None:
    torch.manual_seed(5)
    tokens = torch.randint(0, 4, (3, 9))
    weights = torch.rand(3, 2, 9, 9).tril()
    found = []
    for batch in range(3):
        for i in range(9):
            places = [j + 1 for j in range(i) if tokens[batch, j] == tokens[batch, i]]
            if places:
                found += [float(weights[batch, head, i, places].sum()) for head in range(2)]
    assert float(induction_score(weights, tokens)) == pytest.approx(sum(found) / len(found), rel=1e-5)


def test_losses_by_distance() -> None:
    net = model()
    torch.manual_seed(3)
    losses = losses_by_distance(net, [2, 9], count=4)
    torch.manual_seed(3)
    for distance, loss in zip([2, 9], losses, strict=True):
        tokens, known = repeated_sequences(4, 26, 20, [distance])
        assert loss == next_token_losses(net(tokens), tokens)[known].mean()


def test_two_heads_by_hand_copy_what_followed() -> None:
    tokens = torch.tensor([4, 1, 3, 4, 1, 3, 4])
    letters = torch.eye(6)[tokens]
    weights, copied = two_heads(letters, 50.0)
    assert torch.allclose(weights.sum(dim=-1), torch.ones(7))
    assert induction_score(weights[None, None], tokens[None]) > 0.99
    assert copied[3:-1].argmax(dim=-1).tolist() == tokens[4:].tolist()
    # Nothing has been carried to the first place, and no place sees a later one.
    assert torch.equal(weights.triu(1), torch.zeros(7, 7))
    assert copied[0].tolist() == letters[0].tolist()


# What can be learned -------------------------------------------------------------------------------------------------


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Use one thread: small products take twenty times as long if two threads wait for each other on a busy machine."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def train_model(distances: list[int], num_layers: int, steps: int, lr: float) -> AttentionOnly:
    torch.manual_seed(0)
    net = AttentionOnly(26, 32, 20, num_layers=num_layers, num_heads=1)
    optimizer = torch.optim.AdamW(net.parameters(), lr=lr)
    for _ in range(steps):
        tokens, known = repeated_sequences(64, 26, 20, distances)
        loss = next_token_losses(net(tokens), tokens)[known].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return net


@torch.no_grad()
def loss_at(net: AttentionOnly, distance: int) -> float:
    tokens, known = repeated_sequences(200, 26, 20, [distance])
    return next_token_losses(net(tokens), tokens)[known].mean().item()


@pytest.mark.usefixtures("one_thread")
def test_one_layer_learns_a_distance_and_not_to_compare() -> None:
    """At the distance of the training its loss is 0 and its score is high; at any other it is worse than chance."""
    net = train_model([4], 1, 200, 0.003)
    tokens, _ = repeated_sequences(200, 26, 20, [4])
    assert loss_at(net, 4) < 0.1
    assert induction_score(net.attention(tokens)[0], tokens) > 0.9
    assert min(loss_at(net, distance) for distance in (2, 3, 5, 7, 10)) > math.log(26)


@pytest.mark.usefixtures("one_thread")
def test_two_layers_learn_to_compare() -> None:
    """The two layers get different kinds of heads, and work at a distance that did not occur in training."""
    net = train_model([2, 3, 5, 6, 7, 8, 9, 10], 2, 600, 0.003)
    tokens, _ = repeated_sequences(200, 26, 20, [4])
    first, second = net.attention(tokens)
    assert loss_at(net, 4) < 0.3
    assert induction_score(second, tokens) > 0.8
    assert previous_token_score(first) > 0.6
    assert induction_score(first, tokens) < 0.2
    # The weights of the second layer depend on what the first layer adds.
    alone = net.layers[1]
    assert isinstance(alone, AttentionLayer)
    assert induction_score(alone.weights(net.embed(tokens)), tokens) < 0.3
    # The head copies the token it finds there: the one that followed last time.
    text = torch.tensor([[16, 3, 23, 10, 16, 3]])
    changed = text.clone()
    changed[0, 2] = 25
    assert [int(net(each)[0, -1].argmax()) for each in (text, changed)] == [23, 25]

"""A model of attention layers alone, small enough to be trained while you watch, and what it is trained on.

In a sequence that repeats itself, the next token can be known: it is the one that followed the current token the last
time. Two layers of attention learn to look it up (Elhage et al. 2021, "A Mathematical Framework for Transformer
Circuits"; Olsson et al. 2022, "In-context Learning and Induction Heads"). A head of the first layer attends from each
token to the one before it, and is called a previous-token head. A head of the second layer finds the earlier position
whose *previous* token is the current one, and is called an induction head.

There is no MLP and no normalization, so that nothing but attention moves anything from one token to another.

``tokens`` is (batch, token), integers; the residual stream is (batch, token, d_model); the weights of a layer are
(batch, head, query, key).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ._check import check_heads, check_sizes
from .causal import causal_mask


class AttentionLayer(nn.Module):
    """Causal attention with several heads whose weights can be looked at. The caller adds the result to the input.

    The lines are those of :class:`~attention.multi_head.MultiHeadAttention`. There, ``out_proj`` has a bias, and
    ``attend`` does not return the weights.

    Parameters, in the order they are drawn: ``W_query``, ``W_key``, ``W_value``, ``out_proj``, each an
    ``nn.Linear(d_model, d_model)`` without a bias.
    Buffer ``mask`` (context_length, context_length), 1 = hidden; it is not saved.
    """

    mask: Tensor

    def __init__(self, d_model: int, context_length: int, num_heads: int) -> None:
        super().__init__()
        check_sizes(context_length=context_length)
        check_heads(d_model, num_heads)
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        self.register_buffer("mask", causal_mask(context_length), persistent=False)

    def weights(self, x: Tensor, keys_from: Tensor | None = None) -> Tensor:
        """Compute how much every token attends to each token: (batch, token, d_model) -> (batch, head, query, key).

        The keys are made of ``keys_from`` instead of ``x`` if it is given, with the same shape.
        """
        b, n, _ = x.shape
        hidden = self.mask[:n, :n].bool()  # (query, key)

        # (batch, token, d_model), cut into (batch, head, token, head_dim)
        heads = (b, n, self.num_heads, self.head_dim)
        queries = self.W_query(x).view(heads).transpose(1, 2)
        keys = self.W_key(x if keys_from is None else keys_from).view(heads).transpose(1, 2)

        # (batch, head, query, key)
        scores = queries @ keys.transpose(2, 3)
        scaled = scores / self.head_dim**0.5
        masked = scaled.masked_fill(hidden, -torch.inf)
        return torch.softmax(masked, dim=-1)

    def attend(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Compute what the layer adds, and its weights: (batch, token, d_model) and (batch, head, query, key)."""
        b, n, _ = x.shape
        values = self.W_value(x).view(b, n, self.num_heads, self.head_dim).transpose(1, 2)
        weights = self.weights(x)
        # (batch, head, query, head_dim)
        context = weights @ values
        # (batch, query, d_model), the heads side by side
        merged = context.transpose(1, 2).flatten(2)
        return self.out_proj(merged), weights

    def forward(self, x: Tensor) -> Tensor:
        """Compute what the layer adds to the residual stream: (batch, token, d_model) -> the same shape."""
        added, _ = self.attend(x)
        return added


class AttentionOnly(nn.Module):
    """Embedding, layers that each add to the residual stream, unembedding.

    Parameters, in the order they are drawn: ``token_embedding``, ``position_embedding``, ``layers`` (each an
    :class:`AttentionLayer`), ``unembed``.
    """

    def __init__(self, vocab_size: int, d_model: int, context_length: int, num_layers: int, num_heads: int) -> None:
        super().__init__()
        check_sizes(vocab_size=vocab_size, num_layers=num_layers)
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.layers = nn.ModuleList(AttentionLayer(d_model, context_length, num_heads) for _ in range(num_layers))
        self.unembed = nn.Linear(d_model, vocab_size, bias=False)

    def embed(self, tokens: Tensor) -> Tensor:
        """Add what a token is and where it stands: (batch, token) -> (batch, token, d_model)."""
        positions = torch.arange(tokens.shape[1], device=tokens.device)
        return self.token_embedding(tokens) + self.position_embedding(positions)

    def forward(self, tokens: Tensor, switches: Tensor | None = None) -> Tensor:
        """Compute the logits of every next token: (batch, token) -> (batch, token, vocab_size).

        ``switches``, (layer,), multiply what each layer adds: 0 leaves it out.
        """
        x = self.embed(tokens)
        for number, layer in enumerate(self.layers):
            added = layer(x)
            x = x + (added if switches is None else switches[number] * added)
        return self.unembed(x)

    @torch.no_grad()
    def attention(self, tokens: Tensor) -> list[Tensor]:
        """Compute the weights of every layer: (batch, token) -> a list of (batch, head, query, key)."""
        x, found = self.embed(tokens), []
        for layer in self.layers:
            assert isinstance(layer, AttentionLayer)
            added, weights = layer.attend(x)
            found.append(weights)
            x = x + added
        return found


def repeated_sequences(count: int, vocab_size: int, num_tokens: int, distances: Sequence[int]) -> tuple[Tensor, Tensor]:
    """Draw sequences in which a stretch of random tokens comes twice in a row, and mark the tokens that can be known.

    Each has its own distance, one of ``distances``: the length of the stretch, which is also how far apart a token and
    its copy are. Where the copy starts is random too. Apart from the copy, no token comes twice in a sequence.

    Returns ``tokens``, (count, num_tokens), and ``known``, (count, num_tokens - 1): whether the token after this
    position is part of the copy, so that it can be known once the copy has begun.

    Raises ``ValueError`` for a distance below 2, for a stretch that does not fit twice, and for too small a vocabulary.
    """
    longest = max(distances)
    if min(distances) < 2 or 2 * longest > num_tokens:
        raise ValueError(
            f"distances={list(distances)}, but each must be 2 or more, and two stretches must fit into "
            f"num_tokens={num_tokens}"
        )
    if vocab_size < num_tokens - min(distances):
        raise ValueError(
            f"vocab_size={vocab_size} is too small: {num_tokens - min(distances)} different tokens are needed"
        )
    # (count, 1)
    distance = torch.tensor(distances)[torch.randint(len(distances), (count, 1))]
    room = num_tokens - 2 * distance + 1
    start = distance + (torch.rand(count, 1) * room).long()

    # From its start on, the copy takes its tokens from one distance further back in a row of different tokens, and so
    # does all that comes after it.
    positions = torch.arange(num_tokens)
    sources = positions - distance * (positions >= start)
    different = torch.rand(count, vocab_size).argsort(dim=-1)
    tokens = different.gather(1, sources)
    known = (positions >= start) & (positions < start + distance - 1)
    return tokens, known[:, :-1]


def next_token_losses(logits: Tensor, tokens: Tensor) -> Tensor:
    """Compute the loss of each prediction but the last, which has nothing after it.

    ``logits`` is (batch, token, vocab_size) and ``tokens`` is (batch, token); the result has one token less. The loss
    is minus the natural logarithm of the probability that was given to the next token.
    """
    predictions = logits[:, :-1].transpose(1, 2)  # (batch, vocab_size, token)
    return F.cross_entropy(predictions, tokens[:, 1:], reduction="none")


@torch.no_grad()
def losses_by_distance(model: AttentionOnly, distances: Sequence[int], count: int = 50, num_tokens: int = 20) -> Tensor:
    """Measure the mean loss of the tokens that can be known, in `count` new sequences for each of the distances."""
    losses = []
    for distance in distances:
        tokens, known = repeated_sequences(count, model.unembed.out_features, num_tokens, [distance])
        losses.append(next_token_losses(model(tokens), tokens)[known].mean())
    return torch.stack(losses)


def two_heads(tokens: Tensor, strength: float) -> tuple[Tensor, Tensor]:
    """Compose a previous-token head and an induction head by hand, without any parameter.

    ``tokens`` is (token, vocab_size), one-hot. The first head carries to each token the one before it. The second one
    compares tokens with what was carried, with scores that are multiplied by ``strength``, and copies what it finds.

    Returns the weights of the second head, (query, key), and what it copies, (token, vocab_size).
    """
    n = len(tokens)
    previous = torch.diag(torch.ones(n - 1), -1)
    before = previous @ tokens
    scores = strength * tokens @ before.T
    weights = torch.softmax(scores.masked_fill(causal_mask(n).bool(), -torch.inf), dim=-1)
    return weights, weights @ tokens


def previous_token_score(weights: Tensor) -> Tensor:
    """Measure how much attention goes to the token right before, on average: (..., query, key) -> a number, 0 to 1."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean()


def induction_targets(tokens: Tensor) -> Tensor:
    """Mark where an induction head looks: (batch, token) -> (batch, query, key).

    ``[:, i, j]`` is true if token j - 1 is token i again. Earlier tokens count, not the token itself.
    """
    same = tokens.unsqueeze(-1) == tokens.unsqueeze(-2)
    earlier = same.tril(diagonal=-1)
    return earlier.roll(1, dims=-1).tril()


def induction_score(weights: Tensor, tokens: Tensor) -> Tensor:
    """Measure how much attention goes to the token after an earlier occurrence of the current token: 0 to 1.

    The mean over the tokens that have occurred before, and over heads. ``weights`` is (batch, head, query, key),
    ``tokens`` is (batch, token).
    """
    targets = induction_targets(tokens)
    found = (weights * targets.unsqueeze(1)).sum(dim=-1)  # (batch, head, query)
    repeated = targets.any(dim=-1)  # (batch, query)
    return found.transpose(1, 2)[repeated].mean()

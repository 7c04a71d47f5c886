"""A model of attention layers alone, small enough to be trained while you watch, and what it is trained on.

In a sequence that repeats itself, the next token can be known: it is the one that followed the current token the last
time. Two layers of attention learn to look it up (Elhage et al. 2021, "A Mathematical Framework for Transformer
Circuits"; Olsson et al. 2022, "In-context Learning and Induction Heads"). A head of the first layer attends from each
token to the one before it, and is called a previous-token head. A head of the second layer finds the earlier place
whose *previous* token is the current one, and is called an induction head.

There is no MLP and no normalization, so that nothing but attention moves anything from one token to another.

Shapes: ``tokens`` is (b, num_tokens), integers; the residual stream is (b, num_tokens, d_model); the weights of a
layer are (b, num_heads, num_tokens, num_tokens).
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from ._check import check_heads, check_sizes


class AttentionLayer(nn.Module):
    """Causal attention with several heads whose weights can be looked at. The caller adds the result to the input."""

    def __init__(
        self, d_model: int, context_length: int, num_heads: int
    ) -> None:
        super().__init__()
        check_heads(d_model, num_heads)
        check_sizes(context_length=context_length)
        self.num_heads = num_heads
        self.head_dim = d_model // num_heads
        self.W_query = nn.Linear(d_model, d_model, bias=False)
        self.W_key = nn.Linear(d_model, d_model, bias=False)
        self.W_value = nn.Linear(d_model, d_model, bias=False)
        self.out_proj = nn.Linear(d_model, d_model, bias=False)
        mask = torch.ones(context_length, context_length).triu(1)
        self.register_buffer("mask", mask.bool(), persistent=False)
        self.mask: Tensor

    def weights(self, x: Tensor) -> Tensor:
        """(b, num_tokens, d_model) -> (b, num_heads, num_tokens, num_tokens)."""
        num_tokens = x.shape[1]
        queries = self._heads(self.W_query(x))  # (b, heads, n, head_dim)
        keys = self._heads(self.W_key(x))  # (b, heads, n, head_dim)
        scores = queries @ keys.transpose(2, 3)  # (b, heads, n, n)
        hidden = self.mask[:num_tokens, :num_tokens]
        scores = scores.masked_fill(hidden, -torch.inf)
        return torch.softmax(scores / self.head_dim**0.5, dim=-1)

    def forward(self, x: Tensor) -> Tensor:
        """(b, num_tokens, d_model) -> the same shape."""
        values = self._heads(self.W_value(x))  # (b, heads, n, head_dim)
        context = self.weights(x) @ values  # (b, heads, n, head_dim)
        joined = context.transpose(1, 2).flatten(2)  # (b, n, d_model)
        out: Tensor = self.out_proj(joined)
        return out

    def _heads(self, x: Tensor) -> Tensor:
        """(b, n, d_model) -> (b, heads, n, head_dim)."""
        b, num_tokens, _ = x.shape
        parts = x.view(b, num_tokens, self.num_heads, self.head_dim)
        return parts.transpose(1, 2)


class AttentionOnly(nn.Module):
    """Embedding, layers that each add to the residual stream, unembedding."""

    def __init__(
        self,
        vocab_size: int,
        d_model: int,
        context_length: int,
        num_layers: int,
        num_heads: int,
    ) -> None:
        super().__init__()
        check_sizes(vocab_size=vocab_size, num_layers=num_layers)
        self.token_embedding = nn.Embedding(vocab_size, d_model)
        self.position_embedding = nn.Embedding(context_length, d_model)
        self.layers = nn.ModuleList(
            AttentionLayer(d_model, context_length, num_heads)
            for _ in range(num_layers)
        )
        self.unembed = nn.Linear(d_model, vocab_size, bias=False)

    def embed(self, tokens: Tensor) -> Tensor:
        """(b, num_tokens) -> (b, num_tokens, d_model): what a token is, plus where it stands."""
        places = torch.arange(tokens.shape[1])
        x: Tensor = self.token_embedding(tokens)
        x = x + self.position_embedding(places)
        return x

    def forward(self, tokens: Tensor) -> Tensor:
        """(b, num_tokens) -> logits for the next token, (b, num_tokens, vocab_size)."""
        x = self.embed(tokens)
        for layer in self.layers:
            x = x + layer(x)
        logits: Tensor = self.unembed(x)
        return logits

    @torch.no_grad()
    def attention(self, tokens: Tensor) -> list[Tensor]:
        """(b, num_tokens) -> the weights of every layer, each (b, num_heads, num_tokens, num_tokens)."""
        x, found = self.embed(tokens), []
        for layer in self.layers:
            assert isinstance(layer, AttentionLayer)
            found.append(layer.weights(x))
            x = x + layer(x)
        return found


def repeated_sequences(
    count: int, vocab_size: int, num_tokens: int, distances: Sequence[int]
) -> tuple[Tensor, Tensor]:
    """Sequences in which a stretch of random tokens comes twice in a row, and what can be known of them.

    Each has its own distance, one of ``distances``: so long is the stretch, and so far apart are a token and its
    copy. Where it starts is random too. Apart from the copy, no token comes twice in a sequence.

    Returns ``tokens``, (count, num_tokens), and ``known``, (count, num_tokens - 1): whether the token after this
    position is part of the copy, so that whoever sees the copy begin can know it.
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
    choices = torch.tensor(distances)
    distance = choices[torch.randint(len(choices), (count, 1))]
    room = num_tokens - 2 * distance + 1
    start = distance + (torch.rand(count, 1) * room).long()

    places = torch.arange(num_tokens)
    # From its start on, everything lies one distance further back in a row
    # of tokens that are all different.
    sources = places - distance * (places >= start)
    different = torch.rand(count, vocab_size).argsort(dim=-1)
    tokens = different.gather(1, sources)
    known = (places >= start) & (places < start + distance - 1)
    return tokens, known[:, :-1]


def next_token_losses(logits: Tensor, tokens: Tensor) -> Tensor:
    """The loss of each prediction but the last, which has nothing after it: (b, num_tokens - 1)."""
    predictions = logits[:, :-1].transpose(1, 2)  # (b, vocab_size, n - 1)
    return F.cross_entropy(predictions, tokens[:, 1:], reduction="none")


def previous_token_score(weights: Tensor) -> Tensor:
    """How much attention goes to the token right before, on average: 0 to 1. ``weights`` end in (n, n)."""
    return weights.diagonal(offset=-1, dim1=-2, dim2=-1).mean()


def induction_targets(tokens: Tensor) -> Tensor:
    """Where an induction head looks: (b, n) -> (b, n, n), true at ``[:, i, j]`` if token j - 1 is token i again.

    Earlier tokens count, not the token itself.
    """
    same = tokens.unsqueeze(-1) == tokens.unsqueeze(-2)
    earlier = same.tril(diagonal=-1)
    return earlier.roll(1, dims=-1).tril()


def induction_score(weights: Tensor, tokens: Tensor) -> Tensor:
    """How much attention goes to the token after an earlier occurrence of the current token: 0 to 1.

    The mean over the tokens that have occurred before, and over heads. ``weights`` is (b, num_heads, n, n), ``tokens``
    is (b, n).
    """
    targets = induction_targets(tokens)
    found = (weights * targets.unsqueeze(1)).sum(dim=-1)  # (b, heads, n)
    repeated = targets.any(dim=-1)  # (b, n)
    return found.transpose(1, 2)[repeated].mean()

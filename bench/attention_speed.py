"""Forward and backward of each attention class, beside PyTorch's own and the products alone; prints JSON.

Arguments: numbers of tokens. Models have GPT-2's size (768 numbers, 12 heads, no bias in the projections); a batch is
one sequence, and one thread computes. "The products alone" multiplies matrices of the same sizes and does nothing else:
three projections, scores, contexts, and the output projection. No class that computes all scores can be faster.
"One joint projection" is the fused class with the three projections in one matrix.
"""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from attn_tutor.attention import MultiHeadAttention, MultiHeadAttentionSDPA

SIZE, HEADS, ROUNDS = 768, 12, 7


class Joint(nn.Module):
    """The fused class with one joint projection."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(SIZE, 3 * SIZE, bias=False)
        self.out_proj = nn.Linear(SIZE, SIZE)

    def forward(self, inputs: Tensor) -> Tensor:
        """Let every head attend to the visible tokens: (batch, token, SIZE) -> (batch, token, SIZE)."""
        b, n, _ = inputs.shape
        queries, keys, values = self.qkv(inputs).view(b, n, 3, HEADS, SIZE // HEADS).permute(2, 0, 3, 1, 4)
        context = F.scaled_dot_product_attention(queries, keys, values, is_causal=True)
        return self.out_proj(context.transpose(1, 2).reshape(b, n, SIZE))  # type: ignore[no-any-return]


class Library(nn.Module):
    """PyTorch's class with a causal mask, which returns no weights."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(SIZE, HEADS, bias=False, batch_first=True)
        self.register_buffer("mask", torch.ones(tokens, tokens).triu(diagonal=1).bool())

    def forward(self, inputs: Tensor) -> Tensor:
        """Let every head attend to the visible tokens: (batch, token, SIZE) -> (batch, token, SIZE)."""
        out: Tensor = self.attention(
            inputs, inputs, inputs, attn_mask=self.get_buffer("mask"), is_causal=True, need_weights=False
        )[0]
        return out


class Products(nn.Module):
    """The matrix products of attention, and nothing else."""

    def __init__(self) -> None:
        super().__init__()
        self.projections = nn.ParameterList([torch.randn(SIZE, SIZE) / 28 for _ in range(4)])

    def forward(self, inputs: Tensor) -> Tensor:
        """Multiply: (batch, token, SIZE) -> (batch, token, SIZE)."""
        b, n, _ = inputs.shape
        flat = inputs.view(n, SIZE)
        q, k, v = (flat @ each for each in list(self.projections)[:3])
        heads = [each.view(HEADS, n, SIZE // HEADS) for each in (q, k, v)]
        context = (heads[0] @ heads[1].mT) @ heads[2]
        projected: Tensor = context.view(n, SIZE) @ self.projections[3]
        return projected.view(b, n, SIZE)


def times(tokens: int) -> dict[str, list[float]]:
    """Measure the seconds of each class in turn, forward alone and with backward."""
    models: dict[str, nn.Module] = {
        "the products alone": Products(),
        "the book's class (attention.MultiHeadAttention)": MultiHeadAttention(SIZE, SIZE, tokens, 0.0, HEADS),
        "the fused class (attention.MultiHeadAttentionSDPA)": MultiHeadAttentionSDPA(SIZE, SIZE, tokens, 0.0, HEADS),
        "the fused class with one joint projection": Joint(),
        "nn.MultiheadAttention": Library(tokens),
    }
    inputs = torch.randn(1, tokens, SIZE, requires_grad=True)
    seconds: dict[str, list[float]] = defaultdict(list)

    def forward(model: nn.Module) -> None:
        with torch.no_grad():
            model(inputs)

    def both(model: nn.Module) -> None:
        model(inputs).sum().backward()

    actions: dict[str, Callable[[nn.Module], None]] = {"forward": forward, "forward and backward": both}
    for turn in range(ROUNDS + 2):
        for kind, action in actions.items():
            for name, model in models.items():
                began = time.perf_counter()
                action(model)
                if turn > 1:
                    seconds[f"{tokens} tokens, {kind}: {name}"].append(time.perf_counter() - began)
    return seconds


def main() -> None:
    """Measure, and print the result."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    found: dict[str, list[float]] = {}
    for tokens in map(int, sys.argv[1:]):
        found.update(times(tokens))
    print(json.dumps(found))


if __name__ == "__main__":
    main()

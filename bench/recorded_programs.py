"""The cost of the door for Python: ten programs as they are, and in a block of `record()`, each in its own process.

`python -m bench.recorded_programs` prints the table for `bench/RESULTS.md`: processor seconds of the program's own
work, and peak memory of the process. `python -m bench.recorded_programs NAME plain|recorded` is such a process.
"""

from __future__ import annotations

import argparse
import contextlib
import resource
import time
from collections.abc import Callable
from statistics import median

import torch
from torch import Tensor, nn
from torch.nn import functional

from attn_tutor.lessons.programs.record import record
from bench.recorder_cost import measure


class Attention(nn.Module):
    """Causal attention with several heads, and rotary positions if asked for."""

    def __init__(self, width: int, heads: int, rotary: bool = False) -> None:
        super().__init__()
        self.heads, self.rotary = heads, rotary
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor, cache: list[Tensor] | None = None) -> Tensor:
        """Attend to the tokens of `x`, and to those whose keys and values are in the cache."""
        batch, length, width = x.shape
        q, k, v = (
            part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(x).split(width, dim=-1)
        )
        past = cache[0].shape[2] if cache else 0
        if self.rotary:
            q, k = rotated(q, past), rotated(k, past)
        if cache is not None:
            if cache:
                k, v = torch.cat((cache[0], k), dim=2), torch.cat((cache[1], v), dim=2)
            cache[:] = k, v
        scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
        hidden = torch.ones(length, past + length, dtype=torch.bool).triu(past + 1)
        weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
        context = (weights @ v).transpose(1, 2).reshape(batch, length, width)
        mixed: Tensor = self.out(context)
        return mixed


def rotated(x: Tensor, first: int) -> Tensor:
    """Rotate pairs of features by an angle that grows with the position."""
    half = x.shape[-1] // 2
    angles = torch.arange(first, first + x.shape[2])[:, None] / 10000 ** (torch.arange(half) / half)
    one, other = x.chunk(2, dim=-1)
    return torch.cat(
        (one * angles.cos() - other * angles.sin(), one * angles.sin() + other * angles.cos()), dim=-1
    )  # fmt: skip


class Block(nn.Module):
    """A block of a transformer."""

    def __init__(self, width: int, heads: int, rotary: bool = False) -> None:
        super().__init__()
        self.attention = Attention(width, heads, rotary)
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: Tensor, cache: list[Tensor] | None = None) -> Tensor:
        """Let tokens look at each other, then at themselves."""
        x = x + self.attention(self.first(x), cache)
        summed: Tensor = x + self.mlp(self.second(x))
        return summed


class GPT(nn.Module):
    """A small language model."""

    def __init__(self, words: int, width: int, heads: int, depth: int, rotary: bool = False) -> None:
        super().__init__()
        self.embedding, self.head = nn.Embedding(words, width), nn.Linear(width, words, bias=False)
        self.blocks = nn.ModuleList(Block(width, heads, rotary) for _ in range(depth))
        self.norm = nn.LayerNorm(width)

    def forward(self, tokens: Tensor, caches: list[list[Tensor]] | None = None) -> Tensor:
        """Return the logits of the next words."""
        x = self.embedding(tokens)
        for number, block in enumerate(self.blocks):
            x = block(x, caches[number] if caches is not None else None)
        logits: Tensor = self.head(self.norm(x))
        return logits


def learn(model: nn.Module, loss_of: Callable[[], Tensor], steps: int, rate: float = 1e-3) -> None:
    """Train a model for some steps."""
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    for _ in range(steps):
        loss = loss_of()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def scores_by_hand() -> None:
    """Compute attention of six words with loops and matrices, again and again."""
    words = torch.rand(6, 3)
    for _ in range(150):
        scores = torch.empty(6, 6)
        for i, query in enumerate(words):
            for j, key in enumerate(words):
                scores[i, j] = torch.dot(query, key)
        _ = torch.softmax(scores, dim=-1) @ words


def line_fit() -> None:
    """Fit a line by hand."""
    x = torch.linspace(-1, 1, 64)
    y = 3 * x + 1 + 0.1 * torch.randn(64)
    w, b = torch.zeros(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    for _ in range(800):
        loss = ((w * x + b - y) ** 2).mean()
        loss.backward()
        with torch.no_grad():
            for parameter in (w, b):
                assert parameter.grad is not None
                parameter -= 0.1 * parameter.grad
                parameter.grad.zero_()


def digits_mlp() -> None:
    """Train a perceptron on images of 28 by 28."""
    model = nn.Sequential(nn.Flatten(), nn.Linear(784, 128), nn.ReLU(), nn.Dropout(0.2), nn.Linear(128, 10))
    images, labels = torch.rand(64, 1, 28, 28), torch.randint(10, (64,))
    learn(model, lambda: functional.cross_entropy(model(images), labels), 120)


def digits_cnn() -> None:
    """Train a convolutional network on images of 28 by 28."""
    model = nn.Sequential(
        *(nn.Conv2d(1, 16, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3), nn.BatchNorm2d(32), nn.ReLU()),
        *(nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10)),
    )
    images, labels = torch.rand(16, 1, 28, 28), torch.randint(10, (16,))
    learn(model, lambda: functional.cross_entropy(model(images), labels), 40)


def character_rnn() -> None:
    """Train a recurrent cell on characters, step by step."""
    cell, head = nn.RNNCell(32, 64), nn.Linear(64, 40)
    text = torch.randint(40, (8, 25))
    letters = nn.Embedding(40, 32)

    def loss_of() -> Tensor:
        state, total = torch.zeros(8, 64), torch.zeros(())
        for at in range(24):
            state = cell(letters(text[:, at]), state)
            total = total + functional.cross_entropy(head(state), text[:, at + 1])
        return total / 24

    learn(nn.ModuleList([cell, head, letters]), loss_of, 20)


def word_lstm() -> None:
    """Train an LSTM on words."""
    letters, lstm, head = nn.Embedding(200, 64), nn.LSTM(64, 128, batch_first=True), nn.Linear(128, 200)
    text = torch.randint(200, (8, 33))

    def loss_of() -> Tensor:
        states, _ = lstm(letters(text[:, :-1]))
        return functional.cross_entropy(head(states).flatten(0, 1), text[:, 1:].flatten())

    learn(nn.ModuleList([letters, lstm, head]), loss_of, 20)


def variational_autoencoder() -> None:
    """Train a variational autoencoder on images of 28 by 28."""
    encoder = nn.Sequential(nn.Linear(784, 200), nn.ReLU(), nn.Linear(200, 40))
    decoder = nn.Sequential(nn.Linear(20, 200), nn.ReLU(), nn.Linear(200, 784), nn.Sigmoid())
    images = torch.rand(64, 784)

    def loss_of() -> Tensor:
        mean, log_variance = encoder(images).chunk(2, dim=-1)
        code = mean + torch.randn_like(mean) * torch.exp(0.5 * log_variance)
        rebuilt = functional.binary_cross_entropy(decoder(code), images, reduction="sum")
        return rebuilt - 0.5 * torch.sum(1 + log_variance - mean**2 - log_variance.exp())

    learn(nn.ModuleList([encoder, decoder]), loss_of, 60)


def small_gpt() -> None:
    """Train a small language model."""
    model = GPT(100, 64, 4, 3)
    text = torch.randint(100, (8, 33))
    learn(model, lambda: functional.cross_entropy(model(text[:, :-1]).flatten(0, 1), text[:, 1:].flatten()), 20)


def mixture_of_experts() -> None:
    """Train a layer that sends each token to two of eight experts."""
    router = nn.Linear(32, 8)
    experts = nn.ModuleList(nn.Sequential(nn.Linear(32, 64), nn.SiLU(), nn.Linear(64, 32)) for _ in range(8))
    tokens, wanted = torch.rand(128, 32), torch.rand(128, 32)

    def loss_of() -> Tensor:
        chosen, which = router(tokens).softmax(dim=-1).topk(2, dim=-1)
        mixed = torch.zeros_like(tokens)
        for number, expert in enumerate(experts):
            rows, slot = torch.where(which == number)
            mixed = mixed.index_add(0, rows, chosen[rows, slot, None] * expert(tokens[rows]))
        return functional.mse_loss(mixed, wanted)

    learn(nn.ModuleList([router, experts]), loss_of, 30)


def rotary_generation() -> None:
    """Write sixty words with rotary positions and a cache of keys and values."""
    model = GPT(100, 64, 4, 3, rotary=True).eval()
    caches: list[list[Tensor]] = [[] for _ in range(3)]
    tokens = torch.randint(100, (1, 8))
    with torch.no_grad():
        for _ in range(60):
            logits = model(tokens, caches)[:, -1]
            tokens = torch.multinomial(logits.softmax(dim=-1), 1)


PROGRAMS: dict[str, Callable[[], None]] = {
    program.__name__.replace("_", " "): program
    for program in (
        *(scores_by_hand, line_fit, digits_mlp, digits_cnn, character_rnn, word_lstm, variational_autoencoder),
        *(small_gpt, mixture_of_experts, rotary_generation),
    )
}


def run(name: str, mode: str) -> None:
    """Run a program, and print its processor seconds and the peak memory of this process in MB."""
    program = PROGRAMS[name]
    # What PyTorch imports and reserves for the first time is no cost of the program.
    torch.optim.AdamW([nn.Parameter(torch.ones(1))])
    functional.mse_loss(torch.ones(1, requires_grad=True), torch.ones(1)).backward()
    torch.manual_seed(0)
    began = time.process_time()
    with record() if mode == "recorded" else contextlib.nullcontext():
        program()
    seconds = time.process_time() - began
    print(seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def main() -> None:
    """Measure all programs, or run one."""
    parser = argparse.ArgumentParser()
    parser.add_argument("name", nargs="?", choices=PROGRAMS)
    parser.add_argument("mode", nargs="?", choices=("plain", "recorded"), default="plain")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if options.name:
        run(options.name, options.mode)
        return
    print("| program | plain, s | recorded, s | ratio | plain, MB | recorded, MB |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name in PROGRAMS:
        # In turn, since the load of the machine varies.
        pairs = [[measure(__spec__.name, name, mode) for mode in ("plain", "recorded")] for _ in range(options.rounds)]
        plain, recorded = (median(pair[mode][0] for pair in pairs) for mode in (0, 1))
        ratio = median(pair[1][0] / pair[0][0] for pair in pairs)
        before, after = (median(pair[mode][1] for pair in pairs) for mode in (0, 1))
        print(f"| {name} | {plain:.2f} | {recorded:.2f} | {ratio:.1f} | {before:.0f} | {after:.0f} |", flush=True)


if __name__ == "__main__":
    main()

"""Random programs in the styles that people write: functions, classes, loops, writes in place, views, training."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

UNARY = [
    *("torch.exp({a})", "torch.tanh({a})", "torch.sigmoid({a})", "torch.relu({a})", "{a}.abs()", "-{a}", "{a} ** 2"),
    *("torch.sqrt({a}.abs() + 0.1)", "torch.log({a}.abs() + 1)", "torch.sin({a})", "F.gelu({a})", "F.silu({a})"),
    *("torch.rsqrt({a}.abs() + 0.5)", "{a} * {s}", "{a} + {s}", "{s} - {a}", "{a} / {s}", "{a}.clamp(-0.5, 0.5)"),
    *("F.softplus({a})", "F.leaky_relu({a})", "torch.erf({a})", "{a}.pow(3)", "torch.reciprocal({a}.abs() + 1)"),
]
JUMPING = [
    *("torch.trunc({a} * 3)", "torch.floor({a} * 4)", "torch.ceil({a} * 2)", "torch.round({a} * 5)", "{a} % {s}"),
    *("torch.fmod({a}, {s})", "{a} // {s}", "torch.div({a}, {s}, rounding_mode='trunc')", "torch.sign({a})"),
    *("torch.round({a}, decimals=2)", "torch.frac({a} * 3)", "torch.remainder({a}, -{s})", "({a} > {s}).float()"),
    *("torch.where({a} >= {s}, {a}, -{a})", "torch.heaviside({a}, torch.tensor(0.5))", "({a} * 4).int().float()"),
    *("torch.div({a}, {b}, rounding_mode='trunc')", "torch.div({a}, {b}, rounding_mode='floor')", "{a} % {b}"),
    *("torch.fmod({a}, {b})", "({a} == {b}).float()", "torch.floor_divide({a}, {b})"),
]
BINARY = [
    "{a} + {b}",
    "{a} - {b}",
    "{a} * {b}",
    "{a} / ({b}.abs() + 1)",
    "torch.maximum({a}, {b})",
    "torch.lerp({a}, {b}, 0.3)",
]
SHAPED = [
    *("{a} @ {b}.T @ {a}", "torch.softmax({a}, dim=-1)", "torch.softmax({a}, dim=0)", "F.log_softmax({a}, dim=1)"),
    *("{a}.cumsum(dim=1)", "{a} - {a}.mean(dim=-1, keepdim=True)", "{a} / {a}.abs().sum(dim=1, keepdim=True)"),
    *("{a}.flip(0)", "{a}.roll(1, dims=1)", "torch.cat([{a}[1:], {b}[:1]])", "torch.stack([{a}, {b}]).sum(0)"),
    *("torch.tril({a})", "{a}.masked_fill({b} > 0, 0.25)", "torch.where({b} > 0, {a}, {b})", "{a}.sort(dim=1).values"),
    *("torch.einsum('ij,kj,kl->il', {a}, {b}, {a})", "F.layer_norm({a}, {a}.shape[-1:])", "{a}.T.contiguous().T"),
    *("{a}.reshape(-1).reshape({a}.shape)", "{a}.expand(2, *{a}.shape).mean(0)", "{a}.gather(1, ({a} > 0).long())"),
    *("{a}[torch.arange({a}.shape[0])]", "{a} - {a}.max(dim=1, keepdim=True).values", "{a} * {a}.std()"),
    *("({a} - {a}.mean()) / {a}.std()", "F.normalize({a}, dim=1)", "{a} + {a}.var(dim=0)", "{a}.clone()"),
    *("{a}.unfold(1, 1, 1).squeeze(-1)", "torch.outer({a}[:, 0], {b}[0])", "F.pad({a}, (1, 0))[:, :-1]"),
    *("{a}.half().float()", "{a}.double().float()", "{a}.bfloat16().float()", "torch.cdist({a}, {a})[:, :1] + {a}"),
]
HALF = [
    "({a}.half() {o} {b}.half()).float()",
    "({a}.bfloat16() {o} {b}.bfloat16()).float()",
    "({a}.half() @ {b}.half().T @ {a}.half()).float()",
]
IN_PLACE = [
    *("{a} += {b}", "{a} *= {s}", "{a}[0] = {b}[-1]", "{a}[:, 0] += 1", "{a}[{a} > 0.5] = 0.5", "{a}.clamp_(-1, 1)"),
    *("{a}[0, 0] = {s}", "{a}.mul_({b})", "{a}.masked_fill_({b} < 0, -0.5)", "{a}.copy_({b})", "{a}.neg_()"),
    *("{a}.view(-1)[1] = 3.25", "{a}.T[0] -= 1", "{a}.index_add_(0, torch.tensor([0, 0]), {b}[:2])", "{a}.zero_()"),
    *(
        "{a}.index_fill_(0, torch.tensor([1]), 2.5)",
        "{a}.scatter_(1, torch.tensor([[0], [1]]), 0.75)",
        "{a}.fill_({s})",
    ),
    *("torch.add({a}, {b}, out={a})", "torch.mul({b}, {s}, out={a})", "{a}.data[0] = 0.5", "{a}.uniform_(-1, 1)"),
]
UNRECORDED = ["{a}.apply_(lambda number: number + 1)", "{a}.map_({b}, lambda one, other: one + other)"]
SOURCES = [
    *("torch.rand({n}, {m})", "torch.randn({n}, {m})", "torch.rand({n}, {m}) - 0.5", "torch.ones({n}, {m})"),
    *(
        "torch.full(({n}, {m}), 0.3)",
        "torch.arange({n} * {m}).reshape({n}, {m}) / 7",
        "torch.linspace(-2, 2, {n} * {m}).view({n}, {m})",
    ),
    *(
        "torch.empty({n}, {m}).uniform_(-2, 2)",
        "torch.tensor([[i * 0.37 - j for j in range({m})] for i in range({n})])",
    ),
    *("torch.eye({n}, {m}) * 2", "torch.randint(-3, 4, ({n}, {m})).float()", "torch.zeros({n}, {m}).normal_(1, 2)"),
    *("torch.bernoulli(torch.full(({n}, {m}), 0.5)) + 0.1",),
]
SCALARS = ["0.1", "0.3", "0.7", "2", "1.5", "0.4", "3", "-0.9", "n ** 0.5"]


@dataclass
class Program:
    """A program with the names that are asked about."""

    style: str
    code: str
    names: list[str] = field(default_factory=list)


class Writer:
    """Writes one program from a seed."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.rows, self.columns = self.chance.randint(2, 4), self.chance.randint(2, 4)
        self.names: list[str] = []
        self.lines = ["import torch", "import torch.nn as nn", "import torch.nn.functional as F", f"n = {self.columns}"]

    def write(self) -> Program:
        """Return the program."""
        style = self.chance.choice(list(STYLES))
        for name in "ab":
            self.assign(name, self.fill(self.chance.choice(SOURCES)))
        STYLES[style](self)
        return Program(style, "\n".join(self.lines) + "\n", self.names)

    def fill(self, template: str, **more: str) -> str:
        """Fill the blanks of a template with names and numbers."""
        pick = self.chance.choice
        blanks = {"a": pick(self.names or ["a"]), "b": pick(self.names or ["b"]), "s": pick(SCALARS), "o": pick("+-*/")}
        return template.format(**{**blanks, "n": str(self.rows), "m": str(self.columns), **more})

    def assign(self, name: str, code: str, indent: str = "") -> None:
        """Add an assignment."""
        self.lines.append(f"{indent}{name} = {code}")
        if not indent and name not in self.names:
            self.names.append(name)

    def expression(self, kinds: list[list[str]], **more: str) -> str:
        """Return an expression of one of these kinds."""
        return self.fill(self.chance.choice(self.chance.choice(kinds)), **more)


def expressions(writer: Writer) -> None:
    for name in "cdefgh"[: writer.chance.randint(3, 6)]:
        writer.assign(name, writer.expression([UNARY, BINARY, SHAPED]))


def jumps(writer: Writer) -> None:
    for name in "cdef":
        writer.assign(name, writer.expression([JUMPING, JUMPING, UNARY]))


def half_precision(writer: Writer) -> None:
    kind = writer.chance.choice(("half", "bfloat16", "double"))
    for name in "ab":
        writer.lines.append(f"{name} = {name}.{kind}()")
    for name in "cdef":
        writer.assign(name, writer.expression([JUMPING, UNARY, BINARY, BINARY]))


def conversions(writer: Writer) -> None:
    for name in "cde":
        writer.assign(name, writer.expression([HALF, JUMPING, SHAPED]))


def in_place(writer: Writer) -> None:
    for name in "cde":
        writer.assign(name, writer.expression([UNARY, BINARY]))
        for _ in range(writer.chance.randint(1, 3)):
            writer.lines.append(writer.expression([IN_PLACE]))


def unrecorded(writer: Writer) -> None:
    writer.lines.append(writer.expression([UNRECORDED], a="a", b="b"))
    writer.assign("c", writer.expression([UNARY, BINARY, SHAPED]))
    writer.lines.append(writer.expression([UNRECORDED], a="c", b="a"))


def loop(writer: Writer) -> None:
    writer.assign("x", "a.clone()")
    writer.lines.append(f"for i in range({writer.chance.randint(2, 4)}):")
    for _ in range(writer.chance.randint(1, 3)):
        if writer.chance.random() < 0.4:
            writer.lines.append("    " + writer.expression([IN_PLACE], a="x", b="b"))
        else:
            writer.assign("x", writer.expression([UNARY, BINARY, SHAPED], a="x"), "    ")
    writer.assign("y", "x * 2")


def cells(writer: Writer) -> None:
    writer.assign("s", "torch.zeros(len(a), len(b))")
    writer.lines += ["for i, one in enumerate(a):", "    for j, other in enumerate(b):"]
    body = ["torch.dot(one, other)", "(one * other).sum()", "one @ other / n ** 0.5", "(one - other).abs().max()"]
    writer.lines.append(f"        s[i, j] = {writer.chance.choice(body)}")
    writer.assign("w", "torch.softmax(s, dim=-1)")
    writer.assign("c", "w @ b")


def functions(writer: Writer) -> None:
    writer.lines += ["def step(x, y):", f"    h = {writer.fill(writer.chance.choice(UNARY), a='x')}"]
    writer.lines += [f"    h = {writer.fill(writer.chance.choice(BINARY + SHAPED), a='h', b='y')}", "    return h + x"]
    writer.assign("c", "step(a, b)")
    writer.assign("d", "step(c, a) - step(b, a)")
    writer.assign("h", "d * 0.5")
    writer.assign("e", "step(h, step(d, b))")


def attention(writer: Writer) -> None:
    chance = writer.chance
    writer.assign("x", f"torch.randn({writer.rows + 1}, 4)")
    for name in "qkv":
        writer.assign(name, "x @ torch.randn(4, 4).div(2)")
    writer.assign("scores", "q @ k.T / k.shape[-1] ** 0.5")
    masks = [
        "mask = torch.triu(torch.ones_like(scores), diagonal=1).bool()\nscores = scores.masked_fill(mask, -torch.inf)",
        "scores = scores + torch.full_like(scores, -torch.inf).triu(1)",
        "scores[torch.ones_like(scores).tril() == 0] = -1e9",
        "",
    ]
    writer.lines += chance.choice(masks).splitlines()
    writer.assign("weights", "torch.softmax(scores, dim=-1)")
    writer.assign("context", "weights @ v")
    if chance.random() < 0.5:
        writer.assign("fused", "F.scaled_dot_product_attention(q[None], k[None], v[None], is_causal=True)[0]")
    if chance.random() < 0.5:
        writer.assign("heads", "q.view(-1, 2, 2).transpose(0, 1)")
        writer.assign("merged", "(heads @ heads.transpose(1, 2) @ heads).transpose(0, 1).reshape(-1, 4)")
    if chance.random() < 0.4:
        writer.assign("dropped", "F.dropout(weights, 0.4)")


def modules(writer: Writer) -> None:
    chance = writer.chance
    layer = chance.choice(
        ["nn.Linear(4, 4)", "nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 4))", "nn.LayerNorm(4)"]
    )
    writer.lines += ["class Block(nn.Module):", "    def __init__(self):", "        super().__init__()"]
    writer.lines += [f"        self.layer = {layer}", "        self.scale = nn.Parameter(torch.rand(4))"]
    writer.lines += ["    def forward(self, x):", "        h = self.layer(x)", "        return x + h * self.scale"]
    writer.lines += ["block = Block()"]
    writer.assign("x", f"torch.randn({writer.rows}, 4)")
    writer.assign("y", "block(x)")
    writer.assign("z", "block(y)")
    if chance.random() < 0.5:
        writer.lines += ["mha = nn.MultiheadAttention(4, 2, batch_first=True)"]
        writer.lines += ["out, w = mha(z[None], z[None], z[None])"]
        writer.names += ["out", "w"]


def training(writer: Writer) -> None:
    chance = writer.chance
    optimizer = chance.choice(
        ["SGD(model.parameters(), lr=0.1)", "Adam(model.parameters(), lr=0.1)", "AdamW(model.parameters())"]
    )
    optimizer = chance.choice([optimizer, "SGD(model.parameters(), lr=0.1, momentum=0.9)"])
    writer.lines += ["torch.manual_seed(1)", "model = nn.Linear(3, 2)", "x, y = torch.randn(4, 3), torch.randn(4, 2)"]
    writer.lines += [f"optimizer = torch.optim.{optimizer}", f"for step in range({chance.randint(1, 3)}):"]
    losses = ["F.mse_loss(model(x), y)", "((model(x) - y) ** 2).mean()", "F.cross_entropy(model(x), y.argmax(1))"]
    writer.lines += [f"    loss = {chance.choice(losses)}"]
    writer.lines += ["    optimizer.zero_grad()", "    loss.backward()"]
    if chance.random() < 0.3:
        writer.lines += ["    norm = nn.utils.clip_grad_norm_(model.parameters(), 0.1)"]
    writer.lines += ["    optimizer.step()", "weight, bias = model.weight, model.bias", "gradient = model.weight.grad"]
    writer.names += ["weight", "bias", "gradient", "loss"]


def gradients(writer: Writer) -> None:
    writer.lines += ["p = (a * 0.7).detach().requires_grad_()"]
    writer.names.append("p")
    writer.assign("t", writer.expression([UNARY, SHAPED], a="p", b="p"))
    writer.lines += ["(t * t).sum().backward()", "g = p.grad"]
    writer.names.append("g")


def given_results(writer: Writer) -> None:
    writer.lines += ["o = torch.empty(0)", "r = torch.ones(2)"]
    calls = ["torch.matmul(a, b.T, out=o)", "torch.add(a, b, out=o)", "torch.cat([a, b], out=o)", "torch.exp(a, out=o)"]
    writer.lines += [writer.chance.choice(calls)]
    writer.names.append("o")
    writer.assign("c", "o * 2")
    writer.lines += ["torch.sum(a, 0, out=o)"] if writer.chance.random() < 0.5 else []


def complex_numbers(writer: Writer) -> None:
    writer.assign("q", "torch.randn(3, 4)")
    writer.lines += [
        "z = torch.view_as_complex(q.reshape(3, 2, 2))",
        "turn = torch.polar(torch.ones(3, 2), torch.rand(3, 2))",
    ]
    writer.lines += [
        f"u = {writer.chance.choice(['z * turn', 'z + turn', 'z - 2 * turn', '-z * turn.conj()', 'z * 1.5j'])}"
    ]
    writer.assign("r", "torch.view_as_real(u).flatten(1)")
    writer.assign("m", writer.chance.choice(["u.abs()", "u.real * 2", "u.imag + 0", "torch.angle(u)"]))


def views(writer: Writer) -> None:
    choices = [
        "a.as_strided((2, 2), (1, 1))",
        "a.view(-1)",
        "a.T",
        "a[1:]",
        "a[:, ::2]",
        "a.diagonal()",
        "a.unsqueeze(0)",
    ]
    writer.assign("v", writer.chance.choice(choices))
    writer.lines += [writer.chance.choice(["a[0, 0] = 7.5", "v += 1", "a *= 2", "v.zero_()", "a = a + 1"])]
    writer.assign(
        "c", writer.chance.choice(["v * 3", "v.sum()", "v.clone()", "v.contiguous() + 1", "v.flatten().softmax(0)"])
    )


def whole_numbers(writer: Writer) -> None:
    writer.lines += [f"i = torch.randint(0, 9, ({writer.rows}, {writer.columns}))", "j = i.flip(1) + 1"]
    writer.names += ["i", "j"]
    kinds = [
        "i * j",
        "i // j",
        "i % j",
        "i & j",
        "i << 1",
        "(i > j).sum(1)",
        "i.argmax(1)",
        "i.to(torch.int8) * 50",
        "i.cumsum(1)",
    ]
    for name in "cde":
        writer.assign(
            name, writer.chance.choice([*kinds, "i.float() / j", "a[i % len(a), 0]", "F.one_hot(i, 9).sum(0)"])
        )


STYLES: dict[str, Callable[[Writer], None]] = {
    "expressions": expressions,
    "jumps": jumps,
    "half precision": half_precision,
    "conversions": conversions,
    "in place": in_place,
    "unrecorded changes": unrecorded,
    "loop": loop,
    "cells": cells,
    "functions": functions,
    "attention": attention,
    "modules": modules,
    "training": training,
    "gradients": gradients,
    "out=": given_results,
    "complex": complex_numbers,
    "views": views,
    "whole numbers": whole_numbers,
}

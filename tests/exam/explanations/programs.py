"""Random programs in the styles that people write: functions, classes, loops, writes in place, views, training."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
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

    def write(self, styles: Mapping[str, Style]) -> Program:
        """Return the program, in one of these styles."""
        style = self.chance.choice(list(styles))
        for name in "ab":
            self.assign(name, self.fill(self.chance.choice(SOURCES)))
        styles[style](self)
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


def casts(writer: Writer) -> None:
    """Compute in few digits, and go on in more."""
    kind = writer.chance.choice(("half", "bfloat16"))
    writer.lines += [f"low, other = a.{kind}(), b.{kind}()"]
    writer.names += ["low", "other"]
    for name in "cdef":
        inner = writer.expression([UNARY, BINARY, SHAPED, REDUCING], a="low", b="other")
        wide = writer.chance.choice(
            ("float()", "double()", "to(torch.float32)", "float().T.contiguous()", "float() * 2")
        )
        writer.assign(name, f"({inner}).{wide}")
    writer.assign("g", "(low * other).float().sum(0) + (low / (other.abs() + 1)).double().mean()")


def mixed_types(writer: Writer) -> None:
    """Join numbers of different types."""
    kinds = ["half()", "bfloat16()", "double()", "int()", "long()", "float()", "bool()"]
    pick = writer.chance.choice
    for name in "pqr":
        writer.assign(name, f"({pick('ab')} * 3).{pick(kinds)}")
    for name in "cdef":
        code = pick(["{x} + {y}", "{x} * {y}", "{x} / ({y} + 4)", "torch.where({x} > 0, {x}, {y})", "{x} - {s} * {y}"])
        code = pick([code, code, "torch.cat([{x}, {y}])", "torch.stack([{x}, {y}]).sum(0)", "({x} == {y}) * {x}"])
        writer.assign(name, writer.fill(code, x=pick("pqr"), y=pick("pqr")))
        if pick((True, False)):
            writer.assign(f"{name}2", f"{name}.{pick(kinds)}")
    writer.lines += [
        f"w = torch.zeros({writer.rows}, {writer.columns}, dtype=torch.{pick(['float16', 'float64', 'int32'])})"
    ]
    writer.names.append("w")
    writer.lines += [pick(["w.copy_(p)", "w[0] = q[0]", "w[:, 0] = 1.5", "w += r.to(w.dtype)", "w[q > 0] = 1"])]


def written_whole(writer: Writer) -> None:
    """Write fractions into whole numbers."""
    kind = writer.chance.choice(("long", "int", "uint8", "int8", "bool", "half"))
    writer.lines += [
        f"i = torch.randint(0, 5, ({writer.rows}, {writer.columns})).to(torch.{kind})"
        if kind != "bool"
        else "i = a > 0"
    ]
    writer.names.append("i")
    steps = ["i.scatter_(0, torch.tensor([[1, 0]]), {f})", "i.fill_({f})", "i.masked_fill_(a > 0, {f})"]
    steps += ["i.index_fill_(0, torch.tensor([1]), {f})", "i[0] = {f}", "i[a > 0] = {f}", "i[1, 0] = {f}"]
    steps += ["i.fill_(torch.tensor({f}))", "i.index_put_((torch.tensor([0]),), torch.tensor({f}).to(i.dtype))"]
    steps += ["i.copy_(a * 3)", "i[:, 1] = torch.tensor({f})"]
    for _ in range(writer.chance.randint(1, 3)):
        writer.lines.append(writer.chance.choice(steps).format(f=writer.chance.choice(("1.5", "2.7", "0.25", "3"))))
    makes = [
        "torch.addcmul(i, i, i, value={f})",
        "F.pad(i, (1, 0), value={f})",
        "i.scatter(1, torch.tensor([[1]]), {f})",
    ]
    makes += [
        "i.masked_fill(b > 0, {f})",
        "torch.full_like(i, {f})",
        "i.index_fill(1, torch.tensor([0]), {f})",
        "i * 1.5",
    ]
    makes += ["i.clamp(max={f})", "torch.where(i > 1, i, {f})", "i.float().add_(i, alpha=0.5)"]
    for name in "cd":
        writer.assign(name, writer.chance.choice(makes).format(f=writer.chance.choice(("1.5", "2.7", "0.25", "3"))))


SEVERAL = [
    ("{x}.topk(2, dim=1)", 2),
    ("{x}.sort(dim=0)", 2),
    ("{x}.max(dim=1)", 2),
    ("{x}.min(dim=0)", 2),
    ("{x}.median(dim=1)", 2),
    ("{x}.kthvalue(2, dim=0)", 2),
    ("{x}.mode(dim=1)", 2),
    ("{x}.cummax(dim=1)", 2),
    ("torch.std_mean({x}, 1)", 2),
    ("torch.var_mean({x}, 0)", 2),
    ("torch.aminmax({x}, dim=1)", 2),
    ("torch.frexp({x})", 2),
    ("torch.unique({x} > 0, return_counts=True)", 2),
    ("torch.unique(({x} * 2).int(), return_inverse=True, return_counts=True)", 3),
    ("torch.linalg.svd({x}, full_matrices=False)", 3),
    ("torch.linalg.qr({x})", 2),
    ("torch.linalg.eigh({x} @ {x}.T)", 2),
    ("torch.linalg.slogdet({x} @ {x}.T)", 2),
    ("torch.native_layer_norm({x}, [n], None, None, 1e-5)", 3),
    ("{x}.split(1)", 2),
    ("{x}.chunk(2)", 2),
    ("{x}.unbind()", 2),
    ("nn.MultiheadAttention(4, 2, batch_first=True)({x}[None, :, :1].expand(1, -1, 4), *[torch.ones(1, 2, 4)] * 2)", 2),
    ("F.max_pool1d({x}[None], 2, return_indices=True)", 2),
]


def several_results(writer: Writer) -> None:
    """Use results of operations that have several: selected, unpacked, or kept together."""
    for name in "cdef":
        code, count = writer.chance.choice(SEVERAL)
        code = code.format(x=writer.chance.choice(("a", "b", "(a + b)", "(a * b)")))
        place = writer.chance.randrange(count)
        way = writer.chance.randrange(3)
        if way == 0:
            writer.assign(name, f"{code}[{place}] * 2")
        elif way == 1:
            writer.lines.append(f"{name}_all = {code}")
            writer.assign(name, f"{name}_all[{place}] + 1")
        else:
            targets = [f"{name}{at}" for at in range(count)]
            writer.lines.append(f"{', '.join(targets)}, *_ = {code}")
            writer.assign(name, f"{targets[place]} * 2 + 1")


def autocast(writer: Writer) -> None:
    """Train a little under autocast: what is kept is in single precision."""
    kind = writer.chance.choice(("bfloat16", "float16"))
    inner = writer.chance.choice(("nn.ReLU()", "nn.GELU()", "nn.LayerNorm(3)", "nn.Softmax(1)"))
    writer.lines += [f"model = nn.Sequential(nn.Linear(4, 3), {inner}, nn.Linear(3, 2))", "x = torch.randn(3, 4)"]
    writer.lines += [f"with torch.autocast('cpu', torch.{kind}):", "    y = model(x)"]
    losses = ["y.float().square().mean()", "F.cross_entropy(y, torch.tensor([0, 1, 1]))", "(y - 1).abs().sum()"]
    writer.lines += [f"    loss = {writer.chance.choice(losses)}", "loss.backward()"]
    writer.lines += ["first, last = model[0].weight.grad, model[2].weight.grad", "bias = model[0].bias.grad"]
    writer.names += ["y", "loss", "first", "last", "bias"]


def given_types(writer: Writer) -> None:
    """Give a tensor of another type, or of another shape, for a result."""
    pick = writer.chance.choice
    writer.lines += [f"p, q = a.{pick(('half', 'bfloat16', 'float'))}(), b.{pick(('half', 'bfloat16', 'float'))}()"]
    writer.lines += [
        f"o = torch.{pick(('empty(0', 'ones(2, 2', 'zeros(9'))}, dtype=torch.{pick(('float32', 'float64'))})"
    ]
    writer.names += ["p", "q", "o"]
    writer.assign("before", "o * 2") if pick((True, False)) else None
    writer.lines += [
        pick(
            [
                "torch.add(p, q, out=o)",
                "torch.mul(p, q, out=o)",
                "torch.exp(p, out=o)",
                "torch.div(p, q.abs() + 1, out=o)",
            ]
        )
    ]
    writer.assign("c", "o + 1")
    writer.lines += [pick(["torch.sub(q, p, out=o)", "torch.sqrt(p.abs(), out=o)", "o.mul_(q)"])]
    writer.assign("d", "o - 1")
    writer.lines += ["v, k = torch.empty(0), torch.empty(0, dtype=torch.long)", "torch.topk(a, 1, out=(v, k))"]
    writer.assign("e", "v * 2 + k")


def renamed(writer: Writer) -> None:
    """Give the parameters of a layer other names."""
    writer.lines += ["import torch.nn.utils.prune as prune", "layer = nn.Linear(4, 3)", "x = torch.randn(2, 4)"]
    writer.assign("y", "layer(x)")
    ways = ["prune.l1_unstructured(layer, 'weight', amount=5)", "prune.random_unstructured(layer, 'bias', amount=1)"]
    ways += ["nn.utils.parametrizations.weight_norm(layer)", "nn.utils.parametrizations.spectral_norm(layer)"]
    ways += [
        "w = layer.weight\ndel layer.weight\nlayer.weight = w * 2",
        "layer.weight = nn.Parameter(layer.weight * 2)",
    ]
    writer.lines += writer.chance.choice(ways).splitlines()
    writer.assign("z", "layer(x)")
    writer.assign("w2", "layer.weight * 1")
    writer.assign("u", "z - y")


def draws(writer: Writer) -> None:
    """Draw numbers, also for nobody, and after a seed."""
    pick = writer.chance.choice
    kinds = [
        "torch.rand(3, 4)",
        "torch.randn(5)",
        "torch.randint(0, 9, (4,))",
        "torch.randperm(5)",
        "torch.rand(2, 3).T",
    ]
    kinds += [
        "torch.bernoulli(torch.full((4,), 0.3))",
        "torch.empty(3, 3).normal_(2, 3)",
        "torch.empty(4).uniform_(-1, 2)",
    ]
    kinds += ["F.dropout(torch.ones(6), 0.5)", "torch.rand(3, dtype=torch.float64)", "torch.randn(3).bfloat16()"]
    kinds += [
        "torch.normal(torch.zeros(3), torch.ones(3))",
        "torch.empty(3).exponential_()",
        "torch.rand(4).half().float()",
    ]
    for name in "cdefg":
        if pick((True, False, False)):
            writer.lines.append(pick(["torch.manual_seed(7)", "torch.rand(3, device='meta')", "torch.randn(2)"]))
        writer.assign(name, pick(kinds))


def low_in_place(writer: Writer) -> None:
    """Write in place in few digits."""
    kind = writer.chance.choice(("half", "bfloat16"))
    writer.lines += [f"x, y = a.{kind}(), b.{kind}()"]
    writer.names += ["x", "y"]
    for name in "cd":
        for _ in range(writer.chance.randint(1, 3)):
            line = writer.expression([IN_PLACE], a="x", b="y")
            writer.lines.append(line)
        writer.assign(
            name, writer.chance.choice(("x.float() * 2", "(x * y).float()", "x @ y.T", "x.sum().double()", "x.clone()"))
        )


REDUCING = ["{a}.sum(0)", "{a}.mean()", "{a}.std(1)", "{a}.amax(1)", "{a}.norm()", "{a}.prod(0)", "{a}.logsumexp(1)"]

Style = Callable[[Writer], None]
"""Writes the lines of a program in a style."""

STYLES: dict[str, Style] = {
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
    "casts": casts,
    "mixed types": mixed_types,
    "written whole": written_whole,
    "several results": several_results,
    "autocast": autocast,
    "out= of another type": given_types,
    "renamed": renamed,
    "draws": draws,
    "low in place": low_in_place,
}

"""Each operation of the list explains every cell of its result, down to the leaves."""

from __future__ import annotations

import pytest

from tests.lessons.tracing import Traced

SETUP = """
torch.manual_seed(1)
a = torch.rand(3, 4) - 0.5
b = torch.rand(3, 4) + 0.5
v = torch.rand(4)
m = a > 0
k = torch.arange(12).reshape(3, 4)
d = a.double()
x3, y3 = torch.rand(2, 3, 4), torch.rand(2, 4, 3)
x4 = torch.rand(2, 2, 3, 4)
F = torch.nn.functional
"""

EXPRESSIONS = [
    "torch.dot(v, v)",
    "a @ b.T",
    "a @ v",
    "v @ b.T",
    "x3 @ y3",
    "x4 @ x4.transpose(2, 3)",
    "torch.bmm(x3, y3)",
    "torch.addmm(a[:, :3], a, b.T, alpha=2, beta=3)",
    "torch.baddbmm(x3[:, :, :3], x3, y3)",
    "torch.mv(a, v)",
    "F.linear(a, b, v[:3])",
    "F.linear(x3, b)",
    "torch.einsum('bhid,bhjd->bhij', x4, x4)",
    "torch.einsum('ij,kj->ik', a, b)",
    "torch.matmul(x4, y3)",
    "torch.outer(v, v)",
    "torch.softmax(a, dim=0)",
    "torch.softmax(x3, dim=1)",
    "torch.log_softmax(a, dim=-1)",
    "F.softmax(v[0], dim=0)",
    "a.masked_fill(m, -torch.inf)",
    "a.masked_fill(m, v[0])",
    "torch.where(m, a, b)",
    "torch.where(m, a, 0.0)",
    "torch.triu(a)",
    "torch.tril(b, diagonal=-1)",
    "a + b",
    "a - 2 * b",
    "1 - a",
    "a * v",
    "a / b",
    "a // 0.1",
    "a % 0.3",
    "torch.fmod(a, 0.3)",
    "k // 5",
    "k % 5",
    "a ** 2",
    "b ** 0.5",
    "2 ** a",
    "torch.sqrt(b)",
    "a.exp()",
    "b.log()",
    "a.abs()",
    "-a",
    "a.sum()",
    "a.sum(dim=1)",
    "a.sum(dim=(0, 1), keepdim=True)",
    "x3.mean(dim=(0, 2))",
    "a.mean()",
    "a.max()",
    "a.max(dim=1).values",
    "a.max(dim=1).indices",
    "a.min(dim=0).values",
    "a.amax(dim=-1)",
    "a.argmax()",
    "a.argmin(dim=1)",
    "a.cumsum(dim=1)",
    "a.prod(dim=0)",
    "a.std()",
    "a.var(dim=1, correction=0)",
    "a.norm()",
    "m.any(dim=1)",
    "m.all()",
    "m & ~m",
    "m | (a > 0.2)",
    "m ^ m",
    "m + m",
    "m.sum()",
    "k.float().mean()",
    "a.sort(dim=1).values",
    "a.topk(2).values",
    "torch.cat([a, b, a])",
    "torch.cat([x3, x3], dim=2)",
    "torch.stack([a, b], dim=1)",
    "torch.stack([v, v * 2])",
    "a.clone()",
    "a.T.contiguous()",
    "a.reshape(2, 6).T",
    "a.T.reshape(6, 2)",
    "a.int()",
    "k.float()",
    "k.bool()",
    "a.double()",
    "d @ d.T",
    "a.to(torch.bfloat16)",
    "a[m]",
    "a[[2, 0]]",
    "a[:, [1, 1]]",
    "x3[0, [1, 2]]",
    "a[k[0] % 3]",
    "a.gather(1, k % 4)",
    "a.index_select(0, k[0, :2])",
    "a.flip(0)",
    "a.roll(1, dims=1)",
    "a.repeat(2, 1)",
    "v.repeat_interleave(2)",
    "F.pad(a, (1, 2), value=5.0)",
    "F.embedding(k % 3, a)",
    "torch.ones(3)",
    "torch.zeros(2, 2)",
    "torch.full((2,), 3.0)",
    "torch.eye(3)",
    "torch.arange(5)",
    "torch.linspace(0, 1, 5)",
    "torch.tensor([[1.0, 2.0], [3.0, 4.0]])",
    "torch.rand(3)",
    "torch.randn(3)",
    "torch.randint(0, 5, (4,))",
    "torch.empty(2, 3).normal_()",
    "F.dropout(b, 0.25)",
    "F.dropout(b, 0.25, training=False)",
    "torch.nn.Linear(4, 2)(a)",
    "torch.nn.LayerNorm(4)(a)",
    "F.relu(a)",
    "F.gelu(a)",
    "F.gelu(a, approximate='tanh')",
    "F.silu(a)",
    "torch.sigmoid(a)",
    "torch.tanh(a)",
    "a.clamp(-0.1, 0.2)",
    "a.clamp(min=0)",
    "torch.maximum(a, b)",
    "torch.rsqrt(b)",
    "torch.lerp(a, b, 0.3)",
    "torch.addcmul(a, b, b, value=2)",
    "torch.isnan(a / 0)",
    "a.unfold(1, 2, 1)",
    "a.sign()",
    "a.round()",
    "torch.cdist(a, b)",
    "torch.var_mean(a)[0]",
    "torch.logical_and(a, m)",
    "torch.logical_xor(a, m)",
    "F.cross_entropy(a, k[0, :3] % 4)",
    "torch.nn.Embedding(5, 3)(k % 5)",
    "a > 0.1",
    "v.expand(3, 4) + 0",
    "a.diagonal() * 1",
]

STATEMENTS = [
    "r = a.clone(); r += b",
    "r = a.clone(); r[1] *= 2",
    "r = a.clone(); r[:, ::2] = 0",
    "r = a.clone(); r[m] = 0",
    "r = a.clone(); r[m] = b[m]",
    "r = a.clone(); r[0, 1] = 5",
    "r = a.clone(); r[[0, 2]] = b[:2]",
    "r = a.clone(); r.masked_fill_(m, -torch.inf)",
    "r = a.clone(); r.T[1:].mul_(3)",
    "r = torch.zeros(3, 4); r.copy_(v)",
    "r = torch.zeros(3, 4, dtype=torch.int64); r.copy_(a * 10)",
    "r = torch.zeros(3, 4); r.scatter_(1, k % 4, b)",
    "r = torch.zeros(3, 4); r.scatter_(1, k[:, :2] % 4, 7.0)",
    "r = torch.zeros(3, 4); r.index_copy_(0, k[0, :2], b[:2])",
    "r = torch.zeros(3, 3); torch.mm(a, b.T, out=r)",
    "r = a.clone(); torch.add(r, b, out=r)",
    "r = a.clone(); r.zero_()",
    "r = a.clone(); r.fill_(2)",
    "r = a.clone(); r.exp_().div_(r.sum())",
    "r = a.clone(); r.triu_()",
    "r = a.clone(); r.addmm_(a, torch.eye(4))",
    "r = a.clone(); r.t_()",
    "r = a.clone(); s = r.view(-1); s[3:7] = 9",
    "q, r = a.chunk(2, dim=1); r = r * 1",
    "r = a.clone().requires_grad_(); (r.exp() @ b.T).sum().backward(); r = r.grad",
]


def test_every_expression() -> None:
    """Expressions, one run for all."""
    traced = Traced(SETUP)
    for count, code in enumerate(EXPRESSIONS):
        traced.run(f"r{count} = {code}", f"code{count}")
        traced.check_all(f"r{count}")


@pytest.mark.parametrize("code", STATEMENTS)
def test_every_statement(code: str) -> None:
    """Writes in place."""
    traced = Traced(SETUP)
    traced.run("\n".join(code.split("; ")), "more")
    traced.check_all("r")


def test_an_operation_outside_the_list_shows_its_operands() -> None:
    """It says its name."""
    told = Traced(SETUP + "r = torch.lgamma(b)").tell("r", 0, 1)
    assert "lgamma has no rule" in told.notes[0]
    assert [operand.label for operand in told.operands] == ["b[0,1]"]

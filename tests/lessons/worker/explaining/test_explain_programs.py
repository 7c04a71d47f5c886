"""Every cell of every tensor that random programs of the supported operations compute is explained."""

from __future__ import annotations

import contextlib

import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.lessons.recorded_code import Traced

DTYPES = ("torch.float32", "torch.float64", "torch.int64", "torch.bool")

MAKE = [
    "{x} + {y}",
    "{x} - 2.5",
    "{x} * {y}",
    "{x} / 3",
    "{x} ** 2",
    "torch.exp({x} / 10)",
    "{x}.abs().sqrt()",
    "{x} @ {y}.T",
    "({x} @ {y}).T",
    "torch.softmax({x}.float(), dim={axis})",
    "{x}.sum(dim={axis}, keepdim=True) + {y}",
    "{x}.float().mean(dim={axis}) * {y}",
    "{x}.amax(dim={axis}, keepdim=True) - {y}",
    "{x}.masked_fill({y} > 0, -1)",
    "torch.where({x} > {y}, {x}, {y})",
    "torch.cat([{x}, {y}])[1:4]",
    "torch.stack([{x}, {y}], dim={axis}).sum(dim={axis})",
    "torch.tril({x}.float()) + torch.triu({y}.float(), diagonal=1)",
    "{x}.T.reshape(3, 3)",
    "{x}[:, [2, 0, 1]]",
    "{x}.gather({axis}, index)",
    "torch.einsum('ij,kj->ki', {x}.float(), {y}.float())",
    "{x}.clone()",
    "{x}.double()",
    "{x}[1:2] + {y}",
    "{x}.transpose(0, 1)",
    "torch.nn.functional.dropout({x}.float(), 0.5)",
    "torch.nn.functional.linear({x}.float(), {y}.float())",
]

CHANGE = [
    "{x} += 1",
    "{x}[{i}] = 2",
    "{x}[:, {i}] *= 3",
    "{x}.masked_fill_({x} > 1, 0)",
    "{x}[{x} < 0] = 4",
    "{x}.T[{i}] += {x}[{j}].clone()",
    "{x}[{i}, {j}] = {y}.float().sum().item()",
    "{x}.copy_({y})",
    "for i in range(2):\n    for j in range(3):\n        {x}[i, j] = torch.dot({y}[i].float(), {x}[j].float())",
    "for row in {y}:\n    {x} = {x} + row",
    "{x} = torch.stack([row * 2 for row in {y}])",
    "{x}.view(-1)[2:5] = 7",
]

NAMES = st.sampled_from(["a", "b", "c", "d"])


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Draw a program over four 3-by-3 tensors. It changes an integer or boolean matrix only in a floating copy."""
    lines = ["index = torch.tensor([[0, 2, 1], [1, 1, 0], [2, 0, 2]])"]
    for name, dtype in zip("abcd", DTYPES, strict=True):
        lines.append(f"{name} = ((torch.rand(3, 3) - 0.4) * 4).to({dtype})")
    for _ in range(draw(st.integers(2, 8))):
        fill = {"x": draw(NAMES), "y": draw(NAMES), "axis": draw(st.integers(0, 1))}
        fill |= {"i": draw(st.integers(0, 2)), "j": draw(st.integers(0, 2))}
        if draw(st.booleans()):
            code = draw(st.sampled_from(MAKE)).format(**fill)
            # Two numbers may not be joined in matrices of different types.
            code = code.replace("@", ".float() @") if "@" in code else code
            lines.append(f"{draw(NAMES)} = ({code}).float().clamp(-50, 50)")
        else:
            lines.append("{x} = {x}.float()".format(**fill))
            lines.append(draw(st.sampled_from(CHANGE)).format(**fill))
            lines.append("{x} = {x}.clamp(-50, 50)".format(**fill))
    return "\n".join(lines).replace(".float()).T", ".float()).T").replace(".T)", ".T.float())")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(programs(), st.integers(0, 1000))
def test_random_programs(code: str, seed: int) -> None:
    """The formula of each cell evaluates to its value, and so do the formulas of its operands."""
    traced = Traced()
    torch.manual_seed(seed)
    # Some lines do not fit the shapes or dtypes; the lines before them are explained.
    with contextlib.suppress(AssertionError):
        traced.run(code)
    names = [name for name in "abcd" if isinstance(traced.namespace.get(name), torch.Tensor)]
    traced.check_all(*names)


LEARNER = """
torch.manual_seed(0)
inputs = torch.rand(4, 3)
scores = torch.empty(4, 4)
for i, query in enumerate(inputs):
    for j, key in enumerate(inputs):
        scores[i, j] = torch.dot(query, key)
scores /= 3 ** 0.5
scores[torch.triu(torch.ones(4, 4), diagonal=1).bool()] = -torch.inf
weights = torch.softmax(scores, dim=-1)
context = torch.einsum("ij,jk->ik", weights, inputs)
heads = torch.rand(2, 2, 4, 3)
joined = torch.einsum("bhid,bhjd->bhij", heads, heads)
context[1:3] *= 2
"""


def test_a_learners_program() -> None:
    """It uses nested loops, in-place writes and einsum; every cell is explained down to the leaves."""
    traced = Traced(LEARNER)
    cells = 0
    for name in ("inputs", "scores", "weights", "context", "joined"):
        cells += traced.check("code", name, traced.namespace[name])[0]
    assert cells == 12 + 16 + 16 + 12 + 64


def test_a_parameter_is_not_called_by_the_name_of_its_module() -> None:
    traced = Traced("m = torch.nn.MultiheadAttention(4, 2, batch_first=True)\nx = torch.randn(1, 3, 4)\n")
    traced.run("out = m(x, x, x)[0]\n", "more")
    text = str(traced.explain("out", 0, 1, 0))
    assert "m.out_proj.bias" in text
    assert "'m[0]'" not in text


def test_running_statistics_are_written_by_the_forward_pass() -> None:
    traced = Traced("norm = torch.nn.BatchNorm1d(3)\nx = torch.randn(5, 3)\nnorm(x)\nmean = norm.running_mean\n")
    assert traced.explain("mean", 1).op == "running_mean"
    traced.run("norm.eval()\nnorm(2 * x)\nsame = norm.running_mean\n", "more")
    told = traced.explain("same", 1)
    assert (told.op, told.file) == ("running_mean", "code")

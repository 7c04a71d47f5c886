"""Names of the numbers of a backward pass: each is compared with what PyTorch says is the gradient of that tensor."""

from __future__ import annotations

import ast
import math
import re
from typing import Any

import pytest
import torch

from attn_tutor.lessons.results import explanation as x
from tests.lessons.recorded_code import Traced, indices

START = """
torch.manual_seed(3)
F = torch.nn.functional
x = torch.rand(3, 4)
w = torch.rand(4, 4, requires_grad=True)
u = torch.rand(4, 4, requires_grad=True)
b = torch.rand(4, requires_grad=True)
"""

PROGRAMS: dict[str, tuple[str, set[str], set[str]]] = {
    "attention": (
        "q = x @ w\nk = x @ u\nscores = q @ k.T\nweights = torch.softmax(scores, dim=-1)\nout = weights @ x + b\n"
        "loss = (out ** 2).mean()\nloss.backward()",
        {"q", "scores", "weights", "loss"},
        set(),
    ),
    "a residual path": (
        "h = x @ w\ng = torch.relu(h) @ u\ny = h + g\nz = y * y\nloss = z.sum()\nloss.backward()",
        {"y", "h", "loss"},
        {"h", "y"},
    ),
    "one tensor in three operations": (
        "h = x @ w\na = h * 2\nc = torch.exp(h)\nd = torch.tanh(h)\nloss = (a * c * d).sum()\nloss.backward()",
        {"a", "c", "d", "h"},
        {"h"},
    ),
    "heads": (
        "p = x @ w\nq = p.view(3, 2, 2).transpose(0, 1)\nk, v = (x @ u).chunk(2, dim=-1)\n"
        "s = q @ k.T[None, :, :]\nr = (s.sum(dim=1) * v.sum(dim=-1)).sum(dim=-1)\nloss = r.prod()\nloss.backward()",
        {"q", "r"},
        set(),
    ),
    "a view beside its tensor": (
        "h = x @ w\na = h.view(12)\nc = a ** 2\nd = torch.sin(h)\nloss = c.sum() + d.sum()\nloss.backward()",
        {"a", "h"},
        {"h"},
    ),
    "layer norm and a loss of classes": (
        "h = F.layer_norm(x @ w, (4,), b, u[0])\nlogits = F.gelu(h) @ u\n"
        "loss = F.cross_entropy(logits, torch.tensor([1, 0, 3]))\nloss.backward()",
        {"h", "logits"},
        set(),
    ),
    "gradients that pile up": (
        "for _ in range(2):\n    h = x @ w\n    loss = (h * h).sum() + (h @ u).sum()\n    loss.backward()",
        set(),
        {"w"},
    ),
    "a cut graph": (
        "h = x @ w\nc = h.detach().requires_grad_()\ny = torch.exp(c)\ny.sum().backward()\n"
        "t = h * 3\nloss = (t * t + h).sum()\nloss.backward()\nresult = torch.cat([w.grad, c.grad]) * 2",
        {"c", "t", "h"},
        {"h"},
    ),
    "in place": (
        "h = x @ w\nt = torch.zeros(3, 4)\nt[0] = h[1]\nt[1:] = h[:2]\na = torch.exp(t)\na = a.mul(2)\n"
        "loss = (a * x).sum()\nloss.backward()",
        {"h"},
        {"h"},
    ),
    "recomputed": (
        "from torch.utils.checkpoint import checkpoint\nh = x @ w\n"
        "y = checkpoint(lambda t: torch.sin(t @ u) * t, h, use_reentrant=False)\n"
        "z = y * torch.cos(h)\nloss = (z * z).sum()\nloss.backward()",
        {"y", "h"},
        {"h"},
    ),
    "recomputed in a pass of its own": (
        "from torch.utils.checkpoint import checkpoint\nh = x @ w\n"
        "y = checkpoint(lambda t: torch.sin(t @ u) * t, h, use_reentrant=True)\n"
        "z = y * torch.cos(h)\nloss = (z * z).sum()\nloss.backward()",
        {"z", "h"},
        {"h"},
    ),
    "a function of one's own": (
        "class Double(torch.autograd.Function):\n"
        "    @staticmethod\n    def forward(ctx, t):\n        ctx.save_for_backward(t)\n        return t * 2\n"
        "    @staticmethod\n    def backward(ctx, g):\n        t, = ctx.saved_tensors\n"
        "        return g * 2 + t * 0 + g * 0\n"
        "h = x @ w\ny = Double.apply(h)\nloss = (y * y).sum()\nloss.backward()",
        {"h", "loss"},
        set(),
    ),
    "gradients in a graph": (
        "h = x @ w\ny = (h ** 3).sum()\ng, = torch.autograd.grad(y, w, create_graph=True)\n"
        "loss = (g ** 2).sum() + (h * h).sum()\nloss.backward()",
        {"h"},
        {"h"},
    ),
    "hooks": (
        "h = x @ w\ny = torch.exp(h)\nhandle = y.register_hook(lambda g: g * 3 + g)\nloss = (y * y).sum()\n"
        "loss.backward()",
        {"h"},
        set(),
    ),
    "a gradient as data": (
        "h = x @ w\n(h * h).sum().backward()\nkept = w.grad.clone()\nw.grad = None\ny = w * kept\n"
        "z = torch.exp(y * 0.01)\n"
        "loss = z.sum()\nloss.backward()",
        {"y"},
        {"h"},
    ),
}
"""Programs, with the tensors whose gradients are named, and those of which parts of the gradient are.

`result` is followed; without it the gradient of `w`.
"""


def gradients_of(source: str) -> dict[str, torch.Tensor]:
    """Run a program without a recorder, and return the gradients of its variables in the last backward pass."""
    namespace: dict[str, Any] = {"torch": torch, "__name__": "plain"}
    for statement in ast.parse(START + source).body:
        bodies = [statement]
        repeated = isinstance(statement, ast.For)
        if repeated:
            bodies = [*statement.body, *statement.body]  # type: ignore[attr-defined]
        for part in bodies:
            if ast.unparse(part) == "loss.backward()":
                # Of several passes only the last one counts.
                for value in namespace.values():
                    if isinstance(value, torch.Tensor) and not value.is_leaf:
                        value.grad = None
            exec(compile(ast.Module([part], []), "plain", "exec"), namespace)
            for value in namespace.values():
                if isinstance(value, torch.Tensor) and value.requires_grad:
                    value.retain_grad()
    return {
        name: value.grad
        for name, value in namespace.items()
        if isinstance(value, torch.Tensor) and value.requires_grad and value.grad is not None
    }


def operands_below(traced: Traced, name: str) -> dict[str, x.Operand]:
    """Return all operands of the tree below some cells of a tensor, by label."""
    found: dict[str, x.Operand] = {}
    for index in list(indices(tuple(traced.namespace[name].shape)))[::6]:
        pending = [traced.explain(name, *index)]
        while pending:
            for operand in pending.pop().operands:
                if operand.label not in found:
                    found[operand.label] = operand
                    pending.append(traced.follow(operand))
    return found


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_number_is_the_gradient_that_its_name_says(program: str) -> None:
    """The whole gradient of a tensor has the value of `retain_grad`."""
    source, whole, parted = PROGRAMS[program]
    traced = Traced(START + source if "result" in source else START + source + "\nresult = w.grad.clone()")
    true = gradients_of(source)
    seen: set[str] = set()
    parts: set[str] = set()
    for label, operand in operands_below(traced, "result").items():
        found = re.fullmatch(r"\((part of the )?gradient of (\w+)\)(#\d+)?(\[.*\])?", label)
        if found is None:
            continue
        if found[1]:
            parts.add(found[2])
            continue
        if found[3]:
            # A number counts the values of a name: only the last one is compared.
            continue
        seen.add(found[2])
        if found[2] not in true:
            # Only an earlier pass reached it.
            continue
        value = float(true[found[2]][operand.index])
        assert math.isclose(operand.value, value, rel_tol=1e-5, abs_tol=1e-6), (label, operand.value, value)
    assert (whole - seen, parted - parts) == (set(), set()), (seen, parts)


def test_gradients_of_one_name_are_counted_in_the_order_of_its_values() -> None:
    """`h#1` is the value of the first round, and `(gradient of h)#1` its gradient, whichever was computed first."""
    traced = Traced(
        START + "h = x @ w\nfor _ in range(2):\n    h = torch.sin(h)\nh.sum().backward()\nresult = w.grad.clone()"
    )
    operands = operands_below(traced, "result")
    first, second = (operands[f"(gradient of h)#{count}[0,0]"].value for count in (1, 2))
    values = [operands[f"h#{count}[0,0]"].value for count in (1, 2)]
    assert math.isclose(second, math.cos(values[1]), rel_tol=1e-5)
    assert math.isclose(first, math.cos(values[0]) * second, rel_tol=1e-5)


def test_parts_of_a_gradient_add_up() -> None:
    """The terms of a sum that autograd makes are named as parts, and the sum as the gradient."""
    code = "h = x @ w\na = (h @ u) ** 2\nd = torch.softmax(h, dim=-1) ** 2\nloss = a.sum() + d.sum()\nloss.backward()"
    traced = Traced(START + code + "\nresult = w.grad.clone()")
    total = operands_below(traced, "result")["(gradient of h)[0,0]"]
    parts = traced.follow(total).operands
    assert sorted(part.name for part in parts) == [f"(part of the gradient of h)#{count}" for count in (1, 2)]
    assert math.isclose(sum(part.value for part in parts), total.value, rel_tol=1e-5)


def test_steps_inside_of_a_derivative_have_no_numbers() -> None:
    """Short ones are part of the formula of the gradient; the others say of what they are the derivative."""
    traced = Traced(
        START + "h = x @ w\nloss = h.square().sum() + h.logcumsumexp(1).sum()\nloss.backward()\nresult = w.grad"
    )
    operands = operands_below(traced, "result")
    assert not any(label.startswith("(step") for label in operands)
    assert any(label.startswith("(logcumsumexp in the derivative of h.logcumsumexp(1))") for label in operands)
    traced = Traced(START + "h = x @ w\nloss = h.square().sum()\nloss.backward()\nresult = w.grad")
    gradient = operands_below(traced, "result")["(gradient of h)[0,0]"]
    assert x.python(traced.follow(gradient)) == "(gradient of loss) * (h[0,0] * 2.0)"


def test_a_gradient_that_was_changed_in_place_says_by_what() -> None:
    """`clip_grad_norm_` returns the norm, so its call is no name for the gradient."""
    code = "(w * 3).sum().backward()\ntorch.nn.utils.clip_grad_norm_([w], 0.5)\nresult = w.grad + 0"
    traced = Traced(START + code)
    told = traced.explain("result", 0, 1)
    assert [operand.label for operand in told.operands] == ["(gradient of w after clip_grad_norm_)[0,1]"]
    assert "(gradient of w)[0,1]" in operands_below(traced, "result")
    traced = Traced(START + "(w * 3).sum().backward()\nw.grad.mul_(2)\nw.grad.div_(4)\nresult = w.grad + 0")
    told = traced.explain("result", 0, 1)
    names = []
    while told.operands:
        told = traced.follow(told.operands[0])
        names.append(told.name)
    assert names[:3] == ["(gradient of w after div_)", "(gradient of w after mul_)", "(gradient of w)"]


@pytest.mark.parametrize("code", ["batch_norm(x, None, None, training=True)", "group_norm(x, 2)"])
def test_moments_of_a_kernel_are_not_called_like_its_result(code: str) -> None:
    traced = Traced(START + f"result = F.{code}")
    names = {operand.name for operand in traced.explain("result", 1, 2).operands}
    assert names == {"x", f"(1 / std in F.{code})", f"(mean in F.{code})"}


@pytest.mark.parametrize(("numbers", "mask"), [("torch.full((3,), 0.5)", 1.0), ("torch.arange(3.0)", 0.0)])
def test_the_mask_of_a_derivative_is_an_operand(numbers: str, mask: float) -> None:
    """The derivative of a standard deviation puts 0 where that is 0, and the note speaks of this mask."""
    traced = Traced(f"p = ({numbers}).requires_grad_()\np.std().backward()\ng = p.grad")
    pending, found = [traced.explain("g", 0)], []
    while pending:
        told = pending.pop()
        found += [told] if told.op == "masked_fill" else []
        pending += map(traced.follow, told.operands)
    assert found
    assert all(f"the mask is {mask:g} here" in told.notes[0] for told in found)
    assert all(mask in told.values for told in found)

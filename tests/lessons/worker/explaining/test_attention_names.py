"""Names of the numbers inside a call of attention, compared with attention computed step by step."""

from __future__ import annotations

import math
import re

import pytest
import torch

from tests.lessons.recorded_code import Traced

MODULE = """
torch.manual_seed(5)
F = torch.nn.functional
mha = torch.nn.MultiheadAttention(6, 2, batch_first=True{})
if mha.in_proj_bias is not None:
    torch.nn.init.normal_(mha.in_proj_bias)
x = torch.randn(2, 4, 6)
y = torch.randn(2, 3, 6)
hidden = torch.ones(4, 4).triu(1).bool()
"""
EVAL = "mha.eval()\nwith torch.no_grad():\n    r, _ = "
CALLS = {
    "in steps": ("", "r, _ = mha(x, x, x)", "x", "x"),
    "with a mask": ("", "r, _ = mha(x, x, x, attn_mask=hidden)", "x", "x"),
    "fused": ("", "r, _ = mha(x, x, x, need_weights=False)", "x", "x"),
    "fused, with a mask": ("", "r, _ = mha(x, x, x, need_weights=False, attn_mask=hidden)", "x", "x"),
    "across": ("", "r, _ = mha(y, x, x)", "y", "x"),
    "across, fused": ("", "r, _ = mha(y, x, x, need_weights=False)", "y", "x"),
    "one sample": ("", "r, _ = mha(x[:1], x[:1], x[:1])", "x", "x"),
    "the fast path": ("", f"{EVAL}mha(x, x, x)", "x", "x"),
    "the fast path, masked": (
        "",
        "mha.eval()\nwith torch.no_grad():\n    r, _ = mha(x, x, x, attn_mask=hidden)",
        "x",
        "x",
    ),
    "no bias": (", bias=False", "r, _ = mha(x, x, x)", "x", "x"),
}


def reference(traced: Traced, source: str, target: str, masked: bool) -> dict[str, torch.Tensor]:
    """Return what each noun means: tensors by sample and head."""
    module, given, other = traced.namespace["mha"], traced.namespace[source], traced.namespace[target]
    bias = [None] * 3 if module.in_proj_bias is None else list(module.in_proj_bias.detach().chunk(3))
    q, k, v = (
        torch.nn.functional.linear(tokens, matrix, one).unflatten(-1, (2, 3)).transpose(1, 2)
        for tokens, matrix, one in zip(
            (given, other, other), module.in_proj_weight.detach().chunk(3), bias, strict=True
        )
    )
    scale = 1 / math.sqrt(3)
    scores = q @ k.transpose(-2, -1)
    scaled = scores * scale
    hidden = scaled.masked_fill(traced.namespace["hidden"], -torch.inf) if masked else scaled
    weights = torch.softmax(hidden, dim=-1)
    return {
        "queries": q,
        "keys": k,
        "values": v,
        "scaled queries": q * scale,
        "scores": scores,
        "scaled scores": scaled,
        "masked scores": hidden,
        "weights": weights,
        "context": weights @ v,
    }


@pytest.mark.parametrize("name", CALLS)
def test_numbers_inside_multihead_attention(name: str) -> None:
    """Each number with a role is the one that the definition gives, for its head, sample, token and column."""
    more, call, source, target = CALLS[name]
    traced = Traced(MODULE.format(more) + call)
    true = reference(traced, source, target, "attn_mask" in call)
    nouns = set()
    pending = [traced.explain("r", traced.namespace["r"].shape[0] - 1, 2, 4)]
    for _ in range(60):
        for operand in pending.pop(0).operands if pending else ():
            found = re.fullmatch(r"\((.*) of head (\d)\)(#\d)?\[([\d,]+)\]", operand.label)
            if found is None:
                continue
            noun, head = found[1], int(found[2])
            if noun == "scores" and "eval" not in call and "need_weights" not in call:
                noun = "masked scores"  # PyTorch scales the queries and adds the mask in the product
            index = tuple(map(int, found[4].split(",")))
            sample, row, column = index if len(index) == 3 else (0, *index)
            value = float(true[noun][sample, head, row, column])
            assert math.isclose(operand.value, value, rel_tol=1e-4, abs_tol=1e-5), operand.label
            if found[1] not in nouns or len(pending) < 6:
                pending.append(traced.follow(operand))
            nouns.add(found[1])
    assert {"queries", "keys", "values", "scores", "weights"} <= nouns, nouns
    assert "context" in nouns


def test_arguments_without_a_name() -> None:
    """What is passed to attention as queries, keys and values is called so, with its head; a name of the code stays."""
    traced = Traced(
        "torch.manual_seed(6)\nF = torch.nn.functional\nx = torch.rand(1, 2, 3, 4)\nv = torch.rand(1, 2, 3, 4)\n"
        "r = F.scaled_dot_product_attention(x * 2, x + 1, v)"
    )
    context = traced.explain("r", 0, 1, 2, 3)
    assert "In short: softmax(q @ k.T / sqrt(d)) @ v." in context.notes
    assert [operand.label for operand in context.operands] == [
        label for column in range(3) for label in (f"(weights of head 1)[2,{column}]", f"v[0,1,{column},3]")
    ]
    scores = traced.follow(traced.follow(traced.follow(context.operands[0]).operands[1]).operands[0])
    assert [operand.label for operand in scores.operands[:2]] == ["(queries of head 1)[2,0]", "(keys of head 1)[1,0]"]


def test_one_tensor_in_several_roles_has_none() -> None:
    """A number that is query, key and value at once is called by the code that made it."""
    traced = Traced(
        "F = torch.nn.functional\nx = torch.rand(1, 2, 3, 4)\n"
        "def attend(t):\n    return F.scaled_dot_product_attention(t(), t.last, t.last)\n"
        "class Twice:\n    def __call__(self):\n        self.last = x * 2\n        return self.last\n"
        "r = attend(Twice())"
    )
    labels = {operand.label for operand in traced.explain("r", 0, 1, 2, 3).operands}
    assert not any("values" in label for label in labels)


def test_softmax_of_something_else_is_not_attention() -> None:
    """Products around a softmax in a library are attention only if heads are put side by side."""
    traced = Traced(
        "torch.manual_seed(7)\n"
        "layer = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Softmax(-1), torch.nn.Linear(4, 2))\n"
        "x = torch.rand(2, 3, 4)\nr = layer(x)"
    )
    labels = {operand.label for operand in traced.explain("r", 0, 1, 1).operands}
    assert not any("head" in label for label in labels)


HEADS = """
torch.manual_seed(8)
F = torch.nn.functional
q, k, v = torch.rand(3, 1, 2, 4, 3)
weights = torch.softmax(q @ k.transpose(2, 3), dim=-1)
context = weights @ v
merged = context.transpose(1, 2).contiguous().view(1, 4, 6)
def attend():
    dropped = F.dropout(torch.softmax(q @ k.transpose(2, 3), dim=-1), 0.5)
    return (dropped @ v).transpose(1, 2).reshape(1, 4, 6)
inside = attend()
fused = F.scaled_dot_product_attention(q * 1, k * 1, v * 1).transpose(1, 2).contiguous().view(1, 4, 6)
mixed = (weights * 2 @ v).transpose(1, 2).contiguous().view(1, 4, 6)
"""


def test_a_cell_of_merged_heads_says_which_head_it_belongs_to() -> None:
    """Where the contexts of all heads stand side by side, a number says its head; other products have none."""
    traced = Traced(HEADS)
    for name in ("inside", "fused"):
        for column in range(6):
            notes = [note for note in traced.explain(name, 0, 1, column).notes if "belongs to head" in note]
            assert notes == [f"Column {column} belongs to head {column // 3}: the heads stand side by side."], name
    for name in ("context", "mixed"):
        index = (0, 1, 2, 2) if name == "context" else (0, 1, 2)
        assert not any("belongs to head" in note for note in traced.explain(name, *index).notes)

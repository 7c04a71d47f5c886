"""Small edits of an answer's own code: each kind of mistake is undone without a right answer to compare with."""

from __future__ import annotations

import ast
import itertools
from typing import Any

import pytest
import torch

from attn_tutor.lessons.reading.own_edits import OwnEdits
from attn_tutor.lessons.reading.repair_kinds import kind_texts
from tests.exam.answer_exam import answers

MODULE = """\
class M(nn.Module):
    def __init__(self, n, p):
        super().__init__()
        LINE

    def forward(self, x):
        return self.mask[:2] + x
"""


SDPA = "F.scaled_dot_product_attention"


def function(*lines: str) -> str:
    return "\n    ".join(("def f(x, k, mask, p):", *lines)) + "\n"


def module(line: str) -> str:
    return MODULE.replace("LINE", line)


@pytest.mark.parametrize(
    ("kind", "about", "wrong", "right"),
    [
        ("axis", "x.softmax(0)", "return x.softmax(0)", "return x.softmax(-1)"),
        ("axis", "torch.cat([x, k], dim=1)", "return torch.cat([x, k], dim=1)", "return torch.cat([x, k], dim=-1)"),
        ("axis", "k.transpose(0, 1)", "return k.transpose(0, 1)", "return k.transpose(1, 2)"),
        ("axis", "k.permute(0, 2, 1)", "return k.permute(0, 2, 1)", "return k.permute(1, 0, 2)"),
        ("subscripts", "einsum('ab->ba', x)", "return einsum('ab->ba', x)", "return einsum('ab->ab', x)"),
        ("transpose-extra", "k", "return x @ k.T", "return x @ k"),
        ("transpose-missing", "k", "return x @ k", "return x @ k.transpose(-2, -1)"),
        ("transpose-missing", "x", "return x.reshape(2, 3)", "return x.transpose(1, 2).reshape(2, 3)"),
        ("sides-exchanged", "x @ k", "return x @ k", "return k @ x"),
        ("other-side-transposed", "x.T @ k", "return x.T @ k", "return x @ k.T"),
        ("other-side-transposed", "x @ k.transpose(1, 2)", "return x @ k.transpose(1, 2)",
         "return x.transpose(1, 2) @ k"),
        ("other-side-transposed", "torch.matmul(x.mT, k)", "return torch.matmul(x.mT, k)", "return x @ k.mT"),
        ("place-by-place", "x * k", "return x * k", "return x @ k"),
        ("operator", "x < k", "return x < k", "return x <= k"),
        ("operator", "x // k", "return x // k", "return x / k"),
        ("opposite", "mask", "return x.masked_fill(mask, 0.0)", "return x.masked_fill(~mask, 0.0)"),
        ("other-value", "0.0", "return x.masked_fill(mask, 0.0)", "return x.masked_fill(mask, float('-inf'))"),
        ("other-value", "is_causal=True", "return g(x, is_causal=True)", "return g(x, is_causal=False)"),
        ("other-value", "2", "return x.triu(2)", "return x.triu(1)"),
        ("other-value", "k.numel()", "return x / k.numel()", "return x / k.shape[-1]"),
        ("other-value", "torch.numel(k)", "return x / torch.numel(k)", "return x / k.shape[-1]"),
        ("other-function", "x.mean", "return x.mean(dim=-1)", "return x.sum(dim=-1)"),
        ("other-function", "x.mean", "return x.mean(dim=0)", "return x.median(dim=0).values"),
        ("too-little", "3", "return k + 3", "return k + 3 * p"),
        ("other-function", "torch.mean", "return torch.mean(x, -1)", "return torch.sum(x, -1)"),
        ("other-function", "math.isqrt", "return math.isqrt(x)", "return math.sqrt(x)"),
        ("argument-missing", "x.sum(dim=-1)", "return x.sum(dim=-1)", "return x.sum(dim=-1, keepdim=True)"),
        ("argument-missing", "F.dropout(x)", "return F.dropout(x)", "return F.dropout(x, training=self.training)"),
        ("argument-extra", "g(x, scale=2)", "return g(x, scale=2)", "return g(x)"),
        ("too-much", "….softmax(-1)", "return x.softmax(-1)", "return x"),
        ("too-much", "… / p", "return x / p", "return x"),
        ("too-little", "x @ k", "return x @ k", "return (x @ k) / x.shape[-1] ** 0.5"),
        ("too-little", "p", "return x / p", "return x / p ** 0.5"),
        ("operation-moved", "… / p", "return x.softmax(-1) / p", "return (x / p).softmax(-1)"),
        ("operation-moved", "p * …", "return p * torch.exp(x)", "return torch.exp(x * p)"),
        ("operation-moved", "….tril(p)", "return x.exp().tril(p)", "return x.tril(p).exp()"),
        ("order", "(x, k)", "return (x, k)", "return (k, x)"),
        ("brackets", "x / k * p", "return x / k * p", "return x / (k * p)"),
        ("index", "x.shape[0]", "return x.shape[0]", "return x.shape[-1]"),
        ("index", "mask[:p]", "return mask[:p]", "return mask[p:]"),
        ("other-attribute", "x.in_features", "return x.in_features", "return x.out_features"),
        ("other-name", "x", "return g(x)", "return g(k)"),
        ("fixed-value", "6", "return g(x, 6)", "return g(x, p)"),
        ("fixed-value", "6", "return g(x, 6)", "return g(x, x.shape[-1])"),
        ("fixed-value", "1", "return x[1]", "return x[p]"),
        ("index", "x[[p]]", "return x[[p]]", "return x[p]"),
        ("index", "x[p:p + 1]", "return x[p:p + 1]", "return x[p]"),
        ("order", "[[g(a, b) for a in x] for b in k]", "return [[g(a, b) for a in x] for b in k]",
         "return [[g(a, b) for b in k] for a in x]"),
        ("order", "[g([a @ b for a in x]) for b in k]", "return [g([a @ b for a in x]) for b in k]",
         "return [g([a @ b for b in k]) for a in x]"),
        ("subscripts", "torch.einsum('bid,cjd->bij', x, k)", "return torch.einsum('bid,cjd->bij', x, k)",
         "return torch.einsum('bid,bjd->bij', x, k)"),
        ("zeros-left", "x.tril()", "return x.tril()", "return x.tril() + torch.full_like(x, -torch.inf).triu(1)"),
        ("wraps-around", "x.roll(1, dims=0)", "return x.roll(1, dims=0)",
         "return x.roll(1, dims=0).index_fill(0, torch.tensor([0]), 0)"),
        ("cut-order", "x.unflatten(-1, (-1, p))", "return x.unflatten(-1, (-1, p))",
         "return x.unflatten(-1, (p, -1)).transpose(-2, -1)"),
        ("plain-shares", "x / x.sum()", "return x / x.sum()", "return torch.softmax(x, -1)"),
        ("operation-moved", "….median()", "return (x / k).median()", "return x.median() / k.median()"),
        ("operation-moved", "torch.tanh(…)", "return torch.tanh(x) + torch.tanh(k)", "return torch.tanh(x + k)"),
        ("operation-moved", "self.drop(…)", "return self.drop(torch.einsum('ij,jd->id', x, k))",
         "return torch.einsum('ij,jd->id', self.drop(x), k)"),
        ("too-little", "p", "return x.div(p)", "return x / (1 - p)"),
        ("too-much", "dict.fromkeys(…)", "return g(dict.fromkeys(x))", "return g(x)"),
        ("in-training-only", "p", "return g(x, dropout_p=p)", "return g(x, dropout_p=p if self.training else 0.0)"),
        ("condition", "g(p)", "return p if g(p) else 0.0", "return p if self.training else 0.0"),
        ("not-cut", "self.mask", "return x.masked_fill(self.mask, 0.0)",
         "return x.masked_fill(self.mask[:x.shape[1], :x.shape[1]], 0.0)"),
        ("values-extra", "(x, k)", "return x, k", "return k"),
        ("not-raised", "ValueError()", "return ValueError()", "raise ValueError()"),
        ("index", "x[:, -1]", "return x[:, -1]", "return x[:, -1:]"),
        ("index", "x[1]", "return x[1]", "return x[1:2]"),
        ("index", "x[p:p + k]", "return x[p:p + k]", "return x[p * k:p * k + k]"),
        ("index", "mask[:p, :k]", "return mask[:p, :k]", "return mask[k - p:k, :k]"),
        ("order", "[x, k]", "return g([x, k])", "return g([k, x])"),
        ("each-once", "{a for a in x}", "return g({a for a in x})", "return g([a for a in x])"),
        ("each-once", "{a: k for a in x}", "return g({a: k for a in x}.values())", "return g([k for a in x])"),
        ("each-once", "set(x)", "return set(x)", "return list(x)"),
        ("not-infinite", "10000.0 * mask", "return x - 1e4 * mask", "return torch.where((mask) != 0, -torch.inf, x)"),
        ("not-infinite", "mask * -1000.0", "return x + mask * -1e3", "return torch.where((mask) != 0, -torch.inf, x)"),
        ("axis-of-one", "x.topk(1)", "return x.topk(1)", "return x.topk(1).squeeze(-1)"),
        ("argument-missing", "x.triu()", "return x.triu()", "return x.triu(1)"),
        ("buffers-left-out", "x.parameters()", "return g(x.parameters())", "return g(x.state_dict().values())"),
        ("other-value", "p", "return x.append(p)", "return x.append(p + 1)"),
        ("not-shared-out", "x * mask", "return x * mask", "return x * mask / (x * mask).sum(-1, keepdim=True)"),
        ("not-shared-out", "x.tril()", "return x.tril()", "return x.tril() / x.tril().sum(-1, keepdim=True)"),
        ("truth-subtracted", "1 - mask", "return 1 - mask", "return ~mask"),
        ("operator", "x and k", "return x and k", "return x or k"),
        ("condition-extra", "k", "return x and k", "return x"),
        ("condition-extra", "a > p", "return [a for a in x if a > p]", "return [a for a in x]"),
        ("zeros-left", "x * mask", "return x * mask", "return torch.where((mask) != 0, x, -torch.inf)"),
        ("argument-missing", "nn.Linear(x, k)", "return nn.Linear(x, k)", "return nn.Linear(x, k, bias=False)"),
        ("other-type", "x.sum()", "return x.sum()", "return x.sum().item()"),
        ("too-little", "p", "x.add_(p)", "x.add_(p * k)"),
        ("drawn-anew", "F.dropout(x, p)", "return F.dropout(x, p)", "return x / (1 - p)"),
        ("other-value", "p", "return (x @ k) / math.sqrt(p)", "return (x @ k) / math.sqrt(k.shape[-1])"),
        ("other-value", "p", "return (x @ k) / p ** 0.5", "return (x @ k) / x.shape[-1] ** 0.5"),
        ("exponentials-extra", "x.softmax(-1)", "return x.softmax(-1)", "return x / x.sum(-1, keepdim=True)"),
        ("lengths-divided", "F.cosine_similarity(x, k, dim=-1)", "return F.cosine_similarity(x, k, dim=-1)",
         "return (x * k).sum(dim=-1)"),
        ("too-much", "torch.where(…, x, 0)", "return torch.where(mask, x, 0)", "return x"),
        ("opposite", "x", "return torch.exp(x)", "return torch.exp(-x)"),
        ("shared", "x", "return nn.Parameter(x)", "return nn.Parameter(x.detach().clone())"),
        ("drawn-anew", "torch.rand_like(x)", "return torch.rand_like(x) < p", "return k < p"),
        ("drawn-anew", "torch.bernoulli(p)", "return torch.bernoulli(p)", "return x < p"),
        ("other-attribute", "x.width", "return g(x.width, x.size)", "return g(x.size, x.size)"),
        ("causal-from-first", "is_causal=True", f"return {SDPA}(x, k, k, is_causal=True)",
         f"return {SDPA}(x, k, k, attn_mask=torch.ones(x.shape[-2], k.shape[-2])"
         ".tril(k.shape[-2] - x.shape[-2]).bool())"),
    ],
)  # fmt: skip
def test_an_expression_is_edited(kind: str, about: str, wrong: str, right: str) -> None:
    expected = ast.unparse(ast.parse(function(right)))
    [found] = [item for item in OwnEdits(function(wrong), 999).repairs if item.code == expected]
    assert (found.kind, found.about, found.lines) == (kind, about, (2,))


@pytest.mark.parametrize(
    ("kind", "line", "wrong", "right"),
    [
        ("statement-extra", 2, ["x = x.softmax(-1)", "return x"], ["pass", "return x"]),
        ("statement-moved", 2, ["k = k + x", "x = x * 2", "return k"], ["x = x * 2", "k = k + x", "return k"]),
        ("in-place", 2, ["x += k", "return x"], ["x = x + k", "return x"]),
        ("in-place", 2, ["x.clamp_(0)", "return x"], ["x = x.clamp(0)", "return x"]),
        ("added-up", 3, ["for k in x:", "    p = k", "return p"], ["for k in x:", "    p += k", "return p"]),
        ("return-in-loop", 4, ["for k in x:", "    p += k", "    return p"], ["for k in x:", "    p += k", "return p"]),
        ("block-extra", 2, ["with torch.no_grad():", "    x = k", "return x"], ["x = k", "return x"]),
        ("condition-extra", 2, ["if p:", "    x = k", "return x"], ["x = k", "return x"]),
        ("opposite", 2, ["if p:", "    x = k", "return x"], ["if not p:", "    x = k", "return x"]),
        ("shared", 2, ["k = x", "return k"], ["k = x.clone()", "return k"]),
        ("not-copied", 1, ["return x"], ["x = x.clone()", "return x"]),
    ],
)  # fmt: skip
def test_a_statement_is_edited(kind: str, line: int, wrong: list[str], right: list[str]) -> None:
    expected = ast.unparse(ast.parse(function(*right)))
    [found] = [item for item in OwnEdits(function(*wrong), 999).repairs if item.code == expected]
    assert (found.kind, found.lines) == (kind, (line,))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("self.mask = torch.ones(n)", "self.register_buffer('mask', torch.ones(n))"),
        ("self.mask = torch.ones(n)", "self.mask = torch.nn.Parameter(torch.ones(n))"),
        ("self.mask = nn.Parameter(torch.ones(n))", "self.register_buffer('mask', torch.ones(n))"),
        ("self.mask = 0", "self.register_buffer('mask', torch.tensor(0))"),
        ("self.mask = [g(n)]", "self.mask = torch.nn.ModuleList([g(n)])"),
        ("self.register_buffer('mask', torch.ones(n))", "self.mask = torch.nn.Parameter(torch.ones(n))"),
        (
            "self.register_buffer('mask', torch.ones(n))",
            "self.register_buffer('mask', torch.ones(n), persistent=False)",
        ),
    ],
)
def test_how_a_module_keeps_a_tensor_is_edited_on_the_line_that_keeps_it(wrong: str, right: str) -> None:
    expected = ast.unparse(ast.parse(module(right)))
    [found] = [item for item in OwnEdits(module(wrong), 999).repairs if item.code == expected]
    assert (found.kind, found.about, found.lines) == ("kept", "self.mask", (4,))


@pytest.mark.parametrize(
    ("kind", "about", "line", "new"),
    [
        ("condition-missing", "self.seen += 1", "self.seen += 1", "if self.training:\n            self.seen += 1"),
        (
            "condition-missing",
            "self.seen.add_(1)",
            "self.seen.add_(1)",
            "if self.training:\n            self.seen.add_(1)",
        ),
        ("statement-missing", "", "self.seen = None", "self.seen = None\n        self.kept = None"),
        ("shared", "x.out", "self.inner.out = x.out", "self.inner.out = __import__('copy').deepcopy(x.out)"),
    ],
)
def test_what_a_module_holds_is_edited(kind: str, about: str, line: str, new: str) -> None:
    method = "class M(nn.Module):\n    def forward(self, x):\n        LINE\n        self.kept = x\n        return x\n"
    expected = ast.unparse(ast.parse(method.replace("LINE", new)))
    [found] = [item for item in OwnEdits(method.replace("LINE", line), 999).repairs if item.code == expected]
    assert (found.kind, found.about, found.lines) == (kind, about, (3,))


def test_a_result_is_put_through_a_layer_that_nothing_goes_through() -> None:
    wrong = module("self.out = nn.Linear(n, n)")
    expected = ast.unparse(ast.parse(wrong.replace("self.mask[:2] + x", "self.out(self.mask[:2] + x)")))
    [found] = [item for item in OwnEdits(wrong, 999).repairs if item.code == expected]
    assert (found.kind, found.about, found.mistake().line) == ("layer-unused", "self.out", None)
    used = OwnEdits(wrong.replace("+ x", "+ self.out(x)"), 999).repairs
    assert all(item.kind != "layer-unused" for item in used)


def test_a_remainder_of_heads_is_an_error() -> None:
    wrong = "class M:\n    def __init__(self, width, num_heads):\n        self.size = width // num_heads\n"
    [found] = [item for item in OwnEdits(wrong, 999).repairs if item.kind == "remainder"]
    assert (found.about, found.mistake().line) == ("width / num_heads", None)
    scope: dict[str, Any] = {}
    exec(found.code, scope)
    assert scope["M"](6, 3).size == 2
    with pytest.raises(ValueError, match="remainder"):
        scope["M"](7, 3)


def test_what_a_function_copies_is_not_recorded() -> None:
    [found] = [item for item in OwnEdits(function("x.copy_(k)", "return x"), 999).repairs if item.kind == "recorded"]
    scope: dict[str, Any] = {}
    exec(found.code, scope)
    leaf = torch.zeros(2, requires_grad=True)
    assert scope["f"](leaf, torch.ones(2), None, 0).tolist() == [1, 1]


def test_a_buffer_is_registered_by_its_other_name() -> None:
    lines = ["self.register_buffer('kept', torch.ones(n))", "self.mask = self.kept"]
    expected = ast.unparse(ast.parse(module("self.register_buffer('mask', torch.ones(n))")))
    [found] = [item for item in OwnEdits(module("\n        ".join(lines)), 999).repairs if item.code == expected]
    assert (found.kind, found.about, found.lines) == ("kept", "self.mask", (4,))


def test_a_module_is_set_up() -> None:
    wrong = module("self.n = n").replace("        super().__init__()\n", "")
    assert OwnEdits(wrong, 999).repairs[0].kind == "super-missing"


def test_an_edit_is_on_the_line_of_what_it_moves() -> None:
    wrong = function("return (", "    x.softmax(-1)", "    / p", ")")
    assert {item.lines for item in OwnEdits(wrong, 999).repairs if item.kind == "operation-moved"} == {(4,)}


def test_likelier_edits_come_first_and_no_more_than_asked_for() -> None:
    edits = OwnEdits(function("return x.softmax(0) @ k"), 999).repairs
    assert [item.rank for item in edits] == sorted(item.rank for item in edits)
    assert OwnEdits(function("return x.softmax(0) @ k"), 3).repairs == edits[:3]
    assert OwnEdits("def f(:", 9).repairs == []


def test_two_edits_are_made_together_one_inside_of_the_other_too() -> None:
    edits = OwnEdits(function('return torch.einsum("id,jd->ji", x, k)'), 999)
    codes = {made[0].code for _, made in edits.together(itertools.combinations(range(len(edits.repairs)), 2))}
    expected = function('return torch.einsum("id,jd->ij", x, k) / x.shape[-1] ** 0.5')
    assert ast.unparse(ast.parse(expected)) in codes
    assert not codes & {item.code for item in edits.repairs}


@pytest.mark.parametrize(
    ("source", "kind", "said"),
    [
        ("def f(x, s, W):\n    return tanh(W @ x + V @ s)\n", "sides-exchanged", "`W @ x` and `V @ s`"),
        ("def f(x, s, W):\n    return W @ x - W @ x\n", "sides-exchanged", "2 places"),
        ("def f(x, s):\n    return x.softmax(0) + s.softmax(0)\n", "axis", "`x.softmax(0)` and `s.softmax(0)`"),
        (
            "def f(x, s, k):\n    y = x.T @ s.T\n    return y @ k.T\n",
            "transpose-extra",
            "`x`, `s` and `k`",
        ),
        ("def f(x, s):\n    x = x.softmax(0)\n    s = s.softmax(0)\n", "axis", "lines 2 and 3"),
    ],
)
def test_an_edit_of_several_places_is_said_of_all_of_them(source: str, kind: str, said: str) -> None:
    edits = [item for item in OwnEdits(source, 1000).repairs if item.kind == kind]
    texts = [item.mistake().text for item in edits if item.places]
    assert texts
    assert {text.partition("passes. ")[2].rpartition("This is said of ")[2] for text in texts} == {f"{said} together."}
    assert not any("together" in item.mistake().text for item in edits if not item.places)


def test_the_same_edit_on_several_lines_is_one() -> None:
    lines = ["x = g(p) @ x", "k = g(p) @ k", "return x + k"]
    right = function(*[line.replace("g(p) @ x", "x @ g(p)").replace("g(p) @ k", "k @ g(p)") for line in lines])
    expected = ast.unparse(ast.parse(right))
    edits = OwnEdits(function(*lines), 999)
    [found] = [item for item in edits.repairs if item.code == expected]
    assert (found.kind, found.lines) == ("sides-exchanged", (2, 3))
    # It is made beside another edit as well.
    turned = next(index for index, item in enumerate(edits.repairs) if item.kind == "operator" and 4 in item.lines)
    [(_, made)] = edits.together([(edits.repairs.index(found), turned)])
    assert [item.lines for item in made] == [(2, 3), (4,)]


EVERY = 6
"""One of so many answers to an exercise is edited: each is written in its own way, and all edits are made alike."""


@pytest.mark.parametrize("name", ["multi-head", "cached-step", "translate", "dropout-by-hand"])
def test_an_edit_leaves_the_program_as_it_was_for_the_next_one(name: str) -> None:
    for answer in itertools.islice(answers(name), 0, None, EVERY):
        edits = OwnEdits(answer.code, 60)
        again = OwnEdits(answer.code, 60)
        again.together([*itertools.combinations(range(len(again.repairs)), 2)][:40])
        assert again.repairs == edits.repairs
        lines = len(answer.code.splitlines())
        assert all(0 <= item.lines[0] <= lines and item.kind in kind_texts() for item in edits.repairs)


def test_what_a_module_keeps_between_calls_is_emptied_at_the_beginning_of_each() -> None:
    begin = "class M:\n    def __init__(self):\n        self.parts = []\n\n"
    wrong = f"{begin}    def forward(self, x):\n        return self.parts\n"
    [found] = [item for item in OwnEdits(wrong, 999).repairs if item.kind == "kept-between-calls"]
    assert (found.about, found.lines) == ("self.parts", (3,))
    assert "def forward(self, x):\n        self.parts = []\n" in found.code


def test_a_function_is_called_for_each_item_alone_and_no_line_is_to_blame() -> None:
    [found] = [
        item for item in OwnEdits("def f(x):\n    return x[0][None]\n", 999).repairs if item.kind == "each-alone"
    ]
    scope: dict[str, Any] = {}
    exec(found.code, scope)
    x = torch.arange(6).view(3, 2)
    assert torch.equal(scope["f"](x), x)
    assert found.mistake().line is None


def test_a_statement_is_added_beside_another_edit_of_the_same_function() -> None:
    wrong = "class M(nn.Module):\n    def __init__(self):\n        self.mask = torch.ones(2)\n"
    edits = OwnEdits(wrong, 999)
    kinds = [item.kind for item in edits.repairs]
    buffer = next(index for index, item in enumerate(edits.repairs) if "register_buffer" in item.code)
    [(_, made)] = edits.together([(kinds.index("super-missing"), buffer)])
    assert "super().__init__()\n        self.register_buffer('mask'" in made[0].code

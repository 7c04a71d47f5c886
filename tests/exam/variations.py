"""Further ways to write a right answer: each changes its text and nothing that it computes."""

from __future__ import annotations

import ast
import random
import zlib
from collections.abc import Callable, Iterator

Change = Callable[[ast.Module], ast.Module]

PREFACE = """
from __future__ import annotations
import copy
import enum
import math
import pickle
from collections import Counter
from dataclasses import dataclass, field
from typing import ClassVar, Optional

import torch
import torch.nn.functional as F

sum_of_squares = lambda x: (x * x).sum()


@dataclass
class Config:
    d_in: int = 3
    d_out: int = 2
    dropout: float = 0.0
    known: ClassVar[int] = 0
    sizes: list[int] = field(default_factory=list)


class Kind(enum.Enum):
    ROWS = -1
    COLUMNS = 0


assert pickle.loads(pickle.dumps(Kind.ROWS)) is Kind.ROWS
cfg = copy.deepcopy(Config(d_in=4))
"""

BUILTINS = [
    "list",
    "dict",
    "str",
    "len",
    "isinstance",
    "sum",
    "all",
    "any",
    "getattr",
    "sorted",
    "zip",
    "type",
    "float",
]
OF_PROBES = ["got", "want", "context", "seed", "told", "attempt", "model"]
"""Names that a notebook may have bound to something else."""

OF_TORCH = {"sum", "max", "min", "abs", "all", "any", "range", "round", "pow", "divmod", "float", "bool", "int"}
"""Names that `from torch import *` binds to something else."""


PRODUCT = """
import torch


def product(a, b):
    '''The product of two matrices, or of two batches of them.'''
    return torch.einsum("...ij,...jk->...ik", a, b) if min(a.dim(), b.dim()) > 1 else a @ b
"""

SOFTMAX = """
import torch


def softmax_by_hand(x, dim=-1):
    exps = torch.exp(x - x.amax(dim=dim, keepdim=True))
    return exps / exps.sum(dim=dim, keepdim=True)
"""


class _Rename(ast.NodeTransformer):
    """Give the local variables of every function other names."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        kept = {item.arg for item in ast.walk(node) if isinstance(item, ast.arg)}
        kept |= {name for item in ast.walk(node) if isinstance(item, ast.Global | ast.Nonlocal) for name in item.names}
        kept |= {item.name for item in ast.walk(node) if isinstance(item, ast.FunctionDef | ast.ClassDef)}
        stored = {
            item.id
            for item in ast.walk(node)
            if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store) and item.id not in kept
        }
        outer, self.names = self.names, self.names | {name: f"my_{name}" for name in sorted(stored)}
        self.generic_visit(node)
        self.names = outer
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node


class _Calls(ast.NodeTransformer):
    """Spell products, transposes, views and masks in another way."""

    def __init__(self, *, product: str = "", axes: bool = False, mask: str = "", softmax: str = "") -> None:
        self.product, self.axes, self.mask, self.softmax = product, axes, mask, softmax

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if self.product and isinstance(node.op, ast.MatMult):
            return _call(self.product, node.left, node.right)
        return node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if self.softmax and ast.unparse(node.func) == "torch.softmax":
            node.func = ast.parse(self.softmax, mode="eval").body
        if not isinstance(node.func, ast.Attribute) or ast.unparse(node.func.value) == "torch":
            return node
        if self.axes and node.func.attr == "transpose" and len(node.args) == 2:
            node.func.attr = "swapaxes"
        if self.axes and node.func.attr == "view":
            node.func.attr = "reshape"
        if self.mask and node.func.attr == "masked_fill" and len(node.args) == 2 and not node.keywords:
            mask, value, filled = *node.args, node.func.value
            if self.mask == "where":
                return _call("torch.where", mask, value, filled)
            if ast.unparse(value) == "-torch.inf":
                empty = ast.Attribute(_call("torch.zeros_like", filled), "masked_fill", ast.Load())
                return ast.BinOp(filled, ast.Add(), ast.Call(empty, [mask, value], []))
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        if self.axes and node.attr == "T" and isinstance(node.ctx, ast.Load):
            return ast.Call(ast.Attribute(node.value, "t", ast.Load()), [], [])
        return node


class _Talk(ast.NodeTransformer):
    """Print, assert and annotate in every function that has arguments."""

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        self.generic_visit(node)
        names = [item.arg for item in node.args.args]
        for item in node.args.args:
            if item.arg != "self" and item.annotation is None:
                item.annotation = ast.parse("torch.Tensor | int | float | None", mode="eval").body
        if names:
            talk = f"print('in {node.name}', type({names[-1]}).__name__)\nassert {names[-1]} is not None, 'an argument'"
            start = 1 if ast.get_docstring(node) and len(node.body) > 1 else 0
            node.body[start:start] = ast.parse(talk).body
        return node


def _call(name: str, *args: ast.expr) -> ast.Call:
    function = ast.parse(name, mode="eval").body
    return ast.Call(function, list(args), [])


def _a_notebook(tree: ast.Module) -> ast.Module:
    """Put what comes before and after in a notebook around the answer, which does not use the names that are taken."""
    free = [name for name in [*BUILTINS, *OF_PROBES] if name not in _names(tree)]
    afterwards = f"inputs = torch.eye(3)\n{' = '.join(free)} = sum_of_squares(inputs)\n"
    return _with(PREFACE, afterwards)(tree)


def _all_of_torch(tree: ast.Module) -> ast.Module:
    return tree if _names(tree) & OF_TORCH else _with("from torch import *\nimport torch\n")(tree)


def _names(tree: ast.Module) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _with(before: str, after: str = "") -> Change:
    def change(tree: ast.Module) -> ast.Module:
        future = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.module == "__future__"]
        rest = [node for node in tree.body if node not in future]
        return ast.Module([*ast.parse(before).body, *rest, *ast.parse(after).body], [])

    return change


CHANGES: dict[str, Change] = {
    "renamed": lambda tree: _Rename().visit(tree),
    "matmul": lambda tree: _with("import torch\n")(_Calls(product="torch.matmul").visit(tree)),
    "einsum in a helper": lambda tree: _with(PRODUCT)(_Calls(product="product").visit(tree)),
    "softmax by hand": lambda tree: _with(SOFTMAX)(_Calls(softmax="softmax_by_hand").visit(tree)),
    "reshape and swapaxes": lambda tree: _Calls(axes=True).visit(tree),
    "where": lambda tree: _with("import torch\n")(_Calls(mask="where").visit(tree)),
    "a mask that is added": lambda tree: _with("import torch\n")(_Calls(mask="added").visit(tree)),
    "prints, asserts, annotations": lambda tree: _with("import torch\n")(_Talk().visit(tree)),
    "a notebook around it": _a_notebook,
    "everything of torch": _all_of_torch,
}


def of(code: str, count: int) -> Iterator[tuple[str, str]]:
    """Yield `count` variations of an answer, each with a name; the same ones for the same answer."""
    draw = random.Random(zlib.crc32(code.encode()))
    plain = ast.unparse(ast.parse(code))
    useful = [name for name, change in CHANGES.items() if ast.unparse(_made(change, code)) != plain]
    for _ in range(count):
        names = [name for name in useful if name in draw.sample(useful, min(2, len(useful)))]
        tree = ast.parse(code)
        # What stands around an answer comes last, so that it is not changed itself.
        for name in names:
            tree = CHANGES[name](tree)
        yield " and ".join(names), ast.unparse(ast.fix_missing_locations(tree)) + "\n"


def _made(change: Change, code: str) -> ast.Module:
    return ast.fix_missing_locations(change(ast.parse(code)))

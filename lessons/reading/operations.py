"""The operations that code names: whether an answer can have made a mistake, as far as its code tells.

Two programs may give the same numbers and do different things. A mistake that takes the largest score away is not made
by code that takes nothing away, and dropout is not left out where it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping

FAMILIES: Mapping[str, tuple[str, ...]] = {
    "subtract": ("-", "sub", "sub_", "subtract", "diff"),
    "minus": ("-", "sub", "neg", "negative", "neg_", "mul", "*", "flip"),
    "exponential": ("exp", "exp_", "softmax", "log_softmax", "logsumexp", "sigmoid", "softmin"),
    "logarithm": ("log", "log_softmax", "logsumexp", "log2", "log1p", "logsigmoid"),
    "largest": ("max", "amax", "argmax", "sort", "topk", "maximum", "sorted", "clamp", "cummax", "aminmax"),
    "smallest": ("min", "amin", "argmin", "sort", "topk", "minimum", "sorted", "clamp", "cummin", "aminmax"),
    "size": ("abs", "norm", "vector_norm", "square", "absolute"),
    "middle": ("mean", "median", "sum"),
    "limit": ("clamp", "clip", "minimum", "maximum", "min", "max", "clamp_", "where"),
    "dropout": ("dropout", "dropout_", "bernoulli", "bernoulli_", "alpha_dropout"),
    "gradient": ("detach", "detach_", "data", "no_grad", "item", "tolist", "numpy", "inference_mode", "requires_grad"),
    "copy": ("clone", "copy_", "copy", "deepcopy", "detach", "contiguous"),
    "turn": ("T", "mT", "transpose", "swapaxes", "permute", "t", "movedim", "einsum", "mm", "matmul", "@", "view",
             "reshape", "for", "H", "transpose_", "swapdims", "dim0"),
}  # fmt: skip
"""Words of which one is in all code that does such a thing. What has no family is done in too many ways."""

MADE = ("dropout", "exponential", "largest", "smallest", "size", "limit")
"""Families of operations that cannot be left out where they are called."""

SIGNS: Mapping[type[ast.AST], str] = {
    ast.Sub: "-",
    ast.USub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.For: "for",
    ast.comprehension: "for",
    ast.While: "for",
}

PLAIN = frozenset((0, 1, -1, 2))
"""Numbers that stand in code for many reasons."""


def words_of(source: str) -> frozenset[str]:
    """Return the names of the functions and attributes that code uses, its operators, and its numbers.

    A layer that a module keeps counts as the function that it computes. Empty if the code cannot be parsed.
    """
    try:
        nodes = [*ast.walk(ast.parse(source))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    layers: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=name) | ast.Name(id=name)], value=ast.Call(func=made)):
                layers[name] = _last(made).lower()
    found: set[str] = set()
    for node in nodes:
        if type(node) in SIGNS:
            found.add(SIGNS[type(node)])
        elif isinstance(node, ast.Call):
            name = _last(node.func)
            found |= {name, layers.get(name, name)}
            # A layer that is called where it is made.
            found |= {_last(node.func.func).lower()} if isinstance(node.func, ast.Call) else set()
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in PLAIN:
            found.add(str(node.value))
    return frozenset(found)


def _last(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def families_of(words: Iterable[str]) -> frozenset[str]:
    """Return the families of which some code has a word."""
    held = frozenset(words)
    return frozenset(name for name, family in FAMILIES.items() if not held.isdisjoint(family))


def may_make(answer: Iterable[str], mistaken: str, solution: str) -> bool:
    """Return whether an answer with these words may have made the mistake that `mistaken` shows in the model answer.

    What the mistake brings in has to be there, and what it leaves out may not be called.
    """
    held = frozenset(answer)
    if not held:
        return True
    families = families_of(held)
    wrong, right = words_of(mistaken), words_of(solution)
    brought = families_of(wrong - right) - families_of(right)
    left = families_of(right) - families_of(wrong)
    return brought <= families and not any(name in families for name in left if name in MADE)

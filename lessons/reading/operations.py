"""The operations that code names: whether an answer can have made a mistake, as far as its code tells.

Two programs may give the same numbers and do different things. A mistake that takes the largest score away is not made
by code that takes nothing away, and dropout is not left out where it is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TypeGuard

FAMILIES: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    name: (frozenset(telling.split()), frozenset(others.split()))
    for name, telling, others in (
        ("subtract", "- sub sub_ subtract", "diff neg + add"),
        ("exponential", "exp exp_ softmax", "log_softmax logsumexp sigmoid softmin **"),
        ("logarithm", "log log_softmax", "logsumexp log2 log10 log1p logsigmoid"),
        ("largest", "max amax maximum", "argmax sort topk sorted clamp cummax aminmax norm"),
        ("smallest", "min amin minimum", "argmin sort topk sorted clamp cummin aminmax neg"),
        ("size", "abs norm", "vector_norm square absolute ** sqrt cdist dist cosine_similarity normalize"),
        ("middle", "mean median", "sum / div"),
        ("limit", "clamp clip clamp_", "minimum maximum min max where"),
        ("dropout", "dropout", "dropout_ bernoulli bernoulli_ alpha_dropout"),
        ("gradient", "detach data no_grad item", "detach_ tolist numpy inference_mode requires_grad requires_grad_"),
        ("copy", "clone", "copy_ copy deepcopy contiguous"),
        ("turn", "T mT transpose", "swapaxes permute t movedim H einsum mm matmul @ linear view reshape for stack"),
    )
}
"""Families of words: those that tell what is done, and others with which the same can be done.

What has no family is done in too many ways.
"""

MADE = frozenset(("dropout", "exponential", "largest", "smallest", "size", "limit"))
"""Families of operations that are not left out where they are called."""

SIGNS: Mapping[type[ast.operator], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.MatMult: "@",
    ast.Pow: "**",
}

COMMON = frozenset(("dim", "-", "shape", "append"))
"""Words of code that tell nothing of what a line does."""

PLAIN = frozenset((0, 1))
"""Numbers that stand in code for many reasons."""


def words_of(source: str) -> frozenset[str]:
    """Return the names of the functions and attributes that code uses, its operators, and the numbers beside these.

    A layer that a module keeps counts as the function that it computes. Empty if the code cannot be parsed.
    """
    try:
        # A statement that others belong to may stand alone.
        nodes = [*ast.walk(ast.parse(f"{source} ..." if source.endswith(":") else source))]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    layers: dict[str, str] = {}
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Attribute(attr=name) | ast.Name(id=name)], value=ast.Call(func=made)):
                layers[name] = name_of(made).lower()
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.BinOp | ast.AugAssign):
            sides = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
            found |= {SIGNS.get(type(node.op), ""), *(str(item.value) for item in sides if _is_telling(item))}
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            # The sign of a number takes nothing away.
            found |= set() if isinstance(node.operand, ast.Constant) else {"-"}
        elif isinstance(node, ast.For | ast.While | ast.comprehension):
            found.add("for")
        elif isinstance(node, ast.Call):
            name = name_of(node.func)
            found |= {name, layers.get(name, name)}
            # A layer that is called where it is made.
            found |= {name_of(node.func.func).lower()} if isinstance(node.func, ast.Call) else set()
        elif isinstance(node, ast.Attribute):
            found.add(node.attr)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
    return frozenset(found)


def _is_telling(node: ast.AST) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in PLAIN


def _telling(words: frozenset[str]) -> frozenset[str]:
    return frozenset(name for name, (telling, _) in FAMILIES.items() if words & telling)


def name_of(node: ast.AST) -> str:
    """Return the last name of a function or an attribute, "" for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def are_akin(one: str, other: str) -> bool:
    """Return whether two pieces of code name an operation of one family, or use the same word."""
    first, second = words_of(one) - COMMON, words_of(other) - COMMON
    families = (telling | others for telling, others in FAMILIES.values())
    return bool(first & second) or any(first & words and second & words for words in families)


def may_make(answer: Iterable[str], mistaken: str, solution: str) -> bool:
    """Return whether an answer with these words may have made the mistake that `mistaken` shows in the model answer.

    What the mistake brings in has to be there, and what it leaves out may not be called.
    """
    held = frozenset(answer)
    if not held:
        return True
    wrong, right = words_of(mistaken), words_of(solution)
    brought = _telling(wrong - right) - _telling(right)
    left = _telling(right) - _telling(wrong)
    # What stands on the line of the mistake is there as well: softmax is taken along no axis where there is none.
    lines = [line.strip() for line in mistaken.splitlines() if line not in solution.splitlines()]
    brought |= _telling(frozenset().union(*map(words_of, lines))) & MADE
    lacks = any(held.isdisjoint(telling | others) for telling, others in map(FAMILIES.__getitem__, brought))
    numbers = {word for word in right - wrong if word[:1].isdigit()}
    return not lacks and not left & _telling(held) & MADE and not numbers & held

"""The names that a statement changes. It needs no lesson, so the worker can ask too."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

GROWING = ("append", "extend", "insert")
"""Methods of lists that add what a cell may be of."""

SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)

LOOPS = (ast.For, ast.AsyncFor)


def is_bound_in_rounds(node: ast.stmt, variable: str) -> bool:
    """Return whether a statement is a loop that binds a variable in each round, and its body leaves that as it is."""
    if not isinstance(node, LOOPS) or variable not in changed_names(node.target):
        return False
    return not any(variable in changed_names(inner) for inner in (*node.body, *node.orelse))


def root(name: str) -> str:
    """Return the variable that a path starts at: `v2` of `v2.W_query.weight`."""
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def changed_names(node: ast.AST) -> Iterator[str]:
    """Yield the variables that a statement binds or writes into."""
    match node:
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.Attribute(ctx=ast.Store()) | ast.Subscript(ctx=ast.Store()):
            yield from _variable_of(node)
        case ast.Call(func=ast.Attribute(attr=method)) if method in GROWING or (
            method.endswith("_") and not method.endswith("__")
        ):
            yield from _variable_of(node.func)
    for child in ast.iter_child_nodes(node):
        # A function, a class and a comprehension have names of their own.
        if not isinstance(node, (*SCOPES, ast.comprehension)):
            yield from changed_names(child)


def _variable_of(node: ast.AST) -> Iterator[str]:
    """Yield the variable that an expression starts from: `split` in `getattr(split, name).weight`."""
    match node:
        case ast.Name():
            yield node.id
        case ast.Attribute(value=inner) | ast.Subscript(value=inner):
            yield from _variable_of(inner)
        case ast.Call(func=ast.Name(id="getattr"), args=[inner, *_]) | ast.Call(func=ast.Attribute(value=inner)):
            yield from _variable_of(inner)

"""Which tensors the code of a step reads, and which it makes from which: to draw inputs to the left of results."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def names_read(code: str) -> frozenset[str]:
    """Return the names that code reads; none if it is not Python."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return _read(tree)


def ranks(code: str, names: Sequence[str]) -> tuple[int, ...]:
    """Return for each name how many of the others the code needs before it can make that one; 0 for all inputs.

    A statement makes the names that it assigns from those that it reads, and from what these were made of.
    """
    try:
        body = ast.parse(code).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return (0,) * len(names)
    made_of: dict[str, frozenset[str]] = {}
    for statement in body:
        read = _read(statement)
        sources = read.union(*(made_of[name] for name in read if name in made_of))
        for name in _assigned(statement):
            made_of[name] = made_of.get(name, frozenset()) | (sources - {name})
    return tuple(len(made_of.get(name, frozenset()) & (set(names) - {name})) for name in names)


def _read(tree: ast.AST) -> frozenset[str]:
    nodes = ast.walk(tree)
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))


def _assigned(statement: ast.stmt) -> frozenset[str]:
    nodes = ast.walk(statement)
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))

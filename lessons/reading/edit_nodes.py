"""Pieces of syntax trees that edits of expressions are made of."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from attn_tutor.lessons.reading.repair_kinds import BUILTINS, LIBRARIES


@dataclass(frozen=True, slots=True)
class Change:
    """What to put in place of an expression.

    Attributes:
        rank: how far it is from what learners usually get wrong; smaller numbers are tried first.
        kind: the id of its kind (`repair_kinds`).
        about: the code that a sentence about it quotes.
        new: the new expression.
        at: the part of the expression in whose place it goes; None for all of it.
        line: the line that it is about, if that is not the one of its place.
    """

    rank: int
    kind: str
    about: ast.AST
    new: ast.expr
    at: ast.expr | None = None
    line: int | None = None


def inner_of(node: ast.Call) -> ast.expr | None:
    """Return what a call of a method or of a function of a library computes with, None if it is not known."""
    receiver = receiver_of(node)
    if receiver is not None and not is_own(node):
        return receiver
    given = node.args[_first(node) :] if isinstance(node.func, ast.Attribute) else []
    return given[0] if given and not isinstance(given[0], ast.Starred) else None


def with_inner(node: ast.Call, inner: ast.expr) -> ast.Call:
    """Return the same call, computing with something else."""
    if receiver_of(node) is not None and not is_own(node) and isinstance(node.func, ast.Attribute):
        return ast.Call(attribute(inner, node.func.attr), node.args, node.keywords)
    first = _first(node)
    return ast.Call(node.func, [*node.args[:first], inner, *node.args[first + 1 :]], node.keywords)


def _first(node: ast.Call) -> int:
    """Return the position of the first argument that is computed with; `einsum` has its subscripts before it."""
    return 1 if name_of(node.func) == "einsum" else 0


def is_own(node: ast.Call) -> bool:
    """Return whether a call is one of the module's own layers or methods, or of a method of a type, `dict.fromkeys`."""
    base = node.func.value if isinstance(node.func, ast.Attribute) else None
    return isinstance(base, ast.Name) and (base.id == "self" or base.id in BUILTINS)


def exchanged(items: Sequence[ast.expr]) -> Iterator[list[ast.expr]]:
    """Yield a list with two of its items exchanged, for every two."""
    for one, other in itertools.combinations(range(len(items)), 2):
        if isinstance(items[one], ast.Starred) or isinstance(items[other], ast.Starred):
            continue
        found = [*items]
        found[one], found[other] = found[other], found[one]
        yield found


def receiver_of(node: ast.Call) -> ast.expr | None:
    """Return what a method is called on; None for a function, also of a library or a module."""
    if not isinstance(node.func, ast.Attribute):
        return None
    base = node.func.value
    root = base
    while isinstance(root, ast.Attribute):
        root = root.value
    if isinstance(base, ast.Name) and base.id in LIBRARIES:
        return None
    if isinstance(root, ast.Name) and root.id in LIBRARIES - {"self"}:
        return None
    return base


def name_of(node: ast.AST) -> str:
    """Return the last name of a function or an attribute, "" for anything else."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def integer_of(node: ast.AST) -> int | None:
    """Return a whole number that code writes out, None for anything else."""
    sign = 1
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node, sign = node.operand, -1
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return sign * node.value
    return None


def same(one: ast.AST, other: ast.AST) -> bool:
    """Return whether two pieces of code are the same."""
    return ast.dump(one) == ast.dump(other)


def number(value: int) -> ast.expr:
    """Return a whole number as code."""
    return ast.Constant(value) if value >= 0 else ast.UnaryOp(ast.USub(), ast.Constant(-value))


def attribute(value: ast.expr, name: str) -> ast.Attribute:
    """Return an attribute of an expression."""
    return ast.Attribute(value, name, ast.Load())


def shares_of(node: ast.expr) -> ast.expr:
    """Return numbers divided by their sum along the last axis."""
    # The same node twice, so that an edit of a part of it is made in both places.
    return ast.BinOp(node, ast.Div(), method_of(node, "sum(-1, keepdim=True)"))


def expression(text: str) -> ast.expr:
    """Parse an expression."""
    return ast.parse(text, mode="eval").body


def method_of(node: ast.expr, method: str) -> ast.expr:
    """Return the call of a method, given as code, on an expression."""
    name, _, rest = method.partition("(")
    given = expression(f"f({rest}" if rest else "f()")
    assert isinstance(given, ast.Call)
    return ast.Call(attribute(node, name), given.args, given.keywords)

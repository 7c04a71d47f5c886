"""A program with another value for one of its variables: the first assignment to it gets another right side."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence


class NoAssignment(ValueError):
    """A program that does not assign to a variable, at its top level or in the function that was named."""


def reassigned(code: str, name: str, expression: str) -> str:
    """Return a program in which the first assignment to a variable takes the value of an expression.

    The variable is one of the program, or that of a function by its label, such as `main.x`. The lines stay where they
    are. Raises `NoAssignment` if there is none, `SyntaxError` if the expression is no Python.
    """
    ast.parse(expression, mode="eval")
    try:
        tree = ast.parse(code)
    except SyntaxError:
        # The program says so itself when it runs.
        return code
    scope, _, variable = name.rpartition(".")
    for statement in _statements(_body(tree, scope)):
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == variable:
            value = statement.value  # type: ignore[attr-defined]
            lines = code.encode().split(b"\n")
            first, last = value.lineno - 1, value.end_lineno - 1
            before, after = lines[first][: value.col_offset], lines[last][value.end_col_offset :]
            blank = b"\n" * (last - first)
            # In parentheses, the expression may go on over the lines of the one that it replaces.
            middle = b"(" + expression.encode() + blank + b")"
            return b"\n".join([*lines[:first], before + middle + after, *lines[last + 1 :]]).decode()
    raise NoAssignment(name)


def _body(tree: ast.Module, scope: str) -> Sequence[ast.stmt]:
    """Return the statements of a function, or those of the program if `scope` is empty; none if there is none."""
    body: Sequence[ast.stmt] = tree.body
    for part in filter(None, scope.split(".")):
        kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        body = next((item.body for item in _statements(body) if isinstance(item, kinds) and item.name == part), ())
    return body


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield statements and those inside of them, such as in an `if`, but none of functions and classes."""
    for statement in body:
        yield statement
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for block in ("body", "orelse", "finalbody"):
            yield from _statements(getattr(statement, block, ()))
        for handler in getattr(statement, "handlers", ()):
            yield from _statements(handler.body)

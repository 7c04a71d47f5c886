"""A program with another value for one of its variables: the first assignment to it gets another right side."""

from __future__ import annotations

import ast


class NoAssignment(ValueError):
    """A program that does not assign to a variable at its top level."""


def reassigned(code: str, name: str, expression: str) -> str:
    """Return a program in which the first top-level assignment to a variable takes the value of an expression.

    The lines stay where they are. Raises `NoAssignment` if there is none, `SyntaxError` if the expression is no Python.
    """
    ast.parse(expression, mode="eval")
    try:
        tree = ast.parse(code)
    except SyntaxError:
        # The program says so itself when it runs.
        return code
    for statement in tree.body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.AnnAssign) and statement.value is not None:
            targets = [statement.target]
        if len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name:
            value = statement.value  # type: ignore[attr-defined]
            lines = code.encode().split(b"\n")
            first, last = value.lineno - 1, value.end_lineno - 1
            before, after = lines[first][: value.col_offset], lines[last][value.end_col_offset :]
            blank = b"\n" * (last - first)
            # In parentheses, the expression may go on over the lines of the one that it replaces.
            middle = b"(" + expression.encode() + blank + b")"
            return b"\n".join([*lines[:first], before + middle + after, *lines[last + 1 :]]).decode()
    raise NoAssignment(name)

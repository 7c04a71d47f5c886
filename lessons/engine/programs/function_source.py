"""The source of one function of a file, by its qualified name."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator, Sequence


def function_source(source: str, scope: str) -> str:
    """Return the lines of a function by its qualified name; "" if the source has none of that name."""
    first, last = function_lines(source, scope) or (1, 0)
    return textwrap.dedent("\n".join(source.splitlines()[first - 1 : last]))


def function_lines(source: str, scope: str) -> tuple[int, int] | None:
    """Return the first and the last line of a function by its qualified name; None if the source has none of it."""
    try:
        body: list[ast.stmt] = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found: ast.stmt | None = None
    for name in scope.split("."):
        found = next((node for node in _definitions(body) if node.name == name), None)
        if found is None:
            return None
        body = found.body
    return (_first_line(found), found.end_lineno or found.lineno) if found is not None else None


def _definitions(body: Sequence[ast.stmt]) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    """Yield the functions and classes that statements define, also inside of branches and loops; the last one first."""
    for node in reversed(body):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node
            continue
        for inner in ("finalbody", "orelse", "body"):
            yield from _definitions(getattr(node, inner, ()))


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(item.lineno for item in decorators)])

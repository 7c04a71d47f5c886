"""The code of the `attention` package as text, read from its files: the screen process must not import torch."""

from __future__ import annotations

import ast
import os
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PACKAGE = "attention"


@cache
def read(reference: str) -> str:
    """Return the code of `module:name`, such as `attention.causal:CausalAttention`, without docstrings.

    Raises `LookupError` if there is no such module or name.
    """
    module, _, name = reference.partition(":")
    text = module_text(module) if module != PACKAGE else None
    if text is None:
        raise LookupError(f"there is no module '{module}'")
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name == name:
            return _without_docstrings(text.splitlines(), node)
    raise LookupError(f"there is no '{name}' in {module}")


@cache
def module_text(module: str) -> str | None:
    """Return the text of a module of the package, or of the package itself; None if there is no such module."""
    if module.partition(".")[0] != PACKAGE:
        return None
    path = ROOT.joinpath(*module.split("."))
    files = (path.with_suffix(".py"), path / "__init__.py")
    # pathlib's own question raises an error for a name that is too long.
    return next((file.read_text(encoding="utf-8") for file in files if os.path.isfile(file)), None)


def _without_docstrings(lines: list[str], top: ast.ClassDef | ast.FunctionDef) -> str:
    skip: set[int] = set()
    for node in ast.walk(top):
        if isinstance(node, ast.ClassDef | ast.FunctionDef) and ast.get_docstring(node) is not None:
            doc = node.body[0]
            end = doc.end_lineno or doc.lineno
            # A blank line after the docstring goes with it.
            if end < len(lines) and not lines[end].strip():
                end += 1
            skip.update(range(doc.lineno, end + 1))
    first = min([top.lineno, *(decorator.lineno for decorator in top.decorator_list)])
    lines_left = [lines[number - 1] for number in range(first, (top.end_lineno or first) + 1) if number not in skip]
    return "\n".join(lines_left) + "\n"

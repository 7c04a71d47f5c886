"""How deeply code is nested: Python compiles code that is too deep for whoever walks through its syntax tree later."""

from __future__ import annotations

import ast
import re
from typing import Literal

MOST_LEVELS = 100
"""The deepest nesting of expressions and statements. No code of ours has more than 20 levels."""

NESTING = re.compile(r"[^\w\s]|\b(?:not|if|is|in|await|yield)\b")
"""What may open a level. Code with few of these need not be parsed."""


def line_too_deep(code: str, mode: Literal["exec", "eval"]) -> int | None:
    """Return the line of Python code where it is nested too deeply, from 1; None if it is not.

    Raises `SyntaxError` and the like for what is not Python, and `RecursionError` for what Python cannot parse.
    """
    if len(NESTING.findall(code)) <= MOST_LEVELS:
        return None
    level: list[ast.AST] = [ast.parse(code, mode=mode)]
    for _ in range(MOST_LEVELS):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    return next((getattr(node, "lineno", 1) for node in level), None)

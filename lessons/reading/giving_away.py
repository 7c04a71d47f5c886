"""Whether a suggestion says what an exercise asks for."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from attn_tutor.lessons.reading.repairs import renamed_model

FAILURES = (SyntaxError, ValueError, RecursionError, MemoryError)


def is_a_name(code: str) -> bool:
    """Return whether code only names something, such as `torch.softmax`; a name that is misspelled may be corrected."""
    try:
        node: ast.AST = ast.parse(code, mode="eval").body
    except FAILURES:
        return False
    while isinstance(node, ast.Attribute):
        node = node.value
    return isinstance(node, ast.Name) and not code.endswith((".T", ".mT"))


def gives_away(code: str, source: str, models: Iterable[str]) -> bool:
    """Return whether suggested code is a piece of a right answer, in the names of the learner's program."""
    if is_a_name(code):
        return False
    try:
        wanted = ast.dump(ast.parse(code, mode="eval").body)
    except FAILURES:
        return False
    for model in models:
        try:
            tree = renamed_model(source, model)
        except FAILURES:
            continue
        if any(isinstance(node, ast.expr) and ast.dump(node) == wanted for node in ast.walk(tree)):
            return True
    return False

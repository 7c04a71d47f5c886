"""The inputs of the prompt, which may have several lines."""

from __future__ import annotations

import ast
import codeop
import warnings

COMPOUND = (
    ast.For
    | ast.AsyncFor
    | ast.While
    | ast.If
    | ast.With
    | ast.AsyncWith
    | ast.Try
    | ast.FunctionDef
    | ast.AsyncFunctionDef
    | ast.ClassDef
    | ast.Match
)


def goes_on(code: str) -> bool:
    """Return whether an input goes on: a bracket is open, or a block has not been ended by an empty line."""
    if not code.rpartition("\n")[2].strip():
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if codeop.compile_command(code, symbol="exec") is None:
                return True
            body = ast.parse(code).body
    except (SyntaxError, ValueError, OverflowError, MemoryError, RecursionError):
        # Run it anyway: the error then says what is wrong.
        return False
    return bool(body) and isinstance(body[-1], COMPOUND)

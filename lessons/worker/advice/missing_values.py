"""None where something was expected: mostly a function that has forgotten its `return`."""

from __future__ import annotations

import ast

from lessons.worker.advice.exception_rules import Match, rule
from lessons.worker.advice.safe_reading import Module, is_a
from lessons.worker.advice.scene import Scene

CHANGERS = ("append", "extend", "sort", "backward", "update", "reverse", "insert")
"""Methods that change their object and give None."""


@rule(AttributeError, r"^'NoneType' object has no attribute")
def of_nothing(scene: Scene, match: Match) -> str | None:
    """An attribute of None."""
    return nothing(scene, next((node.value for node in scene.find(ast.Attribute)), None))


def nothing(scene: Scene, node: ast.AST | None) -> str | None:
    """Why something may be None."""
    code = scene.code(node)
    if isinstance(node, ast.Constant):
        return None
    if isinstance(node, ast.Attribute) and node.attr == "grad":
        return f"`{code}` is None until `backward()` has been called, and for tensors that need no gradient."
    if isinstance(node, ast.Attribute) and node.attr == "bias":
        return f"`{code}` is None: the layer was made with `bias=False`."
    call = node if isinstance(node, ast.Call) else maker(scene, node)
    told = f"`{code}` is None" if code else "One of the values is None"
    if call is not None:
        name = called(scene, call)
        where = next((one for one in scene.every(ast.FunctionDef) if one.name == name), None)
        if where is not None and not any(isinstance(one, ast.Return) and one.value for one in ast.walk(where)):
            shown = scene.code(node) or "It"
            start = f"`{shown}` is None: " if not isinstance(node, ast.Call) else ""
            return f"{start}`{name}` (line {where.lineno}) gives nothing back, since it has no `return` with a value."
        if isinstance(call.func, ast.Attribute) and call.func.attr in CHANGERS:
            return f"{told}: `.{call.func.attr}()` changes its object and gives nothing back."
    return f"{told}. Did a function end without `return`?"


def maker(scene: Scene, node: ast.AST | None) -> ast.Call | None:
    """The call whose value a name was given last before the line."""
    if not isinstance(node, ast.Name) or scene.line is None:
        return None
    found = [
        one
        for one in scene.every(ast.Assign)
        if one.lineno <= scene.line and any(isinstance(to, ast.Name) and to.id == node.id for to in one.targets)
    ]
    value = max(found, key=lambda one: one.lineno).value if found else None
    return value if isinstance(value, ast.Call) else None


def called(scene: Scene, call: ast.Call) -> str:
    """The name of the function of the program that a call runs: of a module it is `forward`."""
    value = scene.value(call.func)
    if is_a(value, Module):
        return "forward"
    return call.func.attr if isinstance(call.func, ast.Attribute) else scene.code(call.func)

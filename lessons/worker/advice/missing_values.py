"""Advice on None where a value is expected, mostly from a function without a `return`."""

from __future__ import annotations

import ast

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.exception_rules import Match, rule
from attn_tutor.lessons.worker.advice.safe_reading import Module, is_a
from attn_tutor.lessons.worker.advice.scene import Scene

say = Wording("advice/missing-values")

IN_PLACE_METHODS = ("append", "extend", "sort", "backward", "update", "reverse", "insert")
"""Methods that change their object and return None."""


@rule(AttributeError, r"^'NoneType' object has no attribute")
def attribute_of_none(scene: Scene, match: Match) -> str | None:
    """Explain an attribute of None."""
    return explain_none(scene, next((node.value for node in scene.find(ast.Attribute)), None))


def explain_none(scene: Scene, node: ast.AST | None) -> str | None:
    """Explain why an expression may be None; None if the code says None itself."""
    code = scene.code(node)
    if isinstance(node, ast.Constant):
        return None
    if isinstance(node, ast.Attribute) and node.attr == "grad":
        return say(
            "none-until-backward",
            "`{code}` is None until you call `backward()`. Only tensors that require a gradient, and that "
            "were not computed from others, get one.",
            code=code,
        )
    if isinstance(node, ast.Attribute) and node.attr == "bias":
        return say("bias-none", "`{code}` is None. A layer that was created with `bias=False` has no bias.", code=code)
    call = node if isinstance(node, ast.Call) else assigned_call(scene, node)
    sentence = say("none", "`{code}` is None", code=code) if code else say("some-value", "One of the values is None")
    if call is not None:
        name = function_name(scene, call)
        where = next((one for one in scene.nodes(ast.FunctionDef) if one.name == name), None)
        if where is not None and not any(isinstance(one, ast.Return) and one.value for one in ast.walk(where)):
            why = say(
                "gives-nothing",
                "`{name}` (line {line}) returns None, because it has no `return` with a value.",
                name=name,
                line=where.lineno,
            )
            return why if isinstance(node, ast.Call) else f"{sentence}. {why}"
        if isinstance(call.func, ast.Attribute) and call.func.attr in IN_PLACE_METHODS:
            return say(
                "in-place-method",
                "{sentence}, because `.{attr}()` returns nothing. Call it on a line of its own, without `=`.",
                sentence=sentence,
                attr=call.func.attr,
            )
    return say("no-return", "{sentence}. Did a function end without a `return`?", sentence=sentence)


def assigned_call(scene: Scene, node: ast.AST | None) -> ast.Call | None:
    """Return the call in the last assignment to a name before the line, or None."""
    if not isinstance(node, ast.Name) or scene.line is None:
        return None
    found = [
        one
        for one in scene.nodes(ast.Assign)
        if one.lineno <= scene.line and any(isinstance(to, ast.Name) and to.id == node.id for to in one.targets)
    ]
    value = max(found, key=lambda one: one.lineno).value if found else None
    return value if isinstance(value, ast.Call) else None


def function_name(scene: Scene, call: ast.Call) -> str:
    """Return the name of the function that a call runs; `forward` if it calls a module."""
    value = scene.value(call.func)
    if is_a(value, Module):
        return "forward"
    return call.func.attr if isinstance(call.func, ast.Attribute) else scene.code(call.func)

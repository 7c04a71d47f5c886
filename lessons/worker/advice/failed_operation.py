"""The operation that raised an exception, in a form that does not depend on how a program names things."""

from __future__ import annotations

import ast
from typing import Any

from attn_tutor.lessons.worker.advice.safe_reading import UNKNOWN, Module, is_a, message_of, type_name
from attn_tutor.lessons.worker.advice.scene import Scene
from attn_tutor.lessons.worker.advice.shape_effects import is_torch

SYNONYMS = {"matmul": "@", "mm": "@", "bmm": "@", "mv": "@", "dot": "@", "concat": "cat", "concatenate": "cat"}
OPERATORS: dict[type[ast.operator], str] = {
    ast.MatMult: "@",
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
}

Shape = tuple[int, ...]


def failed_operation(error: BaseException, filename: str, source: str) -> str:
    """Describe the operation that raised an exception: its name and the shapes of its operands, such as `@ 6x3 6x3`.

    The operation is that of the innermost line of the file `filename`. An operand whose shape cannot be read without
    running code is `?`. Returns an empty text if the operation is not known. Never raises.
    """
    try:
        scene = Scene(error, message_of(error), filename, source)
        name, operands = _parts(scene)
        return " ".join([name, *(_shape(scene, node) for node in operands)]) if name else ""
    except Exception:
        return ""


def may_be_same(one: str, other: str) -> bool:
    """Return whether two descriptions may be of the same operation; what is not known may be anything."""
    if not one or not other:
        return True
    first, second = one.split(" "), other.split(" ")
    if len(first) != len(second):
        return False
    return first[0] == second[0] and all(
        mine == theirs or "?" in (mine, theirs) for mine, theirs in zip(first[1:], second[1:], strict=True)
    )


def _parts(scene: Scene) -> tuple[str, list[ast.expr]]:
    """Return the name of the operation and its operands."""
    match scene.node:
        case ast.BinOp() as node:
            return OPERATORS.get(type(node.op), type(node.op).__name__), [node.left, node.right]
        case ast.AugAssign() as node:
            return OPERATORS.get(type(node.op), type(node.op).__name__), [node.target, node.value]
        case ast.Call() as node:
            return _call(scene, node)
    return "", []


def _call(scene: Scene, node: ast.Call) -> tuple[str, list[ast.expr]]:
    called: Any = scene.value(node.func)
    if called is not UNKNOWN and is_a(called, Module):
        return type_name(called), list(node.args)
    operands = [item for item in node.args if scene.tensor_info(item) is not None]
    if not isinstance(node.func, ast.Attribute):
        return "", []
    if not is_torch(scene.value(node.func.value)):
        operands.insert(0, node.func.value)
    return SYNONYMS.get(node.func.attr, node.func.attr), operands


def _shape(scene: Scene, node: ast.expr) -> str:
    info = scene.tensor_info(node)
    return "?" if info is None else "x".join(map(str, info.shape)) or "number"

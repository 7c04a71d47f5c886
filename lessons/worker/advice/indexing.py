"""Advice on indices, axes and keys that do not exist, divisions by zero, and failed assertions."""

from __future__ import annotations

import ast
import re
from collections import OrderedDict

from lessons.worker.advice.exception_rules import Match, fixed_advice, rule
from lessons.worker.advice.safe_reading import UNKNOWN, attributes, is_exactly
from lessons.worker.advice.scene import Scene, nearest, size

MOST_KEYS = 6


@rule(IndexError, r"index (-?\d+) is out of bounds for dimension (\d+) with size (\d+)")
def out_of_bounds(scene: Scene, match: Match) -> str | None:
    """Explain an index beyond the end of an axis, such as `x[6]` of six rows."""
    axis, count = match[2], int(match[3])
    sentence = next((sentence for node in scene.find(ast.Subscript) if (sentence := scene.describe(node.value))), None)
    start = f"{sentence}: axis" if sentence else "Axis"
    if not count:
        return f"{start} {axis} is empty."
    return f"{start} {axis} has {count} places, counted from 0: the last is {count - 1}, or -1."


@rule(IndexError, r"Dimension out of range \(expected to be in range of \[(-?\d+), (-?\d+)\], but got (-?\d+)\)")
def no_such_axis(scene: Scene, match: Match) -> str | None:
    """Explain an axis that the tensor does not have."""
    low, high = int(match[1]), int(match[2])
    for call in scene.find(ast.Call):
        base = call.func.value if isinstance(call.func, ast.Attribute) else None
        for node in [base, *call.args[:1]]:
            tensor = scene.tensor_info(node)
            if tensor is not None:
                count = len(tensor.shape)
                axes = f"{count} axes" if count != 1 else "one axis"
                if high >= count > 0:
                    return f"{scene.describe(node)}: with {axes}, the new one can stand at {low} to {high}."
                return f"{scene.describe(node)}: it has {axes}, numbered 0 to {high}, or {low} to -1 from the end."
    count = high + 1
    return f"The tensor has {count} {'axes' if count != 1 else 'axis'}, numbered 0 to {high}, or {low} to -1."


@rule(IndexError, r"too many indices for tensor of dimension (\d+)")
def too_many_indices(scene: Scene, match: Match) -> str | None:
    """Explain an index with more entries than the tensor has axes."""
    for node in scene.find(ast.Subscript):
        given = len(node.slice.elts) if isinstance(node.slice, ast.Tuple) else 1
        if sentence := scene.describe(node.value):
            return f"{sentence}: it has {count_axes(int(match[1]))}, but {given} indices are given."
    return f"The tensor has {count_axes(int(match[1]))}: give at most as many indices."


def count_axes(count: int) -> str:
    """Write a number of axes in words."""
    return "one axis" if count == 1 else f"{count} axes"


@rule(IndexError, r"^(list|tuple) index out of range")
def outside_list(scene: Scene, match: Match) -> str | None:
    """Explain an index beyond the end of a list or tuple."""
    for node in scene.find(ast.Subscript):
        container = scene.value(node.value)
        if is_exactly(container, list, tuple):
            code = scene.quote(node.value, f"The {match[1]}")
            if not container:
                return f"{code} is empty."
            count = f"{len(container)} entries" if len(container) > 1 else "one entry"
            return f"{code} has {count}, counted from 0: the last is {len(container) - 1}, or -1."
    return "The places are counted from 0; the last is -1."


@rule(IndexError, r"The shape of the mask \[([\d, ]*)\] at index \d+ does not match .* \[([\d, ]*)\]")
def mask_as_index(scene: Scene, match: Match) -> str | None:
    """Explain `x[mask]` with a mask of a different shape."""
    mask, tensor = (size(re.findall(r"\d+", group)) for group in match.groups())
    return f"The mask is {mask}, the tensor {tensor}: to choose cells, both need the same shape."


@rule(KeyError, r"^(['\"])(.*)\1$")
def no_such_key(scene: Scene, match: Match) -> str | None:
    """Explain a key that a dictionary does not have."""
    for node in scene.find(ast.Subscript, ast.Call):
        base = node.value if isinstance(node, ast.Subscript) else node.func
        container = scene.value(base)
        if not is_exactly(container, dict, OrderedDict):
            container = attributes(container).get("_modules") if container is not UNKNOWN else None
        if not is_exactly(container, dict, OrderedDict):
            continue
        keys = [key for key in container if type(key) is str]
        if near := nearest(match[2], keys, 0.6):
            return f'Did you mean "{near}"?'
        if not container:
            return f"{scene.quote(base, 'The dictionary')} is empty."
        if not keys:
            return None
        some = ", ".join(f'"{key}"' for key in keys[:MOST_KEYS])
        return f"Its keys are {some}{' and more' if len(keys) > MOST_KEYS else ''}."
    return None


fixed_advice(
    IndexError,
    {r"^index out of range in self": "A token number is not smaller than the number of rows of the embedding."},
)


# Plain Python --------------------------------------------------------------------------------------------------------


@rule(ZeroDivisionError, r"")
def division_by_zero(scene: Scene, match: Match) -> str | None:
    """Name the divisor that is zero."""
    for node in scene.find(ast.BinOp, ast.AugAssign):
        divisor = node.right if isinstance(node, ast.BinOp) else node.value
        division = isinstance(node.op, ast.Div | ast.FloorDiv | ast.Mod)
        if division and not isinstance(divisor, ast.Constant) and scene.code(divisor):
            return f"`{scene.code(divisor)}` is 0 here."
    return None


@rule(AssertionError, r"^$")
def failed_assertion(scene: Scene, match: Match) -> str | None:
    """Explain a failed assertion without a message."""
    statement = scene.enclosing(ast.Assert)
    if statement is None or isinstance(statement.test, ast.Constant):
        return None
    sentence = f"`{scene.code(statement.test) or 'what this line asserts'}` is not true"
    sides = [statement.test.left, *statement.test.comparators] if isinstance(statement.test, ast.Compare) else []
    values = [
        f"`{scene.code(side)}` is {scene.value(side)!r}"
        for side in sides
        if not isinstance(side, ast.Constant | ast.Tuple | ast.List)
        and is_printable(scene.value(side))
        and scene.code(side)
    ]
    return f"{sentence}: {' and '.join(values)}." if values else f"{sentence}."


def is_printable(value: object) -> bool:
    """Return whether a value is short enough to be written out: a number, a short text, or a shape."""
    if type(value) is tuple:
        return len(value) < MOST_KEYS and all(is_exactly(one, int, float) for one in value)
    if type(value) is int:
        return abs(value) < 10**12
    return is_exactly(value, float, bool) or (type(value) is str and len(value) < 40)

"""Shapes that do not fit: broadcasting, masks, copies, views, joining."""

from __future__ import annotations

import ast
import math
import re

from lessons.worker.advice.exception_rules import Match, always, rule
from lessons.worker.advice.safe_reading import UNKNOWN, exactly
from lessons.worker.advice.scene import Scene, operand, size
from lessons.worker.advice.shape_effects import SAME, Shape, broadcast, is_torch, product

MASKED = ("masked_fill", "masked_fill_")
MASK = re.compile("mask|hidden|causal")


@rule(RuntimeError, r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension")
def broadcasting(scene: Scene, match: Match) -> str | None:
    """Two shapes that cannot be broadcast to one."""
    for left, right in operands(scene):
        one, other = scene.sized(left), scene.sized(right)
        if one is None or other is None or broadcast(one.shape, other.shape) is not None:
            continue
        told = f"{scene.describe(left)} and {scene.describe(right)}"
        return f"{told}. {slices(scene, left, right) or slices(scene, right, left) or remedy(scene, left, right)}"
    if isinstance(scene.node, ast.Call):
        # Somewhere within what is called here.
        return None
    return (
        f"Two shapes do not fit: an axis has {match[1]} places in one and {match[2]} in the other. "
        "Print the `.shape` of both."
    )


def operands(scene: Scene) -> list[tuple[ast.expr, ast.expr]]:
    """What is combined place by place."""
    pairs = [(node.left, node.right) for node in scene.find(ast.BinOp) if not isinstance(node.op, ast.MatMult)]
    pairs += [(node.target, node.value) for node in scene.find(ast.AugAssign)]
    pairs += [(node.left, node.comparators[0]) for node in scene.find(ast.Compare)]
    for call in scene.find(ast.Call):
        if not isinstance(call.func, ast.Attribute):
            continue
        given = [*call.args, *(word.value for word in call.keywords)]
        if not is_torch(scene.value(call.func.value)):
            given.insert(0, call.func.value)
        tensors = [node for node in given if scene.sized(node) is not None]
        pairs += [(one, other) for place, one in enumerate(tensors) for other in tensors[place + 1 :]]
    return pairs


def slices(scene: Scene, scores: ast.expr, mask: ast.expr) -> str | None:
    """A mask made for more tokens than there are, or for fewer."""
    masked = any(isinstance(call.func, ast.Attribute) and call.func.attr in MASKED for call in scene.find(ast.Call))
    if not masked and not MASK.search(scene.code(mask).casefold()):
        return None
    one, other = scene.sized(scores), scene.sized(mask)
    if one is None or other is None or len(one.shape) < 2 or len(other.shape) != 2:
        return None
    rows, columns = one.shape[-2:]
    if other.shape[0] < rows or other.shape[1] < columns:
        return f"The mask is for fewer tokens than the {columns} that there are: make it larger."
    inner, rest = mask, ""
    if isinstance(mask, ast.Call) and isinstance(mask.func, ast.Attribute) and not mask.args:
        inner, rest = mask.func.value, f".{mask.func.attr}()"
    elif isinstance(mask, ast.Compare) or not isinstance(mask, ast.Name | ast.Attribute):
        return f"The mask is for more tokens than there are: slice it with `[:{rows}, :{columns}]`."
    code = operand(inner, scene.code(inner))
    return f"Slice the mask to the number of tokens: `{code}[:{rows}, :{columns}]{rest}`."


def remedy(scene: Scene, left: ast.expr, right: ast.expr) -> str:
    """What would make two shapes fit."""
    one, other = scene.sized(left), scene.sized(right)
    if one is None or other is None:
        return ""
    code = operand(right, scene.code(right))
    copied = isinstance(scene.node, ast.Call) and scene.code(scene.node.func).endswith(".copy_")
    if scene.code(right) and len(other.shape) == 2 and one.shape[-2:] == other.shape[::-1]:
        return f"Did you mean `{code}.T`?" + (" A copy needs the same shape." if copied else "")
    times = isinstance(scene.node, ast.BinOp) and isinstance(scene.node.op, ast.Mult)
    if times and scene.code(right) and product(one.shape, other.shape) is not None:
        left_code = operand(left, scene.code(left) or "x")
        return f"`*` multiplies place by place; the matrix product is `{left_code} @ {code}`."
    if copied:
        return "A copy needs the same shape."
    if scene.code(right) and len(other.shape) == 1 and one.shape[-2:-1] == other.shape:
        return f"`{code}.unsqueeze(-1)` makes it a column, with a number for every row."
    return "Counted from the last axis, the sizes must be equal, or one of them 1."


@rule(
    RuntimeError,
    r"expanded size of the tensor .*Target sizes: \[(?P<room>[\d, ]*)\]\.\s+Tensor sizes: \[(?P<given>[\d, ]*)\]",
    r"^expand\(\S+\{\[(?P<given>[\d, ]*)\]\}, size=\[(?P<room>[\d, ]*)\]",
)
def writing(scene: Scene, match: Match) -> str | None:
    """A value written into a place of another shape."""
    room, given = (size(map(int, re.findall(r"\d+", match[name]))) for name in ("room", "given"))
    statement = scene.statement
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(target, ast.Subscript) and isinstance(statement, ast.Assign):
        place, value = scene.named(target, "The place"), scene.named(statement.value, "the value")
        return f"{place} is {room}, but {value} is {given}: what is written into a place must have its shape."
    return f"It is {given} and cannot become {room}: `expand` and the like repeat only axes of size 1."


# Views ---------------------------------------------------------------------------------------------------------------


@rule(RuntimeError, r"view size is not compatible with input tensor's size and stride")
def not_contiguous(scene: Scene, match: Match) -> str | None:
    """`view` after a transposition."""
    for call in scene.find(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "view":
            code, base = scene.code(call), scene.code(call.func.value)
            rest = code[len(base) + len(".view") :] if code and base and code.startswith(base) else "(...)"
            base = operand(call.func.value, base) if base else "x"
            return (
                "After a transposition the numbers do not lie in reading order, which `view` needs: write "
                f"`{base}.contiguous().view{rest}` or `{base}.reshape{rest}`."
            )
    return "After a transposition the numbers do not lie in reading order: write `.contiguous().view(...)`."


@rule(RuntimeError, r"shape '\[([-\d, ]*)\]' is invalid for input of size (\d+)")
def invalid_view(scene: Scene, match: Match) -> str | None:
    """A view of more or fewer numbers than there are."""
    sizes, count = [int(one) for one in match[1].split(",") if one.strip()], int(match[2])
    known = [one for one in sizes if one != -1]
    total = math.prod(known)
    base = next((call.func.value for call in scene.find(ast.Call) if isinstance(call.func, ast.Attribute)), None)
    tensor = scene.sized(base)
    start = f"{scene.named(base, 'It')} holds {count} numbers"
    if tensor is not None and math.prod(tensor.shape) == count:
        start = f"{scene.named(base)} is {size(tensor.shape)} and holds {count} numbers"
    wanted = " * ".join(map(str, known)) + (f" = {total}" if len(known) > 1 else "")
    if len(known) < len(sizes):
        return f"{start}, which the sizes beside -1, {wanted}, do not divide."
    return f"{start}, but {wanted}: the sizes of a view must multiply to the same."


@rule(RuntimeError, r"permute\(.*(?:input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)|duplicate dims)")
def permuting(scene: Scene, match: Match) -> str | None:
    """`permute` with other than all axes."""
    for call in scene.find(ast.Call):
        if isinstance(call.func, ast.Attribute) and (told := scene.describe(call.func.value)):
            return f"{told}: permute needs every axis exactly once. To exchange two, use `.transpose(a, b)`."
    return "permute needs every axis exactly once. To exchange two, use `.transpose(a, b)`."


@rule(RuntimeError, r"tensor\.(mT|mH|H) is only supported on matrices|t\(\) expects a tensor with <= 2 dimensions")
def transposing(scene: Scene, match: Match) -> str | None:
    """`.mT` of a vector, `.t()` of a batch."""
    for node in scene.find(ast.Attribute, ast.Call):
        base = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
        base = base.value if base is node and isinstance(node, ast.Attribute) else base
        tensor = scene.sized(base)
        if tensor is not None:
            use = ".transpose(-2, -1)" if len(tensor.shape) > 2 else ".unsqueeze(-1)"
            return f"{scene.describe(base)}. Use `{operand(base, scene.code(base) or 'x')}{use}`."
    return "It is for matrices: `.transpose(-2, -1)` exchanges the last two axes of a batch."


# Joining -------------------------------------------------------------------------------------------------------------


@rule(TypeError, r"^(cat|stack|concat|vstack|hstack)\(\): argument 'tensors' .* must be tuple of Tensors, not (\w+)")
def not_a_list(scene: Scene, match: Match) -> str | None:
    """`torch.cat(a, b)`."""
    if match[2] == "generator":
        return f"torch.{match[1]} takes a list: put square brackets around what it gets."
    example = "[a, b]"
    for call in scene.find(ast.Call):
        codes = [scene.code(node) for node in call.args if scene.sized(node) is not None]
        if len(codes) > 1 and all(codes):
            example = f"[{', '.join(codes)}]"
    axis = "" if match[1] == "stack" else ", dim=-1"
    return f"torch.{match[1]} takes a list of tensors: `torch.{match[1]}({example}{axis})`."


def shape_list(scene: Scene) -> list[tuple[ast.expr, Shape]]:
    """The tensors in the list that a call gets."""
    for call in scene.find(ast.Call):
        if call.args and isinstance(call.args[0], ast.List | ast.Tuple):
            found = [(node, scene.sized(node)) for node in call.args[0].elts]
            return [(node, tensor.shape) for node, tensor in found if tensor is not None]
    return []


@rule(RuntimeError, r"Sizes of tensors must match except in dimension (-?\d+)\. .* for tensor number (\d+)")
def joining(scene: Scene, match: Match) -> str | None:
    """`torch.cat` along an axis while another one differs."""
    axis, place = int(match[1]), int(match[2])
    held = shape_list(scene)
    if place >= len(held):
        return f"Joined along axis {axis}, the tensors must have the same size in all others."
    (first, one), (other, shape) = held[0], held[place]
    told = f"{scene.describe(first)} and {scene.describe(other)}: joined along axis {axis}, all other sizes must agree."
    differ = [number for number, pair in enumerate(zip(one, shape, strict=False)) if pair[0] != pair[1]]
    if len(one) == len(shape) and len(differ) == 1:
        told += f" Did you mean `dim={differ[0]}`?"
    return told


@rule(RuntimeError, r"stack expects each tensor to be equal size", r"Tensors must have same number of dimensions: got")
def stacking(scene: Scene, match: Match) -> str | None:
    """`torch.stack` or `torch.cat` of shapes that differ."""
    held = shape_list(scene)
    odd = [node for node, shape in held if shape != held[0][1]]
    stack = match[0].startswith("stack")
    told = f"{scene.describe(held[0][0])} and {scene.describe(odd[0])}. " if odd else ""
    if stack:
        return f"{told}torch.stack needs equal shapes; torch.cat joins along an axis that is there already."
    return f"{told}torch.cat needs tensors with the same number of axes; `.unsqueeze(0)` adds one."


always(
    ValueError,
    {
        r"expected a non-empty list of Tensors": "The list is empty: nothing was put into it.",
        r"^expected sequence of length (\d+) at dim \d+ \(got": "All rows of a tensor need the same number of entries.",
    },
)
always(
    TypeError,
    {
        r"^expected Tensor as element \d+ in argument 0": "All entries of the list must be tensors.",
        r"^tensor\(\) takes 1 positional argument": "Put all numbers into one list: `torch.tensor([1, 2, 3])`.",
    },
)


# Single numbers, unpacking -------------------------------------------------------------------------------------------


@rule(RuntimeError, r"a Tensor with \d+ elements cannot be converted to Scalar")
@rule(ValueError, r"only one element tensors can be converted to Python scalars")
def not_single(scene: Scene, match: Match) -> str | None:
    """A whole tensor where one number is needed."""
    for call in scene.find(ast.Call):
        node = call.func.value if isinstance(call.func, ast.Attribute) and not call.args else None
        name = scene.code(call.func)
        node = node or (call.args[0] if call.args else None)
        if name == "torch.tensor" and isinstance(node, ast.List | ast.Tuple):
            return f"To make one tensor of several, use `torch.stack({scene.code(node) or '[...]'})`."
        if told := scene.describe(node):
            use = name.removeprefix("math.") if name.startswith("math.") else ""
            here = f" Use `torch.{use}` for tensors." if use in SAME else " Choose a cell, as in `x[0, 0]`."
            return f"{told}: only a tensor of one number can become a number.{here}"
    return None


@rule(RuntimeError, r"Boolean value of Tensor with (more than one|no) value")
def ambiguous(scene: Scene, match: Match) -> str | None:
    """`if tensor:`."""
    node = scene.node if isinstance(scene.node, ast.expr) else None
    while isinstance(node, ast.BoolOp | ast.UnaryOp):
        node = node.values[0] if isinstance(node, ast.BoolOp) else node.operand
    if isinstance(node, ast.Call) and scene.code(node.func) == "bool" and node.args:
        node = node.args[0]
    code = operand(node, scene.code(node)) if node is not None and scene.code(node) else "(...)"
    return (
        "The condition is a whole tensor of answers. Say which is meant, "
        f"`{code}.all()` or `{code}.any()`; to choose place by place use torch.where, and `&` and `|` for and and or."
    )


@rule(ValueError, r"(not enough|too many) values to unpack \(expected (?:at least )?(\d+)(?:, got (\d+))?")
def unpacking(scene: Scene, match: Match) -> str | None:
    """`b, n, d = x.shape` of a matrix, and the like."""
    statement = scene.statement
    if not isinstance(statement, ast.Assign):
        return None
    node, wanted = statement.value, match[2]
    value = scene.value(node)
    base = node.value if isinstance(node, ast.Attribute) and node.attr == "shape" else None
    if (
        base is None
        and isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "size"
    ):
        base = node.func.value
    if told := scene.describe(base):
        count = len(value) if type(value) is tuple else 0
        more = count + 1 == int(wanted)
        code = operand(base, scene.code(base) or "x") if base is not None else "x"
        hint = f" `{code}.unsqueeze(0)` adds a batch axis in front." if more else ""
        return f"{told}, so its shape has {count} sizes, but {wanted} names wait for one.{hint}"
    if tensor := scene.sized(node):
        rows = tensor.shape[0] if tensor.shape else 1
        return f"{scene.named(node)} is one tensor, {size(tensor.shape)}: unpacked it gives its {rows} rows."
    given = match[3] or (len(value) if exactly(value, tuple, list) else None)
    if value is UNKNOWN and not given:
        return f"On the left of `=` are {wanted} names, on the right more values than that."
    return f"On the left of `=` are {wanted} names, on the right {given} values." if given else None

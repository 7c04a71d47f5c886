"""Advice on shapes that do not fit: broadcasting, masks, copies, views, joining."""

from __future__ import annotations

import ast
import math
import re

from lessons.worker.advice.exception_rules import Match, fixed_advice, rule
from lessons.worker.advice.matrix_products import untransposed
from lessons.worker.advice.safe_reading import UNKNOWN, is_exactly
from lessons.worker.advice.scene import Scene, operand, size
from lessons.worker.advice.shape_effects import SAME, Shape, broadcast, is_torch, product

MASKED = ("masked_fill", "masked_fill_")
MASK = re.compile("mask|hidden|causal")


@rule(RuntimeError, r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension")
def not_broadcastable(scene: Scene, match: Match) -> str | None:
    """Explain two shapes that cannot be broadcast."""
    for left, right in elementwise_pairs(scene):
        one, other = scene.tensor_info(left), scene.tensor_info(right)
        if one is None or other is None or broadcast(one.shape, other.shape) is not None:
            continue
        sentence = f"{scene.describe(left)} and {scene.describe(right)}"
        remedy = (
            suggest_slice(scene, left, right) or suggest_slice(scene, right, left) or suggest_fit(scene, left, right)
        )
        return f"{sentence}. {remedy}"
    if isinstance(scene.node, ast.Call):
        # The shapes meet inside the called function.
        return None
    return (
        f"Two shapes do not fit: an axis has {match[1]} places in one and {match[2]} in the other. "
        "Print the `.shape` of both."
    )


def elementwise_pairs(scene: Scene) -> list[tuple[ast.expr, ast.expr]]:
    """Find the pairs of expressions that the line combines element by element."""
    pairs = [(node.left, node.right) for node in scene.find(ast.BinOp) if not isinstance(node.op, ast.MatMult)]
    pairs += [(node.target, node.value) for node in scene.find(ast.AugAssign)]
    pairs += [(node.left, node.comparators[0]) for node in scene.find(ast.Compare)]
    for call in scene.find(ast.Call):
        if not isinstance(call.func, ast.Attribute):
            continue
        given = [*call.args, *(word.value for word in call.keywords)]
        if not is_torch(scene.value(call.func.value)):
            given.insert(0, call.func.value)
        tensors = [node for node in given if scene.tensor_info(node) is not None]
        pairs += [(one, other) for position, one in enumerate(tensors) for other in tensors[position + 1 :]]
    return pairs


def suggest_slice(scene: Scene, scores: ast.expr, mask: ast.expr) -> str | None:
    """Suggest a slice for a mask that was made for a different number of tokens; None if it is no mask."""
    masked = any(isinstance(call.func, ast.Attribute) and call.func.attr in MASKED for call in scene.find(ast.Call))
    if not masked and not MASK.search(scene.code(mask).casefold()):
        return None
    one, other = scene.tensor_info(scores), scene.tensor_info(mask)
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


def suggest_fit(scene: Scene, left: ast.expr, right: ast.expr) -> str:
    """Suggest what would make two shapes fit, or state the rule."""
    one, other = scene.tensor_info(left), scene.tensor_info(right)
    if one is None or other is None:
        return ""
    code = operand(right, scene.code(right))
    copied = isinstance(scene.node, ast.Call) and scene.code(scene.node.func).endswith(".copy_")
    times = isinstance(scene.node, ast.BinOp) and isinstance(scene.node.op, ast.Mult)
    turned = untransposed(right) is not right
    if scene.code(right) and len(other.shape) == 2 and one.shape[-2:] == other.shape[::-1] and not (times and turned):
        other_way = operand(untransposed(right), scene.code(untransposed(right))) if turned else f"{code}.T"
        return f"Did you mean `{other_way}`?" + (" A copy needs the same shape." if copied else "")
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
def wrong_assignment(scene: Scene, match: Match) -> str | None:
    """Explain a value that is written into part of a tensor and has a different shape."""
    room, given = (size(map(int, re.findall(r"\d+", match[name]))) for name in ("room", "given"))
    statement = scene.statement
    target = statement.targets[0] if isinstance(statement, ast.Assign) else None
    if isinstance(target, ast.Subscript) and isinstance(statement, ast.Assign):
        target_text, value = scene.quote(target, "The place"), scene.quote(statement.value, "the value")
        return f"{target_text} is {room}, but {value} is {given}: what is written into a place must have its shape."
    return f"It is {given} and cannot become {room}: `expand` and the like repeat only axes of size 1."


# Views ---------------------------------------------------------------------------------------------------------------


@rule(RuntimeError, r"view size is not compatible with input tensor's size and stride")
def not_contiguous(scene: Scene, match: Match) -> str | None:
    """Explain `view` after a transposition."""
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
    """Explain a view whose sizes do not match the number of elements."""
    sizes, count = [int(one) for one in match[1].split(",") if one.strip()], int(match[2])
    known = [one for one in sizes if one != -1]
    total = math.prod(known)
    base = next((call.func.value for call in scene.find(ast.Call) if isinstance(call.func, ast.Attribute)), None)
    tensor = scene.tensor_info(base)
    start = f"{scene.quote(base, 'It')} holds {count} numbers"
    if tensor is not None and math.prod(tensor.shape) == count:
        start = f"{scene.quote(base)} is {size(tensor.shape)} and holds {count} numbers"
    wanted = " * ".join(map(str, known)) + (f" = {total}" if len(known) > 1 else "")
    if len(known) < len(sizes):
        return f"{start}, which the sizes beside -1, {wanted}, do not divide."
    return f"{start}, but {wanted}: the sizes of a view must multiply to the same."


@rule(RuntimeError, r"permute\(.*(?:input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)|duplicate dims)")
def wrong_permute(scene: Scene, match: Match) -> str | None:
    """Explain `permute` with anything but each axis once."""
    for call in scene.find(ast.Call):
        if isinstance(call.func, ast.Attribute) and (sentence := scene.describe(call.func.value)):
            return f"{sentence}: permute needs every axis exactly once. To exchange two, use `.transpose(a, b)`."
    return "permute needs every axis exactly once. To exchange two, use `.transpose(a, b)`."


@rule(RuntimeError, r"tensor\.(mT|mH|H) is only supported on matrices|t\(\) expects a tensor with <= 2 dimensions")
def wrong_transpose(scene: Scene, match: Match) -> str | None:
    """Explain `.mT` of a vector or `.t()` of a batch."""
    for node in scene.find(ast.Attribute, ast.Call):
        base = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
        base = base.value if base is node and isinstance(node, ast.Attribute) else base
        tensor = scene.tensor_info(base)
        if tensor is not None:
            use = ".transpose(-2, -1)" if len(tensor.shape) > 2 else ".unsqueeze(-1)"
            return f"{scene.describe(base)}. Use `{operand(base, scene.code(base) or 'x')}{use}`."
    return "It is for matrices: `.transpose(-2, -1)` exchanges the last two axes of a batch."


# Joining -------------------------------------------------------------------------------------------------------------


@rule(TypeError, r"^(cat|stack|concat|vstack|hstack)\(\): argument 'tensors' .* must be tuple of Tensors, not (\w+)")
def not_a_list(scene: Scene, match: Match) -> str | None:
    """Explain `torch.cat(a, b)`, which needs a list."""
    if match[2] == "generator":
        return f"torch.{match[1]} takes a list: put square brackets around what it gets."
    example = "[a, b]"
    for call in scene.find(ast.Call):
        codes = [scene.code(node) for node in call.args if scene.tensor_info(node) is not None]
        if len(codes) > 1 and all(codes):
            example = f"[{', '.join(codes)}]"
    axis = "" if match[1] == "stack" else ", dim=-1"
    return f"torch.{match[1]} takes a list of tensors: `torch.{match[1]}({example}{axis})`."


def listed_tensors(scene: Scene) -> list[tuple[ast.expr, Shape]]:
    """Return the tensors in the list that a call gets, as node and shape."""
    for call in scene.find(ast.Call):
        if call.args and isinstance(call.args[0], ast.List | ast.Tuple):
            found = [(node, scene.tensor_info(node)) for node in call.args[0].elts]
            return [(node, tensor.shape) for node, tensor in found if tensor is not None]
    return []


@rule(RuntimeError, r"Sizes of tensors must match except in dimension (-?\d+)\. .* for tensor number (\d+)")
def wrong_cat(scene: Scene, match: Match) -> str | None:
    """Explain `torch.cat` along one axis if a different axis does not agree."""
    axis, position = int(match[1]), int(match[2])
    tensors = listed_tensors(scene)
    if position >= len(tensors):
        return f"Joined along axis {axis}, the tensors must have the same size in all others."
    (first, one), (other, shape) = tensors[0], tensors[position]
    sentence = (
        f"{scene.describe(first)} and {scene.describe(other)}: joined along axis {axis}, all other sizes must agree."
    )
    differ = [number for number, pair in enumerate(zip(one, shape, strict=False)) if pair[0] != pair[1]]
    if len(one) == len(shape) and len(differ) == 1:
        sentence += f" Did you mean `dim={differ[0]}`?"
    return sentence


@rule(RuntimeError, r"stack expects each tensor to be equal size", r"Tensors must have same number of dimensions: got")
def wrong_stack(scene: Scene, match: Match) -> str | None:
    """Explain `torch.stack` or `torch.cat` of different shapes."""
    tensors = listed_tensors(scene)
    odd = [node for node, shape in tensors if shape != tensors[0][1]]
    stack = match[0].startswith("stack")
    sentence = f"{scene.describe(tensors[0][0])} and {scene.describe(odd[0])}. " if odd else ""
    if stack:
        return f"{sentence}torch.stack needs equal shapes; torch.cat joins along an axis that is there already."
    return f"{sentence}torch.cat needs tensors with the same number of axes; `.unsqueeze(0)` adds one."


fixed_advice(
    ValueError,
    {
        r"expected a non-empty list of Tensors": "The list is empty: nothing was put into it.",
        r"^expected sequence of length (\d+) at dim \d+ \(got": "All rows of a tensor need the same number of entries.",
    },
)
fixed_advice(
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
    """Explain a whole tensor where a single number is needed."""
    for call in scene.find(ast.Call):
        node = call.func.value if isinstance(call.func, ast.Attribute) and not call.args else None
        name = scene.code(call.func)
        node = node or (call.args[0] if call.args else None)
        if name == "torch.tensor" and isinstance(node, ast.List | ast.Tuple):
            return f"To make one tensor of several, use `torch.stack({scene.code(node) or '[...]'})`."
        if sentence := scene.describe(node):
            use = name.removeprefix("math.") if name.startswith("math.") else ""
            here = f" Use `torch.{use}` for tensors." if use in SAME else " Choose a cell, as in `x[0, 0]`."
            return f"{sentence}: only a tensor of one number can become a number.{here}"
    return None


@rule(RuntimeError, r"Boolean value of Tensor with (more than one|no) value")
def ambiguous_truth(scene: Scene, match: Match) -> str | None:
    """Explain `if tensor:`."""
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
def wrong_unpacking(scene: Scene, match: Match) -> str | None:
    """Explain `b, n, d = x.shape` of a matrix, and similar assignments."""
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
    if sentence := scene.describe(base):
        count = len(value) if type(value) is tuple else 0
        more = count + 1 == int(wanted)
        code = operand(base, scene.code(base) or "x") if base is not None else "x"
        hint = f" `{code}.unsqueeze(0)` adds a batch axis in front." if more else ""
        return f"{sentence}, so its shape has {count} sizes, but {wanted} names wait for one.{hint}"
    if tensor := scene.tensor_info(node):
        rows = tensor.shape[0] if tensor.shape else 1
        return f"{scene.quote(node)} is one tensor, {size(tensor.shape)}: unpacked it gives its {rows} rows."
    given = match[3] or (len(value) if is_exactly(value, tuple, list) else None)
    if value is UNKNOWN and not given:
        return f"On the left of `=` are {wanted} names, on the right more values than that."
    return f"On the left of `=` are {wanted} names, on the right {given} values." if given else None

"""Advice on shapes that do not fit: matrix products, widths of layers, broadcasting, masks, copies, views, joining."""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.rules import (
    GAP,
    Match,
    Offer,
    Said,
    did_you_mean,
    fixed_advice,
    parts_of,
    rule,
    try_out,
)
from attn_tutor.lessons.worker.advice.safe_reading import UNKNOWN, Linear, attributes, is_exactly, tensor_info
from attn_tutor.lessons.worker.advice.scene import Scene, operand, size
from attn_tutor.lessons.worker.advice.shape_effects import PRODUCTS, SAME, Shape, broadcast, is_torch, product

say = Wording("advice/matrix-products")

TRANSPOSITIONS = ("transpose", "t", "permute", "swapaxes")

Product = tuple[ast.AST, ast.expr, ast.expr]
"""The code of a product, and both sides of it."""


def failing_products(scene: Scene) -> list[tuple[Product, Shape, Shape]]:
    """Return the products of the line that cannot be computed, and the shapes of both sides."""
    products: list[Product] = [
        (node, node.left, node.right) for node in scene.find(ast.BinOp) if isinstance(node.op, ast.MatMult)
    ]
    products += [
        (node, node.target, node.value) for node in scene.find(ast.AugAssign) if isinstance(node.op, ast.MatMult)
    ]
    for call in scene.find(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in PRODUCTS:
            given = call.args if is_torch(scene.value(call.func.value)) else [call.func.value, *call.args]
            products += [(call, given[0], given[1])] if len(given) == 2 else []
    found = [(one, scene.tensor_info(one[1]), scene.tensor_info(one[2])) for one in products]
    return [
        (held, one.shape, other.shape)
        for held, one, other in found
        if one is not None and other is not None and product(one.shape, other.shape) is None
    ]


@rule(
    RuntimeError,
    r"mat1 and mat2 shapes cannot be multiplied \(\d+x(\d+) and (\d+)x\d+\)",
    r"batch2 tensor to be: \[\d+, (\d+)\] but got: \[\d+, (\d+)\]",
    r"size mismatch, got input",
    r"inconsistent tensor size",
    r"size of tensor a \(\d+\) must match the size of tensor b",
    r"both arguments to matmul need to be at least 1D",
    r"batch[12] must be a 3D tensor",
)
def sizes_of_product(scene: Scene, match: Match) -> Said | None:
    """Explain `a @ b` if the inner sizes, or the axes before the last two, do not agree."""
    if sentence := width_of_layer(scene):
        return sentence
    for held, one, other in failing_products(scene):
        _, left, right = held
        if not one or not other:
            return say(
                "product-of-number",
                "{describe_factors}. `@` doesn't work with a single number, as `*` does.",
                describe_factors=describe_factors(scene, left, right, one, other),
            )
        inner, outer = one[-1], other[-2 if len(other) > 1 else 0]
        sentence = describe_factors(scene, left, right, one, other)
        if inner == outer:
            batches = say("and", "{list} and {list2}", list=list(one[:-2]), list2=list(other[:-2]))
            return say(
                "batch-sizes",
                "{sentence}. The axes before the last two, {batches}, have to match or be 1.",
                sentence=sentence,
                batches=batches,
            )
        if hint := weight_of_layer(scene, held):
            return hint
        return (
            say(
                "inner-sizes",
                "{sentence}. The inner sizes, {inner} and {outer}, have to match.",
                sentence=sentence,
                inner=inner,
                outer=outer,
            ),
            suggest_product(scene, held),
        )
    if match[0].startswith("batch"):
        return say(
            "bmm",
            "torch.bmm takes two batches of matrices, with 3 axes each. `@` works with any number of axes.",
        )
    numbers = [group for group in match.groups() if group]
    if len(numbers) == 2:
        return say(
            "rows-and-columns",
            "In `a @ b`, a needs as many columns as b has rows, but here there are {value} columns and "
            "{value2} rows. Often one of the two has to be transposed (`.T`).",
            value=numbers[0],
            value2=numbers[1],
        )
    return None


def describe_factors(scene: Scene, left: ast.expr, right: ast.expr, one: Shape, other: Shape) -> str:
    """Describe the shapes of both sides of a product."""
    first, second = (
        scene.quote(left, say("left-side", "The left side")),
        scene.quote(right, say("right-side", "the right side")),
    )
    if first == second:
        return say("both-sides", "{first} is {size} on both sides", first=first, size=size(one))
    return say(
        "two-shapes",
        "{first} is {size} and {second} is {size2}",
        first=first,
        size=size(one),
        second=second,
        size2=size(other),
    )


def suggest_product(scene: Scene, held: Product) -> Offer | None:
    """Suggest a product of the same two tensors whose sizes fit; None if there is none."""
    node, left, right = held
    here, there = scene.tensor_info(left), scene.tensor_info(right)
    if here is None or there is None:
        return None
    plain_left, plain_right = operand(left, scene.code(left)), operand(right, scene.code(right))
    tried = [(plain_left, here.shape, code, shape) for code, shape in alternative_forms(scene, right)]
    tried += [(code, shape, plain_right, there.shape) for code, shape in alternative_forms(scene, left)]
    if untransposed(left) is not left:
        tried += [(*next(alternative_forms(scene, left)), *form) for form in alternative_forms(scene, right)]
    tried.append((plain_right, there.shape, plain_left, here.shape))
    fitting = [
        f"{first} @ {second}"
        for first, one, second, other in tried
        if product(one, other) is not None and first.strip("()") and second.strip("()")
    ]
    return did_you_mean(node, *fitting) if fitting else None


def alternative_forms(scene: Scene, node: ast.expr) -> Iterator[tuple[str, Shape]]:
    """Yield variants of one side, as code and shape: without its transposition, and with one."""
    inner = untransposed(node)
    tensor, code = scene.tensor_info(inner), operand(inner, scene.code(inner))
    if tensor is None or not scene.code(inner):
        return
    if inner is not node:
        yield code, tensor.shape
    if len(tensor.shape) >= 2:
        how = ".T" if len(tensor.shape) == 2 else ".transpose(-2, -1)"
        yield code + how, (*tensor.shape[:-2], tensor.shape[-1], tensor.shape[-2])


def untransposed(node: ast.expr) -> ast.expr:
    """Return the expression inside a transposition; any other expression as it is."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TRANSPOSITIONS:
        return node.func.value
    return node


def weight_of_layer(scene: Scene, held: Product) -> Said | None:
    """Explain `x @ layer.weight`: a layer stores its matrix transposed (out, in)."""
    node, left, right = held
    base = right.value if isinstance(right, ast.Attribute) and right.attr in ("weight", "T", "data") else None
    layer = scene.value(base)
    given = scene.tensor_info(left)
    if type(layer) is not Linear or base is None or given is None:
        return None
    weight = tensor_info(attributes(layer).get("weight"))
    if weight is None or weight.shape[1] != given.shape[-1]:
        return None
    call = f"{scene.code(base)}({scene.code(left) or GAP})"
    return (
        say(
            "weight-of-layer",
            "{code} is {size}, because nn.Linear stores one row for each output.",
            code=scene.quote(right),
            size=size(weight.shape),
        ),
        Offer(node, call, say("call-of-layer", "Try `{call}`, which calls the layer.", call=call)),
    )


def width_of_layer(scene: Scene) -> str | None:
    """Explain a layer that is called with a tensor whose last axis has the wrong size."""
    for call in scene.find(ast.Call):
        layer = scene.value(call.func)
        weight = tensor_info(attributes(layer).get("weight")) if type(layer) is Linear else None
        given = scene.tensor_info(call.args[0]) if call.args else None
        if weight is None:
            continue
        called = scene.quote(call.func, say("the-layer", "the layer"))
        width = say("layer-takes", "{layer} takes {count}", layer=called, count=weight.shape[1])
        if given is None:
            return say(
                "last-axis",
                "The last axis of its input has a different size, but {width} numbers per token (in_features).",
                width=width,
            )
        if given.shape and given.shape[-1] != weight.shape[1]:
            return say(
                "width-of-input",
                "{input} is {size}, so its last axis has {count} numbers, but {width} (in_features={features}).",
                input=scene.quote(call.args[0], say("its-input", "Its input")),
                size=size(given.shape),
                count=given.shape[-1],
                width=width,
                features=weight.shape[1],
            )
    return None


@rule(RuntimeError, r"1D tensors expected, but got")
def dot_of_matrices(scene: Scene, match: Match) -> Said | None:
    """Explain `torch.dot` of matrices."""
    for call in scene.find(ast.Call):
        given = [*call.args]
        if isinstance(call.func, ast.Attribute) and scene.tensor_info(call.func.value) is not None:
            given.insert(0, call.func.value)
        sentence = [scene.describe(node) for node in given]
        if len(sentence) == 2 and None not in sentence:
            return (
                say(
                    "dot-of-matrices",
                    "torch.dot multiplies two vectors, but {value} and {value2}.",
                    value=sentence[0],
                    value2=sentence[1],
                ),
                suggest_for_dot(scene, (call, given[0], given[1])),
            )
    return say("dot", "torch.dot multiplies two vectors. For matrices, use `@`.")


def suggest_for_dot(scene: Scene, held: Product) -> str | Offer:
    """Suggest what to write instead of `torch.dot`."""
    node, left, right = held
    one, other = scene.tensor_info(left), scene.tensor_info(right)
    fits = one is not None and other is not None and product(one.shape, other.shape) is not None
    first, second = operand(left, scene.code(left)), operand(right, scene.code(right))
    if fits and scene.code(left) and scene.code(right):
        return did_you_mean(node, f"{first} @ {second}")
    return suggest_product(scene, held) or say("use-product", "For matrices, use `@`.")


@rule(RuntimeError, r"subscript (\w) has size (\d+) for operand (\d+) which does not broadcast")
def einsum_sizes(scene: Scene, match: Match) -> str | None:
    """Explain a letter of einsum that stands for two different sizes."""
    letter, position = match[1], int(match[3])
    for call, terms in einsum_calls(scene):
        first = next((number for number, term in enumerate(terms) if letter in term), None)
        if first is None or position >= len(terms):
            continue
        sentence = [scene.describe(call.args[number + 1]) for number in (first, position)]
        if None in sentence:
            continue
        return say(
            "letter-of-both",
            "{value} and {value2}. The letter {letter} names an axis of each, so these two axes need the same size.",
            value=sentence[0],
            value2=sentence[1],
            letter=letter,
        )
    return say(
        "letter-of-two-sizes",
        "The letter {letter} names two axes of different sizes, but a letter always means the same size.",
        letter=letter,
    )


@rule(RuntimeError, r"number of subscripts in the equation \((\d+)\) does not match .* \((\d+)\) for operand (\d+)")
def einsum_letters(scene: Scene, match: Match) -> str | None:
    """Explain an operand of einsum with too many or too few letters."""
    for call, _ in einsum_calls(scene):
        node = call.args[int(match[3]) + 1]
        if sentence := scene.describe(node):
            return say.count(
                "letters-of-tensor",
                int(match[2]),
                "{sentence}. It has {count} axis and needs one letter, but the equation gives it {letters}.",
                "{sentence}. It has {count} axes and needs a letter for each, but the equation gives it {letters}.",
                sentence=sentence,
                letters=match[1],
            )
    return say(
        "letters",
        "Every axis needs a letter of its own. The number of axes is {name}, but the number of letters is {name2}.",
        name=match[2],
        name2=match[1],
    )


def einsum_calls(scene: Scene) -> Iterator[tuple[ast.Call, list[str]]]:
    """Yield the calls of einsum with the letters of each operand."""
    for call in scene.find(ast.Call):
        equation = scene.value(call.args[0]) if call.args else None
        if type(equation) is str and "," in equation:
            terms = equation.replace(" ", "").partition("->")[0].split(",")
            if len(terms) == len(call.args) - 1:
                yield call, terms


fixed_advice(
    RuntimeError,
    {r"^(?:self|mat2|input) must be a matrix": lambda: say("mm", "torch.mm takes two matrices. For batches, use `@`.")},
)


MASKED = ("masked_fill", "masked_fill_")
MASK = re.compile("mask|hidden|causal")


@rule(RuntimeError, r"size of tensor a \((\d+)\) must match the size of tensor b \((\d+)\) at non-singleton dimension")
def not_broadcastable(scene: Scene, match: Match) -> Said | None:
    """Explain two shapes that cannot be broadcast."""
    for left, right in elementwise_pairs(scene):
        one, other = scene.tensor_info(left), scene.tensor_info(right)
        if one is None or other is None or broadcast(one.shape, other.shape) is not None:
            continue
        remedy = (
            suggest_slice(scene, left, right) or suggest_slice(scene, right, left) or suggest_fit(scene, left, right)
        )
        return two_shapes(scene, left, right), *parts_of(remedy)
    if isinstance(scene.node, ast.Call):
        # The shapes meet inside the called function.
        return None
    return say(
        "shape-errors-two-shapes",
        "Two shapes don't fit together. An axis has the size {name} in one and {name2} in the other. "
        "Print the `.shape` of both.",
        name=match[1],
        name2=match[2],
    )


def two_shapes(scene: Scene, one: ast.AST, other: ast.AST) -> str:
    """Say which shapes two tensors have."""
    return say("shape-errors-and", "{tensor} and {tensor2}.", tensor=scene.describe(one), tensor2=scene.describe(other))


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


def suggest_slice(scene: Scene, scores: ast.expr, mask: ast.expr) -> str | Offer | None:
    """Suggest a slice for a mask that was made for a different number of tokens; None if it is no mask."""
    masked = any(isinstance(call.func, ast.Attribute) and call.func.attr in MASKED for call in scene.find(ast.Call))
    if not masked and not MASK.search(scene.code(mask).casefold()):
        return None
    one, other = scene.tensor_info(scores), scene.tensor_info(mask)
    if one is None or other is None or len(one.shape) < 2 or len(other.shape) != 2:
        return None
    rows, columns = one.shape[-2:]
    if other.shape[0] < rows or other.shape[1] < columns:
        return say("mask-fewer-tokens", "The mask is too small for {columns} tokens. Make it larger.", columns=columns)
    inner, rest = mask, ""
    if isinstance(mask, ast.Call) and isinstance(mask.func, ast.Attribute) and not mask.args:
        inner, rest = mask.func.value, f".{mask.func.attr}()"
    elif isinstance(mask, ast.Compare) or not isinstance(mask, ast.Name | ast.Attribute):
        return say(
            "mask-more-tokens",
            "The mask is made for more tokens than there are. Slice it with `[:{rows}, :{columns}]`.",
            rows=rows,
            columns=columns,
        )
    code = f"{operand(inner, scene.code(inner))}[:{rows}, :{columns}]{rest}"
    return Offer(mask, code, say("slice-mask", "Slice the mask to the number of tokens: `{code}`.", code=code))


def suggest_fit(scene: Scene, left: ast.expr, right: ast.expr) -> Said | None:
    """Suggest what would make two shapes fit, or state the rule."""
    one, other = scene.tensor_info(left), scene.tensor_info(right)
    if one is None or other is None:
        return None
    code = operand(right, scene.code(right))
    copied = isinstance(scene.node, ast.Call) and scene.code(scene.node.func).endswith(".copy_")
    same_shape = say("copy", "A copy needs the same shape.")
    times = isinstance(scene.node, ast.BinOp) and isinstance(scene.node.op, ast.Mult)
    turned = untransposed(right) is not right
    if scene.code(right) and len(other.shape) == 2 and one.shape[-2:] == other.shape[::-1] and not (times and turned):
        other_way = operand(untransposed(right), scene.code(untransposed(right))) if turned else f"{code}.T"
        return did_you_mean(right, other_way), same_shape if copied else None
    if times and scene.code(right) and product(one.shape, other.shape) is not None:
        left_code = operand(left, scene.code(left) or "x")
        multiplied = f"{left_code} @ {code}"
        return (
            say("element-by-element", "`*` multiplies element by element."),
            Offer(scene.node, multiplied, say("matrix-product", "The matrix product is `{code}`.", code=multiplied)),
        )
    if copied:
        return same_shape
    if scene.code(right) and len(other.shape) == 1 and one.shape[-2:-1] == other.shape:
        column = f"{code}.unsqueeze(-1)"
        how = say("column", "Try `{code}`, which makes it a column with one number per row.", code=column)
        return Offer(right, column, how)
    return say(
        "from-last-axis", "Compared from the last axis on, two sizes have to be equal, or one of them has to be 1."
    )


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
        target_text, value = (
            scene.quote(target, say("place", "The place")),
            scene.quote(statement.value, say("value", "the value")),
        )
        return say(
            "written-shape",
            "{target_text} is {room}, but {value} is {given}. What you assign needs the same shape, or one "
            "that can be repeated to fill it.",
            target_text=target_text,
            room=room,
            value=value,
            given=given,
        )
    return say(
        "expand",
        "The tensor is {given} and can't be expanded to {room}, because only axes of size 1 can be repeated.",
        given=given,
        room=room,
    )


# Views ---------------------------------------------------------------------------------------------------------------


@rule(RuntimeError, r"view size is not compatible with input tensor's size and stride")
def not_contiguous(scene: Scene, match: Match) -> Said | None:
    """Explain `view` after a transposition."""
    in_reading_order = say(
        "reading-order",
        "`view` needs the numbers to be stored in reading order, which they often aren't after a transposition.",
    )
    for call in scene.find(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr == "view":
            code, base = scene.code(call), scene.code(call.func.value)
            rest = code[len(base) + len(".view") :] if code and base and code.startswith(base) else "(...)"
            base = operand(call.func.value, base) if base else "x"
            copied, reshaped = f"{base}.contiguous().view{rest}", f"{base}.reshape{rest}"
            how = say("copy-or-reshape", "Write `{copied}` or `{reshaped}`.", copied=copied, reshaped=reshaped)
            return in_reading_order, Offer(call, copied, how)
    return in_reading_order, say("contiguous", "Call `.contiguous()` before `.view(...)`.")


@rule(RuntimeError, r"shape '\[([-\d, ]*)\]' is invalid for input of size (\d+)")
def invalid_view(scene: Scene, match: Match) -> str | None:
    """Explain a view whose sizes do not match the number of elements."""
    sizes, count = [int(one) for one in match[1].split(",") if one.strip()], int(match[2])
    known = [one for one in sizes if one != -1]
    total = math.prod(known)
    base = next((call.func.value for call in scene.find(ast.Call) if isinstance(call.func, ast.Attribute)), None)
    tensor = scene.tensor_info(base)
    start = say("holds-count", "{code} contains {count} numbers", code=scene.quote(base, say("it", "It")), count=count)
    if tensor is not None and math.prod(tensor.shape) == count:
        start = say(
            "size-and-count",
            "{code} is {size} and contains {count} numbers",
            code=scene.quote(base),
            size=size(tensor.shape),
            count=count,
        )
    wanted = " * ".join(map(str, known)) + (f" = {total}" if len(known) > 1 else "")
    if len(known) < len(sizes):
        return say(
            "view-rest",
            "{start}, which can't be divided by the other sizes ({wanted}).",
            start=start,
            wanted=wanted,
        )
    return say(
        "view-product",
        "{start}, but the sizes that you ask for give {wanted}.",
        start=start,
        wanted=wanted,
    )


@rule(RuntimeError, r"permute\(.*(?:input\.dim\(\) = (\d+) is not equal to len\(dims\) = (\d+)|duplicate dims)")
def wrong_permute(scene: Scene, match: Match) -> str | None:
    """Explain `permute` with anything but each axis once."""
    for call in scene.find(ast.Call):
        if isinstance(call.func, ast.Attribute) and (sentence := scene.describe(call.func.value)):
            return say(
                "permute-of",
                "{sentence}. `permute` needs every axis exactly once. To swap two axes, use `.transpose(a, b)`.",
                sentence=sentence,
            )
    return say("permute", "`permute` needs every axis exactly once. To swap two axes, use `.transpose(a, b)`.")


@rule(RuntimeError, r"tensor\.(mT|mH|H) is only supported on matrices|t\(\) expects a tensor with <= 2 dimensions")
def wrong_transpose(scene: Scene, match: Match) -> Said | None:
    """Explain `.mT` of a vector or `.t()` of a batch."""
    for node in scene.find(ast.Attribute, ast.Call):
        base = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else node
        base = base.value if base is node and isinstance(node, ast.Attribute) else base
        tensor = scene.tensor_info(base)
        if tensor is not None:
            use = ".transpose(-2, -1)" if len(tensor.shape) > 2 else ".unsqueeze(-1)"
            return (
                say("tensor-is", "{tensor}.", tensor=scene.describe(base)),
                try_out(node, operand(base, scene.code(base) or "x") + use),
            )
    return say(
        "matrix-transpose",
        "It works only for matrices. `.transpose(-2, -1)` swaps the last two axes of a batch.",
    )


# Joining -------------------------------------------------------------------------------------------------------------


@rule(TypeError, r"^(cat|stack|concat|vstack|hstack)\(\): argument 'tensors' .* must be tuple of Tensors, not (\w+)")
def not_a_list(scene: Scene, match: Match) -> Said | None:
    """Explain `torch.cat(a, b)`, which needs a list."""
    if match[2] == "generator":
        return say(
            "list-brackets", "torch.{name} takes a list. Put square brackets around its argument.", name=match[1]
        )
    example, call = "[a, b]", None
    for call in scene.find(ast.Call):
        codes = [scene.code(node) for node in call.args if scene.tensor_info(node) is not None]
        if len(codes) > 1 and all(codes):
            example = f"[{', '.join(codes)}]"
    axis = "" if match[1] == "stack" else ", dim=-1"
    return (
        say("takes-list", "torch.{name} takes a list of tensors.", name=match[1]),
        try_out(call, f"torch.{match[1]}({example}{axis})"),
    )


def listed_tensors(scene: Scene) -> list[tuple[ast.expr, Shape]]:
    """Return the tensors in the list that a call gets, as node and shape."""
    for call in scene.find(ast.Call):
        if call.args and isinstance(call.args[0], ast.List | ast.Tuple):
            found = [(node, scene.tensor_info(node)) for node in call.args[0].elts]
            return [(node, tensor.shape) for node, tensor in found if tensor is not None]
    return []


@rule(RuntimeError, r"Sizes of tensors must match except in dimension (-?\d+)\. .* for tensor number (\d+)")
def wrong_cat(scene: Scene, match: Match) -> Said | None:
    """Explain `torch.cat` along one axis if a different axis does not agree."""
    axis, position = int(match[1]), int(match[2])
    tensors = listed_tensors(scene)
    if position >= len(tensors):
        return say(
            "join-sizes",
            "Tensors that are joined along axis {axis} need the same size along all other axes.",
            axis=axis,
        )
    (first, one), (other, shape) = tensors[0], tensors[position]
    differ = [number for number, pair in enumerate(zip(one, shape, strict=False)) if pair[0] != pair[1]]
    return (
        two_shapes(scene, first, other),
        say("joined-along-axis", "To join them along axis {axis}, all other sizes have to match.", axis=axis),
        did_you_mean(given_axis(scene), f"dim={differ[0]}") if len(one) == len(shape) and len(differ) == 1 else None,
    )


def given_axis(scene: Scene) -> ast.AST | None:
    """Return the argument with the axis along which a call joins tensors, or None."""
    for call in scene.find(ast.Call):
        return next((word for word in call.keywords if word.arg in ("dim", "axis")), next(iter(call.args[1:]), None))
    return None


@rule(RuntimeError, r"stack expects each tensor to be equal size", r"Tensors must have same number of dimensions: got")
def wrong_stack(scene: Scene, match: Match) -> Said | None:
    """Explain `torch.stack` or `torch.cat` of different shapes."""
    tensors = listed_tensors(scene)
    odd = [node for node, shape in tensors if shape != tensors[0][1]]
    stack = match[0].startswith("stack")
    if stack:
        needs = say(
            "stack",
            "torch.stack needs tensors of the same shape. torch.cat joins them along an axis that they already have.",
        )
    else:
        needs = say(
            "cat",
            "torch.cat needs tensors with the same number of axes. `.unsqueeze(0)` adds an axis.",
        )
    if not odd:
        return needs
    return two_shapes(scene, tensors[0][0], odd[0]), needs


fixed_advice(
    ValueError,
    {
        r"expected a non-empty list of Tensors": lambda: say(
            "list-empty", "The list is empty. Nothing has been put into it."
        ),
        r"^expected sequence of length (\d+) at dim \d+ \(got": lambda: say(
            "ragged-rows", "All rows of a tensor need the same number of entries."
        ),
    },
)
fixed_advice(
    TypeError,
    {
        r"^expected Tensor as element \d+ in argument 0": lambda: say(
            "entries-of-list", "Every entry of the list has to be a tensor."
        ),
        r"^tensor\(\) takes 1 positional argument": lambda: say(
            "one-list", "Put all numbers in one list, as in `torch.tensor([1, 2, 3])`."
        ),
    },
)


# Single numbers, unpacking -------------------------------------------------------------------------------------------


@rule(RuntimeError, r"a Tensor with \d+ elements cannot be converted to Scalar")
@rule(ValueError, r"only one element tensors can be converted to Python scalars")
def not_single(scene: Scene, match: Match) -> Said | None:
    """Explain a whole tensor where a single number is needed."""
    for call in scene.find(ast.Call):
        node = call.func.value if isinstance(call.func, ast.Attribute) and not call.args else None
        name = scene.code(call.func)
        node = node or (call.args[0] if call.args else None)
        if name == "torch.tensor" and isinstance(node, ast.List | ast.Tuple):
            stacked = f"torch.stack({scene.code(node) or '[...]'})"
            how = say("stack-them", "Write `{code}` to make one tensor out of them.", code=stacked)
            return say("stack-list", "torch.tensor can't combine tensors."), Offer(call, stacked, how)
        tensor = scene.tensor_info(node)
        if node is not None and tensor is not None:
            sentence, code = scene.describe(node), operand(node, scene.code(node) or "x")
            use = name.removeprefix("math.") if name.startswith("math.") else ""
            zeros = ", ".join("0" for _ in tensor.shape)
            here = (
                say("torch-function", "For tensors, use `torch.{use}`.", use=use)
                if use in SAME
                else say("choose-cell", "Pick one element, as in `{cell}`.", cell=f"{code}[{zeros}]")
            )
            return say(
                "number-of-tensor",
                "{sentence}. Only a tensor with a single element can be converted to a number. {here}",
                sentence=sentence,
                here=here,
            )
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
    return say(
        "truth-of-tensor",
        "A condition needs a single True or False, but this is a whole tensor. Use `{code}.all()` or "
        "`{code}.any()`. To choose element by element, use torch.where, with `&` and `|` in place of "
        "`and` and `or`.",
        code=code,
    )


@rule(ValueError, r"(not enough|too many) values to unpack \(expected (?:at least )?(\d+)(?:, got (\d+))?")
def wrong_unpacking(scene: Scene, match: Match) -> Said | None:
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
        sizes = say(
            "unpack-sizes",
            "{sentence}, so its shape has {count} entries, but there are {wanted} names on the left.",
            sentence=sentence,
            count=count,
            wanted=wanted,
        )
        batch = say("batch-axis", "`{code}.unsqueeze(0)` adds a batch axis in front.", code=code)
        return sizes, batch if more else None
    if tensor := scene.tensor_info(node):
        rows = tensor.shape[0] if tensor.shape else 1
        return say(
            "unpack-tensor",
            "{code} is a single tensor ({size}), and unpacking it gives its {rows} rows.",
            code=scene.quote(node),
            size=size(tensor.shape),
            rows=rows,
        )
    given = match[3] or (len(value) if is_exactly(value, tuple, list) else None)
    if value is UNKNOWN and not given:
        return say(
            "too-many-values",
            "There are {wanted} names on the left of `=`, but more values on the right.",
            wanted=wanted,
        )
    return (
        say(
            "wrong-count-of-values",
            "There are {wanted} names on the left of `=`, but {given} values on the right.",
            wanted=wanted,
            given=given,
        )
        if given
        else None
    )

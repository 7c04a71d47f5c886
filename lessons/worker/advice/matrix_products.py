"""Matrix products whose sizes do not fit, and layers called with a wrong width."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from lessons.worker.advice.exception_rules import Match, always, rule
from lessons.worker.advice.safe_reading import Linear, parts, sized
from lessons.worker.advice.scene import Scene, operand, size
from lessons.worker.advice.shape_effects import PRODUCTS, Shape, is_torch, product

SWAPS = ("transpose", "t", "permute", "swapaxes")

Pair = tuple[ast.expr, ast.expr]


def factors(scene: Scene) -> list[tuple[ast.expr, ast.expr, Shape, Shape]]:
    """The products of the line that cannot be, by their two sides and the shapes of these."""
    pairs: list[Pair] = [(node.left, node.right) for node in scene.find(ast.BinOp) if isinstance(node.op, ast.MatMult)]
    pairs += [(node.target, node.value) for node in scene.find(ast.AugAssign) if isinstance(node.op, ast.MatMult)]
    for call in scene.find(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in PRODUCTS:
            given = call.args if is_torch(scene.value(call.func.value)) else [call.func.value, *call.args]
            pairs += [(given[0], given[1])] if len(given) == 2 else []
    found = [(left, right, scene.sized(left), scene.sized(right)) for left, right in pairs]
    return [
        (left, right, one.shape, other.shape)
        for left, right, one, other in found
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
def sizes_of_product(scene: Scene, match: Match) -> str | None:
    """`a @ b` whose inner sizes, or the axes in front of these, do not agree."""
    if told := width_of_layer(scene):
        return told
    for left, right, one, other in factors(scene):
        if not one or not other:
            return f"{sentence(scene, left, right, one, other)}: `@` takes no single number, use `*` for that."
        inner, outer = one[-1], other[-2 if len(other) > 1 else 0]
        told = sentence(scene, left, right, one, other)
        if inner == outer:
            batches = f"{list(one[:-2])} and {list(other[:-2])}"
            return f"{told}: the axes in front of the last two, {batches}, must agree, or be 1."
        if told_weight := weight_of_layer(scene, left, right):
            return told_weight
        return f"{told}: the inner sizes, {inner} and {outer}, must agree. {remedy(scene, left, right)}"
    if match[0].startswith("batch"):
        return "torch.bmm takes two batches of matrices, 3 axes each; `@` takes any."
    numbers = [group for group in match.groups() if group]
    if len(numbers) == 2:
        return (
            f"In `a @ b`, a must have as many columns as b has rows; here these are {numbers[0]} and {numbers[1]}. "
            "Often one of the two has to be transposed (`.T`)."
        )
    return None


def sentence(scene: Scene, left: ast.expr, right: ast.expr, one: Shape, other: Shape) -> str:
    """What the two sides are."""
    first, second = scene.named(left, "The left side"), scene.named(right, "the right side")
    if first == second:
        return f"{first} is {size(one)} on both sides"
    return f"{first} is {size(one)} and {second} is {size(other)}"


def remedy(scene: Scene, left: ast.expr, right: ast.expr) -> str:
    """The product that would fit, if there is one of the same two tensors."""
    here, there = scene.sized(left), scene.sized(right)
    if here is None or there is None:
        return ""
    plain_left, plain_right = operand(left, scene.code(left)), operand(right, scene.code(right))
    tried = [(plain_left, here.shape, code, shape) for code, shape in turned(scene, right)]
    tried += [(code, shape, plain_right, there.shape) for code, shape in turned(scene, left)]
    if untransposed(left) is not left:
        tried += [(*next(turned(scene, left)), *form) for form in turned(scene, right)]
    tried.append((plain_right, there.shape, plain_left, here.shape))
    for first, one, second, other in tried:
        if product(one, other) is not None and first.strip("()") and second.strip("()"):
            return f"Did you mean `{first} @ {second}`?"
    return ""


def turned(scene: Scene, node: ast.expr) -> Iterator[tuple[str, Shape]]:
    """Other forms of one side: without the transposition that it has, or with one of its last two axes."""
    inner = untransposed(node)
    tensor, code = scene.sized(inner), operand(inner, scene.code(inner))
    if tensor is None or not scene.code(inner):
        return
    if inner is not node:
        yield code, tensor.shape
    if len(tensor.shape) >= 2:
        how = ".T" if len(tensor.shape) == 2 else ".transpose(-2, -1)"
        yield code + how, (*tensor.shape[:-2], tensor.shape[-1], tensor.shape[-2])


def untransposed(node: ast.expr) -> ast.expr:
    """What a transposition is one of; anything else as it is."""
    if isinstance(node, ast.Attribute) and node.attr in ("T", "mT"):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SWAPS:
        return node.func.value
    return node


def weight_of_layer(scene: Scene, left: ast.expr, right: ast.expr) -> str | None:
    """`x @ layer.weight`: a layer keeps its matrix the other way round."""
    base = right.value if isinstance(right, ast.Attribute) and right.attr in ("weight", "T", "data") else None
    layer = scene.value(base)
    given = scene.sized(left)
    if type(layer) is not Linear or base is None or given is None:
        return None
    weight = sized(parts(layer).get("weight"))
    if weight is None or weight.shape[1] != given.shape[-1]:
        return None
    return (
        f"{scene.named(right)} is {size(weight.shape)}, out by in, as nn.Linear keeps it. "
        f"Call the layer: `{scene.code(base)}({scene.code(left) or '...'})`."
    )


def width_of_layer(scene: Scene) -> str | None:
    """A layer called with a tensor whose last axis has another size than it takes."""
    for call in scene.find(ast.Call):
        layer = scene.value(call.func)
        weight = sized(parts(layer).get("weight")) if type(layer) is Linear else None
        given = scene.sized(call.args[0]) if call.args else None
        if weight is None:
            continue
        took = f"{scene.named(call.func, 'the layer')} takes {weight.shape[1]}"
        if given is None:
            return f"The last axis of its input has another size: {took} numbers for each token (in_features)."
        if given.shape and given.shape[-1] != weight.shape[1]:
            return (
                f"{scene.named(call.args[0], 'Its input')} is {size(given.shape)}, so its last axis has "
                f"{given.shape[-1]} numbers, but {took} (in_features={weight.shape[1]})."
            )
    return None


@rule(RuntimeError, r"1D tensors expected, but got")
def dot(scene: Scene, match: Match) -> str | None:
    """`torch.dot` of matrices."""
    for call in scene.find(ast.Call):
        given = [*call.args]
        if isinstance(call.func, ast.Attribute) and scene.sized(call.func.value) is not None:
            given.insert(0, call.func.value)
        told = [scene.describe(node) for node in given]
        if len(told) == 2 and None not in told:
            return (
                f"torch.dot multiplies two vectors, but {told[0]} and {told[1]}. "
                f"{remedy_of_dot(scene, given[0], given[1])}"
            )
    return "torch.dot multiplies two vectors; for matrices there is `@`."


def remedy_of_dot(scene: Scene, left: ast.expr, right: ast.expr) -> str:
    """What to write in place of `torch.dot`."""
    one, other = scene.sized(left), scene.sized(right)
    fits = one is not None and other is not None and product(one.shape, other.shape) is not None
    first, second = operand(left, scene.code(left)), operand(right, scene.code(right))
    if fits and scene.code(left) and scene.code(right):
        return f"Did you mean `{first} @ {second}`?"
    return remedy(scene, left, right) or "For matrices there is `@`."


@rule(RuntimeError, r"subscript (\w) has size (\d+) for operand (\d+) which does not broadcast")
def einsum_sizes(scene: Scene, match: Match) -> str | None:
    """A letter of einsum that stands for two sizes."""
    letter, place = match[1], int(match[3])
    for call, terms in einsums(scene):
        first = next((number for number, term in enumerate(terms) if letter in term), None)
        if first is None or place >= len(terms):
            continue
        told = [scene.describe(call.args[number + 1]) for number in (first, place)]
        if None in told:
            continue
        return f"{told[0]} and {told[1]}: the letter {letter} stands for an axis of both, whose sizes must agree."
    return f"The letter {letter} stands for two different sizes: the same letter needs axes of the same size."


@rule(RuntimeError, r"number of subscripts in the equation \((\d+)\) does not match .* \((\d+)\) for operand (\d+)")
def einsum_letters(scene: Scene, match: Match) -> str | None:
    """Too many or too few letters for an operand of einsum."""
    for call, _ in einsums(scene):
        node = call.args[int(match[3]) + 1]
        if told := scene.describe(node):
            return f"{told}: it has {match[2]} axes and needs {match[2]} letters, but the equation gives it {match[1]}."
    return f"Every axis needs a letter: here {match[2]}, but the equation gives {match[1]}."


def einsums(scene: Scene) -> Iterator[tuple[ast.Call, list[str]]]:
    """The calls of einsum, with the letters of their operands."""
    for call in scene.find(ast.Call):
        equation = scene.value(call.args[0]) if call.args else None
        if type(equation) is str and "," in equation:
            terms = equation.replace(" ", "").partition("->")[0].split(",")
            if len(terms) == len(call.args) - 1:
                yield call, terms


always(
    RuntimeError, {r"^(?:self|mat2|input) must be a matrix": "torch.mm takes two matrices; for batches there is `@`."}
)

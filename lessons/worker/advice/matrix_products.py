"""Advice on matrix products whose sizes do not fit, and on layers called with a wrong width."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.exception_rules import Match, fixed_advice, rule
from attn_tutor.lessons.worker.advice.offers import GAP, Offer, Said, did_you_mean
from attn_tutor.lessons.worker.advice.safe_reading import Linear, attributes, tensor_info
from attn_tutor.lessons.worker.advice.scene import Scene, operand, size
from attn_tutor.lessons.worker.advice.shape_effects import PRODUCTS, Shape, is_torch, product

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

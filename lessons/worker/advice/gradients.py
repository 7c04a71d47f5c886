"""Gradients: what must not be changed in place, what has none, and what can be asked for only once."""

from __future__ import annotations

import ast

from lessons.worker.advice.exception_rules import Match, always, rule
from lessons.worker.advice.scene import Scene, operand, size


@rule(RuntimeError, r"leaf Variable that requires grad is being used in an in-place operation")
def leaf(scene: Scene, match: Match) -> str | None:
    """A parameter that is filled while its gradient is recorded."""
    changed = scene.named(target(scene), "It")
    return (
        f"{changed} learns by gradients, so it may be changed in place only inside `with torch.no_grad():`. "
        "Put the line in such a block."
    )


def target(scene: Scene) -> ast.expr | None:
    """What the line changes in place."""
    for call in scene.find(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr.endswith("_"):
            return call.func.value
        return call.args[0] if call.args else None
    statement = scene.statement
    node: ast.expr | None = None
    if isinstance(statement, ast.AugAssign):
        node = statement.target
    elif isinstance(statement, ast.Assign):
        node = statement.targets[0]
    while isinstance(node, ast.Subscript):
        node = node.value
    return node


@rule(RuntimeError, r"modified by an inplace operation")
def changed_in_place(scene: Scene, match: Match) -> str | None:
    """A tensor that the way back needs was written into; say where, if the file has one such line only."""
    places = [node for node in scene.every(ast.AugAssign, ast.Call, ast.Assign) if writes(node)]
    at = f" Line {places[0].lineno} does that." if len(places) == 1 else ""
    return (
        "The way back needs a tensor as it was, but it has since been changed in place: by `+=`, `x[...] = ...` or a "
        f"method whose name ends in `_`.{at} Make a new tensor instead, as in `x = x + 1`."
    )


def writes(node: ast.AST) -> bool:
    """Whether this changes a tensor in place."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return name.endswith("_") and not name.startswith("_") and name not in ("requires_grad_", "zero_")
    return isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Assign) and any(isinstance(one, ast.Subscript) for one in node.targets)
    )


def base_of_call(scene: Scene) -> ast.expr | None:
    """`x` of `x.backward()`."""
    call = next(iter(scene.find(ast.Call)), None)
    return call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None


@rule(RuntimeError, r"element \d+ of tensors does not require grad")
def no_gradient(scene: Scene, match: Match) -> str | None:
    """`backward` of something that was made of plain tensors."""
    made = scene.named(base_of_call(scene), "this")
    return (
        f"Nothing that {made} was computed from needs a gradient: make a tensor with `requires_grad=True`, or as "
        "nn.Parameter, and compute outside of `torch.no_grad()`, without `.detach()` on the way."
    )


@rule(RuntimeError, r"grad can be implicitly created only for scalar outputs")
def not_scalar(scene: Scene, match: Match) -> str | None:
    """`backward` of more than one number."""
    base = base_of_call(scene)
    tensor, code = scene.sized(base), operand(base, scene.code(base) or "x") if base is not None else "x"
    told = f"{scene.named(base)} is {size(tensor.shape)}. " if tensor is not None else ""
    return f"{told}`backward` starts at a single number: write `{code}.sum().backward()`, or `.mean()`."


@rule(RuntimeError, r"Can't call numpy\(\) on Tensor that requires grad")
def numpy(scene: Scene, match: Match) -> str | None:
    """NumPy knows no gradients."""
    base = base_of_call(scene)
    code = operand(base, scene.code(base) or "x") if base is not None else "x"
    return f"NumPy knows no gradients: `{code}.detach().numpy()` gives the numbers alone."


always(
    RuntimeError,
    {
        r"Trying to backward through the graph a second time": (
            "One `backward()` uses up what the computation has kept: compute the result again before the next, or, "
            "if both are meant, say `backward(retain_graph=True)` in the first."
        ),
        r"you can only change requires_grad flags of leaf variables": (
            "Only a tensor that was not computed from others can be told so: use `.detach()` first."
        ),
        r"Only Tensors created explicitly by the user .* support the deepcopy": "Use `.detach().clone()`.",
    },
)

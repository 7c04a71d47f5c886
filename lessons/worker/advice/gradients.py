"""Advice on gradients: in-place changes, tensors without a gradient, and a second backward pass."""

from __future__ import annotations

import ast

from lessons.texts.wording import Wording
from lessons.worker.advice.exception_rules import Match, fixed_advice, rule
from lessons.worker.advice.scene import Scene, operand, size

say = Wording("advice/gradients")


@rule(RuntimeError, r"leaf Variable that requires grad is being used in an in-place operation")
def leaf_in_place(scene: Scene, match: Match) -> str | None:
    """Explain a parameter that is changed in place while its gradient is recorded."""
    changed = scene.quote(changed_expression(scene), say("it", "It"))
    return say(
        "learns-gradients-so",
        "{changed} learns by gradients, so it may be changed in place only inside `with "
        "torch.no_grad():`. Put the line in such a block.",
        changed=changed,
    )


def changed_expression(scene: Scene) -> ast.expr | None:
    """Return the expression that the line changes in place, or None."""
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
    """Explain an in-place change of a tensor that the backward pass needs; name the line if only one does it."""
    writers = [node for node in scene.nodes(ast.AugAssign, ast.Call, ast.Assign) if changes_in_place(node)]
    at = say("line-does", " Line {line} does that.", line=writers[0].lineno) if len(writers) == 1 else ""
    return say(
        "way-back-needs",
        "The way back needs a tensor as it was, but it has since been changed in place: by `+=`, "
        "`x[...] = ...` or a method whose name ends in `_`.{at} Make a new tensor instead, as in "
        "`x = x + 1`.",
        at=at,
    )


def changes_in_place(node: ast.AST) -> bool:
    """Return whether a piece of code changes a tensor in place."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return name.endswith("_") and not name.startswith("_") and name not in ("requires_grad_", "zero_")
    return isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Assign) and any(isinstance(one, ast.Subscript) for one in node.targets)
    )


def base_of_call(scene: Scene) -> ast.expr | None:
    """Return `x` of the call `x.backward()`, or None."""
    call = next(iter(scene.find(ast.Call)), None)
    return call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None


@rule(RuntimeError, r"element \d+ of tensors does not require grad")
def no_gradient(scene: Scene, match: Match) -> str | None:
    """Explain `backward` of a tensor that was computed from plain tensors only."""
    result = scene.quote(base_of_call(scene), say("this", "this"))
    return say(
        "nothing-computed-from",
        "Nothing that {result} was computed from needs a gradient: make a tensor with "
        "`requires_grad=True`, or as nn.Parameter, and compute outside of `torch.no_grad()`, "
        "without `.detach()` on the way.",
        result=result,
    )


@rule(RuntimeError, r"grad can be implicitly created only for scalar outputs")
def not_scalar(scene: Scene, match: Match) -> str | None:
    """Explain `backward` of more than one number."""
    base = base_of_call(scene)
    tensor, code = scene.tensor_info(base), operand(base, scene.code(base) or "x") if base is not None else "x"
    sentence = (
        say("is", "{code} is {size}. ", code=scene.quote(base), size=size(tensor.shape)) if tensor is not None else ""
    )
    return say(
        "backward-starts-single",
        "{sentence}`backward` starts at a single number: write `{code}.sum().backward()`, or `.mean()`.",
        sentence=sentence,
        code=code,
    )


@rule(RuntimeError, r"Can't call numpy\(\) on Tensor that requires grad")
def numpy_of_gradient(scene: Scene, match: Match) -> str | None:
    """Explain `.numpy()` of a tensor that requires a gradient."""
    base = base_of_call(scene)
    code = operand(base, scene.code(base) or "x") if base is not None else "x"
    return say(
        "numpy-knows-no", "NumPy knows no gradients: `{code}.detach().numpy()` gives the numbers alone.", code=code
    )


fixed_advice(
    RuntimeError,
    {
        r"Trying to backward through the graph a second time": (
            lambda: say(
                "one-backward-uses",
                "One `backward()` uses up what the computation has kept: compute the result again before "
                "the next, or, if both are meant, say `backward(retain_graph=True)` in the first.",
            )
        ),
        r"you can only change requires_grad flags of leaf variables": (
            lambda: say(
                "only-tensor-not",
                "Only a tensor that was not computed from others can be told so: use `.detach()` first.",
            )
        ),
        r"Only Tensors created explicitly by the user .* support the deepcopy": lambda: say(
            "use-detach-clone", "Use `.detach().clone()`."
        ),
    },
)

"""Advice on gradients: in-place changes, tensors without a gradient, and a second backward pass."""

from __future__ import annotations

import ast

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.rules import Match, Offer, Said, fixed_advice, rule, try_out
from attn_tutor.lessons.worker.advice.scene import Scene, operand, size

say = Wording("advice/gradients")


@rule(RuntimeError, r"leaf Variable that requires grad is being used in an in-place operation")
def leaf_in_place(scene: Scene, match: Match) -> str | None:
    """Explain a parameter that is changed in place while its gradient is recorded."""
    changed = scene.quote(changed_expression(scene), say("it", "It"))
    return say(
        "changed-leaf",
        "{changed} requires a gradient, so you can change it in place only inside a `with torch.no_grad():` block.",
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
def changed_in_place(scene: Scene, match: Match) -> Said | None:
    """Explain an in-place change of a tensor that the backward pass needs; name the line if only one does it."""
    writers = [node for node in scene.nodes(ast.AugAssign, ast.Call, ast.Assign) if changes_in_place(node)]
    return (
        say(
            "changed-since",
            "The backward pass needs the old values of a tensor that has been changed in place since, by `+=`, "
            "`x[...] = ...`, or a method whose name ends in `_`.",
        ),
        say("changed-on-line", "Line {line} does that.", line=writers[0].lineno) if len(writers) == 1 else None,
        say("new-tensor", "Make a new tensor instead, as in `x = x + 1`."),
    )


def changes_in_place(node: ast.AST) -> bool:
    """Return whether a piece of code changes a tensor in place."""
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        return name.endswith("_") and not name.startswith("_") and name not in ("requires_grad_", "zero_")
    return isinstance(node, ast.AugAssign) or (
        isinstance(node, ast.Assign) and any(isinstance(one, ast.Subscript) for one in node.targets)
    )


def method_call(scene: Scene) -> tuple[ast.Call | None, ast.expr | None]:
    """Return the call `x.backward()`, and `x`; None for what there is not."""
    call = next(iter(scene.find(ast.Call)), None)
    return call, call.func.value if call is not None and isinstance(call.func, ast.Attribute) else None


@rule(RuntimeError, r"element \d+ of tensors does not require grad")
def no_gradient(scene: Scene, match: Match) -> str | None:
    """Explain `backward` of a tensor that was computed from plain tensors only."""
    result = scene.quote(method_call(scene)[1], say("this", "this"))
    return say(
        "no-gradient-needed",
        "Nothing that {result} was computed from requires a gradient. At least one tensor has to be an "
        "nn.Parameter or be created with `requires_grad=True`, and there must be no `torch.no_grad()` "
        "or `.detach()` in between.",
        result=result,
    )


@rule(RuntimeError, r"grad can be implicitly created only for scalar outputs")
def not_scalar(scene: Scene, match: Match) -> Said | None:
    """Explain `backward` of more than one number."""
    call, base = method_call(scene)
    tensor, code = scene.tensor_info(base), operand(base, scene.code(base) or "x") if base is not None else "x"
    summed = f"{code}.sum().backward()"
    return (
        say("is-size", "{code} is {size}.", code=scene.quote(base), size=size(tensor.shape)) if tensor else None,
        say("backward-of-tensor", "`backward` has to start from a single number."),
        Offer(call, summed, say("sum-first", "Write `{code}`, or take the `.mean()`.", code=summed)),
    )


@rule(RuntimeError, r"Can't call numpy\(\) on Tensor that requires grad")
def numpy_of_gradient(scene: Scene, match: Match) -> Said | None:
    """Explain `.numpy()` of a tensor that requires a gradient."""
    call, base = method_call(scene)
    code = operand(base, scene.code(base) or "x") if base is not None else "x"
    return say("numpy", "NumPy can't keep track of gradients."), try_out(call, f"{code}.detach().numpy()")


fixed_advice(
    RuntimeError,
    {
        r"Trying to backward through the graph a second time": (
            lambda: say(
                "backward-twice",
                "`backward()` frees what the computation had stored, so it can run only once. Compute the "
                "result again before the second call or, if you need both, use `backward(retain_graph=True)` in "
                "the first.",
            )
        ),
        r"you can only change requires_grad flags of leaf variables": (
            lambda: say(
                "requires-grad-of-result",
                "You can set `requires_grad` only on a tensor that wasn't computed from other tensors. Use "
                "`.detach()` first.",
            )
        ),
        r"Only Tensors created explicitly by the user .* support the deepcopy": lambda: say(
            "detach-clone", "Copy it with `.detach().clone()`."
        ),
    },
)

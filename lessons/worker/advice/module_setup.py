"""Advice on setting up modules: what is assigned to them, registered in them, and called on them."""

from __future__ import annotations

import ast

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.exception_rules import Match, rule
from attn_tutor.lessons.worker.advice.offers import Offer, Said, write
from attn_tutor.lessons.worker.advice.scene import Scene, nearest

say = Wording("advice/module-setup")


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?(?:as|to) parameter '(\w+)'")
def assigned_to_parameter(scene: Scene, match: Match) -> Said:
    """Explain a plain tensor that is assigned to a parameter."""
    target, value = assignment_code(scene, match[2])
    wrapped = f"{target} = nn.Parameter({value})"
    how = say(
        "replace-or-fill",
        "Write `{wrapped}`, or fill it in place with `{target}.copy_({value})` inside a `with torch.no_grad():` block.",
        wrapped=wrapped,
        target=target,
        value=value,
    )
    return (
        say("replace-parameter", "A parameter can be replaced only by another parameter."),
        Offer(scene.statement, wrapped, how),
    )


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?as child module '(\w+)'")
def assigned_to_layer(scene: Scene, match: Match) -> Said:
    """Explain a tensor that is assigned to a layer."""
    target, value = assignment_code(scene, match[2])
    return (
        say("assign-to-layer", "`{target}` is a layer, and its matrix is `{target}.weight`.", target=target),
        write(scene.statement, f"{target}.weight = nn.Parameter({value})"),
    )


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?(?:as|to) buffer '(\w+)'")
def assigned_to_buffer(scene: Scene, match: Match) -> Said:
    """Explain a value other than a tensor that is assigned to a buffer."""
    target, value = assignment_code(scene, match[2])
    made = f"{target} = torch.tensor({value})"
    how = say("tensor-or-name", "Write `{code}`, or give the value a different name.", code=made)
    return say("assign-to-buffer", "A buffer has to stay a tensor."), Offer(scene.statement, made, how)


def assignment_code(scene: Scene, name: str) -> tuple[str, str]:
    """Return the target and the value of the assignment on the line, as code."""
    statement = scene.statement
    if isinstance(statement, ast.Assign):
        return scene.code(statement.targets[0]) or name, scene.code(statement.value) or "..."
    return name, "..."


@rule(AttributeError, r"^cannot assign \w+ before Module\.__init__\(\) call")
@rule(AttributeError, r"^'(\w+)' object has no attribute '(?:_\w*hooks\w*|_parameters|_buffers|_modules|training)'")
def missing_super_init(scene: Scene, match: Match) -> str | None:
    """Explain a module whose `__init__` does not call `super().__init__()` first."""
    around = scene.enclosing(ast.ClassDef)
    if match.lastindex:
        around = next((node for node in scene.nodes(ast.ClassDef) if node.name == match[1]), None)
    if around is None:
        return say(
            "super-init-first",
            "`super().__init__()` has to come first in the `__init__` of the class, because it sets up the module.",
        )
    init_calls = [node for node in scene.nodes(ast.Attribute) if node.attr == "__init__"]
    inside = any(around in ancestors(scene, node) for node in init_calls)
    if inside:
        return say(
            "first-in",
            "`super().__init__()` has to come first in `{name}.__init__`, because it sets up the module.",
            name=around.name,
        )
    return say(
        "missing-in",
        "`{name}.__init__` has to start with `super().__init__()`, which sets up the module.",
        name=around.name,
    )


def ancestors(scene: Scene, node: ast.AST) -> list[ast.AST]:
    """Return the nodes around a node, innermost first."""
    found: list[ast.AST] = []
    up = scene.parents.get(node)
    while up is not None:
        found.append(up)
        up = scene.parents.get(up)
    return found


@rule(KeyError, r"attribute '(\w+)' already exists")
def registered_twice(scene: Scene, match: Match) -> str | None:
    """Explain `register_buffer` with a name that is already in use."""
    around = scene.enclosing(ast.ClassDef)
    for node in ast.walk(around) if around is not None else ():
        if isinstance(node, ast.Assign) and any(scene.code(one) == f"self.{match[1]}" for one in node.targets):
            return say(
                "set-already",
                "Line {line} already sets `self.{name}`. Leave that out, because `register_buffer` creates the "
                "attribute.",
                line=node.lineno,
                name=match[1],
            )
    return say(
        "name-taken",
        "The module already has a `{name}`. Register it only once, or choose a different name.",
        name=match[1],
    )


@rule(NotImplementedError, r'^Module \[(\w+)\] is missing the required "forward" function')
def missing_forward(scene: Scene, match: Match) -> str | None:
    """Explain a module whose `forward` is misspelled, nested too deeply, or outside of the class."""
    name = match[1]
    around = next((node for node in scene.nodes(ast.ClassDef) if node.name == name), None)
    forward = next((node for node in scene.nodes(ast.FunctionDef) if node.name == "forward"), None)
    if forward is not None and around is not None:
        holders = ancestors(scene, forward)
        if isinstance(holders[0], ast.FunctionDef) and around in holders:
            return say(
                "forward-inside",
                "`forward` (line {line}) is inside `{name}`. Indent both of them by the same amount.",
                line=forward.lineno,
                name=holders[0].name,
            )
        if around not in holders and not any(isinstance(one, ast.ClassDef) for one in holders):
            return say(
                "forward-outside",
                "`forward` (line {line}) is outside the class. Indent it so that it belongs to the class.",
                line=forward.lineno,
            )
    if around is None:
        if name in ("ModuleList", "ModuleDict"):
            return say(
                "container-called",
                "An nn.{name} only stores layers. Call each of them yourself, as in `[layer(x) for layer in layers]`.",
                name=name,
            )
        return None
    defined = [node.name for node in around.body if isinstance(node, ast.FunctionDef)]
    if "forward" in defined:
        return say("super-forward", "nn.Module itself has no `forward`, so leave out `super().forward(...)`.")
    if near := nearest("forward", defined):
        return say(
            "misspelled-forward", "The class defines `{near}`, but the method has to be called `forward`.", near=near
        )
    return say(
        "give-forward",
        "`{name}` needs a method `forward`, which runs when you call the module. It starts with `def "
        "forward(self, x):` and is indented as a part of the class.",
        name=name,
    )


@rule(TypeError, r"^([\w.]+) is not a Module subclass", r"should be called with an iterable, but got (\w+)")
def not_modules(scene: Scene, match: Match) -> str | None:
    """Explain an `nn.ModuleList` of objects that are not modules."""
    if match[1].endswith("Tensor"):
        return say("parameter-list", "The container takes layers, not tensors. For parameters, use nn.ParameterList.")
    return say(
        "module-list",
        "The container takes a list of layers, as in `nn.ModuleList([nn.Linear(3, 2) for _ in range(2)])`.",
    )

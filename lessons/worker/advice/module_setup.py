"""Advice on setting up modules: what is assigned to them, registered in them, and called on them."""

from __future__ import annotations

import ast

from lessons.texts.wording import Wording
from lessons.worker.advice.exception_rules import Match, rule
from lessons.worker.advice.scene import Scene, nearest

say = Wording("advice/module-setup")


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?(?:as|to) parameter '(\w+)'")
def assigned_to_parameter(scene: Scene, match: Match) -> str | None:
    """Explain a plain tensor that is assigned to a parameter."""
    target, value = assignment_code(scene, match[2])
    return say(
        "parameter-replaced-parameter",
        "A parameter is replaced by a parameter, `{target} = nn.Parameter({value})`, or filled "
        "in place, `{target}.copy_({value})`, inside `with torch.no_grad():`.",
        target=target,
        value=value,
    )


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?as child module '(\w+)'")
def assigned_to_layer(scene: Scene, match: Match) -> str | None:
    """Explain a tensor that is assigned to a layer."""
    target, value = assignment_code(scene, match[2])
    return say(
        "layer-matrix-weight",
        "`{target}` is a layer; its matrix is `{target}.weight`: write `{target}.weight = nn.Parameter({value})`.",
        target=target,
        value=value,
    )


@rule(TypeError, r"^cannot assign '([\w.]+)' (?:object )?(?:as|to) buffer '(\w+)'")
def assigned_to_buffer(scene: Scene, match: Match) -> str | None:
    """Explain a value other than a tensor that is assigned to a buffer."""
    target, value = assignment_code(scene, match[2])
    return say(
        "buffer-must-stay",
        "A buffer must stay a tensor: `{target} = torch.tensor({value})`, or give the value another name.",
        target=target,
        value=value,
    )


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
            "super-init-must",
            "`super().__init__()` must come first in the `__init__` of the class: it sets the module up.",
        )
    init_calls = [node for node in scene.nodes(ast.Attribute) if node.attr == "__init__"]
    inside = any(around in ancestors(scene, node) for node in init_calls)
    where = (
        say("must-come-first", "must come first in") if inside else say("missing-start", "is missing at the start of")
    )
    return say(
        "super-init-init",
        "`super().__init__()` {where} `{name}.__init__`: it sets the module up.",
        where=where,
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
                "line-sets-self",
                "Line {line} sets `self.{name}` already: leave it out, register_buffer makes the name.",
                line=node.lineno,
                name=match[1],
            )
    return say(
        "module-already-register",
        "The module has a `{name}` already: register it once, or choose another name.",
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
                "forward-line-inside",
                "`forward` (line {line}) is inside `{name}`: indent both alike.",
                line=forward.lineno,
                name=holders[0].name,
            )
        if around not in holders and not any(isinstance(one, ast.ClassDef) for one in holders):
            return say(
                "forward-line-outside",
                "`forward` (line {line}) is outside of the class: indent it like `__init__`.",
                line=forward.lineno,
            )
    if around is None:
        if name in ("ModuleList", "ModuleDict"):
            return say(
                "nn-only-holds",
                "An nn.{name} only holds layers: call each of them, `[layer(x) for layer in layers]`.",
                name=name,
            )
        return None
    defined = [node.name for node in around.body if isinstance(node, ast.FunctionDef)]
    if "forward" in defined:
        return say("nn-module-itself", "nn.Module itself has no `forward`: leave out `super().forward(...)`.")
    if near := nearest("forward", defined):
        return say("class-defines-called", "The class defines `{near}`: it has to be called `forward`.", near=near)
    return say(
        "give-def-forward",
        "Give `{name}` a `def forward(self, x):`, indented like `__init__`: it runs when the module is called.",
        name=name,
    )


@rule(TypeError, r"^([\w.]+) is not a Module subclass", r"should be called with an iterable, but got (\w+)")
def not_modules(scene: Scene, match: Match) -> str | None:
    """Explain an `nn.ModuleList` of objects that are not modules."""
    if match[1].endswith("Tensor"):
        return say("holds-layers-not", "It holds layers, not tensors: for parameters there is nn.ParameterList.")
    return say(
        "takes-list-layers", "It takes a list of layers, as in `nn.ModuleList([nn.Linear(3, 2) for _ in range(2)])`."
    )

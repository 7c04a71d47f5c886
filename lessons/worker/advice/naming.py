"""Advice on names and attributes that do not exist: misspelled, not imported, or defined elsewhere."""

from __future__ import annotations

import ast
import builtins
import re
import sys
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.modules import no_module
from attn_tutor.lessons.worker.advice.rules import Match, Offer, Said, did_you_mean, rule, write
from attn_tutor.lessons.worker.advice.safe_reading import (
    TENSOR_NAMES,
    UNKNOWN,
    Module,
    attributes,
    class_members,
    fields,
    is_a,
    is_class,
    tensor_info,
    type_name,
)
from attn_tutor.lessons.worker.advice.scene import Scene, name_of, nearest, operand

say = Wording("advice/naming")

IMPORTS = {
    "torch": "import torch",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "math": "import math",
    "random": "import random",
    "Tensor": "from torch import Tensor",
    "itertools": "import itertools",
    "partial": "from functools import partial",
    "dataclass": "from dataclasses import dataclass",
    "deepcopy": "from copy import deepcopy",
    "copy": "import copy",
    "sys": "import sys",
    "time": "import time",
}
AVAILABLE_MODULES = (
    "torch",
    "math",
    "attention",
    "random",
    "typing",
    "dataclasses",
    "functools",
    "itertools",
    "collections",
    "copy",
)
TENSOR_SPELLINGS = {
    "len": "len({})",
    "length": "len({})",
    "dims": "{}.dim()",
    "append": "torch.cat([{}, ...])",
    "transposed": "{}.transpose(-2, -1)",
    "astype": "{}.to(dtype)",
    "copy": "{}.clone()",
    "t1": "{}.T",
}
SPELLINGS = {"true": "True", "false": "False", "null": "None", "none": "None", "inf": "torch.inf", "nan": "torch.nan"}

OF_MODULES = frozenset(dir(Module)) - frozenset(dir(object))
"""The names that only modules have."""

MOST_NAMES = 6
UNLIKELY = {"input", "id", "vars", "ord", "bin", "hash", "iter"}
"""Builtin functions that are rarely meant when a program misspells one of its own names."""

_loaded = sys.modules
_torch, _nn, _functional = dict(vars(torch)), dict(vars(nn)), dict(vars(functional))
_builtins = dict(vars(builtins))

Function = ast.FunctionDef | ast.AsyncFunctionDef


# Names ---------------------------------------------------------------------------------------------------------------


@rule(UnboundLocalError, r"local variable '(\w+)'")
def unbound_local(scene: Scene, match: Match) -> str | None:
    """Explain a name that is assigned in the function, but not before the line."""
    name, around = match[1], scene.enclosing(ast.FunctionDef)
    if around is None or scene.line is None:
        return None
    lines = sorted(
        node.lineno
        for node in ast.walk(around)
        if isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
    )
    outside = any(name in names for names in list(scene.scopes())[1:2])
    if lines and lines[0] >= scene.line:
        give = (
            say("give-or-pass-value", "Give it a value before this line, or pass it as an argument.")
            if outside
            else say("give-value", "Give it a value before this line.")
        )
        return say(
            "assigned-later",
            "Line {value} assigns to `{name}`, which makes it a local name of this function, and it has no "
            "value yet. {give}",
            value=lines[0],
            name=name,
            give=give,
        )
    if lines:
        return say(
            "not-run",
            "`{name}` gets its value on line {value}, but that line didn't run this time, because of an `if` or an "
            "empty loop.",
            name=name,
            value=lines[0],
        )
    return None


@rule(NameError, r"cannot access free variable '(\w+)'")
def free_variable(scene: Scene, match: Match) -> str | None:
    """Explain a name of the enclosing function that has no value yet."""
    return say(
        "enclosing-later",
        "The function around it gives `{name}` a value only later. Move that line up.",
        name=match[1],
    )


@rule(NameError, r"^name '(\w+)' is not defined")
def undefined_name(scene: Scene, match: Match) -> Said | None:
    """Explain a name that is not defined where it is used."""
    name = match[1]
    if scene.frame is None:
        return None
    node = next((node for node in scene.find(ast.Name) if node.id == name), None)
    me = next((names["self"] for names in scene.scopes() if "self" in names), None)
    own = attributes(me) if me is not None else {}
    if name == "self":
        return say(
            "self",
            "`self` exists only in methods that list it. Make it the first parameter, as in `def forward(self, x):`.",
        )
    if name in own or (me is not None and defines(me, name)):
        return Offer(node, f"self.{name}", say("inside-method", "Inside a method, write `self.{name}`.", name=name))
    if name in IMPORTS:
        return say("add-import", "Add the line `{value}` at the top.", value=IMPORTS[name])
    if compared_for_assigned(scene, name):
        return say("compares", "`==` compares two values. To give `{name}` a value, use a single `=`.", name=name)
    if said := defined_elsewhere(scene, name) or library_name(node, name):
        return said
    *own_scopes, python = scene.scopes()
    near = SPELLINGS.get(name) or nearest(name, [one for names in own_scopes for one in names])
    near = near or nearest(name, set(python) - UNLIKELY, 0.8)
    if near is None and (inside := nearest(name, own)):
        near = f"self.{inside}"
    return did_you_mean(node, near) if near else known_names(scene, name)


def compared_for_assigned(scene: Scene, name: str) -> bool:
    """Return whether the line is `name == value`, which would give the name a value with one `=`."""
    match scene.statement:
        case ast.Expr(value=ast.Compare(left=ast.Name(id=compared), ops=[ast.Eq()])):
            return compared == name
    return False


def known_names(scene: Scene, name: str) -> str:
    """Say that a name has no value, and which names of the function have one."""
    local = next(scene.scopes(), {}) if scene.enclosing(ast.FunctionDef) is not None else {}
    held = [f"`{one}`" for one in local if type(one) is str and one.isidentifier() and one != "self"]
    told = say("no-value", "`{name}` has no value here.", name=name)
    if not held:
        return told
    return told + " " + say("known", "The names that have one are {listed}.", listed=", ".join(held[:MOST_NAMES]))


def defines(value: object, name: str) -> bool:
    """Return whether a class of the program (not torch's own) defines a name for its objects."""
    library = {key for key, _ in class_members(Module)}
    return name not in library and any(key == name for key, _ in class_members(type(value)))


def library_name(node: ast.expr | None, name: str) -> str | Offer | None:
    """Explain names of NumPy, of the classes of this course, and of torch that are not imported."""
    if name in ("plt", "pd"):
        return say("library-missing", "That library is not available here.")
    if name in ("np", "numpy"):
        return say(
            "no-numpy",
            "NumPy is not available here. PyTorch has similar functions in `torch`, such as `torch.tensor` and "
            "`torch.exp`.",
        )
    for path, module in list(_loaded.items()):
        if path.startswith("attention.") and type(module) is ModuleType and is_class(fields(module).get(name)):
            return say(
                "add-import-of-class", "Add the line `from {path} import {name}` at the top.", path=path, name=name
            )
    for prefix, names in (("nn.", _nn), ("torch.", _torch), ("F.", _functional)):
        if name in names and name not in _builtins and not name.startswith("_") and is_public(names[name]):
            code = prefix + name
            if line := IMPORTS.get(prefix.removesuffix(".")) if prefix != "torch." else None:
                meant = say("did-mean-with", "Did you mean `{name}` (with `{line}`)?", name=code, line=line)
                return Offer(node, code, meant)
            return did_you_mean(node, code)
    return None


def is_public(value: object) -> bool:
    """Return whether a value is a function or class, rather than a module that a library has imported."""
    return type(value) is not ModuleType and (callable(value))


def defined_elsewhere(scene: Scene, name: str) -> str | None:
    """Explain a name that is defined later, or inside a different function."""
    for node in scene.nodes(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
        if node.name == name and isinstance(scene.parents.get(node), ast.Module):
            return say(
                "defined-later",
                "`{name}` is defined on line {line}, but this line runs before that. Move the definition up.",
                name=name,
                line=node.lineno,
            )
        if node.name == name and isinstance(scene.parents.get(node), ast.ClassDef):
            return say(
                "is-method",
                "`{name}` (line {line}) is a method, so call it on an object, as in `self.{name}(...)`.",
                name=name,
                line=node.lineno,
            )
    for node in scene.nodes(ast.Name):
        if node.id != name or not isinstance(node.ctx, ast.Store):
            continue
        holder = scene.parents.get(node)
        while holder is not None and not isinstance(holder, Function | ast.Module | ast.ClassDef | ast.Lambda):
            holder = scene.parents.get(holder)
        if isinstance(holder, Function) and holder is not scene.enclosing(ast.FunctionDef):
            if holder.name == "__init__" and scene.parents.get(holder) is scene.enclosing(ast.ClassDef):
                return say(
                    "keep-as-self",
                    "`{name}` from line {line} exists only inside `__init__`. Store it as `self.{name}` there, and use "
                    "that name here.",
                    name=name,
                    line=node.lineno,
                )
            return say(
                "local-of-function",
                "`{name}` from line {line} exists only inside `{name2}`. Return it from there, or create it here.",
                name=name,
                line=node.lineno,
                name2=holder.name,
            )
        if isinstance(holder, ast.Module) and scene.line is not None and node.lineno > scene.line:
            return say(
                "value-later",
                "`{name}` gets its value only on line {line}. Move that line up.",
                name=name,
                line=node.lineno,
            )
    return None


# Attributes ----------------------------------------------------------------------------------------------------------


@rule(AttributeError, r"^module '([\w.]+)' has no attribute '(\w+)'")
def attribute_of_module(scene: Scene, match: Match) -> Said | None:
    """Explain a function that a module does not have; name the module of torch that has it."""
    name = match[2]
    module = _loaded.get(match[1])
    names = fields(module)
    node = next(iter(scene.find(ast.Attribute)), None)
    shown = (node and scene.code(node.value)) or match[1]
    same = next((one for one in names if type(one) is str and one.lower() == name.lower()), None)
    # A function takes tensors, and the layer of its name takes sizes.
    call = next((call for call in scene.nodes(ast.Call) if scene.node is not None and call.func is scene.node), None)
    on_tensor = call is not None and bool(call.args) and scene.tensor_info(call.args[0]) is not None
    libraries = (("torch", _torch), ("torch.nn", _nn), ("torch.nn.functional", _functional))
    elsewhere = [
        f"{prefix.replace('torch.nn', 'nn')}.{name}"
        for prefix, held in libraries
        if prefix != match[1] and match[1].startswith("torch") and name in held and is_public(held[name])
    ]
    if same and not on_tensor:
        return did_you_mean(node, f"{shown}.{same}", *elsewhere)
    if elsewhere:
        return elsewhere_as(node, elsewhere[0])
    near = same or nearest(name, names)
    return did_you_mean(node, f"{shown}.{near}") if near else None


def elsewhere_as(node: ast.AST | None, code: str) -> Offer:
    """Propose code that takes something from where it is."""
    return Offer(node, code, say("other-place", "It is in a different place: `{code}`.", code=code))


@rule(AttributeError, r"^(?:'[\w.]+'|type) object '?(?:\w+)?'? ?has no attribute '(\w+)'")
def attribute_of_object(scene: Scene, match: Match) -> Said | None:
    """Explain an attribute that is misspelled, or never set."""
    name = match[1]
    if name in OF_MODULES and (kind := re.match(r"^'(\w+)'", scene.text)) and (told := no_module(scene, kind[1])):
        return told
    for node in scene.find(ast.Attribute):
        value, code = scene.value(node.value), scene.code(node.value)
        bare = operand(node.value, code)
        if value is UNKNOWN or not code:
            continue
        if tensor_info(value) is not None:
            if name in TENSOR_SPELLINGS:
                return did_you_mean(node, TENSOR_SPELLINGS[name].format(bare))
            near = nearest(name, TENSOR_NAMES, 0.6)
            return did_you_mean(node, f"{bare}.{near}") if near else None
        near = nearest(name, attribute_names(value))
        if near:
            return did_you_mean(node, f"{bare}.{near}")
        if type(value) is FunctionType:
            return say("function-not-called", "`{code}` is a function. Call it first, with `{code}(...)`.", code=code)
        return attribute_never_set(scene, value, code, name)
    return None


def attribute_names(value: object) -> list[str]:
    """Return the names that can follow a value and a dot."""
    own: list[Any] = list(attributes(value))
    kind: Any = value if is_class(value) else type(value)
    return [name for name in [*own, *(key for key, _ in class_members(kind))] if type(name) is str]


def attribute_never_set(scene: Scene, value: object, code: str, name: str) -> str | None:
    """Explain an attribute of an object of the program's own class that no line sets."""
    if code == "self" and any(node.name == type_name(value) for node in scene.nodes(ast.ClassDef)):
        local = [
            node
            for node in scene.nodes(ast.Name)
            if node.id == name and isinstance(node.ctx, ast.Store) and is_in_init(scene, node)
        ]
        if local:
            return say(
                "set-without-self",
                "Line {line} sets `{name}`, but not `self.{name}`. Write `self.{name} = ...` there.",
                line=local[0].lineno,
                name=name,
            )
        return say("never-set", "Nothing has set `self.{name}` yet. Set it in `__init__`.", name=name)
    held = [
        f"`{key}`" for key in attributes(value) if type(key) is str and not key.startswith("_") and key != "training"
    ]
    return (
        say("it-has", "What it does have is {listed}.", listed=", ".join(held[:MOST_NAMES]))
        if is_a(value, Module) and held
        else None
    )


def is_in_init(scene: Scene, node: ast.AST) -> bool:
    """Return whether a node is inside a constructor."""
    up = scene.parents.get(node)
    while up is not None and not isinstance(up, Function):
        up = scene.parents.get(up)
    return isinstance(up, Function) and up.name == "__init__"


# Imports -------------------------------------------------------------------------------------------------------------


@rule(ImportError, r"^cannot import name '(\w+)' from '([\w.]+)'")
def no_such_import(scene: Scene, match: Match) -> Said | None:
    """Explain an imported name that the module does not have."""
    name, path = match.groups()
    for other, module in list(_loaded.items()):
        if other.startswith("attention.") and other != path and is_class(fields(module).get(name)):
            where = say("import-from", "It is in `{other}`.", other=other)
            return where, write(scene.statement, import_of(other, name))
    for prefix, held in (("torch", _torch), ("torch.nn", _nn), ("torch.nn.functional", _functional)):
        if prefix != path and path.startswith("torch") and name in held and is_public(held[name]):
            return elsewhere_as(scene.statement, import_of(prefix, name))
    near = nearest(name, fields(_loaded.get(path)), 0.6)
    return did_you_mean(scene.statement, import_of(path, near)) if near else None


def import_of(path: str, name: str) -> str:
    """Return the line that imports a name from a module."""
    return ast.unparse(ast.ImportFrom(path, [ast.alias(name)], 0))


@rule(ModuleNotFoundError, r"^No module named '([\w.]+)'")
def no_such_module(scene: Scene, match: Match) -> Said | None:
    """Explain an imported module that is misspelled or not installed."""
    name = match[1]
    if name.split(".")[0] in ("numpy", "matplotlib", "pandas", "tiktoken", "transformers", "sklearn", "tensorflow"):
        return say(
            "no-library",
            "That library is not available here. You can import `torch`, `attention`, and Python's own modules.",
        )
    first, _, rest = name.partition(".")
    known = [path for path in list(_loaded) if path.startswith(f"{first}.")] if rest else AVAILABLE_MODULES
    near = nearest(name, known, 0.75)
    imported = scene.statement.names if isinstance(scene.statement, ast.Import) else ()
    misspelled = next((name_of(node, node.name) for node in imported if node.name == name), None)
    return did_you_mean(misspelled, near) if near else None

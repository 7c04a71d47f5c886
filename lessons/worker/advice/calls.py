"""Advice on calls whose arguments do not fit the function, or which `from torch import *` leads to another function."""

from __future__ import annotations

import ast
import inspect
import math
from types import FunctionType
from typing import Any

import torch
from torch import nn
from torch.nn import functional

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.rules import Match, Said, did_you_mean, rule
from attn_tutor.lessons.worker.advice.safe_reading import UNKNOWN, Module, function_of, is_class
from attn_tutor.lessons.worker.advice.scene import BUILTINS, Scene, name_of, nearest

say = Wording("advice/star-imports")

# As they were before any learner's code ran, which may change them.
_STAR_NAMES = {module.__name__: dict(vars(module)) for module in (torch, nn, functional, math)}


@rule(TypeError, r"^\w+\(\)", r" object is not callable$")
def builtin_replaced(scene: Scene, match: Match) -> Said | None:
    """Explain a call of `range` or `sum` that reaches a function of PyTorch instead of Python's own."""
    called = [call.func.id for call in scene.find(ast.Call) if isinstance(call.func, ast.Name)]
    found = (name_replaced(scene, name, own=False) for name in called if name in BUILTINS)
    return next(filter(None, found), None)


def name_replaced(scene: Scene, name: str, *, own: bool) -> tuple[str, str] | None:
    """Say which line put something else in place of what a name meant; None if no line did.

    `own` says whether the name meant something of the program, rather than of Python.
    """
    value = scene.name(name)
    for node in scene.nodes(ast.ImportFrom):
        held = _STAR_NAMES.get(node.module or "", {}).get(name, UNKNOWN)
        if node.names[0].name == "*" and held is not UNKNOWN and held is value:
            if own:
                what = say("yours-replaced", "Line {line} replaces your `{name}`.", line=node.lineno, name=name)
            else:
                what = say(
                    "python-replaced", "Line {line} replaces Python's own `{name}`.", line=node.lineno, name=name
                )
            by_name = say(
                "import-by-name",
                "`from {module} import *` brings in a different one, so import what you need by name instead.",
                module=node.module,
            )
            return what, by_name
    return None


LONGEST = 100
INIT = ("init", "int", "intit", "inti", "initi", "initialize")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@rule(
    TypeError,
    r"^([\w.<>]+)\(\) missing \d+ required (?:positional|keyword-only) arguments?: (.*)",
    r"^([\w.<>]+)\(\) takes .* positional arguments? but .* given",
    r"^([\w.<>]+)\(\) got an unexpected keyword argument '(\w+)'",
    r"^([\w.<>]+)\(\) got multiple values for argument '(\w+)'",
)
def wrong_arguments(scene: Scene, match: Match) -> Said | None:
    """Say what a function takes that was called with too many, too few, or unknown arguments."""
    defined = find_definition(scene, match[1])
    call = next(iter(scene.find(ast.Call)), None)
    if defined is not None:
        if sentence := name_replaced(scene, match[1], own=True) or without_self(scene, defined):
            return sentence
        taken = [one.arg for one in [*defined.args.posonlyargs, *defined.args.args, *defined.args.kwonlyargs]]
        written = ast.unparse(defined.args)
        where = say(
            "defined-as",
            "Line {line} defines it as `{name}({written})`.",
            line=defined.lineno,
            name=defined.name,
            written=written,
        )
    else:
        if sentence := misspelled_init(scene, match[1]):
            return sentence
        function = function_of(scene.value(call.func)) if call is not None else None
        if function is None or function.__name__ != match[1].rpartition(".")[2]:
            return None
        taken, written = signature(function)
        if match.lastindex == 2 and match[2] == "axis" and "dim" in taken:
            return say("dim", "PyTorch calls this argument `dim`.")
        code = scene.code(call.func) if call is not None else ""
        where = say(
            "called-as", "You call it like this: `{value}({written})`.", value=code or match[1], written=written
        )
    if call is not None and (sentence := method_on_class(scene, call, match[0])):
        return sentence
    if "unexpected keyword" in match[0] and (near := nearest(match[2], taken, 0.6)):
        given = call.keywords if call is not None else ()
        misspelled = next((name_of(word, match[2]) for word in given if word.arg == match[2]), None)
        return did_you_mean(misspelled, near)
    if len(where) > LONGEST:
        return None
    if defined is None or not taken or taken[0] != "self":
        return where
    if not taken[1:]:
        return where, say("call-gives-nothing", "Python passes `self` on its own, so a call passes nothing.")
    listed = ", ".join(taken[1:])
    return where, say("call-gives", "Python passes `self` on its own, so a call passes `{listed}`.", listed=listed)


def find_definition(scene: Scene, name: str) -> Function | None:
    """Find the function in the program that has a qualified name such as `Head.forward`, or None."""
    *holders, last = [part for part in name.split(".") if part != "<locals>"]
    for node in scene.nodes(ast.FunctionDef, ast.AsyncFunctionDef):
        parent = scene.parents.get(node)
        inside = isinstance(parent, ast.ClassDef) and bool(holders) and parent.name == holders[-1]
        if node.name == last and (inside or not isinstance(parent, ast.ClassDef)):
            found: Function = node
            return found
    return None


def misspelled_init(scene: Scene, name: str) -> str | None:
    """Explain arguments that no `__init__` takes since it is misspelled; None if that is not the mistake."""
    holder, _, method = name.rpartition(".")
    for node in scene.nodes(ast.FunctionDef):
        parent = scene.parents.get(node)
        inside = isinstance(parent, ast.ClassDef) and parent.name == holder.rpartition(".")[2]
        if method == "__init__" and inside and node.name.strip("_") in INIT:
            return say(
                "init-underscores",
                "Line {line} defines `{name}`, but Python looks for `__init__`, with two underscores on each side.",
                line=node.lineno,
                name=node.name,
            )
    return None


def without_self(scene: Scene, defined: Function) -> str | None:
    """Explain a method whose first parameter is not the object; None if that is not the mistake."""
    given = [*defined.args.posonlyargs, *defined.args.args]
    if not isinstance(scene.parents.get(defined), ast.ClassDef) or defined.decorator_list or defined.args.vararg:
        return None
    if given and given[0].arg in ("self", "cls", "this", "s", "me"):
        return None
    rest = ast.unparse(defined.args)
    return say(
        "first-parameter",
        "A method gets the object itself as its first argument, so line {line} should be `def "
        "{name}(self{value}{rest}):`.",
        line=defined.lineno,
        name=defined.name,
        value=", " if rest else "",
        rest=rest,
    )


def method_on_class(scene: Scene, call: ast.Call, text: str) -> str | None:
    """Explain a method that was called on the class, without an object; None if that is not the mistake."""
    if "missing" not in text or not isinstance(call.func, ast.Attribute):
        return None
    if call.func.attr == "__init__" or not is_class(scene.value(call.func.value)):
        return None
    code = scene.code(call.func.value)
    lower = "layer" if is_module_class(scene.value(call.func.value)) else "thing"
    after = "" if call.func.attr == "forward" else f".{call.func.attr}"
    return say(
        "call-of-class",
        "`{code}` is the class. Make an object of it first, `{lower} = {code}(...)`, and then call "
        "`{lower}{after}(...)`.",
        code=code,
        lower=lower,
        after=after,
    )


def is_module_class(kind: Any) -> bool:
    """Return whether a class is derived from `nn.Module`."""
    return kind is not UNKNOWN and any(base is Module for base in type.__dict__["__mro__"].__get__(kind))


def signature(function: FunctionType) -> tuple[list[str], str]:
    """Return the parameters of a function that is not in the program, and their text in a signature."""
    code = function.__code__
    names = list(code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
    free = len(function.__defaults__ or ())
    optional = set(names[code.co_argcount - free : code.co_argcount]) | set(function.__kwdefaults__ or ())
    public = [name for name in names if name != "self" and not name.startswith("_")]
    written = [f"{name}=..." if name in optional else name for name in public]
    many = ["*args"] if code.co_flags & inspect.CO_VARARGS else []
    return names, ", ".join([*written, *many])

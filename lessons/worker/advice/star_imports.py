"""Advice on names that `from torch import *` has given to something else."""

from __future__ import annotations

import ast
import math

import torch
from torch import nn
from torch.nn import functional

from attn_tutor.lessons.texts.wording import Wording
from attn_tutor.lessons.worker.advice.exception_rules import Match, rule
from attn_tutor.lessons.worker.advice.offers import Said
from attn_tutor.lessons.worker.advice.safe_reading import UNKNOWN
from attn_tutor.lessons.worker.advice.scene import BUILTINS, Scene

say = Wording("advice/star-imports")

# As they were before any learner's code ran, which may change them.
_HELD = {module.__name__: dict(vars(module)) for module in (torch, nn, functional, math)}


@rule(TypeError, r"^\w+\(\)", r" object is not callable$")
def builtin_replaced(scene: Scene, match: Match) -> Said | None:
    """Explain a call of `range` or `sum` that reaches a function of PyTorch instead of Python's own."""
    called = [call.func.id for call in scene.find(ast.Call) if isinstance(call.func, ast.Name)]
    found = (replaced(scene, name, own=False) for name in called if name in BUILTINS)
    return next(filter(None, found), None)


def replaced(scene: Scene, name: str, *, own: bool) -> tuple[str, str] | None:
    """Say which line put something else in place of what a name meant; None if no line did.

    `own` says whether the name meant something of the program, rather than of Python.
    """
    value = scene.name(name)
    for node in scene.nodes(ast.ImportFrom):
        held = _HELD.get(node.module or "", {}).get(name, UNKNOWN)
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

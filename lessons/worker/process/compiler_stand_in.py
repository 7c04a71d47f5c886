"""A stand-in for torch's compiler, so that it is imported only when code really uses it.

torch asks `torch._dynamo` to leave its optimizers and the operations on the device `meta` alone. So the first of these
would import the compiler's 800 modules, in each child again: two to five seconds, and 70 MB. As long as nothing is
compiled, there is nothing to leave alone, and the stand-in grants these requests by itself. Any other attribute
replaces it by the compiler.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable
from typing import Any, TypeVar

import torch

COMPILER = "torch._dynamo"

F = TypeVar("F", bound=Callable[..., Any])


class CompilerStandIn(types.ModuleType):
    """A module that answers what torch asks of its compiler when nothing is compiled."""

    @staticmethod
    def disable(function: F | None = None, *_: object, **__: object) -> F | Callable[[F], F]:
        """Return the function, which may then run as it is, or without one the decorator that does so."""
        return _unchanged if function is None else function

    @staticmethod
    def graph_break() -> None:
        """Do nothing: there is no graph to break."""

    def __getattr__(self, name: str) -> Any:
        # Python's own tools ask each module for its __file__; an import of a module of the compiler asks for __path__.
        if name.startswith("__") and name != "__path__":
            raise AttributeError(name)
        if sys.modules.get(COMPILER) is self:
            del sys.modules[COMPILER]
        return getattr(importlib.import_module(COMPILER), name)


def _unchanged(function: F) -> F:
    return function


def install() -> None:
    """Put the stand-in where torch finds its compiler, unless the compiler is there already."""
    if COMPILER not in sys.modules:
        sys.modules[COMPILER] = torch._dynamo = CompilerStandIn(COMPILER)

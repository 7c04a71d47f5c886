"""Stand-ins for modules that torch imports only to hear that there is nothing to do.

torch asks its compiler (`torch._dynamo`) to leave its optimizers and the operations on the device `meta` alone, and it
asks `torch.fx.experimental.symbolic_shapes` and sympy whether a size on that device is a symbol, which it is only while
something is compiled. So the first of these operations would import 800 modules of the compiler, or 490 of the other
two: two to five seconds, in each child again, and up to 70 MB. As long as nothing is compiled, the answer is known, and
a stand-in gives it. Any other attribute replaces the stand-in by the module itself.
"""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Mapping
from importlib.machinery import ModuleSpec
from typing import Any, TypeVar

import torch
import torch.fx.experimental

COMPILER = "torch._dynamo"
SYMBOLIC_SHAPES = "torch.fx.experimental.symbolic_shapes"
ALGEBRA = "sympy"

SYMBOLS = (torch.SymInt, torch.SymBool, torch.SymFloat)

F = TypeVar("F", bound=Callable[..., Any])


class StandIn(types.ModuleType):
    """A module that has some attributes of the one in whose place it is, which is imported when any other is asked for.

    Args:
        name: the name of the module.
        answers: its attributes.
        package: whether it has modules of its own.
        only_torch: whether only torch gets the answers, and other code what the module itself has.
    """

    def __init__(self, name: str, answers: Mapping[str, Any], *, package: bool, only_torch: bool = False) -> None:
        super().__init__(name)
        self.__spec__ = ModuleSpec(name, None)
        self._answers, self._package, self._only_torch = answers, package, only_torch

    def __getattr__(self, name: str) -> Any:
        # Python's own tools ask each module for its __file__; an import of a module of a package asks for __path__.
        if name.startswith("__") and name != "__version__" and not (name == "__path__" and self._package):
            raise AttributeError(name)
        if name in self._answers and (not self._only_torch or _asked_by_torch()):
            # What torch imported first may still have the stand-in, when the module has long been there.
            present, answer = sys.modules.get(self.__name__), self._answers[name]
            return answer if present is self else getattr(present, name, answer)
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(importlib.import_module(self.__name__), name)


def _asked_by_torch() -> bool:
    """Return whether the code that asks a stand-in for an attribute is torch's."""
    return str(sys._getframe(2).f_globals.get("__name__")).partition(".")[0] == "torch"


def _leave_alone(function: F | None = None, *_: object, **__: object) -> F | Callable[[F], F]:
    """Return the function, which may then run as it is, or without one the decorator that does so."""
    return _unchanged if function is None else function


def _unchanged(function: F) -> F:
    return function


def _of_plain_values(name: str, answer: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of the module for symbolic shapes that gives the answer where no value is a symbol."""

    def function(*values: Any) -> Any:
        if all(map(_is_plain, values)):
            return answer(*values)
        return getattr(importlib.import_module(SYMBOLIC_SHAPES), name)(*values)

    return function


def _is_plain(value: object) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_plain, value))
    return not isinstance(value, SYMBOLS)


def _itself(value: Any) -> Any:
    return value


def _plain(value: Any) -> Any:
    """Return a shape as a tuple, so that a list and a tuple of the same sizes are equal."""
    return tuple(value) if isinstance(value, list) else value


_OF_SHAPES: dict[str, Callable[..., Any]] = {
    "expect_true": _itself,
    "free_unbacked_symbols": lambda value: set(),
    "guard_or_false": _itself,
    "guard_or_true": _itself,
    "guard_size_oblivious": _itself,
    "guarding_hint_or_throw": _itself,
    "has_guarding_hint": lambda value: True,
    "is_nested_int": lambda value: False,
    "statically_known_true": _itself,
    "sym_and": lambda *values: all(values),
    "sym_eq": lambda left, right: _plain(left) == _plain(right),
    "sym_or": lambda *values: any(values),
}


class NoExpression:
    """What torch takes for the class of sympy's expressions as long as there are none: it has no instances."""


def install() -> None:
    """Put stand-ins where torch finds these modules, unless they are there already."""
    of_shapes = {name: _of_plain_values(name, answer) for name, answer in _OF_SHAPES.items()}
    nothing_to_compile = {"disable": _leave_alone, "graph_break": lambda: None}
    for stand_in in (
        StandIn(COMPILER, nothing_to_compile, package=True),
        StandIn(SYMBOLIC_SHAPES, of_shapes, package=False),
        StandIn(ALGEBRA, {"Basic": NoExpression}, package=True, only_torch=True),
    ):
        if stand_in.__name__ not in sys.modules:
            sys.modules[stand_in.__name__] = stand_in
            package, _, name = stand_in.__name__.rpartition(".")
            if package:
                setattr(sys.modules[package], name, stand_in)

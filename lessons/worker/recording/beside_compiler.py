"""What lets a recorder run beside PyTorch's compiler and its own classes of tensors, without importing either.

With a recorder, PyTorch compiles nothing: functions run as they are written. The numbers are those that they compute
then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, ModuleType
from typing import Any

import torch
from torch._higher_order_ops import utils as hops
from torch.utils import _python_dispatch as dispatch
from torch.utils._python_dispatch import _disable_current_modes

_compiler = torch._C._dynamo.eval_frame

_inside: ContextVar[bool] = ContextVar("_inside", default=False)
"""Whether an operation compiles functions that it was given."""

IN_MODE = "_is_in_any_mode_without_ignore_compile_internals"
"""The variable by which the compiler knows that a mode sees operations, and compiles nothing then."""

FLEX = "torch.nn.attention.flex_attention"

BIASES = "torch.nn.attention.bias"
"""The module of masks such as `causal_lower_right`, whose class calls the constructor of tensors.

That is refused while a mode sees operations.
"""

COMPILER = "torch._dynamo.eval_frame"


def leave_alone(code: CodeType) -> None:
    """Have the compiler run code, and all that it calls, as it is, also where a function calls it that is compiled."""
    # Earlier versions of PyTorch have no such function.
    if hasattr(_compiler, "set_code_exec_strategy"):
        skip = _compiler._FrameAction.SKIP
        _compiler.set_code_exec_strategy(code, _compiler._FrameExecStrategy(skip, skip))


@contextmanager
def as_written() -> Iterator[None]:
    """Let functions that are to be compiled run as they are written, and what PyTorch has to compile be compiled.

    Otherwise the compiler would look at them, see that a mode sees operations, and never compile them again.
    """
    finder = _Finder()
    finder.begin()
    original = getattr(hops, "setup_compilation_env", None)
    modules = [hops, *filter(None, [sys.modules.get(FLEX)])] if original is not None else []
    for module in modules:
        module.setup_compilation_env = partial(_set_up, finder, original)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for module in modules:
            module.setup_compilation_env = original
        finder.end()


@contextmanager
def _set_up(finder: _Finder, original: Any) -> Iterator[Any]:
    """Let an operation that takes functions, such as `torch.cond`, compile these for itself, as it does elsewhere.

    It needs no compiler of the machine for that, and what it has compiled runs operation by operation.
    """
    before = getattr(dispatch, IN_MODE, False)
    finder.end()
    token = _inside.set(True)
    if before:
        _say_in_mode(False)
    try:
        with original() as backend:
            yield backend
    finally:
        _inside.reset(token)
        if before:
            _say_in_mode(True)
            finder.begin()


def is_ignored() -> bool:
    """Return whether the compiler is to compile code although a recorder sees its operations."""
    return _inside.get()


def _say_in_mode(value: bool) -> None:
    setattr(dispatch, IN_MODE, value)
    torch._C._dynamo.guards.set_is_in_mode_without_ignore_compile_internals(value)


class _Finder:
    """Prepares modules of PyTorch that a program may import later: the compiler, and masks whose class is refused."""

    def __init__(self) -> None:
        self._before: Any = None

    def begin(self) -> None:
        """Have functions run as they are written."""
        _allow_biases()
        compiler = sys.modules.get(COMPILER)
        stance = getattr(compiler, "_stance", None)
        if stance is not None and self._before is None:
            self._before = stance
            compiler._stance = replace(stance, stance="force_eager")  # type: ignore[union-attr]

    def end(self) -> None:
        """Have functions compiled again."""
        if self._before is not None:
            sys.modules[COMPILER]._stance = self._before  # type: ignore[attr-defined]
            self._before = None

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name in (BIASES, COMPILER) else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def executed(module: ModuleType) -> None:
            execute(module)
            self.begin()

        spec.loader.exec_module = executed  # type: ignore[method-assign]
        return spec


def _allow_biases() -> None:
    kind: Any = getattr(sys.modules.get(BIASES), "CausalBias", None)
    if kind is None or "__new__" in vars(kind):
        return

    def new(cls: type[torch.Tensor], *args: Any, **kwargs: Any) -> torch.Tensor:
        with _disable_current_modes():
            return torch.Tensor.__new__(cls)

    kind.__new__ = new

"""What lets a recorder run beside PyTorch's compiler and its own classes of tensors, without importing either.

With a recorder, PyTorch compiles nothing: functions run as they are written. The numbers are those that they compute
then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import CodeType, ModuleType
from typing import Any

import torch
from torch._higher_order_ops import utils as hops
from torch.utils import _python_dispatch as dispatch
from torch.utils._python_dispatch import _disable_current_modes

_compiler = torch._C._dynamo.eval_frame

IGNORED = "_is_in_any_mode_without_ignore_compile_internals"
"""The variable by which the compiler knows that a mode sees operations, and compiles nothing then."""

FLEX = "torch.nn.attention.flex_attention"

BIASES = "torch.nn.attention.bias"
"""The module of masks such as `causal_lower_right`."""


def leave_alone(code: CodeType) -> None:
    """Have the compiler run code, and all that it calls, as it is, also where a function calls it that is compiled."""
    # Earlier versions of PyTorch have no such function.
    if hasattr(_compiler, "set_code_exec_strategy"):
        skip = _compiler._FrameAction.SKIP
        _compiler.set_code_exec_strategy(code, _compiler._FrameExecStrategy(skip, skip))


@contextmanager
def as_written() -> Iterator[None]:
    """Let functions that are to be compiled as a whole run as they are written; else this would be an error."""
    count = getattr(_compiler, "set_fullgraph_compiled_frame_count", None)
    before = count(0) if count is not None else 0
    try:
        yield
    finally:
        if count is not None:
            count(before)


@contextmanager
def with_code_inside() -> Iterator[None]:
    """Let operations that take functions, such as `torch.cond`, compile these for themselves, as they do elsewhere.

    They need no compiler of the machine for it, and run what they have compiled operation by operation.
    """
    original = getattr(hops, "setup_compilation_env", None)
    if original is None or not hasattr(dispatch, IGNORED):
        yield
        return

    @contextmanager
    def set_up() -> Iterator[Any]:
        before = getattr(dispatch, IGNORED)
        _ignore(False)
        try:
            with original() as backend:
                yield backend
        finally:
            _ignore(before)

    places = [hops, *filter(None, [sys.modules.get(FLEX)])]
    for place in places:
        place.setup_compilation_env = set_up
    try:
        yield
    finally:
        for place in places:
            place.setup_compilation_env = original


def _ignore(is_in_mode: bool) -> None:
    setattr(dispatch, IGNORED, is_in_mode)
    dispatch.set_is_in_mode_without_ignore_compile_internals(is_in_mode)


@contextmanager
def biases_allowed() -> Iterator[None]:
    """Let masks be made whose class calls the constructor of tensors, which is refused while a mode sees operations."""
    _allow_biases()
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _Finder:
    """Finds the module of these masks for a program that imports it later."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        spec = PathFinder.find_spec(name, path, target) if name == BIASES else None
        if spec is None or spec.loader is None:
            return None
        execute = spec.loader.exec_module

        def executed(module: ModuleType) -> None:
            execute(module)
            _allow_biases()

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

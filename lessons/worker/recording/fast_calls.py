"""Functions of `torch` that do the same as an operation and are called faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

FAST: dict[str, set[str]] = {
    "Tensor": {"add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_", "split"},
    "Tensor_Scalar": {"pow"},
    "int": {"transpose", "select", "unbind"},
    "dim": {"squeeze", "mean"},
    "dim_IntList": {"sum"},
    "Scalar": {"masked_fill", "masked_fill_", "fill_", "lerp_", "eq", "ne", "gt", "lt", "mul", "div"},
    "": {
        "mm", "bmm", "addmm", "dot", "mv", "exp", "log", "sqrt", "rsqrt", "tanh", "sigmoid", "relu", "neg", "abs",
        "square", "sin", "cos", "clone", "detach", "t", "permute", "unsqueeze", "expand", "view", "sum", "mean",
        "triu", "tril", "maximum", "embedding", "native_layer_norm", "_softmax", "_log_softmax",
        "_softmax_backward_data", "_log_softmax_backward_data", "copy_", "zero_", "addcmul_", "addcdiv_",
        "ones_like", "zeros_like", "index_select", "nonzero", "silu", "_local_scalar_dense",
    },
}  # fmt: skip
"""Operations, by overload, whose function in `torch` takes the same arguments by position.

Calling that one is faster than calling the operation itself, which compares the arguments with its schema first.
"""


OTHER_NAMES = {"_local_scalar_dense": "item"}
"""Operations whose function has another name."""


def fast_call(op: str, overload: str) -> Callable[..., Any] | None:
    """Return a function that takes the arguments of an operation by position; None if none is known."""
    if op not in FAST.get(overload, ()):
        return None
    name = OTHER_NAMES.get(op, op)
    rooms: tuple[Any, ...] = torch._C._VariableFunctions, torch.Tensor, torch._C._nn
    found: Callable[..., Any] | None = next(filter(None, (getattr(room, name, None) for room in rooms)), None)
    return found

"""Composite operations, such as `linear` or `layer_norm`: PyTorch has no kernel for them, only a function of others.

Where autograd may be needed, it is autograd that calls this function, and a recorder sees only what that calls.
Inference tensors know no autograd, so in `torch.inference_mode()` a recorder is handed the composite operation itself.
It calls the same function then, in the same way, and records what that calls: the numbers are those of any other run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch

KEY = torch._C.DispatchKey.CompositeImplicitAutograd
OF_ITS_OWN = ("CPU", "CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
"""The keys of kernels that PyTorch would prefer to the function of other operations."""


def function_of(func: Any) -> Callable[..., Any] | None:
    """Return the function of other operations that a composite operation is; None if it has a kernel of its own."""
    name, has_kernel = func.name(), torch._C._dispatch_has_kernel_for_dispatch_key
    # Operations of the compiler, such as `prim::layout`, are unknown to the dispatcher.
    if not torch._C._dispatch_has_kernel(name):
        return None
    if not has_kernel(name, "CompositeImplicitAutograd") or any(has_kernel(name, key) for key in OF_ITS_OWN):
        return None

    def function(*args: Any, **kwargs: Any) -> Any:
        return func._op_dk(KEY, *args, **kwargs)

    return function


def is_plain(values: Iterable[Any]) -> bool:
    """Return whether no argument is a tensor for which PyTorch may prefer something else: nested, or of a subclass."""
    for value in values:
        if isinstance(value, list | tuple):
            if not is_plain(value):
                return False
        elif isinstance(value, torch.Tensor) and (
            type(value) not in (torch.Tensor, torch.nn.Parameter)
            or value.layout is not torch.strided
            or value.is_nested
        ):
            return False
    return True

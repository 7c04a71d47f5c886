"""Programs in plain PyTorch, with every value that each name has had: what explanations are compared with."""

from __future__ import annotations

import random
import sys
from types import FrameType
from typing import Any

import torch
from torch._ops import HigherOrderOperator
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import TorchDispatchMode

FILE = "<exam>"
SEED = 123

Index = tuple[int, ...]


class PlainRun:
    """A run of a program without a recorder. Raises what the program raises."""

    def __init__(self, code: str) -> None:
        self.namespace: dict[str, Any] = {"__name__": "__lesson__"}
        self._seen: dict[str, dict[bytes, torch.Tensor]] = {}
        self.draws: dict[tuple[int, int], list[list[float]]] = {}
        """What random operations have drawn, in the order of memory, by the seed and their number after it."""
        self._drawn = 0
        torch.manual_seed(SEED)
        random.seed(SEED)
        compiled = compile(code, FILE, "exec")
        before = sys.gettrace()
        sys.settrace(self._trace)
        try:
            with _AfterWrites(self):
                exec(compiled, self.namespace)
        finally:
            sys.settrace(before)
        self._look(self.namespace)

    def look_around(self, frame: FrameType | None) -> None:
        """Look at the names of all frames of the program, from the innermost one outwards."""
        while frame is not None:
            if frame.f_code.co_filename == FILE:
                self._look(frame.f_locals)
            frame = frame.f_back

    def take_draw(self, out: object, before: torch.Tensor) -> None:
        """Note what a random operation has drawn from the generator that was in a state before."""
        seed = torch.default_generator.initial_seed()
        if torch.equal(torch.default_generator.get_state(), before):
            return
        fresh = torch.Generator().manual_seed(seed).get_state()
        self._drawn = 1 if torch.equal(fresh, before) else self._drawn + 1
        if isinstance(out, torch.Tensor) and not out.is_complex():
            strides = out.stride()
            axes = sorted(range(out.dim()), key=lambda axis: (-strides[axis], axis))
            numbers = out.detach().permute(axes).flatten().tolist()
            self.draws.setdefault((seed, self._drawn), []).append(numbers)

    def only_value(self, name: str) -> Any:
        """Return what a name means if it has meant nothing else; None otherwise."""
        found = self.namespace.get(name)
        if isinstance(found, torch.Tensor):
            return found if len(self._seen.get(name, ())) == 1 else None
        if isinstance(found, torch.nn.Module):
            several = any(len(kept) > 1 for key, kept in self._seen.items() if key.startswith(f"{name}."))
            return None if several else found
        return found

    def _trace(self, frame: FrameType, event: str, argument: object) -> Any:
        if frame.f_code.co_filename != FILE:
            return None
        self._look(frame.f_locals)
        return self._trace

    def _look(self, names: dict[str, Any]) -> None:
        for name, value in list(names.items()):
            if isinstance(value, torch.Tensor):
                self._keep(name, value)
                if value.is_leaf and value.grad is not None:
                    self._keep(f"{name}.grad", value.grad)
            elif isinstance(value, torch.nn.Module) and "_parameters" in vars(value):
                for path, tensor in [*value.named_parameters(), *value.named_buffers()]:
                    self._keep(f"{name}.{path}", tensor)
                for path, part in value.named_modules(prefix=name):
                    plain = {key: item for key, item in vars(part).items() if isinstance(item, torch.Tensor)}
                    for key, tensor in plain.items():
                        self._keep(f"{path}.{key}", tensor)

    def _keep(self, name: str, tensor: torch.Tensor) -> None:
        tensor = _of_all_calls(tensor)
        if tensor.is_meta or isinstance(tensor, FakeTensor):
            return
        if tensor.is_complex():
            parts = torch.view_as_real(tensor.detach().resolve_conj())
            self._keep(f"{name}.real", parts[..., 0])
            self._keep(f"{name}.imag", parts[..., 1])
            return
        copy = tensor.detach().resolve_neg().contiguous().clone()
        key = bytes(copy.reshape(-1).view(torch.uint8).tolist()) + str(tuple(copy.shape)).encode()
        self._seen.setdefault(name, {})[key] = copy

    def values(self, name: str, index: Index) -> set[float] | None:
        """Return all values that a cell of a name has had; None if there is no such cell, or a property computes it."""
        owner, _, attribute = name.rpartition(".")
        if isinstance(getattr(type(self.namespace.get(owner)), attribute, None), property):
            return None
        found = [
            float(tensor[index])
            for tensor in self._seen.get(name, {}).values()
            if tensor.dim() == len(index) and all(at < size for at, size in zip(index, tensor.shape, strict=True))
        ]
        return set(found) or None

    def tensors(self) -> dict[str, torch.Tensor]:
        """Return the real tensors that the program leaves behind, and the gradients of its leaves."""
        found = {name: value for name, value in self.namespace.items() if isinstance(value, torch.Tensor)}
        return {name: value.detach() for name, value in found.items() if not value.is_complex() and value.numel()}


def _of_all_calls(tensor: torch.Tensor) -> torch.Tensor:
    """Return the tensor that has the numbers: inside of `torch.vmap`, that of all calls at once."""
    functorch = torch._C._functorch
    while functorch.is_functorch_wrapped_tensor(tensor):
        tensor = functorch.get_unwrapped(tensor)
    return tensor


class _AfterWrites(TorchDispatchMode):
    """Looks at all names after each operation that writes in place: one line may write several times."""

    supports_higher_order_operators = True

    @classmethod
    def ignore_compile_internals(cls) -> bool:
        """Let operations that are given functions compile these."""
        return True

    def __init__(self, run: PlainRun) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._run = run

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        before = torch.default_generator.get_state()
        out = func(*args, **(kwargs or {}))
        if isinstance(func, HigherOrderOperator):
            return out
        if torch.Tag.nondeterministic_seeded in func.tags:
            with torch.utils._python_dispatch._disable_current_modes():
                self._run.take_draw(out, before)
        if func._schema.is_mutable:
            with torch.utils._python_dispatch._disable_current_modes():
                self._run.look_around(sys._getframe(1))
        return out

"""The names of tensors in a namespace: which ones variables, parameters and buffers refer to, and from when on."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakMethod

import torch

from attn_tutor.lessons.worker.recording.record import Binding, Record
from attn_tutor.lessons.worker.recording.regions import plain_region


class VariableNames:
    """Notes in a record which tensors names refer to.

    Attributes:
        present: the names that tensors had when all variables were named last, and those that were bound since.
    """

    def __init__(
        self,
        record: Record,
        is_recorded: WeakMethod[Callable[[torch.UntypedStorage], bool]],
        release: Callable[[], None],
    ) -> None:
        """Initialize.

        Args:
            record: the record.
            is_recorded: tells whether an operation of the record has made or read a storage. The recorder has it.
            release: lets go of the variables of functions that have returned.
        """
        self._record, self._is_recorded, self._release = record, is_recorded, release
        self.present: set[str] = set()
        self._known: dict[str, tuple[torch.Tensor, Binding]] = {}
        self._late: dict[str, int] = {}
        """The storages of tensors that were named after recording had stopped, and of which nothing is recorded."""

    def name(self, namespace: Mapping[str, Any], statement: ast.stmt) -> None:
        """Record which tensors the names of a namespace refer to after a statement, also parameters and buffers.

        Variables of loops are left out, because they refer to a different tensor in every round.
        """
        for node in ast.walk(statement):
            if isinstance(node, ast.For):
                self._record.loops.update(item.id for item in ast.walk(node.target) if isinstance(item, ast.Name))
        self.name_all(namespace)

    def name_all(self, namespace: Mapping[str, Any]) -> None:
        """Record which tensors the names of a namespace refer to now, also parameters and buffers of modules."""
        self._release()
        self.present = set()
        for key, value in list(namespace.items()):
            if key in self._record.loops or key.startswith("__"):
                continue
            if isinstance(value, torch.Tensor):
                self.bind(key, value)
            elif isinstance(value, torch.nn.Module):
                self.name_module(key, value)

    def name_module(self, name: str, module: torch.nn.Module) -> None:
        """Record which tensors the parameters and buffers of a module are, by the name of the module.

        A parameter may go: pruning gives it another name, and puts a plain tensor in its place.
        """
        seen: set[int] = set()
        parts: dict[str, torch.nn.Module] = {}
        held: set[str] = set()
        for path, part in module.named_modules(prefix=name):
            parts[path] = part
            self._record.modules.setdefault(part, path)
            for key, tensor in (*part._parameters.items(), *part._buffers.items()):
                held.add(f"{path}.{key}")
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    self.bind(f"{path}.{key}", tensor)
        for gone in [known for known in self._known if known.startswith(f"{name}.") and known not in held]:
            path, _, key = gone.rpartition(".")
            tensor = vars(parts[path]).get(key) if path in parts else None
            if isinstance(tensor, torch.Tensor):
                self.bind(gone, tensor)
            else:
                self._known.pop(gone)[1].until = self._record.time

    def bind(self, name: str, tensor: torch.Tensor) -> None:
        """Record that a name refers to a tensor from now on."""
        region = plain_region(tensor)
        if region is None:
            return
        self.present.add(name)
        # A tensor can get a different storage (`.data = ...`) or shape, and become a parameter (`requires_grad_`).
        binding = Binding(self._record.time, name, region, True, tensor.requires_grad and tensor.is_leaf)
        before = self._known.get(name)
        if before is not None and before[0] is tensor and _is_same(before[1], binding):
            return
        self._known[name] = tensor, binding
        if self._record.stopped:
            # Nothing leads from a later value to an earlier one, which would stay in memory for nothing.
            self._forget_late(name)
            is_recorded = self._is_recorded()
            if is_recorded is not None and not is_recorded(region.memory):
                self._late[name] = region.storage
        self._record.bindings.setdefault(region.storage, []).append(binding)

    def bind_again(self, tensor: torch.Tensor) -> None:
        """Record what the names of a tensor mean when its layout was changed in place."""
        for name in [name for name, (known, _) in self._known.items() if known is tensor]:
            self.bind(name, tensor)

    def _forget_late(self, name: str) -> None:
        storage = self._late.pop(name, None)
        bindings = self._record.bindings
        if storage in bindings:
            bindings[storage] = [item for item in bindings[storage] if item.name != name]
            if not bindings[storage]:
                del bindings[storage]


def _is_same(one: Binding, other: Binding) -> bool:
    """Return whether two bindings say the same of a tensor."""
    first = one.leaf, one.region.storage, one.region.offset, one.region.shape, one.region.stride
    return first == (other.leaf, other.region.storage, other.region.offset, other.region.shape, other.region.stride)

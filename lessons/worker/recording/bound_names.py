"""Names of tensors as a program has them: from when on a name means a tensor, and until when."""

from __future__ import annotations

import torch

from lessons.worker.recording.record import Binding, Record
from lessons.worker.recording.regions import plain_region


class BoundNames:
    """Records which tensors names refer to, also those of the parameters and buffers of modules."""

    def __init__(self, record: Record) -> None:
        self._record = record
        self._known: dict[str, tuple[torch.Tensor, Binding]] = {}

    def name_module(self, name: str, module: torch.nn.Module) -> None:
        """Record which tensors the parameters and buffers of a module are, by the name of the module.

        A parameter may go: pruning gives it another name, and puts a plain tensor in its place.
        """
        seen: set[int] = set()
        parts: dict[str, torch.nn.Module] = {}
        present: set[str] = set()
        for path, part in module.named_modules(prefix=name):
            parts[path] = part
            self._record.modules.setdefault(part, path)
            for key, tensor in (*part._parameters.items(), *part._buffers.items()):
                present.add(f"{path}.{key}")
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    self.bind(f"{path}.{key}", tensor)
        for gone in [known for known in self._known if known.startswith(f"{name}.") and known not in present]:
            path, _, key = gone.rpartition(".")
            tensor = vars(parts[path]).get(key) if path in parts else None
            if isinstance(tensor, torch.Tensor):
                self.bind(gone, tensor)
            else:
                self._known.pop(gone)[1].until = self._record.time

    def bind(self, name: str, tensor: torch.Tensor) -> None:
        """Record that a name refers to a tensor from now on."""
        if self._record.stopped:
            return
        region = plain_region(tensor)
        if region is None:
            return
        # A tensor can get a different storage (`.data = ...`) or shape, and become a parameter (`requires_grad_`).
        binding = Binding(self._record.time, name, region, True, tensor.requires_grad and tensor.is_leaf)
        before = self._known.get(name)
        if before is not None and before[0] is tensor and _is_same(before[1], binding):
            return
        self._known[name] = tensor, binding
        self._record.bindings.setdefault(region.storage, []).append(binding)


def _is_same(one: Binding, other: Binding) -> bool:
    """Return whether two bindings say the same of a tensor."""
    first = one.leaf, one.region.storage, one.region.offset, one.region.shape, one.region.stride
    return first == (other.leaf, other.region.storage, other.region.offset, other.region.shape, other.region.stride)

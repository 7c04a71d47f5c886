"""Parts of torch that `import torch` imports and lessons hardly ever use, so that they are imported when they are used.

They are a fifth of the memory of each learner's worker, and more of the time until it is loaded. A `LatePart` stands
where torch and programs look for such a module. The first attribute that is asked of it imports the module, which
takes its place.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.metadata
import sys
import types
from collections.abc import Sequence
from typing import Any

TRIED = ("2.13.",)
"""Versions of torch whose late parts are known to do nothing at import that others need; the rest import them all."""
LATE = (
    "torch.distributed._meta_registrations",
    "torch.ao",
    "torch.distributions",
    "torch.export",
    "torch.masked",
    "torch.nn.intrinsic",
    "torch.nn.qat",
    "torch.nn.quantizable",
    "torch.nn.quantized",
    "torch.profiler",
    "torch.quantization",
    "torch.utils.data",
)


class LatePart(types.ModuleType):
    """A module in the place of one that is not imported yet; any attribute but Python's own imports that."""

    def __getattr__(self, name: str) -> Any:
        # Python's own tools ask each module for its __file__; imports of and from a package ask for the other two.
        if name.startswith("__") and name not in ("__path__", "__all__"):
            raise AttributeError(name)
        return getattr(self.imported(), name)

    def __dir__(self) -> list[str]:
        return dir(self.imported())

    def imported(self) -> types.ModuleType:
        """Import the module, if nobody has since, and return it."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return importlib.import_module(self.__name__)


class _LateFinder:
    """Finds each late part once, as a `LatePart`; whoever asks again gets the module."""

    def __init__(self) -> None:
        self._not_asked = set(LATE)

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in self._not_asked:
            return None
        self._not_asked.remove(name)
        return importlib.machinery.ModuleSpec(name, self)  # type: ignore[arg-type]

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> None:
        """Leave it to Python to make a module."""

    def exec_module(self, module: types.ModuleType) -> None:
        # Not earlier: Python asks a new module for its __path__.
        module.__class__ = LatePart


def import_torch() -> None:
    """Import torch, without its late parts if it is a version that was tried. No tensor operation runs here."""
    if "torch" in sys.modules or not importlib.metadata.version("torch").startswith(TRIED):
        return
    finder = _LateFinder()
    sys.meta_path.insert(0, finder)
    try:
        importlib.import_module("torch")
    finally:
        sys.meta_path.remove(finder)

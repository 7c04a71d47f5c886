"""The package whose layers the course builds, under the name that its code imports: `attention`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

NAME = "attention"
TUTOR = Path(__file__).parents[3]
FOLDER = str(TUTOR / NAME)
"""The folder that the package lies in."""


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find the package by its short name; its modules are found by its path."""
        return PathFinder.find_spec(NAME, [str(TUTOR)]) if fullname == NAME else None


_finder = _Finder()


def provide() -> None:
    """Let `import attention` find the package, in this process and its children."""
    sys.meta_path.append(_finder)
    import_module(NAME)


def take_away() -> None:
    """Let `import attention` find what a program of others has by that name, if anything."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        for name in [name for name in sys.modules if name.partition(".")[0] == NAME]:
            del sys.modules[name]

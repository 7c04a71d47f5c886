"""Packages of a program that are called like the tutor's: to the program, such a name means its own."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

NAMES = ("attention", "lessons", "tui")

ROOT = str(Path(__file__).resolve().parents[3])
"""The folder that the packages of the tutor lie in."""

_kept: list[ModuleType] = []
"""The modules of the tutor that nothing finds by their names any more."""


def make_way() -> None:
    """Let imports find what they would find if the tutor were not there, for all names that are found elsewhere.

    The tutor's modules of such names go on, but its code can import no more of them: what it needs has to be there.
    """
    names = frozenset(name for name in NAMES if _spec(name) is not None)
    if not names:
        return
    for name in [name for name in sys.modules if name.partition(".")[0] in names]:
        _kept.append(sys.modules.pop(name))
    # A folder without an `__init__.py` would otherwise be found after a package of the tutor.
    sys.meta_path.insert(0, _Finder(names))


def _spec(name: str) -> ModuleSpec | None:
    """Find a module of the top level anywhere but beside the tutor's."""
    return PathFinder.find_spec(name, [entry for entry in sys.path if os.path.realpath(entry) != ROOT])


class _Finder:
    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return _spec(name) if path is None and name in self._names else None

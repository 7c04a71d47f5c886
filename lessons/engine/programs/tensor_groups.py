"""Tensors that belong to the same module stand on the same page: groups of them, told from their dotted names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

TOGETHER = 4
"""Tensors that one page shows."""


def by_module(names: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Divide names into groups of at most `TOGETHER`, in order, each with the module that all of its names begin with.

    The tensors of a module stay together if they are few enough, and with those of modules that are inside of it, or
    beside it in the same one. The module is "" where names have nothing in common.
    """
    held: list[tuple[str, ...]] = []
    for module, found in groupby(names, key=_module):
        members = tuple(found)
        parts = [members[start : start + TOGETHER] for start in range(0, len(members), TOGETHER)]
        first = parts[0]
        before = _module(held[-1][0]) if held else ""
        related = _module(before) == _module(module) or module.startswith(f"{before}.")
        if before and module and related and len(held[-1]) + len(first) <= TOGETHER:
            held[-1] += first
            parts = parts[1:]
        held += parts
    for group in held:
        yield _common(group), group


def _module(name: str) -> str:
    return name.rpartition(".")[0]


def _common(names: Sequence[str]) -> str:
    """Return the longest module that all names are in."""
    modules = [_module(name).split(".") for name in names]
    common = [parts[0] for parts in zip(*modules, strict=False) if len(set(parts)) == 1]
    found = ".".join(common)
    # A part that agrees after one that does not is no common beginning.
    while found and not all(name.startswith(f"{found}.") for name in names):
        found = _module(found)
    return found

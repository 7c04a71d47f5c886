"""Sentences about changes of cells that cannot be made. The worker says them too, so this imports nothing."""

from __future__ import annotations


def why_missing(name: str, index: tuple[int, ...], shape: tuple[int, ...]) -> str | None:
    """Say why a tensor of this shape has no cell with this index; None if it has one."""
    if len(index) == len(shape) and all(-size <= at < size for at, size in zip(index, shape, strict=True)):
        return None
    return f"there is no such cell, since {name} is {' by '.join(map(str, shape)) or 'a single number'}"


def not_made(name: str, index: tuple[int, ...], value: float, why: str) -> str:
    """Say that a cell was not changed."""
    where = f"[{','.join(map(str, index))}]" if index else ""
    return f"Your change {name}{where} = {value} was not made: {why}."

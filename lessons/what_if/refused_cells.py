"""Sentences about changes of cells that cannot be made. The worker says them too, so this imports next to nothing."""

from __future__ import annotations

from attn_tutor.lessons.texts.wording import Wording

say = Wording("change/refused")


def why_missing(name: str, index: tuple[int, ...], shape: tuple[int, ...]) -> str | None:
    """Say why a tensor of this shape has no cell with this index; None if it has one."""
    if len(index) == len(shape) and all(-size <= at < size for at, size in zip(index, shape, strict=True)):
        return None
    if not shape:
        return say("single-number", "{name} is a single number", name=name)
    return say("other-shape", "{name} has the shape {shape}, so it has no such cell", name=name, shape=shape)


def not_made(name: str, index: tuple[int, ...], value: float, why: str) -> str:
    """Say that a cell was not changed."""
    where = f"[{','.join(map(str, index))}]" if index else ""
    return say(
        "not-made",
        "Your change {name}{where} = {value} was not made: {why}.",
        name=name,
        where=where,
        value=value,
        why=why,
    )

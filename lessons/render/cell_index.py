"""Sentences about indices of tensors that learners type."""

from __future__ import annotations

from attn_tutor.lessons.texts.wording import Wording

say = Wording("explanation/index")


def why_no_cell(tensor: str, shape: tuple[int, ...], index: tuple[int, ...]) -> str | None:
    """Say why a tensor has no number at this index, and what an index of it looks like; None if it has one."""
    if len(index) == len(shape) and all(0 <= at < size for at, size in zip(index, shape, strict=True)):
        return None
    if not shape:
        return say("scalar", "{tensor} is a single number, so leave the index out.", tensor=tensor)
    example = ",".join("0" for _ in shape)
    if not index:
        return say(
            "no-index",
            "{tensor} has the shape {shape}. Say which of its numbers to explain, such as {example}.",
            tensor=tensor,
            shape=shape,
            example=example,
        )
    if len(index) != len(shape):
        return say.count(
            "axes",
            len(shape),
            "{tensor} has the shape {shape}, so an index of it needs {count} number, such as {example}.",
            "{tensor} has the shape {shape}, so an index of it needs {count} numbers, such as {example}.",
            tensor=tensor,
            shape=shape,
            example=example,
        )
    return say(
        "no-cell",
        "{tensor} has the shape {shape}, so it has no number at [{index}]. Its last one is at [{last}].",
        tensor=tensor,
        shape=shape,
        index=",".join(map(str, index)),
        last=",".join(str(size - 1) for size in shape),
    )

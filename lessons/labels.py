"""Names and labels for the axes of a shown tensor."""

from __future__ import annotations

from lessons.model import Lesson, Shown

WORDS = ("token", "query", "key")
PREFIX = {"dim": "d", "head_dim": "d", "head": "head ", "batch": "text ", "index": ""}


def of(lesson: Lesson, shown: Shown, shape: tuple[int, ...]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Axis names and the labels along each axis. An axis that the lesson does not name is called `index`."""
    names: tuple[str, ...] = tuple(shown.axes) if len(shown.axes) == len(shape) else ("index",) * len(shape)
    return names, tuple(_along(lesson, shown, name, size) for name, size in zip(names, shape, strict=True))


def _along(lesson: Lesson, shown: Shown, name: str, size: int) -> tuple[str, ...]:
    given = {str(axis): texts for axis, texts in shown.labels.items()}.get(name, ())
    if name in WORDS and not given:
        given = lesson.tokens
    if len(given) >= size:
        return tuple(given[:size])
    prefix = PREFIX.get(name, "")
    return tuple(f"{prefix}{place}" for place in range(size))

"""Names and labels for the axes of a shown tensor."""

from __future__ import annotations

from lessons.format.lesson import Lesson, RunningStep, ShownTensor

WORDS = ("token", "query", "key")
PREFIX = {"dim": "d", "head_dim": "d", "head": "head ", "batch": "text ", "index": ""}


def of(
    lesson: Lesson, shown: ShownTensor, shape: tuple[int, ...]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Axis names and the labels along each axis. An axis that the lesson does not name is called `index`."""
    names: tuple[str, ...] = tuple(shown.axes) if len(shown.axes) == len(shape) else ("index",) * len(shape)
    return names, tuple(_along(lesson, shown, name, size) for name, size in zip(names, shape, strict=True))


def known(lesson: Lesson, step_id: str, name: str, dims: int) -> ShownTensor | None:
    """What the lesson says of a variable of that name with so many axes, seen from a step; None if nothing.

    The step's own word counts most, then the lesson's `axes`, then what the last step before it says, or the next one.
    """
    here = lesson.index(step_id)
    by_nearness = sorted(enumerate(lesson.steps), key=lambda item: (item[0] > here, abs(item[0] - here)))
    shown = [
        (place, spec)
        for place, step in by_nearness
        if isinstance(step, RunningStep)
        for spec in step.show
        if spec.expression == name and len(spec.axes) == dims
    ]
    own = next((spec for place, spec in shown if place == here), None)
    if own is None and len(axes := lesson.axes.get(name, ())) == dims and axes:
        kind = shown[0][1].kind if shown else "vector"
        return ShownTensor(name=name, kind=kind, axes=axes)
    return own or (shown[0][1] if shown else None)


def axes_of(lesson: Lesson, step_id: str, name: str, dims: int) -> tuple[str, ...]:
    """The names of the axes of a variable, as `known` finds them; nothing if they are not known."""
    found = known(lesson, step_id, name, dims) if name and dims else None
    return found.axes if found else ()


def _along(lesson: Lesson, shown: ShownTensor, name: str, size: int) -> tuple[str, ...]:
    given = {str(axis): texts for axis, texts in shown.labels.items()}.get(name, ())
    if name in WORDS and not given:
        given = lesson.tokens
    if len(given) >= size:
        return tuple(given[:size])
    prefix = PREFIX.get(name, "")
    return tuple(f"{prefix}{place}" for place in range(size))

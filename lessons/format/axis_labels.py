"""Names and labels for the axes of a shown tensor."""

from __future__ import annotations

import functools
from collections.abc import Mapping

from attn_tutor.lessons.format import template
from attn_tutor.lessons.format.base_steps import KNOWN_AXES
from attn_tutor.lessons.format.lesson import Lesson, ShownTensor
from attn_tutor.lessons.texts.wording import Wording

say = Wording("tensor/axis-labels")

LABELED_WITH_WORDS = ("token", "query", "key")
FEATURES = ("dim", "head_dim")
NUMBERED = frozenset(KNOWN_AXES) - {*FEATURES, "head", "batch"}
"""The axes whose positions are only numbers, unless they have words."""

NOTHING: Mapping[str, str] = {}


NamesAndLabels = tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]
"""A name and the labels for every axis, outermost first."""


def names_and_labels(
    lesson: Lesson, shown: ShownTensor, shape: tuple[int, ...], filled: Mapping[str, str] = NOTHING
) -> NamesAndLabels:
    """Return the axis names of a shown tensor and the labels along each axis; an unnamed axis is called `index`.

    `filled` is what the run has filled in; it gives the number of heads whose features stand side by side.
    """
    names: tuple[str, ...] = tuple(shown.axes) if len(shown.axes) == len(shape) else ("index",) * len(shape)
    labels = [_labels(lesson, shown, name, size) for name, size in zip(names, shape, strict=True)]
    heads = filled.get(template.fact(shown.heads).key, "") if shown.heads else ""
    if len(heads) < 10 and heads.isdecimal() and int(heads) and shape and shape[-1] % int(heads) == 0:
        labels[-1] = _labels_of_heads(int(heads), shape[-1] // int(heads))
    return names, tuple(labels)


def numbered(shape: tuple[int, ...]) -> NamesAndLabels:
    """Return axes without names, whose positions are counted."""
    return ("index",) * len(shape), tuple(map(numbers, shape))


def declaration_of(lesson: Lesson, step_id: str, name: str, dims: int) -> ShownTensor | None:
    """Find what the lesson says about a variable of that name with so many axes, as seen from a step, or None.

    The step itself has priority, then the `axes` of the lesson, then the nearest earlier step, then the nearest later.
    """
    here = lesson.index(step_id)
    by_nearness = sorted(enumerate(lesson.steps), key=lambda item: (item[0] > here, abs(item[0] - here)))
    shown = [
        (position, spec)
        for position, step in by_nearness
        for spec in step.shown_at_first
        if spec.expression == name and len(spec.axes) == dims
    ]
    own = next((spec for position, spec in shown if position == here), None)
    if own is None and len(axes := lesson.axes.get(name, ())) == dims and axes:
        kind = shown[0][1].kind if shown else "vector"
        return ShownTensor(name=name, kind=kind, axes=axes)
    return own or (shown[0][1] if shown else None)


def drawn_as(lesson: Lesson, step_id: str, name: str, dims: int, dtype: str) -> ShownTensor:
    """Decide how to draw a variable of any name: as the lesson draws one of that name and rank, else plainly."""
    if known := declaration_of(lesson, step_id, name, dims):
        return known.model_copy(update={"name": name})
    return ShownTensor(name=name or "_", kind="mask" if dtype == "bool" else "vector")


def axes_of(lesson: Lesson, step_id: str, name: str, dims: int) -> tuple[str, ...]:
    """Return the axis names of a variable as `declaration_of` finds them; an empty tuple if they are not known."""
    found = declaration_of(lesson, step_id, name, dims) if name and dims else None
    return found.axes if found else ()


def _labels(lesson: Lesson, shown: ShownTensor, name: str, size: int) -> tuple[str, ...]:
    given = {str(axis): texts for axis, texts in shown.labels.items()}.get(name, ())
    if size == 1 < len(given):
        # A change of the code made a reduction or a new axis: its only position is not the first of the labels.
        return (_label(name, 0),)
    if name in LABELED_WITH_WORDS and not given:
        given = lesson.tokens
    if len(given) >= size:
        return tuple(given[:size])
    if name in NUMBERED:
        return numbers(size)
    return tuple(_label(name, position) for position in range(size))


def _label(axis: str, position: int) -> str:
    """Name a position on an axis whose positions have no names of their own."""
    if axis in FEATURES:
        return f"d{position}"
    if axis == "head":
        return say("head", "head {number}", number=position)
    if axis == "batch":
        return say("text", "text {number}", number=position)
    return str(position) if axis in NUMBERED else f"{axis.replace('_', ' ')} {position}"


def numbers(size: int) -> tuple[str, ...]:
    """Return the labels 0, 1, 2, ... of an axis. All axes share the texts, of which a large tensor has very many."""
    return _first_numbers(size.bit_length())[:size]


@functools.cache
def _first_numbers(bits: int) -> tuple[str, ...]:
    return tuple(map(str, range(1 << bits)))


def _labels_of_heads(heads: int, width: int) -> tuple[str, ...]:
    """Return the labels of the features of several heads, one head after another."""
    return tuple(f"h{head} d{feature}" for head in range(heads) for feature in range(width))
